import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { freePort } from "./ports.js";

export type EnvoyConfig = Record<string, unknown>;

const localAddresses = new Set(["127.0.0.1", "0.0.0.0", "localhost", "::"]);

export function readEnvoyConfig(file: string): EnvoyConfig {
  return parseEnvoyConfig(readFileSync(file, "utf8"));
}

export function parseEnvoyConfig(text: string): EnvoyConfig {
  return parse(text, { merge: true }) as EnvoyConfig;
}

interface SocketAddress {
  address: string;
  port_value: number;
}

/** Every `socket_address` of a config, wherever it stands. */
export function socketAddresses(node: unknown): SocketAddress[] {
  if (Array.isArray(node)) return node.flatMap(socketAddresses);
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === "socket_address" && typeof value?.port_value === "number"
      ? [value as SocketAddress]
      : socketAddresses(value),
  );
}

/**
 * Moves every local port of `config` to a free one, or to the one that `wanted` gives for it, and returns
 * shipped port → new port. Ports below 1024 stay: the sinks rely on nobody listening there.
 */
export async function onFreePorts(
  config: EnvoyConfig,
  wanted: Readonly<Record<number, number>> = {},
): Promise<Map<number, number>> {
  const moved = new Map<number, number>();
  for (const address of socketAddresses(config)) {
    const shipped = address.port_value;
    if (!localAddresses.has(address.address) || shipped < 1024) continue;
    const port = moved.get(shipped) ?? wanted[shipped] ?? (await freePort());
    moved.set(shipped, port);
    address.address = "127.0.0.1";
    address.port_value = port;
  }
  return moved;
}

/** The admin port, or undefined when the config has no admin interface. */
export function adminPort(config: EnvoyConfig): number | undefined {
  return socketAddresses(config.admin)[0]?.port_value;
}
