/** Numbers of the proxy-wasm ABI 0.2.1, https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1 */

export const Status = {
  ok: 0,
  notFound: 1,
  badArgument: 2,
  invalidMemoryAccess: 6,
  casMismatch: 8,
  internalFailure: 10,
} as const;

export const MapType = {
  requestHeaders: 0,
  requestTrailers: 1,
  responseHeaders: 2,
  responseTrailers: 3,
  callResponseHeaders: 6,
  callResponseTrailers: 7,
} as const;

export const BufferType = {
  requestBody: 0,
  responseBody: 1,
  callResponseBody: 4,
  vmConfiguration: 6,
  pluginConfiguration: 7,
} as const;

export const StreamType = { request: 0, response: 1 } as const;

/** What a callback tells the host: go on, or hold (a body is then buffered). */
export const Action = { go: 0, hold: 1 } as const;
