import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { ServiceDefinition } from "@grpc/proto-loader";
import { loadProto } from "../../../extproc/protos.js";
import { findRepoRoot } from "../../../extproc/root.js";

const require = createRequire(import.meta.url);

/** Envoy's ExternalProcessor contract, from the protos that @grpc/grpc-js-xds ships. Takes about 100 ms. */
export function loadExternalProcessor(): ServiceDefinition {
  const protos = join(dirname(require.resolve("@grpc/grpc-js-xds")), "..", "..", "deps");
  const protobufjs = dirname(
    require.resolve("protobufjs/package.json", { paths: [dirname(require.resolve("@grpc/proto-loader"))] }),
  );
  const folders = ["envoy-api", "xds", "protoc-gen-validate", "googleapis"].map((name) => join(protos, name));
  return loadProto(
    "envoy/service/ext_proc/v3/external_processor.proto",
    [...folders, protobufjs],
    "envoy.service.ext_proc.v3.ExternalProcessor",
  );
}

/** The grpc.health.v1 contract. */
export function loadHealth(): ServiceDefinition {
  return loadProto("grpc/health/v1/health.proto", [join(findRepoRoot(), "proto")], "grpc.health.v1.Health");
}
