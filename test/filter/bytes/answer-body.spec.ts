import { bodyFacts } from "./support";

function completion(message: string, finish: string = '"stop"'): string {
  return (
    '{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":' +
    message +
    ',"finish_reason":' +
    finish +
    '}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}'
  );
}

const GOOD = "token finish complete prompt:12 completion:3";
const EMPTY = "finish complete prompt:12 completion:3";

describe("an answer in one piece", () => {
  it("has a token when it has text, reasoning or a tool call", () => {
    expect(bodyFacts(completion('{"role":"assistant","content":"Hi"}'))).toBe(GOOD);
    expect(bodyFacts(completion('{"role":"assistant","content":null,"reasoning_content":"Hm"}'))).toBe(GOOD);
    expect(bodyFacts(completion('{"content":[{"type":"text","text":"Hi"}]}'))).toBe(GOOD);
    expect(
      bodyFacts(
        completion('{"content":null,"tool_calls":[{"id":"t","function":{"name":"f","arguments":"{}"}}]}'),
      ),
    ).toBe(GOOD);
    expect(
      bodyFacts('{"object":"text_completion","choices":[{"index":0,"text":"Hi","finish_reason":"length"}]}'),
    ).toBe("token finish complete");
  });

  it("has none when it is empty", () => {
    expect(bodyFacts(completion('{"role":"assistant","content":""}'))).toBe(EMPTY);
    expect(bodyFacts(completion('{"role":"assistant","content":null,"tool_calls":[]}'))).toBe(EMPTY);
    expect(bodyFacts('{"choices":[]}')).toBe("complete");
    expect(bodyFacts("{}")).toBe("complete");
  });

  it("tells an abnormal finish", () => {
    expect(bodyFacts(completion('{"content":"Hi"}', '"abort"'))).toBe(
      "token abnormal complete prompt:12 completion:3",
    );
  });

  it("is not complete when it was cut", () => {
    const whole = completion('{"role":"assistant","content":"Hi"}');
    for (let length = whole.length - 1; length > 0; length -= 7) {
      const facts = bodyFacts(whole.substring(0, length));
      expect(facts.includes("complete")).toBe(false);
      expect(facts.includes("token")).toBe(false);
    }
  });

  it("may have blank lines before it (DeepSeek) and anything behind it", () => {
    expect(bodyFacts("\n\n\r\n  \n" + completion('{"content":"Hi"}') + "\n")).toBe(GOOD);
    expect(bodyFacts("\ufeff" + completion('{"content":"Hi"}') + "}}garbage")).toBe(GOOD);
    expect(bodyFacts("\n\n\n")).toBe("");
  });

  it("isn't complete when it is broken", () => {
    expect(bodyFacts('{"choices":[{"message":{"content":"Hi"}}}')).toBe("");
    expect(bodyFacts('{"choices":[{"message":{"content":"Hi"},}]}')).toBe("");
    expect(bodyFacts('{"usage":{"prompt_tokens":-1,"completion_tokens":1e9}}')).toBe("complete");
    expect(bodyFacts('{"usage":{"prompt_tokens":' + "7".repeat(400) + "}}")).toBe(
      "complete prompt:2147483647",
    );
  });

  it("is looked into down to a depth that no answer has, and skipped below", () => {
    expect(bodyFacts("[".repeat(14) + '{"error":"x"}' + "]".repeat(14))).toBe("error complete text:x");
    expect(bodyFacts("[".repeat(15) + '{"error":"x"}' + "]".repeat(15))).toBe("complete");
    expect(bodyFacts("[".repeat(40) + '{"error":"x"}' + "]".repeat(40))).toBe("complete");
  });

  it("survives deep nesting and a huge string", () => {
    const deep = 100_000;
    expect(bodyFacts("[".repeat(deep))).toBe("");
    expect(bodyFacts("[".repeat(deep) + "]".repeat(deep))).toBe("complete");
    expect(bodyFacts('{"choices":' + '[{"message":'.repeat(2000))).toBe("");
    expect(bodyFacts(completion('{"content":"' + '\\"\\\\'.repeat(1 << 16) + '"}'))).toBe(GOOD);
    expect(bodyFacts(completion('{"content":"' + "x".repeat(1 << 20) + '"}'))).toBe(GOOD);
  });
});

describe("an error body", () => {
  it("vLLM, OpenAI, llama.cpp: an error object", () => {
    expect(
      bodyFacts(
        '{"error":{"message":"EngineCore encountered an issue.","type":"InternalServerError","param":null,"code":500}}',
      ),
    ).toBe("error complete code:500 text:EngineCore encountered an issue.");
    expect(
      bodyFacts(
        '{"error":{"message":"Rate limit","type":"requests","param":null,"code":"rate_limit_exceeded"}}',
      ),
    ).toBe("error complete text:Rate limit");
    expect(bodyFacts('{"error":{"code":"429","message":"Too many"}}')).toBe(
      "error complete code:429 text:Too many",
    );
    expect(bodyFacts('{"error":{"x":null}}')).toBe("error complete");
  });

  it("vLLM of old, SGLang, LMDeploy, TensorRT-LLM: flat", () => {
    expect(
      bodyFacts(
        '{"object":"error","message":"Internal server error: Scheduler hit an exception","type":"InternalServerError","param":null,"code":500}',
      ),
    ).toBe("error complete code:500 text:Internal server error: Scheduler hit an exception");
    expect(
      bodyFacts(
        '{"message":"The inference engine is unavailable.","type":"server_error","code":503,"object":"error"}',
      ),
    ).toBe("error complete code:503 text:The inference engine is unavailable.");
  });

  it("TGI, Triton, vLLM's 401: a string", () => {
    expect(bodyFacts('{"error":"Model is overloaded","error_type":"overloaded"}')).toBe(
      "error complete text:Model is overloaded",
    );
    expect(bodyFacts('{"error":"Unauthorized"}')).toBe("error complete text:Unauthorized");
  });

  it("Anthropic and Gemini: typed, and inside an array", () => {
    expect(
      bodyFacts(
        '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}',
      ),
    ).toBe("error complete text:Overloaded");
    expect(bodyFacts('[{"error":{"code":503,"message":"Busy","status":"UNAVAILABLE"}}]')).toBe(
      "error complete code:503 text:Busy",
    );
  });

  it("is no error without an error's marks, but its text is there for a status that says so", () => {
    expect(bodyFacts('{"detail":"Stub process is gone"}')).toBe("complete text:Stub process is gone");
    expect(bodyFacts('{"message":"Rate limit exceeded","type":"rate_limited","code":"1300"}')).toBe(
      "complete text:Rate limit exceeded",
    );
    expect(bodyFacts('{"error":null,"choices":[]}')).toBe("complete");
    expect(bodyFacts('{"error":false,"x":0}')).toBe("complete");
    expect(bodyFacts('{"error":""}')).toBe("complete");
    expect(bodyFacts('{"error":[]}')).toBe("complete");
    expect(bodyFacts('{"error":{}}')).toBe("complete");
  });

  it("keeps the raw start of a body that is no JSON", () => {
    expect(bodyFacts("LLM is unavailable. Please check the server logs for more details.")).toBe(
      "text:LLM is unavailable. Please check the server logs for more details.",
    );
    expect(bodyFacts("\n<html>502</html>")).toBe("text:<html>502</html>");
    expect(bodyFacts("x".repeat(2000))).toBe("text:" + "x".repeat(512));
  });

  it("keeps 512 bytes of a message, and no half of an escaped character", () => {
    const text = "x".repeat(511);
    expect(bodyFacts('{"error":{"message":"' + text + '\\u00e9\\u00e9x"}}')).toBe(
      "error complete text:" + text,
    );
    expect(bodyFacts('{"error":{"message":"' + text + '\\/\\/\\/"}}')).toBe(
      "error complete text:" + text + "/",
    );
    expect(bodyFacts('{"error":{"message":"' + "\\ud83d\\ude00".repeat(200) + '"}}')).toBe(
      "error complete text:" + "😀".repeat(128),
    );
  });

  it("keeps the text of an error of which the end was cut off", () => {
    expect(bodyFacts('{"error":{"message":"CUDA error: an illegal memory acc')).toBe(
      "error text:CUDA error: an illegal memory acc",
    );
  });

  it("does not take nested errors or echoed requests for errors", () => {
    expect(bodyFacts('{"choices":[{"error":{"message":"x"}}],"metadata":{"error":{"message":"y"}}}')).toBe(
      "complete",
    );
    expect(bodyFacts('{"choices":[{"message":{"content":"{\\"error\\":{\\"message\\":\\"z\\"}}"}}]}')).toBe(
      "token complete",
    );
  });
});
