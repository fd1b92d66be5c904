/** An engine's error answer: vLLM's recent shape `{"error":{message,type,param,code}}`, code = HTTP status. */
export interface EngineError {
  readonly status: number;
  readonly body: string;
}

function engineError(
  status: number,
  type: string,
  message: string,
  param: string | null = null,
): EngineError {
  return { status, body: JSON.stringify({ error: { message, type, param, code: status } }) };
}

/** Torch's text, as TGI and older vLLM hand it to the caller. */
export function cudaOutOfMemory(wantedMiB: number): EngineError {
  return engineError(
    500,
    "InternalServerError",
    `CUDA out of memory. Tried to allocate ${wantedMiB}.00 MiB. GPU 0 has a total capacity of 79.15 GiB of which ` +
      "41.25 MiB is free. Including non-PyTorch memory, this process has 79.10 GiB memory in use.",
  );
}

/** vLLM's text while its engine process is dead and not yet restarted. */
export function engineDead(): EngineError {
  return engineError(
    500,
    "InternalServerError",
    "EngineCore encountered an issue. See stack trace (above) for the root cause.",
  );
}

export function notFound(path: string): EngineError {
  return engineError(404, "Not Found", `No route for ${path}`);
}

export function badRequest(message: string): EngineError {
  return engineError(400, "BadRequestError", message);
}

/** OpenAI's answer to a missing or wrong key; the key is not echoed. */
export function wrongKey(): EngineError {
  return {
    status: 401,
    body: JSON.stringify({
      error: {
        message: "Incorrect API key provided.",
        type: "invalid_request_error",
        param: null,
        code: "invalid_api_key",
      },
    }),
  };
}
