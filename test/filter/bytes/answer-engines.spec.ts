import { streamFacts } from "./support";

const HEAD = '{"id":"c1","object":"chat.completion.chunk","created":1764460000,"model":"m","choices":[';

/** One event with one choice. */
function chunk(delta: string, finish: string = "null"): string {
  return (
    "data: " + HEAD + '{"index":0,"delta":' + delta + ',"logprobs":null,"finish_reason":' + finish + "}]}\n\n"
  );
}

const DONE = "data: [DONE]\n\n";

describe("the streams of engines and providers", () => {
  it("vLLM: role chunk, text, finish, usage, [DONE]", () => {
    expect(
      streamFacts(
        chunk('{"role":"assistant","content":""}') +
          chunk('{"content":"Hel"}') +
          chunk('{"content":"lo"}', '"stop","stop_reason":null') +
          'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":9,"total_tokens":11,"completion_tokens":2}}\n\n' +
          DONE,
      ),
    ).toBe("token finish done prompt:9 completion:2 events:4");
  });

  it("vLLM with continuous usage: the last one counts, null changes nothing", () => {
    expect(
      streamFacts(
        'data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}\n\n' +
          'data: {"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"prompt_tokens":1,"completion_tokens":3}}}\n\n' +
          'data: {"choices":[],"usage":null}\n\n',
      ),
    ).toBe("token prompt:9 completion:2 events:3");
  });

  it("vLLM: dead engine as the first frame of a 200, then [DONE]", () => {
    expect(
      streamFacts(
        'data: {"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the root cause.","type":"InternalServerError","param":null,"code":500}}\n\n' +
          DONE,
      ),
    ).toBe(
      "error done code:500 events:1 text:EngineCore encountered an issue. See stack trace (above) for the root cause.",
    );
  });

  it("vLLM, older: the flat error inside, with its misleading 400", () => {
    expect(
      streamFacts(
        chunk('{"content":"Hi"}') +
          'data: {"error":{"object":"error","message":"Background loop has errored already.","type":"BadRequestError","param":null,"code":400}}\n\n' +
          DONE,
      ),
    ).toBe("token error done code:400 events:2 text:Background loop has errored already.");
  });

  it("vLLM: abort is an abnormal finish in spite of [DONE]", () => {
    expect(streamFacts(chunk('{"content":"Hi"}') + chunk("{}", '"abort"') + DONE)).toBe(
      "token abnormal done events:2",
    );
  });

  it("SGLang: all fields with nulls, separate finish, queue full as 200 + error", () => {
    expect(
      streamFacts(
        'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}\n\n' +
          'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":null,"content":null,"reasoning_content":"Hm","tool_calls":null},"finish_reason":null}],"usage":null}\n\n' +
          'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":null,"content":null},"finish_reason":"stop","matched_stop":151645}],"usage":null}\n\n' +
          'data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":4,"total_tokens":6,"completion_tokens":2,"prompt_tokens_details":null}}\n\n' +
          DONE,
      ),
    ).toBe("token finish done prompt:4 completion:2 events:4");
    expect(
      streamFacts(
        'data: {"error":{"object":"error","message":"The request queue is full.","type":"SERVICE_UNAVAILABLE","param":null,"code":503}}\n\n' +
          DONE,
      ),
    ).toBe("error done code:503 events:1 text:The request queue is full.");
  });

  it("TGI: no role chunk, bare colon comments, no blank after data:, errors of both routes", () => {
    expect(
      streamFacts(
        ":\n\ndata:" +
          HEAD +
          '{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\n:\n\n',
      ),
    ).toBe("token events:1");
    expect(
      streamFacts(
        'data: {"error":{"message":"Request failed during generation: Server error: CUDA out of memory","http_status_code":422}}\n\n' +
          DONE,
      ),
    ).toBe("error done events:1 text:Request failed during generation: Server error: CUDA out of memory");
    expect(streamFacts('data:{"error":"Model is overloaded","error_type":"overloaded"}\n\n')).toBe(
      "error events:1 text:Model is overloaded",
    );
  });

  it("llama.cpp: content null first, prompt progress, finish with timings; an error ends the stream", () => {
    expect(
      streamFacts(
        chunk('{"role":"assistant","content":null}') +
          'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}],"prompt_progress":{"total":100,"processed":50}}\n\n' +
          chunk('{"content":"Hi"}') +
          'data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"object":"chat.completion.chunk","timings":{"prompt_n":7,"predicted_ms":1.5e3}}\n\n' +
          DONE,
      ),
    ).toBe("token finish done events:4");
    expect(
      streamFacts(
        chunk('{"content":"Hi"}') +
          'data: {"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}\n\n',
      ),
    ).toBe("token error code:500 events:2 text:Context size has been exceeded.");
    expect(streamFacts('error: {"code":500,"message":"Compute error.","type":"server_error"}\n\n')).toBe(
      "error code:500 events:1 text:Compute error.",
    );
    // A grammar that matches nothing: legal, empty.
    expect(streamFacts(chunk('{"role":"assistant","content":null}') + chunk("{}", '"stop"') + DONE)).toBe(
      "finish done events:2",
    );
  });

  it("Azure: a filter result without choices comes first", () => {
    expect(
      streamFacts(
        'data: {"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}\n\n' +
          chunk('{"role":"assistant","content":"","refusal":null}') +
          chunk('{"content":"Hi"}') +
          'data: {"choices":[{"index":0,"delta":{},"content_filter_offsets":{"check_offset":1},"content_filter_results":{"text":"x"},"finish_reason":null}]}\n\n' +
          chunk("{}", '"content_filter"') +
          DONE,
      ),
    ).toBe("token finish done events:5");
  });

  it("DeepSeek: keep-alive comments, reasoning first, a cut by the server", () => {
    expect(
      streamFacts(
        ": keep-alive\n\n: keep-alive\n\n" +
          chunk('{"role":"assistant","content":null,"reasoning_content":""}') +
          chunk('{"content":null,"reasoning_content":"Hm"}') +
          chunk('{"content":"","reasoning_content":null}', '"insufficient_system_resource"') +
          DONE,
      ),
    ).toBe("token abnormal done events:3");
    expect(streamFacts(": keep-alive\n\n: keep-alive\n\n")).toBe("");
  });

  it("OpenRouter: processing comments, an error beside a finish reason", () => {
    expect(
      streamFacts(
        ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n" +
          'data: {"id":"g","object":"chat.completion.chunk","error":{"code":"502","message":"Provider disconnected","metadata":{"raw":"{\\"message\\":\\"x\\"}"}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","native_finish_reason":"error"}]}\n\n' +
          DONE,
      ),
    ).toBe("error abnormal done code:502 events:1 text:Provider disconnected");
  });

  it("LMDeploy and Ollama: parse_error, a lost error that leaves one empty event", () => {
    expect(streamFacts(chunk('{"role":"assistant","content":""}', '"parse_error"') + DONE)).toBe(
      "abnormal done events:1",
    );
    expect(streamFacts(chunk('{"role":"assistant","content":""}'))).toBe("events:1");
  });

  it("Mistral and Gemini: flat and array errors", () => {
    expect(
      streamFacts(
        'data: {"object":"error","message":"Service tier capacity exceeded for this model.","code":"3505"}\n\n',
      ),
    ).toBe("error code:3505 events:1 text:Service tier capacity exceeded for this model.");
    expect(
      streamFacts('data: [{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}]\n\n'),
    ).toBe("error code:429 events:1 text:Quota");
  });

  it("legacy function_call and completions", () => {
    expect(streamFacts(chunk('{"function_call":{"name":"f"}}'))).toBe("token events:1");
    expect(
      streamFacts('data: {"choices":[{"text":"a","index":0,"finish_reason":"length"}]}\n\n' + DONE),
    ).toBe("token finish done events:1");
  });
});
