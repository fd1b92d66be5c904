import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { findRepoRoot } from "./root.js";

const require = createRequire(import.meta.url);

// keepCase: Envoy's field names in snake case, as its documentation spells them.
const LOADER_OPTIONS = { keepCase: true, longs: Number, enums: String, oneofs: true, defaults: false };

export type GrpcService = grpc.ServiceDefinition;

function load(file: string, includeDirs: string[], path: string): GrpcService {
  const packages = loadSync(file, { ...LOADER_OPTIONS, includeDirs });
  const definition = packages[path];
  if (definition === undefined || "format" in definition) throw new Error(`${path} is missing in ${file}`);
  return definition as GrpcService;
}

/** Envoy's ExternalProcessor contract, from the protos that @grpc/grpc-js-xds ships. Takes about 100 ms. */
export function loadExternalProcessor(): GrpcService {
  const protos = join(dirname(require.resolve("@grpc/grpc-js-xds")), "..", "..", "deps");
  const protobufjs = dirname(
    require.resolve("protobufjs/package.json", { paths: [dirname(require.resolve("@grpc/proto-loader"))] }),
  );
  const folders = ["envoy-api", "xds", "protoc-gen-validate", "googleapis"].map((name) => join(protos, name));
  return load(
    "envoy/service/ext_proc/v3/external_processor.proto",
    [...folders, protobufjs],
    "envoy.service.ext_proc.v3.ExternalProcessor",
  );
}

/** The grpc.health.v1 contract. */
export function loadHealth(): GrpcService {
  return load("grpc/health/v1/health.proto", [join(findRepoRoot(), "proto")], "grpc.health.v1.Health");
}

/** Envoy's access log service, cut down to what `usage` reads. */
export function loadAccessLog(): GrpcService {
  return load(
    "envoy/service/accesslog/v3/als.proto",
    [join(findRepoRoot(), "proto")],
    "envoy.service.accesslog.v3.AccessLogService",
  );
}
