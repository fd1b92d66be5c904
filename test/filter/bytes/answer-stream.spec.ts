import { AnswerReader } from "../../../filter/bytes/answer";
import { streamFacts } from "./support";

const HEAD = '{"id":"c1","object":"chat.completion.chunk","created":1764460000,"model":"m","choices":[';

/** One event with one choice. */
function chunk(delta: string, finish: string = "null"): string {
  return (
    "data: " + HEAD + '{"index":0,"delta":' + delta + ',"logprobs":null,"finish_reason":' + finish + "}]}\n\n"
  );
}

const DONE = "data: [DONE]\n\n";

describe("the first token of a stream", () => {
  it("is the first non-empty text, reasoning, refusal or tool call", () => {
    expect(streamFacts(chunk('{"content":"Hi"}'))).toBe("token events:1");
    expect(streamFacts(chunk('{"reasoning_content":"Hm"}'))).toBe("token events:1");
    expect(streamFacts(chunk('{"reasoning":"Hm"}'))).toBe("token events:1");
    expect(streamFacts(chunk('{"refusal":"No"}'))).toBe("token events:1");
    expect(streamFacts(chunk('{"content":" "}'))).toBe("token events:1");
    expect(streamFacts(chunk('{"content":"\\n"}'))).toBe("token events:1");
    expect(
      streamFacts(chunk('{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":""}}]}')),
    ).toBe("token events:1");
    expect(streamFacts(chunk('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a\\":1"}}]}'))).toBe(
      "token events:1",
    );
    expect(streamFacts(chunk('{"content":[{"type":"text","text":"Hi"}]}'))).toBe("token events:1");
    expect(streamFacts('data: {"choices":[{"index":0,"text":"Hi"}]}\n\n')).toBe("token events:1");
  });

  it("may be in any choice, part or tool call", () => {
    expect(
      streamFacts('data: {"choices":[{"index":0,"delta":{}},{"index":1,"delta":{"content":"Hi"}}]}\n\n'),
    ).toBe("token events:1");
    expect(streamFacts(chunk('{"content":[{"type":"image"},{"type":"text","text":"Hi"}]}'))).toBe(
      "token events:1",
    );
    expect(streamFacts(chunk('{"content":["",null,"Hi"]}'))).toBe("token events:1");
    expect(streamFacts(chunk('{"tool_calls":[{"index":0},{"index":1,"function":{"name":"f"}}]}'))).toBe(
      "token events:1",
    );
  });

  it("is none of: role only, empty, null, no choices, annotations", () => {
    expect(streamFacts(chunk('{"role":"assistant","content":""}'))).toBe("events:1");
    expect(streamFacts(chunk('{"role":"assistant","content":null}'))).toBe("events:1");
    expect(streamFacts(chunk('{"role":"assistant"}'))).toBe("events:1");
    expect(streamFacts(chunk("{}"))).toBe("events:1");
    expect(streamFacts(chunk("null"))).toBe("events:1");
    expect(streamFacts(chunk('{"tool_calls":[]}'))).toBe("events:1");
    expect(
      streamFacts(chunk('{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":""}}]}')),
    ).toBe("events:1");
    expect(streamFacts(chunk('{"content":[{"type":"text","text":""}]}'))).toBe("events:1");
    expect(streamFacts('data: {"choices":[]}\n\n')).toBe("events:1");
    expect(streamFacts('data: {"choices":[{"index":0,"text":""}]}\n\n')).toBe("events:1");
    expect(streamFacts('data: {"content":"Hi","delta":{"content":"Hi"},"text":"Hi"}\n\n')).toBe("events:1");
    expect(streamFacts(chunk('{"x":{"content":"Hi"}}'))).toBe("events:1");
    expect(streamFacts(": ping\n\n:\n\n: keep-alive\n\nevent: ping\ndata: {}\n\n")).toBe("events:1");
  });

  it("is known when its JSON is closed, not before", () => {
    expect(streamFacts('data: {"choices":[{"delta":{"content":"Hi"}}]')).toBe("events:1");
    expect(streamFacts('data: {"choices":[{"delta":{"content":"Hi"}}]\n\n')).toBe("events:1");
    expect(streamFacts('data: {"choices":[{"delta":{"content":"Hi"}}]}')).toBe("token events:1");
  });

  it("isn't in an event that carries an error", () => {
    expect(
      streamFacts('data: {"choices":[{"delta":{"content":"Hi"}}],"error":{"code":502,"message":"down"}}\n\n'),
    ).toBe("error code:502 events:1 text:down");
  });
});

describe("finish reasons", () => {
  it("any abnormal one of several choices wins, in one event or in several", () => {
    expect(
      streamFacts(
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"abort"},{"index":1,"delta":{},"finish_reason":"stop"}]}\n\n',
      ),
    ).toBe("abnormal events:1");
    expect(streamFacts(chunk("{}", '"error"') + chunk("{}", '"stop"'))).toBe("abnormal events:2");
    expect(streamFacts(chunk("{}", '"tool_calls"') + chunk("{}", '"stop"'))).toBe("finish events:2");
    expect(streamFacts(chunk("{}", '""'))).toBe("events:1");
    expect(streamFacts(chunk("{}", '"aborted_but_long_enough_to_pass_the_room"'))).toBe("finish events:1");
  });
});

describe("the answer reader", () => {
  it("fits into 1280 bytes", () => {
    expect(offsetof<AnswerReader>()).toBeLessThanOrEqual(1280);
  });

  it("takes the word error in a text for text", () => {
    expect(
      streamFacts(
        chunk('{"content":"error: {\\"error\\":{\\"message\\":\\"CUDA error: unknown error\\"}}"}'),
      ),
    ).toBe("token events:1");
    expect(streamFacts(chunk('{"content":"x","error":{"message":"inner"}}'))).toBe("token events:1");
    expect(streamFacts('data: {"error":null,"choices":[{"delta":{"content":"a"}}]}\n\n')).toBe(
      "token events:1",
    );
    expect(streamFacts('data: {"error":"","choices":[]}\n\n')).toBe("events:1");
    expect(streamFacts('data: {"message":"EngineCore encountered an issue","object":"x"}\n\n')).toBe(
      "events:1",
    );
  });

  it("keeps the first error and the first 512 bytes of its text", () => {
    expect(
      streamFacts('data: {"error":{"message":"one"}}\n\ndata: {"error":{"message":"two","code":5}}\n\n'),
    ).toBe("error code:5 events:2 text:one");
    expect(streamFacts('data: {"error":{"message":"' + "é".repeat(300) + '"}}\n\n')).toBe(
      "error events:1 text:" + "é".repeat(256),
    );
    expect(streamFacts('data: {"error":{"message":"a\\n\\"b\\" \\u20ac"}}\n\n')).toBe(
      'error events:1 text:a\n"b" €',
    );
    expect(streamFacts('data: {"message":"beside","error":{"message":"own"}}\n\n')).toBe(
      "error events:1 text:own",
    );
    expect(streamFacts('data: {"error":{"message":"own"},"message":"beside"}\n\n')).toBe(
      "error events:1 text:own",
    );
  });

  it("goes on after an event that is no JSON", () => {
    expect(
      streamFacts("data: hello\n\ndata: {broken\n\ndata: {]\n\n" + chunk('{"content":"Hi"}') + DONE),
    ).toBe("token done events:4");
    expect(streamFacts('data: "text"\n\ndata: 12\n\ndata: null\n\n' + chunk('{"content":"Hi"}'))).toBe(
      "token events:4",
    );
    expect(streamFacts('data: {"choices":[{"delta":{"content":NaN}}]}\n\n')).toBe("events:1");
  });

  it("takes an error of which the end was cut off", () => {
    expect(streamFacts('data: {"error":{"message":"CUDA error: unkn')).toBe(
      "error events:1 text:CUDA error: unkn",
    );
  });
});
