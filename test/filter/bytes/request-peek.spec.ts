import { RequestPeek } from "../../../filter/bytes/request-peek";
import { peekFacts } from "./support";

describe("the request peek", () => {
  it("fits into 512 bytes", () => {
    expect(offsetof<RequestPeek>()).toBeLessThanOrEqual(512);
  });

  it("reads model, stream, max_tokens and n wherever they stand", () => {
    expect(
      peekFacts(
        '{"model":"qwen3-32b","messages":[{"role":"user","content":"hi"}],"stream":true,"max_tokens":64,"n":2}',
      ),
    ).toBe("model:qwen3-32b stream:1 max:64 n:2 complete");
    expect(
      peekFacts('{\r\n\t"n" : 1 ,\n "max_tokens" :7, "stream" : false, "messages":[] , "model" : "a" }\n'),
    ).toBe("model:a stream:0 max:7 n:1 complete");
  });

  it("tells absent values from given ones", () => {
    expect(peekFacts("{}")).toBe("complete");
    expect(peekFacts('{"model":null,"stream":null,"max_tokens":null,"n":null}')).toBe("complete");
    expect(peekFacts('{"model":""}')).toBe("model: complete");
    expect(peekFacts('{"max_tokens":0}')).toBe("max:0 complete");
  });

  it("prefers max_completion_tokens, whichever comes first", () => {
    expect(peekFacts('{"max_completion_tokens":5,"max_tokens":9}')).toBe("max:5 complete");
    expect(peekFacts('{"max_tokens":9,"max_completion_tokens":5}')).toBe("max:5 complete");
    expect(peekFacts('{"max_tokens":9,"max_completion_tokens":null}')).toBe("max:9 complete");
  });

  it("takes the last of equal keys, as the servers' parsers do", () => {
    expect(
      peekFacts('{"stream":true,"stream":false,"model":"a","model":"bc","max_tokens":1,"max_tokens":2}'),
    ).toBe("model:bc ambiguous stream:0 max:2 complete");
    expect(peekFacts('{"model":"a","model":null,"stream":true,"stream":{"x":true},"n":3,"n":[4]}')).toBe(
      "ambiguous complete",
    );
  });

  it("tells when two keys name different models, however they are spelt and wherever they stand", () => {
    expect(peekFacts('{"model":"a","n":1,"model":"b"}')).toBe("model:b ambiguous n:1 complete");
    expect(peekFacts('{"model":"a","messages":[{"x":[]}],"mod\\u0065l":"b"}')).toBe(
      "model:b ambiguous complete",
    );
    expect(peekFacts('{"\\u006d\\u006fdel":"b","model":"a"}')).toBe("model:a ambiguous complete");
    expect(peekFacts('{"model":"a","model":{"b":1}}')).toBe("ambiguous complete");
    expect(peekFacts('{"model":["a"],"model":"a"}')).toBe("model:a ambiguous complete");
    expect(peekFacts('{"model":"a","model":"ab"}')).toBe("model:ab ambiguous complete");
    expect(peekFacts('{"model":"ab","model":"a"}')).toBe("model:a ambiguous complete");
    expect(peekFacts('{"model":"a","model":"b","model":"a"}')).toBe("model:a ambiguous complete");
    expect(peekFacts('{"model":"a","model":"b","model":"b"}')).toBe("model:b ambiguous complete");
    expect(peekFacts('{"model":"a","model":"b"')).toBe("model:b ambiguous");
    expect(peekFacts('{"model":"a","model":"b"]')).toBe("model:b ambiguous malformed");
  });

  it("takes keys of other letter case for rivals only: not every server reads them", () => {
    expect(peekFacts('{"model":"a","Model":"b"}')).toBe("model:b ambiguous complete");
    expect(peekFacts('{"MODEL":"b","model":"a"}')).toBe("model:a ambiguous complete");
    expect(peekFacts('{"MODEL":"a","model":"a"}')).toBe("model:a complete");
    expect(peekFacts('{"Model":"a"}')).toBe("model:a unnamed complete");
  });

  it("minds no equal values, and none that name nothing", () => {
    expect(peekFacts('{"model":"a/b","mod\\u0065l":"\\u0061\\/b"}')).toBe("model:a/b complete");
    expect(peekFacts('{"model":"a","model":"a","model":"a"}')).toBe("model:a complete");
    expect(peekFacts('{"model":"","model":""}')).toBe("model: complete");
    expect(peekFacts('{"model":null,"model":{"x":1}}')).toBe("complete");
    expect(peekFacts('{"model":"a","models":"b","x":{"model":"b"},"messages":[{"model":"c"}]}')).toBe(
      "model:a complete",
    );
  });

  it("cannot tell equal names that are too long", () => {
    const long = "m".repeat(129);
    expect(peekFacts('{"model":"' + long + '","model":"' + long + '"}')).toBe(
      "model:" + "m".repeat(128) + " truncated ambiguous complete",
    );
    const longest = "m".repeat(128);
    expect(peekFacts('{"model":"' + longest + '","model":"' + longest + '"}')).toBe(
      "model:" + longest + " complete",
    );
    expect(peekFacts('{"model":"' + longest + '","model":"' + "m".repeat(127) + 'x"}')).toBe(
      "model:" + "m".repeat(127) + "x ambiguous complete",
    );
  });

  it("takes no wide characters for JSON: what a server makes of them reads otherwise as bytes", () => {
    expect(peekFacts('{\0"\0x\0"\0:\0"\0","model":"a","y":"z"\0}\0')).toBe("malformed");
    expect(peekFacts('\0{\0"model":"a"}')).toBe("malformed");
    expect(peekFacts('{"model":"a"\0}')).toBe("model:a malformed");
  });

  it("looks at the top level only", () => {
    expect(
      peekFacts(
        '{"messages":[{"model":"x","stream":true,"content":"{\\"model\\":\\"y\\",\\"stream\\":true}"}],"tools":[[[{"n":9}]]],"extra":{"max_tokens":3}}',
      ),
    ).toBe("complete");
    expect(peekFacts('{"model":["x"],"stream":[true],"max_tokens":{"v":1}}')).toBe("complete");
    expect(peekFacts('{"models":"x","mode":"y","xmodel":"z","stream ":true}')).toBe("complete");
  });

  it("decodes escapes in keys and in the model's name", () => {
    expect(peekFacts('{"\\u006dodel":"a\\u002fb\\/c\\"d\\\\e\\n"}')).toBe('model:a/b/c"d\\e\n complete');
    expect(peekFacts('{"model":"\\u00e9\\u20ac\\ud83d\\ude00"}')).toBe("model:é€😀 complete");
    expect(peekFacts('{"model":"é€😀"}')).toBe("model:é€😀 complete");
    expect(peekFacts('{"model":"\\ud83dx\\ude00\\u12g4"}')).toBe("model:\ufffdx\ufffd\ufffdg4 complete");
    expect(peekFacts('{"model":"\\ud83d"}')).toBe("model:\ufffd complete");
  });

  it("keeps 128 bytes of the model and says when there were more", () => {
    expect(peekFacts('{"model":"' + "m".repeat(128) + '"}')).toBe("model:" + "m".repeat(128) + " complete");
    expect(peekFacts('{"model":"' + "m".repeat(129) + '"}')).toBe(
      "model:" + "m".repeat(128) + " truncated complete",
    );
    expect(peekFacts('{"model":"' + "m".repeat(127) + '\\u20acx"}')).toBe(
      "model:" + "m".repeat(127) + " truncated complete",
    );
    for (let size = 125; size < 128; size++) {
      const model = "m".repeat(size);
      const kept = size === 125 ? model + "€" : model;
      expect(peekFacts('{"model":"' + model + "\\u20ac".repeat(50) + 'x"}')).toBe(
        "model:" + kept + " truncated complete",
      );
    }
    expect(peekFacts('{"model":"' + "m".repeat(300) + '","model":"a"}')).toBe("model:a ambiguous complete");
  });

  it("clamps numbers and takes none for a count that isn't one", () => {
    expect(peekFacts('{"max_tokens":2147483647}')).toBe("max:2147483647 complete");
    expect(peekFacts('{"max_tokens":2147483648}')).toBe("max:2147483647 complete");
    expect(peekFacts('{"max_tokens":' + "9".repeat(400) + "}")).toBe("max:2147483647 complete");
    expect(peekFacts('{"max_tokens":12.75}')).toBe("max:12 complete");
    expect(peekFacts('{"max_tokens":-5}')).toBe("complete");
    expect(peekFacts('{"max_tokens":1e3}')).toBe("complete");
    expect(peekFacts('{"max_tokens":"12","n":true,"stream":"true"}')).toBe("complete");
  });

  it("is not complete before the object is closed", () => {
    expect(peekFacts('{"model":"a","stream":true,')).toBe("model:a stream:1");
    // More digits may follow.
    expect(peekFacts('{"model":"a","max_tokens":12')).toBe("model:a");
    expect(peekFacts('{"model":"a')).toBe("");
    expect(peekFacts("")).toBe("");
    expect(peekFacts("  ")).toBe("");
  });

  it("calls what is no JSON object malformed, and keeps what it knew", () => {
    expect(peekFacts("[]")).toBe("malformed");
    expect(peekFacts('[{"model":"a"}]')).toBe("malformed");
    expect(peekFacts('"model"')).toBe("malformed");
    expect(peekFacts("12 ")).toBe("malformed");
    expect(peekFacts("null ")).toBe("malformed");
    expect(peekFacts("model=a&stream=true")).toBe("malformed");
    expect(peekFacts('{"model":"a",}')).toBe("model:a malformed");
    expect(peekFacts('{"model" "a"}')).toBe("malformed");
    expect(peekFacts('{"model":"a" "stream":true}')).toBe("model:a malformed");
    expect(peekFacts('{"stream":True}')).toBe("malformed");
    expect(peekFacts('{"stream":true]')).toBe("stream:1 malformed");
    expect(peekFacts("{model:1}")).toBe("malformed");
  });

  it("ignores what follows the object and a byte order mark before it", () => {
    expect(peekFacts('{"n":1} {"n":2}')).toBe("n:1 complete");
    expect(peekFacts('{"n":1}]]}}')).toBe("n:1 complete");
    expect(peekFacts('\ufeff{"n":1}')).toBe("n:1 complete");
  });

  it("survives deep nesting, a huge string and keys of any length", () => {
    const deep = 100_000;
    expect(peekFacts('{"a":' + "[".repeat(deep) + "]".repeat(deep) + ',"n":4}')).toBe("n:4 complete");
    expect(peekFacts('{"a":' + '{"b":['.repeat(3000) + "]}".repeat(3000) + ',"n":4}')).toBe("n:4 complete");
    expect(peekFacts('{"a":"' + "x".repeat(1 << 20) + '","n":5}')).toBe("n:5 complete");
    expect(peekFacts('{"' + "k".repeat(5000) + '":1,"n":6}')).toBe("n:6 complete");
    expect(peekFacts('{"max_completion_tokens' + " ".repeat(40) + '":1}')).toBe("complete");
  });

  it("isn't misled by quotes, brackets and backslashes inside strings", () => {
    expect(peekFacts('{"a":"]}\\"}],\\\\","n":1,"b":["\\\\\\"]","{"],"stream":true}')).toBe(
      "stream:1 n:1 complete",
    );
    expect(peekFacts('{"a":[["\\\\"],"\\"",{"\\"}":"{"}],"n":2}')).toBe("n:2 complete");
  });
});
