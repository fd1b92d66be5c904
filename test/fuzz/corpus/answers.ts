// Answers as engines and providers send them (docs of vLLM, SGLang, TGI, Ollama, OpenAI, Anthropic, Azure), small.

export const STREAMS: readonly string[] = [
  'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\ndata: [DONE]\n\n',
  'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\\"a\\":1}"}}]},"finish_reason":"abort"}]}\r\n\r\n',
  'event: error\ndata: {"object":"error","message":"CUDA error: \\u00e9\\ud83d\\ude00","code":"500"}\n\n: ping\n\n',
  '\ufeffdata:{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3.5e1}}\r\rdata\rdata:\r\r',
  'error: {"code":500,"message":"out of memory","type":"server_error"}\n\n',
  'event: response.failed\ndata: {"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"m"},"usage":{"input_tokens":5,"output_tokens":1}}}\n\ndata: {"delta":"a","type":"response.output_text.delta"}\n\n',
  'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"x","content":[],"usage":{"input_tokens":25,"cache_read_input_tokens":7}}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}\n\nevent: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}\n\nevent: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  'data: {"token":{"id":1,"text":"a","special":false},"generated_text":null,"details":null}\n\ndata: {"token":{"text":"</s>","special":true},"generated_text":"a","details":{"finish_reason":"eos_token","generated_tokens":2,"input_length":3}}\n\n',
  '{"model":"m","message":{"role":"assistant","content":"a","thinking":"b"},"done":false}\n{"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}\n',
  'data: {"choices":[{"text":"a","index":0,"finish_reason":"length"},{"text":"b","index":1,"finish_reason":null}],"x_groq":{"usage":{"prompt_tokens":1}}}\n\n',
];

export const ANSWERS: readonly string[] = [
  '{"error":{"message":"Internal server error: EngineDeadError: gone","type":"x","param":null,"code":500}}',
  '{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
  '{"choices":[{"message":{"content":[{"type":"text","text":"Hi"}],"reasoning_content":"r"},"finish_reason":"stop"}]}',
  '{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}],"usage":{"input_tokens":5,"output_tokens":1}}',
  '{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"Hi"},{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"t","name":"f","input":{"a":12345678901234567890}}],"stop_reason":"end_turn","usage":{"input_tokens":2,"output_tokens":3,"cache_read_input_tokens":1}}',
  '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}',
  '{"object":"error","message":"This model\'s maximum context length is 8 tokens. However","type":"BadRequestError","param":null,"code":400}',
  '{"error":"CUDA error: an illegal memory access was encountered","error_type":"generation"}',
  '{"detail":[{"type":"missing","loc":["body"],"msg":"Field required"}]}',
  '{"detail":"Not Found"}',
  '[{"generated_text":"Hi"}]',
  '{"model_name":"m","text_output":"Hi"}',
  "upstream connect error or disconnect/reset before headers",
  "<html><body><h1>502 Bad Gateway</h1></body></html>",
  '{"type":"message","id":{"toString":1},"model":{"valueOf":null},"content":[{"type":"text","text":{"toString":1}}]}',
  '{"error":{"type":{"toString":1},"message":"m"}}',
  "-12.5e3",
  '"a text"',
];

export const ANSWER_WORDS: readonly string[] = [
  ..."choices delta content message usage error code type index finish_reason stop abort object response status failed completed"
    .split(" ")
    .map((word) => `"${word}"`),
  ..."tool_calls function arguments name prompt_tokens completion_tokens input_tokens output_tokens token text special details"
    .split(" ")
    .map((word) => `"${word}"`),
  ..."message_start message_stop content_block_delta message_delta tool_use thinking input id model stop_reason partial_json"
    .split(" ")
    .map((word) => `"${word}"`),
  "data: ",
  "data:",
  "event: error\n",
  "[DONE]",
  "\n\n",
  "\r\n",
  '"error":{"message":"',
  '{"choices":[{"delta":{"content":"',
];

/** What engines say of themselves, and what is put before it. */
export const MESSAGES: readonly string[] = [
  "EngineCore encountered an issue. See stack trace (above) for the root cause.",
  "Internal server error: vllm.v1.engine.exceptions.EngineDeadError: EngineCore died",
  "AsyncEngineDeadError: Background loop is not running. Did you call AsyncLLM.run()?",
  "Worker proc VllmWorker-0 died unexpectedly, shutting down executor.",
  "Failed to process the request(s) for model instance 'm_0_0', message: Stub process 'm_0_0' is not healthy",
  "an error was encountered while running the model: CUDA error: unspecified launch failure",
  "RuntimeError: CUDA error: uncorrectable ECC error encountered",
  "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)",
  "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
  "alloc_req_slots runs out of memory. Please set a smaller number",
  "The engine is currently overloaded, please try again later",
  "RESOURCE_EXHAUSTED: queue is full",
  "2 validation errors for ChatCompletionRequest",
  "The model `m` does not exist.",
  "models/m is not found for API version v1beta",
  "Your credit balance is too low to access the API",
  "This model's maximum context length is 8192 tokens",
  "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
  "maximum input length is 12 tokens",
  "context_length_exceeded",
  "insufficient_quota",
  "string_above_max_length",
];
