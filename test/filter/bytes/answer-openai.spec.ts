import { wholeFacts } from "./support";

function stream(body: string): string {
  return wholeFacts(body, true);
}

function body(text: string): string {
  return wholeFacts(text, false);
}

/** An event of the Responses API, with its `event:` line. */
function event(type: string, rest: string): string {
  return "event: " + type + '\ndata: {"type":"' + type + '"' + rest + "}\n\n";
}

/** As vLLM writes it: keys sorted, `type` last. */
function sorted(type: string, first: string): string {
  return "event: " + type + "\ndata: {" + first + ',"type":"' + type + '"}\n\n';
}

const RESPONSE =
  '"id":"resp_1","object":"response","created_at":1764460000,"error":null,"incomplete_details":null,"instructions":"error","model":"m"';
const USAGE =
  '"usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":5},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":48}';
const HEAD =
  event(
    "response.created",
    ',"response":{' + RESPONSE + ',"status":"in_progress","output":[],"usage":null}',
  ) +
  event("response.in_progress", ',"response":{' + RESPONSE + ',"status":"in_progress","output":[]}') +
  event(
    "response.output_item.added",
    ',"output_index":0,"item":{"id":"msg_1","status":"in_progress","type":"message","role":"assistant","content":[]}',
  ) +
  event(
    "response.content_part.added",
    ',"item_id":"msg_1","part":{"type":"output_text","text":"","annotations":[]}',
  );
const COMPLETED = event(
  "response.completed",
  ',"response":{' + RESPONSE + ',"status":"completed",' + USAGE + "}",
);

describe("OpenAI Responses, streamed", () => {
  it("has no token before the first delta", () => {
    expect(stream(HEAD)).toBe("events:4");
    expect(stream(HEAD + event("response.output_text.delta", ',"delta":""'))).toBe("events:5");
    expect(stream(HEAD + event("response.output_text.done", ',"text":"Hi"'))).toBe("events:5");
  });

  it("has one with each sort of delta, in either order of keys", () => {
    const types = [
      "response.output_text.delta",
      "response.reasoning_text.delta",
      "response.reasoning_summary_text.delta",
      "response.refusal.delta",
      "response.function_call_arguments.delta",
    ];
    for (let i = 0; i < types.length; i++) {
      expect(stream(event(types[i], ',"item_id":"x","delta":"a"'))).toBe("token events:1", types[i]);
      expect(stream(sorted(types[i], '"content_index":0,"delta":"a"'))).toBe("token events:1", types[i]);
    }
  });

  it("ends by response.completed, without [DONE], and tells the usage there", () => {
    expect(stream(HEAD + event("response.output_text.delta", ',"delta":"Hi"') + COMPLETED)).toBe(
      "token finish done prompt:37 completion:11 events:6 whole",
    );
    expect(stream(HEAD + event("response.output_text.delta", ',"delta":"Hi"'))).toBe("token events:5");
  });

  it("ends by response.incomplete too", () => {
    expect(
      stream(
        HEAD +
          event(
            "response.incomplete",
            ',"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},' +
              USAGE +
              "}",
          ),
      ),
    ).toBe("finish done prompt:37 completion:11 events:5 whole");
  });

  it("fails by response.failed, with or without the error's words", () => {
    expect(
      stream(
        HEAD +
          event(
            "response.failed",
            ',"response":{"id":"resp_1","object":"response","status":"failed","error":{"code":"server_error","message":"The model failed."}}',
          ),
      ),
    ).toBe("error events:5 text:The model failed.");
    expect(stream(HEAD + event("response.failed", ',"response":{"error":null}'))).toBe("error events:5");
    expect(stream(event("response.failed", ',"response":{"error":{"code":"context_length_exceeded"}}'))).toBe(
      "error kind:context events:1",
    );
  });

  it("fails by a flat error event", () => {
    expect(
      stream(
        HEAD +
          'event: error\ndata: {"type":"error","code":"insufficient_quota","message":"No money.","param":null,"sequence_number":3}\n\n',
      ),
    ).toBe("error kind:quota events:5 text:No money.");
    expect(stream('data: {"code":"502","message":"down","type":"error"}\n\n')).toBe(
      "error code:502 events:1 text:down",
    );
  });
});

describe("OpenAI Responses in one piece", () => {
  it("has text, reasoning or a call", () => {
    expect(
      body(
        "{" +
          RESPONSE +
          ',"status":"completed","output":[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}],' +
          USAGE +
          "}",
      ),
    ).toBe("token finish complete prompt:37 completion:11 whole");
    expect(
      body('{"object":"response","output":[{"type":"function_call","name":"f","arguments":"{}"}]}'),
    ).toBe("token complete whole");
    expect(body('{"object":"response","output":[{"summary":[{"type":"summary_text","text":"Hm"}]}]}')).toBe(
      "token complete whole",
    );
    expect(body('{"object":"response","output":[{"content":[{"type":"refusal","refusal":"No"}]}]}')).toBe(
      "token complete whole",
    );
  });

  it("is no failure when it is incomplete or empty, and one when it failed", () => {
    expect(body('{"object":"response","status":"incomplete","output":[]}')).toBe("finish complete whole");
    expect(body('{"object":"response","status":"queued","output":[]}')).toBe("complete whole");
    expect(body('{"object":"response","status":"failed","error":null}')).toBe("error complete");
    expect(body('{"status":"failed","object":"response","error":{"code":"x","message":"m"}}')).toBe(
      "error complete text:m",
    );
    expect(body('{"object":"batch","status":"failed"}')).toBe("complete whole");
  });
});

/** A chat chunk with choices as given. */
function chunk(choices: string): string {
  return 'data: {"object":"chat.completion.chunk","choices":[' + choices + "]}\n\n";
}

function choice(index: i32, finish: string): string {
  return '{"index":' + index.toString() + ',"delta":{"content":"a"},"finish_reason":' + finish + "}";
}

const DONE = "data: [DONE]\n\n";

describe("several choices", () => {
  it("are whole when each one that began has finished", () => {
    const begin = chunk(choice(0, "null")) + chunk(choice(1, "null"));
    expect(stream(begin)).toBe("token events:2");
    expect(stream(begin + chunk(choice(0, '"stop"')))).toBe("token finish events:3");
    expect(stream(begin + chunk(choice(0, '"stop"')) + chunk(choice(1, '"length"')))).toBe(
      "token finish events:4 whole",
    );
    expect(stream(begin + chunk(choice(1, '"stop"') + "," + choice(0, '"stop"')))).toBe(
      "token finish events:3 whole",
    );
    expect(stream(chunk(choice(0, "null") + "," + choice(1, '"stop"')))).toBe("token finish events:1");
    expect(stream(begin + chunk(choice(0, '"stop"')) + DONE)).toBe("token finish done events:3 whole");
  });

  it("may tell their index last, or not at all", () => {
    expect(stream(chunk('{"finish_reason":"stop","delta":{},"index":1},{"index":1}'))).toBe(
      "finish events:1 whole",
    );
    expect(stream(chunk('{"delta":{}}') + chunk('{"finish_reason":"stop"}'))).toBe("finish events:2 whole");
    expect(stream(chunk('{"delta":{}},{"finish_reason":"stop"}'))).toBe("finish events:1");
  });

  it("are not waited for from 32 on, nor when their index is none", () => {
    expect(stream(chunk(choice(31, "null")) + chunk(choice(0, '"stop"')))).toBe("token finish events:2");
    expect(stream(chunk(choice(33, "null")) + chunk(choice(0, '"stop"')))).toBe(
      "token finish events:2 whole",
    );
    expect(stream(chunk(choice(i32.MAX_VALUE, "null") + "," + choice(-1, '"stop"')))).toBe(
      "token finish events:1 whole",
    );
    expect(stream(chunk('{"index":1e3,"finish_reason":"stop"}'))).toBe("finish events:1 whole");
  });

  it("in an event that was cut tell nothing", () => {
    expect(stream(chunk(choice(0, '"stop"')) + 'data: {"choices":[' + choice(1, "null"))).toBe(
      "token finish events:2 whole",
    );
  });
});

describe("chunks that are not as usual", () => {
  it("null where an array or an object should be", () => {
    expect(stream('data: {"choices":null,"usage":null}\n\n')).toBe("events:1");
    expect(stream(chunk("null") + chunk('{"delta":null,"finish_reason":null}'))).toBe("events:2");
  });

  it("values of a wrong type tell nothing", () => {
    const values = ["1", "-1.5e3", "true", "false", "[]", "{}", "[[]]", '[{"a":1}]', "null", '""'];
    const keys = [
      "choices",
      "usage",
      "error",
      "message",
      "delta",
      "content",
      "response",
      "type",
      "object",
      "status",
      "output",
      "token",
      "details",
      "detail",
      "x_groq",
      "code",
      "stop_reason",
      "text_output",
      "eval_count",
      "prompt_eval_count",
    ];
    const allowed = [
      "events:1",

      "code:1 events:1",
      "prompt:1 events:1",
      "completion:1 events:1",
    ];
    for (let i = 0; i < keys.length; i++) {
      for (let j = 0; j < values.length; j++) {
        const facts = stream('data: {"' + keys[i] + '":' + values[j] + "}\n\n");
        const isError = keys[i] === "error" && values[j] === '[{"a":1}]';
        expect(isError ? facts === "error events:1" : allowed.includes(facts)).toBe(
          true,
          keys[i] + ":" + values[j] + " -> " + facts,
        );
      }
    }
    expect(stream(chunk('{"index":"0","delta":[1],"finish_reason":{"stop":1}}'))).toBe("events:1");
    expect(stream(chunk('{"delta":{"content":5,"tool_calls":"x","reasoning":{}}}'))).toBe("events:1");
    expect(stream('data: {"usage":{"prompt_tokens":"9","completion_tokens":[2]}}\n\n')).toBe("events:1");
    expect(stream('data: {"error":{"message":{"a":1},"code":{},"type":7}}\n\n')).toBe("error events:1");
  });

  it("a usage that counts nothing does not undo the one before", () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}\n\n';
    expect(stream(usage + 'data: {"usage":{"prompt_tokens":-1,"completion_tokens":1e2}}\n\n')).toBe(
      "prompt:9 completion:2 events:2",
    );
    expect(stream(usage + 'data: {"usage":{"input_tokens":-20,"output_tokens":3}}\n\n')).toBe(
      "prompt:9 completion:3 events:2",
    );
  });

  it("a malformed one in the middle does not spoil what follows, with one line end or two", () => {
    const good = choice(0, "null");
    const end = chunk(choice(0, '"stop"')) + DONE;
    expect(stream(chunk(good) + 'data: {"choices":[{"delta":{"content":"x\n\n' + end)).toBe(
      "token finish done events:3 whole",
    );
    expect(stream(chunk(good) + 'data: {"choices":[{]\n' + end)).toBe("token finish done events:3 whole");
    expect(stream("data: <html>\n" + end)).toBe("token finish done events:2 whole");
    expect(stream(chunk(good) + "data: error\n\ndata: {error}\n\n" + end)).toBe(
      "token finish done events:4 whole",
    );
  });

  it("a cut one at the end is no end", () => {
    expect(stream(chunk(choice(0, "null")) + 'data: {"choices":[{"index":0,"finish_reason":"stop"')).toBe(
      "token events:2",
    );
  });
});
