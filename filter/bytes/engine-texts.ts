import { isSpace, isWord, startsWith } from "./text";

// The engines' own words, each anchored at the start of what is given.

/** vLLM, SGLang, TensorRT-LLM, Ollama, Triton and LMDeploy when the engine process is gone. */
export function isDeadEngine(at: usize, length: i32): bool {
  if (startsWith(at, length, "EngineCore encountered an issue")) return true;
  if (isEngineDeadName(at, length)) return true;
  if (startsWith(at, length, "Background loop ")) {
    const rest = at + 16;
    const size = length - 16;
    return (
      startsWith(rest, size, "has errored already") ||
      startsWith(rest, size, "is not running") ||
      startsWith(rest, size, "is stopped")
    );
  }
  if (startsWith(at, length, "Engine loop has died") || startsWith(at, length, "Engine loop is not running"))
    return true;
  if (isWorkerDeath(at, length)) return true;
  return (
    startsWith(at, length, "Executor worker died") ||
    startsWith(at, length, "LLM is unavailable. Please check the server logs") ||
    startsWith(at, length, "Scheduler hit an exception") ||
    startsWith(at, length, "Received sigquit from a child process") ||
    startsWith(at, length, "model runner has unexpectedly stopped") ||
    startsWith(at, length, "llama-server process has terminated") ||
    startsWith(at, length, "llama runner process has terminated") ||
    isStubDeath(at, length) ||
    (length == 35 && startsWith(at, length, "The inference engine is unavailable."))
  );
}

/** CUDA, ROCm, NCCL and cuBLAS faults that no retry on the same GPU heals. */
export function isGpuFault(start: usize, total: i32): bool {
  const at = skipModelError(start, total);
  const length = total - <i32>(at - start);
  if (startsWith(at, length, "CUDA error: ")) {
    return isFatalGpuCause(at + 12, length - 12) || startsWith(at + 12, length - 12, "CUBLAS_STATUS");
  }
  if (startsWith(at, length, "ROCm error: ")) return isFatalGpuCause(at + 12, length - 12);
  if (startsWith(at, length, "CUBLAS_STATUS_")) {
    const rest = at + 14;
    const size = length - 14;
    return (
      startsWith(rest, size, "NOT_INITIALIZED") ||
      startsWith(rest, size, "ALLOC_FAILED") ||
      startsWith(rest, size, "EXECUTION_FAILED") ||
      startsWith(rest, size, "INTERNAL_ERROR")
    );
  }
  return (
    startsWith(at, length, "NCCL error") ||
    startsWord(at, length, "ncclUnhandledCudaError") ||
    startsWord(at, length, "ncclSystemError") ||
    startsWord(at, length, "ncclInternalError") ||
    startsWord(at, length, "ncclRemoteError") ||
    startsWith(at, length, "HIP error: ") ||
    startsWith(at, length, "Memory access fault by GPU node") ||
    isWatchdog(at, length)
  );
}

/** Out of GPU memory, in the words of PyTorch, llama.cpp and SGLang. */
export function isOutOfMemory(at: usize, length: i32): bool {
  if (
    startsWith(at, length, "torch.OutOfMemoryError") ||
    startsWith(at, length, "torch.cuda.OutOfMemoryError")
  ) {
    return true;
  }
  const inner = skipModelError(at, length);
  if (startsWith(inner, length - <i32>(inner - at), "cudaMalloc failed: out of memory")) return true;
  if (startsWith(at, length, "alloc_")) {
    let to: i32 = 6;
    while (to < length && isWord(load<u8>(at + <usize>to))) to++;
    return to > 6 && startsWith(at + <usize>to, length - to, " runs out of memory");
  }
  if (startsWith(at, length, "Prefill out of memory. Try to lower your batch size")) return true;
  if (startsWith(at, length, "Decode out of memory. Try to lower your batch size")) return true;
  const device = startsWith(at, length, "CUDA ") ? 5 : isOtherDevice(at, length) ? 4 : 0;
  return device > 0 && startsWith(at + <usize>device, length - device, "out of memory. Tried to allocate");
}

/** Full queues of vLLM, SGLang, TGI, Ollama and public providers. */
export function isOverload(at: usize, length: i32): bool {
  return (
    startsWith(at, length, "The engine is currently busy and cannot accept new requests") ||
    startsWith(at, length, "The engine has reached its prefill token backlog limit") ||
    startsWith(at, length, "The engine is currently overloaded") ||
    startsWith(at, length, "The request queue is full") ||
    startsWith(at, length, "The request is aborted by a higher priority request") ||
    startsWith(at, length, "Request waiting timeout reached") ||
    startsWith(at, length, "Model is overloaded") ||
    startsWith(at, length, "server busy, please try again") ||
    startsWith(at, length, "Service tier capacity exceeded") ||
    startsWord(at, length, "Overloaded") ||
    startsWord(at, length, "RESOURCE_EXHAUSTED") ||
    startsWord(at, length, "slow_down")
  );
}

function isOtherDevice(at: usize, length: i32): bool {
  return startsWith(at, length, "HIP ") || startsWith(at, length, "XPU ") || startsWith(at, length, "NPU ");
}

function startsWord(at: usize, length: i32, word: string): bool {
  const size = word.length;
  return startsWith(at, length, word) && (length == size || !isWord(load<u8>(at + <usize>size)));
}

/** `EngineDeadError`, with or without `Async`, `MQ` and a module's path. */
function isEngineDeadName(at: usize, length: i32): bool {
  let part: i32 = 0;
  let to: i32 = 0;
  while (to < length) {
    const byte = load<u8>(at + <usize>to);
    if (byte == 0x2e) {
      const next = to + 1;
      if (next < length && isWord(load<u8>(at + <usize>next))) part = next;
    } else if (!isWord(byte)) break;
    to++;
  }
  if (part == 1) return false;
  let name = at + <usize>part;
  let size = length - part;
  if (startsWith(name, size, "Async")) {
    name += 5;
    size -= 5;
  } else if (startsWith(name, size, "MQ")) {
    name += 2;
    size -= 2;
  }
  return startsWord(name, size, "EngineDeadError");
}

/** `Worker proc VllmWorker-0 died unexpectedly`, `RayWorkerProc rank=[3] died unexpectedly`. */
function isWorkerDeath(start: usize, total: i32): bool {
  const end = start + <usize>total;
  let at = startsWith(start, total, "Ray") ? start + 3 : start;
  if (!startsWith(at, <i32>(end - at), "Worker")) return false;
  at += 6;
  if (at < end && load<u8>(at) == 0x20) at++;
  if (!startsWith(at, <i32>(end - at), "proc") && !startsWith(at, <i32>(end - at), "Proc")) return false;
  at += 4;
  if (startsWith(at, <i32>(end - at), " died unexpectedly")) return true;
  if (at == end || load<u8>(at) != 0x20) return false;
  const name = ++at;
  while (at < end && !isSpace(load<u8>(at))) at++;
  return at > name && startsWith(at, <i32>(end - at), " died unexpectedly");
}

/** Triton's Python backend: `Stub process 'm_0_0' is not healthy`, alone or in its envelope. */
function isStubDeath(start: usize, total: i32): bool {
  const end = start + <usize>total;
  let at = start;
  if (startsWith(at, total, "Failed to process the request(s) for model instance '")) {
    at = skipQuoted(at + 53, end);
    if (!startsWith(at, <i32>(end - at), "', message: ")) return false;
    at += 12;
  }
  if (!startsWith(at, <i32>(end - at), "Stub process '")) return false;
  at = skipQuoted(at + 14, end);
  return startsWith(at, <i32>(end - at), "' is not healthy");
}

/** The next single quote, or `end`. */
function skipQuoted(at: usize, end: usize): usize {
  while (at < end && load<u8>(at) != 0x27) at++;
  return at;
}

/** Past Ollama's `an error was encountered while running the model: `. */
function skipModelError(at: usize, length: i32): usize {
  return startsWith(at, length, "an error was encountered while running the model: ") ? at + 50 : at;
}

function isFatalGpuCause(at: usize, length: i32): bool {
  return (
    startsWith(at, length, "an illegal memory access") ||
    startsWith(at, length, "unspecified launch failure") ||
    startsWith(at, length, "device-side assert") ||
    startsWith(at, length, "misaligned address") ||
    startsWith(at, length, "the launch timed out") ||
    startsWith(at, length, "uncorrectable") ||
    startsWith(at, length, "unknown error") ||
    startsWith(at, length, "out of memory")
  );
}

/** PyTorch's NCCL watchdog, behind a short prefix such as `[Rank 3] `. */
function isWatchdog(at: usize, length: i32): bool {
  const first = length > 0 && load<u8>(at) == 0x5b ? 41 : 40;
  for (let i: i32 = 0; i <= first && i < length; i++) {
    const here = at + <usize>i;
    if (
      load<u8>(here) == 0x57 &&
      startsWith(here, length - i, "Watchdog caught collective operation timeout")
    )
      return true;
    if (load<u8>(here) == 0x0a || load<u8>(here) == 0x0d) return false;
  }
  return false;
}
