import { equalsText, isSpace, isWord, skipText, startsWith } from "./text";

// The engines' own words, each anchored at the start of what is given.

/** Ollama's words before the runner's own. */
const MODEL_ERROR = "an error was encountered while running the model: ";
/** Bytes before the watchdog's words in which its rank may stand. */
const WATCHDOG_PREFIX: usize = 40;

/** vLLM, SGLang, TensorRT-LLM, Ollama, Triton and LMDeploy when the engine process is gone. */
export function isDeadEngine(at: usize, length: i32): bool {
  return (
    startsWith(at, length, "EngineCore encountered an issue") ||
    isEngineDeadName(at, length) ||
    startsWith(at, length, "Background loop has errored already") ||
    startsWith(at, length, "Background loop is not running") ||
    startsWith(at, length, "Background loop is stopped") ||
    startsWith(at, length, "Engine loop has died") ||
    startsWith(at, length, "Engine loop is not running") ||
    isWorkerDeath(at, at + <usize>length) ||
    startsWith(at, length, "Executor worker died") ||
    startsWith(at, length, "LLM is unavailable. Please check the server logs") ||
    startsWith(at, length, "Scheduler hit an exception") ||
    startsWith(at, length, "Received sigquit from a child process") ||
    startsWith(at, length, "model runner has unexpectedly stopped") ||
    startsWith(at, length, "llama-server process has terminated") ||
    startsWith(at, length, "llama runner process has terminated") ||
    isStubDeath(at, at + <usize>length) ||
    equalsText(at, length, "The inference engine is unavailable.")
  );
}

/** CUDA, ROCm, NCCL and cuBLAS faults that no retry on the same GPU heals. */
export function isGpuFault(start: usize, total: i32): bool {
  const end = start + <usize>total;
  const at = skipText(start, end, MODEL_ERROR);
  const length = <i32>(end - at);
  const cuda = skipText(at, end, "CUDA error: ");
  if (cuda !== at) return isFatalGpuCause(cuda, end) || startsWith(cuda, <i32>(end - cuda), "CUBLAS_STATUS");
  const rocm = skipText(at, end, "ROCm error: ");
  if (rocm !== at) return isFatalGpuCause(rocm, end);
  return (
    startsWith(at, length, "CUBLAS_STATUS_NOT_INITIALIZED") ||
    startsWith(at, length, "CUBLAS_STATUS_ALLOC_FAILED") ||
    startsWith(at, length, "CUBLAS_STATUS_EXECUTION_FAILED") ||
    startsWith(at, length, "CUBLAS_STATUS_INTERNAL_ERROR") ||
    startsWith(at, length, "NCCL error") ||
    startsWord(at, length, "ncclUnhandledCudaError") ||
    startsWord(at, length, "ncclSystemError") ||
    startsWord(at, length, "ncclInternalError") ||
    startsWord(at, length, "ncclRemoteError") ||
    startsWith(at, length, "HIP error: ") ||
    startsWith(at, length, "Memory access fault by GPU node") ||
    isWatchdog(at, end)
  );
}

/** Out of GPU memory, in the words of PyTorch, llama.cpp and SGLang. */
export function isOutOfMemory(at: usize, length: i32): bool {
  const end = at + <usize>length;
  const inner = skipText(at, end, MODEL_ERROR);
  return (
    startsWith(at, length, "CUDA out of memory. Tried to allocate") ||
    startsWith(at, length, "HIP out of memory. Tried to allocate") ||
    startsWith(at, length, "XPU out of memory. Tried to allocate") ||
    startsWith(at, length, "NPU out of memory. Tried to allocate") ||
    startsWith(at, length, "torch.OutOfMemoryError") ||
    startsWith(at, length, "torch.cuda.OutOfMemoryError") ||
    startsWith(inner, <i32>(end - inner), "cudaMalloc failed: out of memory") ||
    startsWith(at, length, "Prefill out of memory. Try to lower your batch size") ||
    startsWith(at, length, "Decode out of memory. Try to lower your batch size") ||
    isSlotExhaustion(at, end)
  );
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

/** SGLang: `alloc_req_slots runs out of memory`. */
function isSlotExhaustion(at: usize, end: usize): bool {
  const name = skipText(at, end, "alloc_");
  if (name === at) return false;
  let to = name;
  while (to < end && isWord(load<u8>(to))) to++;
  return to > name && startsWith(to, <i32>(end - to), " runs out of memory");
}

function startsWord(at: usize, length: i32, word: string): bool {
  const size = word.length;
  return startsWith(at, length, word) && (length === size || !isWord(load<u8>(at + <usize>size)));
}

/** `EngineDeadError`, with or without `Async`, `MQ` and a module's path. */
function isEngineDeadName(at: usize, length: i32): bool {
  let part: i32 = 0;
  let to: i32 = 0;
  while (to < length) {
    const byte = load<u8>(at + <usize>to);
    if (byte === 0x2e) {
      const next = to + 1;
      if (next < length && isWord(load<u8>(at + <usize>next))) part = next;
    } else if (!isWord(byte)) break;
    to++;
  }
  if (part === 1) return false;
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
function isWorkerDeath(start: usize, end: usize): bool {
  const ray = skipText(start, end, "Ray");
  const worker = skipText(ray, end, "Worker");
  if (worker === ray) return false;
  const kind = skipText(worker, end, " ");
  let at = skipText(kind, end, "proc");
  if (at === kind) at = skipText(kind, end, "Proc");
  if (at === kind) return false;
  if (startsWith(at, <i32>(end - at), " died unexpectedly")) return true;
  const name = skipText(at, end, " ");
  if (name === at) return false;
  at = name;
  while (at < end && !isSpace(load<u8>(at))) at++;
  return at > name && startsWith(at, <i32>(end - at), " died unexpectedly");
}

/** Triton's Python backend: `Stub process 'm_0_0' is not healthy`, alone or in its envelope. */
function isStubDeath(start: usize, end: usize): bool {
  let at = skipText(start, end, "Failed to process the request(s) for model instance '");
  if (at !== start) {
    const name = skipQuoted(at, end);
    at = skipText(name, end, "', message: ");
    if (at === name) return false;
  }
  const stub = skipText(at, end, "Stub process '");
  if (stub === at) return false;
  at = skipQuoted(stub, end);
  return startsWith(at, <i32>(end - at), "' is not healthy");
}

/** The next single quote, or `end`. */
function skipQuoted(at: usize, end: usize): usize {
  while (at < end && load<u8>(at) !== 0x27) at++;
  return at;
}

function isFatalGpuCause(at: usize, end: usize): bool {
  const length = <i32>(end - at);
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
function isWatchdog(start: usize, end: usize): bool {
  const first = skipText(start, end, "[") + WATCHDOG_PREFIX;
  for (let at = start; at <= first && at < end; at++) {
    if (startsWith(at, <i32>(end - at), "Watchdog caught collective operation timeout")) return true;
    const byte = load<u8>(at);
    if (byte === 0x0a || byte === 0x0d) return false;
  }
  return false;
}
