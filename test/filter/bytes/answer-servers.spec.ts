import { wholeFacts } from "./support";

function stream(body: string): string {
  return wholeFacts(body, true);
}

function body(text: string): string {
  return wholeFacts(text, false);
}

describe("Text Generation Inference", () => {
  const token =
    'data:{"index":1,"token":{"id":330,"text":" a","logprob":-1.5,"special":false},"generated_text":null,"details":null}\n\n';

  it("/generate_stream ends by the whole text, without [DONE]", () => {
    expect(stream(token)).toBe("token events:1");
    expect(
      stream(
        token +
          'data:{"index":2,"token":{"id":2,"text":"</s>","logprob":0.0,"special":true},"generated_text":" a","details":{"finish_reason":"eos_token","generated_tokens":2,"seed":null,"input_length":9}}\n\n',
      ),
    ).toBe("token finish done prompt:9 completion:2 events:2 whole");
    expect(stream('data:{"token":{"special":true,"text":"</s>"},"generated_text":""}\n\n')).toBe(
      "finish done events:1 whole",
    );
  });

  it("a special token is no output", () => {
    expect(
      stream('data:{"token":{"id":1,"text":"<s>","logprob":0.0,"special":true},"generated_text":null}\n\n'),
    ).toBe("events:1");
  });

  it("/generate in one piece, as an object or in an array", () => {
    expect(
      body(
        '{"generated_text":"Hi","details":{"finish_reason":"length","generated_tokens":20,"prefill":[{"id":1,"text":"error"}]}}',
      ),
    ).toBe("token finish done complete completion:20 whole");
    expect(body('[{"generated_text":"Hi"}]')).toBe("token finish done complete whole");
  });

  it("errors are strings, or objects in a chat's stream", () => {
    expect(
      stream(
        token +
          'data:{"error":"Request failed during generation: Server error: CUDA out of memory","error_type":"generation"}\n\n',
      ),
    ).toBe("token error events:2 text:Request failed during generation: Server error: CUDA out of memory");
    expect(
      body(
        '{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`","error_type":"validation"}',
      ).startsWith("error complete kind:context text:Input validation error"),
    ).toBe(true);
    expect(
      stream(
        'data: {"error":{"message":"Input validation error: `inputs` must have less than 4095 tokens. Given: 5000","http_status_code":422}}\n\ndata: [DONE]\n\n',
      ).startsWith("error done kind:context events:1 text:Input"),
    ).toBe(true);
  });
});

describe("Triton", () => {
  it("generate, in one piece and streamed: no event is marked as the last", () => {
    expect(body('{"model_name":"ensemble","model_version":"1","text_output":"Hi"}')).toBe(
      "token finish complete whole",
    );
    expect(
      stream(
        'data: {"model_name":"e","sequence_end":false,"text_output":"Hi"}\n\ndata: {"model_name":"e","text_output":""}\n\n',
      ),
    ).toBe("token finish events:2 whole");
  });

  it("errors are a string, or the detail of the OpenAI frontend", () => {
    const text =
      "Failed to process the request(s) for model instance 'm_0_0', message: Stub process 'm_0_0' is not healthy.";
    expect(body('{"error":"' + text + '"}')).toBe("error complete text:" + text);
    expect(body('{"detail":"Unknown model: x"}')).toBe("complete text:Unknown model: x whole");
    expect(body('{"detail":[{"loc":["body"],"msg":"CUDA error: unknown error"}]}')).toBe("complete whole");
  });
});

describe("Ollama", () => {
  it("/api/chat and /api/generate as one object", () => {
    expect(
      body(
        '{"model":"m","created_at":"t","message":{"role":"assistant","content":"Hi","thinking":"Hm"},"done_reason":"stop","done":true,"total_duration":5,"prompt_eval_count":26,"eval_count":8,"eval_duration":3}',
      ),
    ).toBe("token finish done complete prompt:26 completion:8 whole");
    expect(body('{"model":"m","response":"Hi","done":true,"context":[1,2,3],"eval_count":8}')).toBe(
      "token finish done complete completion:8 whole",
    );
    expect(
      body(
        '{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":true}',
      ),
    ).toBe("token finish done complete whole");
    expect(body('{"message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}')).toBe(
      "token complete whole",
    );
    expect(body('{"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}')).toBe(
      "finish done complete whole",
    );
  });

  it("tells its errors", () => {
    expect(body('{"error":"model \\"x\\" not found, try pulling it first"}')).toBe(
      'error complete kind:model text:model "x" not found, try pulling it first',
    );
    expect(body('{"error":"the input length exceeds the context length"}')).toBe(
      "error complete kind:context text:the input length exceeds the context length",
    );
  });

  it("/v1 loses an error: an empty delta, then the end, is not whole", () => {
    expect(
      stream(
        'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\n' +
          'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n',
      ),
    ).toBe("token events:2");
  });
});

describe("providers", () => {
  it("Groq: usage and errors in x_groq", () => {
    expect(
      stream(
        'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"x_groq":{"id":"req_1"}}\n\n' +
          'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"req_1","usage":{"queue_time":0.01,"prompt_tokens":17,"completion_tokens":4}}}\n\ndata: [DONE]\n\n',
      ),
    ).toBe("finish done prompt:17 completion:4 events:2 whole");
    expect(stream('data: {"choices":[],"x_groq":{"id":"r","error":"over capacity"}}\n\n')).toBe(
      "error events:1 text:over capacity",
    );
  });

  it("Mistral: a message that is an object, parts that think", () => {
    expect(
      body(
        '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","x"],"msg":"Extra inputs","input":10}]},"type":"invalid_request_error","param":null,"code":null}',
      ),
    ).toBe("error complete");
    expect(
      body(
        '{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}',
      ),
    ).toBe("error complete code:1500 kind:model text:Invalid model: x");
    expect(
      stream(
        'data: {"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]},"finish_reason":null}]}\n\n',
      ),
    ).toBe("token events:1");
    expect(
      stream('data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"model_length"}]}\n\n'),
    ).toBe("finish events:1 whole");
  });

  it("Gemini: an error inside an array", () => {
    expect(
      body(
        '[{"error":{"code":400,"message":"The input token count (1203339) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT","details":[{"@type":"t","reason":"x"}]}}]',
      ),
    ).toBe(
      "error complete code:400 kind:context text:The input token count (1203339) exceeds the maximum number of tokens allowed (1048575).",
    );
  });

  it("Azure: the filter's word stands in the inner error, too", () => {
    expect(
      body(
        '{"error":{"message":"Refused.","type":null,"param":"prompt","code":"400","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true}}}}}',
      ),
    ).toBe("error complete code:400 kind:filter text:Refused.");
  });

  it("LMDeploy: flat errors inside, usage null, placeholders in the middle", () => {
    expect(
      stream(
        'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}],"usage":null}\n\n' +
          'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}\n\n' +
          'data: {"error":{"message":"The inference engine is unavailable.","type":"server_error","code":503,"param":null,"object":"error"}}\n\ndata: [DONE]\n\n',
      ),
    ).toBe("token error done code:503 events:3 text:The inference engine is unavailable.");
    expect(
      body(
        '{"message":"The request exceeds the model context length.","type":"invalid_request_error","code":400,"param":null,"object":"error"}',
      ),
    ).toBe("error complete code:400 kind:context text:The request exceeds the model context length.");
  });
});

describe("a whole body that is a scalar", () => {
  it("is complete JSON", () => {
    const scalars = [
      "true",
      "false",
      "null",
      "0",
      "12",
      "-1.5e+3",
      "1E9",
      '"text"',
      '"error"',
      '""',
      " 12\n",
      "true\r\n",
    ];
    for (let i = 0; i < scalars.length; i++) expect(body(scalars[i])).toBe("complete whole", scalars[i]);
  });

  it("isn't when it is cut or no JSON", () => {
    const others = ["tru", "truefalse", "12a", "-", "1.", "1e", "01", ".5", "+1", "1 2", "null null", "NaN"];
    for (let i = 0; i < others.length; i++) expect(body(others[i])).toBe("text:" + others[i], others[i]);
    expect(body('"tex')).toBe("");
    expect(body('"tex\\"')).toBe("");
    expect(body("1".repeat(600))).toBe("text:" + "1".repeat(512));
  });
});
