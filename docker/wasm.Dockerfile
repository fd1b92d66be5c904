# The filter as an OCI image, and nothing else. From the repository's folder, after `npm ci && npm run build`:
#
#   docker build -f docker/wasm.Dockerfile -t REGISTRY/llm-breaker-wasm:0.1.0 . && docker push REGISTRY/llm-breaker-wasm:0.1.0
#
# Istio's agent takes /plugin.wasm, all positions in one module. A Kubernetes image volume shows every file: give the gate and the meter
# the smaller modules. SHA256SUMS is what the build wrote: `sha256sum --check SHA256SUMS` in the mounted folder.
FROM scratch
COPY build/llm-breaker.wasm /plugin.wasm
COPY build/llm-breaker.wasm build/llm-breaker-gate.wasm build/llm-breaker-meter.wasm build/llm-breaker-dry-run.wasm build/SHA256SUMS /
