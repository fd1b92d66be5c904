import { z } from "zod";
import { address, text, url } from "../config/fields.js";

/** More would each hold a connection to all others. */
const MAX_MEMBERS = 64;

/** It goes with each message. */
export const MAX_NAME = 64;

const gossip = z
  .strictObject({
    listen: address
      .default("127.0.0.1:7946")
      .describe("Where other members connect. host:port, the host an IP address or a name of this machine."),
    members: z
      .array(address, "must be a list of host:port")
      .max(MAX_MEMBERS, `must be at most ${MAX_MEMBERS} addresses`)
      .default([])
      .describe(
        "Where members listen. A name stands for all its addresses, asked again every 5 s; this member's own may be among them.",
      ),
    srv: text
      .optional()
      .meta({ example: "_gossip._tcp.llm-breaker.example.com" })
      .describe("A DNS name whose SRV records tell hosts and ports of members, asked again every 5 s."),
  })
  .refine(({ members, srv }) => members.length > 0 || srv !== undefined, "must have members or srv")
  .optional()
  .describe("Members talk to each other over TCP, encrypted. Needs the optional package libp2p.");

const redis = z
  .strictObject({
    url: url("redis", "rediss").describe(
      "A Redis or Valkey that all members reach, with user and password if need be.",
    ),
    channel: text.default("llm-breaker/peers").describe("The channel of this group."),
  })
  .optional()
  .describe("Members talk by pub-sub of a Redis. Needs the optional package ioredis.");

export const peersSettings = z
  .strictObject({
    name: text
      .max(MAX_NAME, `must be at most ${MAX_NAME} characters`)
      .optional()
      .describe("This member's name in logs and views. Absent: the host's."),
    keyFile: text.describe(
      "A file with the group's secret: one line of at least 32 characters. More lines are taken from others too, so that a new one can come first.",
    ),
    gossip,
    redis,
  })
  .refine(
    (given) => (given.gossip === undefined) !== (given.redis === undefined),
    "must have either gossip or redis",
  )
  .optional()
  .meta({
    example: {
      keyFile: "/etc/llm-breaker/peers.key",
      gossip: { listen: "0.0.0.0:7946", members: ["llm-breaker-peers.default.svc:7946"] },
    },
  })
  .describe("Other gateways' services, with which states of backends are shared. Absent: none.");

export type PeersSettings = Readonly<NonNullable<z.output<typeof peersSettings>>>;
export type GossipSettings = NonNullable<PeersSettings["gossip"]>;
export type RedisPeersSettings = NonNullable<PeersSettings["redis"]>;
