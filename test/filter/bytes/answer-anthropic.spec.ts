import { wholeFacts } from "./support";

function stream(body: string): string {
  return wholeFacts(body, true);
}

function body(text: string): string {
  return wholeFacts(text, false);
}

function event(type: string, rest: string): string {
  return "event: " + type + '\ndata: {"type":"' + type + '"' + rest + "}\n\n";
}

function delta(fields: string): string {
  return event("content_block_delta", ',"index":0,"delta":{' + fields + "}");
}

const START =
  event(
    "message_start",
    ',"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"cache_creation":{"input_tokens":7},"output_tokens":1}}',
  ) +
  event("content_block_start", ',"index":0,"content_block":{"type":"text","text":""}') +
  event("ping", "");
const TEXT = delta('"type":"text_delta","text":"Hello"');
const STOP = event("content_block_stop", ',"index":0');
const FINISH = event(
  "message_delta",
  ',"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}',
);
const END = event("message_stop", "");

describe("Anthropic Messages, streamed", () => {
  it("text, finish and end; the cached prompt counts, the usage is cumulative", () => {
    expect(stream(START + TEXT + STOP + FINISH + END)).toBe(
      "token finish done prompt:1125 completion:15 events:7 whole",
    );
  });

  it("has no token before the first delta with text, thought or input", () => {
    expect(stream(START)).toBe("prompt:1125 completion:1 events:3");
    expect(stream(delta('"type":"text_delta","text":""'))).toBe("events:1");
    expect(stream(delta('"type":"signature_delta","signature":"EqQB"'))).toBe("events:1");
    expect(stream(delta('"type":"citations_delta","citation":{"text":"x"}'))).toBe("events:1");
    expect(
      stream(
        event("content_block_start", ',"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}'),
      ),
    ).toBe("events:1");
    expect(stream(TEXT)).toBe("token events:1");
    expect(stream(delta('"type":"thinking_delta","thinking":"Hm"'))).toBe("token events:1");
    expect(stream(delta('"type":"input_json_delta","partial_json":"{\\"a\\":"'))).toBe("token events:1");
  });

  it("is whole with a stop reason or with message_stop, cut without both", () => {
    expect(stream(START + TEXT + STOP)).toBe("token prompt:1125 completion:1 events:5");
    expect(stream(TEXT + FINISH)).toBe("token finish completion:15 events:2 whole");
    expect(stream(TEXT + END)).toBe("token done events:2 whole");
    expect(stream(START + END)).toBe("done prompt:1125 completion:1 events:4");
  });

  it("has stop reasons of all sorts", () => {
    const reasons = ["max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"];
    for (let i = 0; i < reasons.length; i++) {
      expect(stream(event("message_delta", ',"delta":{"stop_reason":"' + reasons[i] + '"}'))).toBe(
        "finish events:1 whole",
        reasons[i],
      );
    }
    expect(stream(event("message_delta", ',"delta":{"stop_reason":"abort"}') + END)).toBe(
      "abnormal done events:2",
    );
  });

  it("keeps the prompt's size when a later usage knows less of it", () => {
    expect(
      stream(
        START +
          event(
            "message_delta",
            ',"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":9}',
          ),
      ),
    ).toBe("finish prompt:1125 completion:9 events:4 whole");
    expect(
      stream(
        event(
          "message_delta",
          ',"usage":{"cache_read_input_tokens":2147483647,"input_tokens":5,"output_tokens":2}',
        ),
      ),
    ).toBe("prompt:2147483647 completion:2 events:1");
  });

  it("fails by an error event after 200", () => {
    expect(
      stream(
        START +
          'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      ),
    ).toBe("error prompt:1125 completion:1 events:4 text:Overloaded");
    // llama.cpp on this route: the bare object.
    expect(
      stream('event: error\ndata: {"code":500,"message":"Compute error.","type":"server_error"}\n\n'),
    ).toBe("error code:500 events:1 text:Compute error.");
    expect(
      stream(
        'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"Spend limit","details":{"error_code":"enforced_spend_limit_reached"}}}\n\n',
      ),
    ).toBe("error kind:quota events:1 text:Spend limit");
  });
});

describe("Anthropic Messages in one piece", () => {
  it("has text, thought or a tool's call", () => {
    expect(
      body(
        '{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"x"},{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":12,"cache_read_input_tokens":3,"output_tokens":6}}',
      ),
    ).toBe("token finish complete prompt:15 completion:6 whole");
    expect(
      body(
        '{"type":"message","content":[{"type":"tool_use","id":"t","name":"f","input":{"text":"x"}}],"stop_reason":"tool_use"}',
      ),
    ).toBe("token finish complete whole");
    expect(body('{"type":"message","content":[],"stop_reason":"refusal"}')).toBe("finish complete whole");
  });

  it("tells its errors", () => {
    expect(
      body(
        '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"},"request_id":"r"}',
      ),
    ).toBe("error complete kind:context text:prompt is too long: 210000 tokens > 200000 maximum");
    expect(body('{"type":"error","error":{"type":"billing_error","message":"Pay."}}')).toBe(
      "error complete kind:quota text:Pay.",
    );
  });
});
