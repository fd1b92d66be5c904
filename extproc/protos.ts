import { join } from "node:path";
import { type AnyDefinition, loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { findRepoRoot } from "./root.js";

// keepCase: Envoy's field names in snake case, as its documentation spells them.
const LOADER_OPTIONS = { keepCase: true, longs: Number, enums: String, oneofs: true, defaults: false };

/** One service of a .proto file. Takes some ten milliseconds. */
export function loadProto(file: string, includeDirs: string[], path: string): ServiceDefinition {
  const definition = loadSync(file, { ...LOADER_OPTIONS, includeDirs })[path];
  if (definition === undefined || !isService(definition)) throw new Error(`${path} is missing in ${file}`);
  return definition;
}

function isService(definition: AnyDefinition): definition is ServiceDefinition {
  return !("format" in definition);
}

/** Envoy's access log service, cut down to what `usage` reads. */
export function loadAccessLog(): ServiceDefinition {
  return loadProto(
    "envoy/service/accesslog/v3/als.proto",
    [join(findRepoRoot(), "proto")],
    "envoy.service.accesslog.v3.AccessLogService",
  );
}
