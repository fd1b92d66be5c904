# The service (ext_proc on 9002, sync, health and metrics on 9003, page and control API on 9004). From the repository's folder:
#
#   docker build -f docker/service.Dockerfile -t llm-breaker-service .
#   docker run --rm --read-only --network host -v "$PWD/envoy/service.yaml:/etc/llm-breaker/service.yaml:ro" llm-breaker-service
#
# It listens where its configuration says: on loopback unless told otherwise, which fits a sidecar.
FROM node:20-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && find build/js -name "*.map" -delete

FROM node:20-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:20-slim
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /src/package.json /src/LICENSE ./
COPY --from=build /src/proto proto
COPY --from=build /src/extproc/tokens/vocab extproc/tokens/vocab
# The first for dry-runs; the others for an Envoy beside it, whose init container copies them out: one image to keep.
COPY --from=build /src/build/llm-breaker-dry-run.wasm /src/build/llm-breaker-gate.wasm /src/build/llm-breaker-meter.wasm build/
COPY --from=build /src/build/page build/page
COPY --from=build /src/build/js/extproc build/js/extproc
ENV NODE_ENV=production LLM_BREAKER_CONFIG=/etc/llm-breaker/service.yaml
USER node
EXPOSE 9002 9003 9004
# With another `listen.http` give --health-cmd, or none: Kubernetes has probes of its own.
HEALTHCHECK --interval=10s --timeout=2s --start-period=15s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9003/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "build/js/extproc/main.js"]
