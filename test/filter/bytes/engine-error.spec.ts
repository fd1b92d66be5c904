import { classifyEngineError, EngineError } from "../../../filter/bytes/engine-error";
import { atMemoryEnd } from "./support";

/** Reads the text where a read past its end would trap. */
function classify(text: string): i32 {
  const bytes = String.UTF8.encode(text);
  const at = atMemoryEnd(bytes.byteLength);
  memory.copy(at, changetype<usize>(bytes), bytes.byteLength);
  return classifyEngineError(at, bytes.byteLength);
}

function expectAll(texts: string[], wanted: i32): void {
  for (let i = 0; i < texts.length; i++) {
    expect(classify(texts[i])).toBe(wanted, texts[i]);
  }
}

const DEAD: string[] = [
  "EngineCore encountered an issue. See stack trace (above) for the root cause.",
  "Background loop has errored already.",
  "vllm.engine.async_llm_engine.AsyncEngineDeadError: Background loop has errored already.",
  "MQEngineDeadError: Engine loop is not running",
  "Engine loop has died",
  "Worker proc VllmWorker-0 died unexpectedly, shutting down executor.",
  "RayWorkerProc rank=[3] died unexpectedly, shutting down executor.",
  "Executor worker died during initialization",
  "Generation health check failed: LLM is unavailable. Please check the server logs for more details.",
  "model runner has unexpectedly stopped, this may be due to resource limitations",
  "Failed to process the request(s) for model instance 'm_0_0', message: Stub process 'm_0_0' is not healthy.",
  "The inference engine is unavailable.",
  "Internal server error: Scheduler hit an exception: Traceback",
];

const GPU_FAULT: string[] = [
  "an error was encountered while running the model: CUDA error: an illegal memory access was encountered",
  "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)",
  "Request failed during generation: Server error: CUDA error: unspecified launch failure",
];

const OUT_OF_MEMORY: string[] = [
  "Request failed during generation: Server error: CUDA out of memory. Tried to allocate 616.00 MiB. GPU 0",
  "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB",
  "CUDA out of memory. Tried to allocate 20.00 MiB",
  "Internal server error: alloc_req_slots runs out of memory. Please set a smaller number",
];

/** Requests that are at fault themselves, and users whose words are echoed. */
const NOT_THE_ENGINE: string[] = [
  "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.",
  "request (6031 tokens) exceeds the available context size (1024 tokens), try increasing it",
  "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096",
  "Context size has been exceeded.",
  'model "x" not found, try pulling it first',
  "Rate limit reached for gpt-4o",
  "1 validation error:\n {'input':'EngineCore encountered an issue CUDA out of memory. Tried to allocate'}",
  "[json.exception.parse_error.101] parse error; last read: 'CUDA error: out of memory'",
  "The model `CUDA out of memory. Tried to allocate` does not exist.",
  "Invalid 'messages[0].content': NCCL error: unhandled",
  'model "EngineDeadError" not found, try pulling it first',
  "Input validation error: `stop` EngineCore encountered an issue",
  "the input length exceeds the context length",
  "You exceeded your current quota, out of credits",
  "Tool error: CUDA out of memory. Tried to allocate 3",
  "Template error: EngineDeadError",
  "Internal server error",
];

const OVERLOADED: string[] = [
  "The engine is currently overloaded, please try again later",
  "The engine is currently busy and cannot accept new requests. Please try again later or on a different instance.",
  "The request queue is full.",
  "Streaming response failed: [503] The request queue is full.",
  "Model is overloaded",
  "server busy, please try again.  maximum pending requests exceeded",
  "The engine has reached its prefill token backlog limit. Please try again later.",
  "The request is aborted by a higher priority request.",
  "Request waiting timeout reached.",
  "Service tier capacity exceeded for this model.",
  "Overloaded",
  "RESOURCE_EXHAUSTED",
  "slow_down",
];

/** What engines and providers say when they are well: load, money, start-up, the client's leave, echoed words. */
const ALIVE: string[] = [
  "Context size has been exceeded.",
  "exceed_context_size_error",
  "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
  "prompt is too long: 210000 tokens > 200000 maximum",
  "extra_forbidden: CUDA error: unknown error",
  "string_type: NCCL error",
  "insufficient_quota",
  "credit_balance_exhausted",
  "Insufficient Balance",
  "enforced_spend_limit_reached",
  "Loading model",
  "sleeping",
  "The engine is sleeping",
  "EngineGenerateError",
  "An internal server error occurred.",
  "Client disconnected",
  "request canceled",
  "Request aborted",
  "out of memory",
  "worker died",
  "CUDA",
  "NCCL",
  "killed",
  "The worker died, out of memory: CUDA, NCCL, killed",
  "429",
  "Compute error.",
  "Incomplete generation",
];

/** Further texts of the same classes: other alternatives of each matcher. */
const MORE_DEAD: string[] = [
  "EngineDeadError",
  "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
  "Background loop is not running",
  "Background loop is stopped",
  "Engine loop is not running",
  "Worker proc died unexpectedly",
  "WorkerProc died unexpectedly",
  "Received sigquit from a child process. It usually means the child failed.",
  "llama-server process has terminated: exit status 2",
  "llama runner process has terminated: signal: killed",
  "Stub process 'x' is not healthy.",
  "LLM is unavailable. Please check the server logs for more details.",
  "Internal server error: EngineDeadError: gone",
  "  Internal server error:\n RuntimeError: Engine loop has died",
];

const MORE_GPU_FAULTS: string[] = [
  "CUDA error: an illegal memory access was encountered",
  "CUDA error: device-side assert triggered",
  "CUDA error: misaligned address",
  "CUDA error: the launch timed out and was terminated",
  "CUDA error: uncorrectable ECC error encountered",
  "CUDA error: unknown error",
  "CUDA error: out of memory",
  "ROCm error: out of memory",
  "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasGemmEx",
  "CUBLAS_STATUS_NOT_INITIALIZED",
  "CUBLAS_STATUS_ALLOC_FAILED",
  "CUBLAS_STATUS_INTERNAL_ERROR",
  "HIP error: invalid device function",
  "Memory access fault by GPU node-1",
  "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970",
  "ncclUnhandledCudaError: Call to CUDA function failed.",
  "ncclSystemError",
  "ncclInternalError: Internal check failed.",
  "ncclRemoteError: A call failed possibly due to a network error",
  "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL",
  "Watchdog caught collective operation timeout",
];

const MORE_OUT_OF_MEMORY: string[] = [
  "torch.cuda.OutOfMemoryError: CUDA out of memory.",
  "HIP out of memory. Tried to allocate 2 GiB",
  "XPU out of memory. Tried to allocate 2 GiB",
  "NPU out of memory. Tried to allocate 2 GiB",
  "cudaMalloc failed: out of memory",
  "an error was encountered while running the model: cudaMalloc failed: out of memory",
  "Prefill out of memory. Try to lower your batch size.",
  "Decode out of memory. Try to lower your batch size.",
  "alloc_token_slots runs out of memory",
];

const NEAR_MISSES: string[] = [
  "",
  " ",
  "x",
  "Engine",
  "EngineCore",
  "EngineDeadErrors",
  "MyEngineDeadError",
  "My EngineDeadError",
  ".EngineDeadError",
  "EngineGenerateError: bad",
  "The inference engine is unavailable. Not.",
  "The inference engine is unavailable",
  "CUDA",
  "CUDA error: ",
  "CUDA error: no kernel image is available",
  "cuda error: out of memory",
  "CUDA out of memory",
  "out of memory. Tried to allocate",
  "ncclSystemErrors",
  "NCCL",
  "alloc_ runs out of memory",
  "alloc_x run out of memory",
  "Worker proc a b died unexpectedly",
  "Worker died unexpectedly",
  "Stub process 'x is not healthy.",
  "Failed to process the request(s) for model instance 'x', message: 'y'",
  "This is a long sentence of more than forty characters: Watchdog caught collective operation timeout",
  "[a]\nWatchdog caught collective operation timeout",
  "Overloadedness",
  "RESOURCE_EXHAUSTED_X",
  "Streaming response failed: [5",
  "Streaming response failed: [503]",
  "Streaming response failed: [403] The request queue is full.",
  "Server error:CUDA out of memory. Tried to allocate",
  "Error: CUDA out of memory. Tried to allocate",
  "an Error: CUDA error: unknown error",
  "error: CUDA error: unknown error",
  "Internal server error: 3 validation errors: EngineCore encountered an issue",
  "10 validation errors:\n CUDA error: out of memory",
  "ValueError: user said CUDA error: unknown error",
];

describe("the class of an engine's error", () => {
  it("dead engines", () => {
    expectAll(DEAD, EngineError.DEAD);
    expectAll(MORE_DEAD, EngineError.DEAD);
  });

  it("GPU faults", () => {
    expectAll(GPU_FAULT, EngineError.GPU_FAULT);
    expectAll(MORE_GPU_FAULTS, EngineError.GPU_FAULT);
  });

  it("out of memory", () => {
    expectAll(OUT_OF_MEMORY, EngineError.OUT_OF_MEMORY);
    expectAll(MORE_OUT_OF_MEMORY, EngineError.OUT_OF_MEMORY);
  });

  it("overload is no death", () => {
    expectAll(OVERLOADED, EngineError.OVERLOADED);
  });

  it("clients' faults and echoed words are none of these", () => {
    expectAll(NOT_THE_ENGINE, EngineError.NONE);
    expectAll(ALIVE, EngineError.NONE);
    expectAll(NEAR_MISSES, EngineError.NONE);
  });

  it("a matching text inside another text is none", () => {
    const all = [DEAD, MORE_DEAD, GPU_FAULT, MORE_GPU_FAULTS, OUT_OF_MEMORY, MORE_OUT_OF_MEMORY, OVERLOADED];
    for (let i = 0; i < all.length; i++) {
      for (let j = 0; j < all[i].length; j++) {
        const text = all[i][j];
        expect(classify("The user wrote a very long introduction here, and then: " + text)).toBe(0, text);
        expect(classify("2 validation errors: " + text)).toBe(0, text);
      }
    }
  });

  it("a text that was cut never reads past its end", () => {
    const all = [
      DEAD,
      MORE_DEAD,
      GPU_FAULT,
      MORE_GPU_FAULTS,
      OUT_OF_MEMORY,
      MORE_OUT_OF_MEMORY,
      OVERLOADED,
      NEAR_MISSES,
    ];
    let classes: i32 = 0;
    for (let i = 0; i < all.length; i++) {
      for (let j = 0; j < all[i].length; j++) {
        const text = all[i][j];
        for (let length = 0; length < text.length; length++)
          classes |= 1 << classify(text.substring(0, length));
      }
    }
    expect(classes).toBe(0b11111);
  });

  it("takes off wrappers in a row, but not without end", () => {
    expect(classify("RuntimeError: ".repeat(10) + "NCCL error")).toBe(EngineError.GPU_FAULT);
    expect(classify("RuntimeError: ".repeat(50_000) + "NCCL error")).toBe(EngineError.NONE);
    expect(classify("x.".repeat(200_000) + "EngineDeadError")).toBe(EngineError.DEAD);
  });
});
