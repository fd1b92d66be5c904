import { SseReader } from "../../../filter/bytes/sse";
import { streamFacts } from "./support";

const TOKEN = '{"choices":[{"delta":{"content":"Hi"}}]}';

describe("the framing of an event stream", () => {
  it("fits into the room that the answer reader has for it", () => {
    expect(offsetof<SseReader>()).toBeLessThanOrEqual(56);
  });

  it("takes LF, CRLF, CR and mixtures of them", () => {
    const ends: string[] = ["\n", "\r\n", "\r"];
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 3; j++) {
        const first = ends[i];
        // A CR and an LF that follows it are one line end, not two.
        if (first === "\r" && ends[j] === "\n") continue;
        const body = "data: " + TOKEN + first + ends[j] + "data: [DONE]" + first + ends[j];
        expect(streamFacts(body)).toBe("token done events:1");
      }
    }
    expect(streamFacts("data: " + TOKEN + "\r\ndata: [DONE]\r\n\n")).toBe("token done events:1");
  });

  it("keeps an event of several lines together, whatever ends them", () => {
    const ends: string[] = ["\n", "\r\n", "\r"];
    for (let i = 0; i < 3; i++) {
      const body =
        "event: error" +
        ends[i] +
        'data: {"code":' +
        ends[i] +
        'data: 7,"message":"boom"}' +
        ends[i] +
        ends[i];
      expect(streamFacts(body)).toBe("error code:7 events:1 text:boom");
    }
  });

  it("takes data: with and without a blank, other fields, comments and a byte order mark", () => {
    expect(streamFacts("data:" + TOKEN + "\n\n")).toBe("token events:1");
    expect(streamFacts("data:  " + TOKEN + "\n\n")).toBe("token events:1");
    expect(streamFacts("id: 7\nretry: 10\nevent: message\n: hm\ndata: " + TOKEN + "\n\n")).toBe(
      "token events:1",
    );
    expect(streamFacts("\ufeffdata: " + TOKEN + "\n\n")).toBe("token events:1");
    expect(streamFacts("\n\n\r\n\r\ndata: " + TOKEN + "\n\n")).toBe("token events:1");
  });

  it("does not take other fields for data", () => {
    expect(streamFacts("datum: " + TOKEN + "\n\n")).toBe("");
    expect(streamFacts(" data: " + TOKEN + "\n\n")).toBe("");
    expect(streamFacts("data : " + TOKEN + "\n\n")).toBe("");
    expect(streamFacts("xdata: " + TOKEN + "\n\n")).toBe("");
    expect(streamFacts("dat\u0001a: " + TOKEN + "\n\n")).toBe("");
    expect(streamFacts(": data: " + TOKEN + "\n\n")).toBe("");
    expect(streamFacts(TOKEN + "\n\n")).toBe("");
    // A byte order mark belongs to the first line only.
    expect(streamFacts("\n\ufeffdata: " + TOKEN + "\n\n")).toBe("");
    expect(streamFacts("\ufeff\ufeffdata: " + TOKEN + "\n\n")).toBe("");
    expect(streamFacts("id: \ufeffdata: " + TOKEN + "\n\n")).toBe("");
  });

  it("joins several data lines of one event", () => {
    expect(streamFacts('data: {"choices":[\ndata: {"delta":\ndata:{"content":"Hi"}}]}\n\n')).toBe(
      "token events:1",
    );
    expect(streamFacts("data: " + TOKEN + "\ndata\ndata:\n\n")).toBe("token events:1");
    expect(streamFacts("data\n\n")).toBe("events:1");
    expect(streamFacts("data:\n\n")).toBe("events:1");
  });

  it("reads events that are parted by one line end only, as some servers send them", () => {
    expect(streamFacts("data: " + TOKEN + "\ndata: " + TOKEN + "\ndata: [DONE]\n")).toBe(
      "token done events:2",
    );
  });

  it("takes event: error for an error, whatever its data", () => {
    expect(streamFacts('event: error\ndata: {"type":"error","code":"500","message":"boom"}\n\n')).toBe(
      "error code:500 events:1 text:boom",
    );
    expect(streamFacts('data: {"message":"boom"}\nevent:error\n\n')).toBe("error events:1 text:boom");
    expect(streamFacts("event: error\ndata: it broke\n\n")).toBe("error events:1 text:it broke");
    expect(
      streamFacts(
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      ),
    ).toBe("error events:1 text:Overloaded");
    expect(streamFacts("event: error")).toBe("error");
    expect(streamFacts("event: error\nevent: message\ndata: {}\n\n")).toBe("events:1");
    expect(streamFacts("event: errors\ndata: {}\n\n")).toBe("events:1");
    expect(streamFacts("event: error\n\ndata: " + TOKEN + "\n\n")).toBe("token error events:1");
  });

  it("counts the last event without its blank line", () => {
    expect(streamFacts("data: " + TOKEN + "\n\ndata: [DONE]")).toBe("token done events:1");
    expect(streamFacts("data: " + TOKEN)).toBe("token events:1");
    expect(streamFacts("data: [DON")).toBe("events:1");
  });

  it("takes only [DONE] for the end", () => {
    expect(streamFacts("data: [DONE] \n\n")).toBe("done");
    expect(streamFacts("data:[DONE]\n\n")).toBe("done");
    expect(streamFacts("data: DONE\n\n")).toBe("events:1");
    expect(streamFacts("data: [DONEDONEDONE]\n\n")).toBe("events:1");
    expect(streamFacts("data: [NOTDONE]\n\n")).toBe("events:1");
    expect(streamFacts('data: ["DONE"]\n\n')).toBe("events:1");
    expect(streamFacts("data: [[DONE]]\n\n")).toBe("events:1");
    expect(streamFacts('data: {"choices":[{"delta":{"content":"data: [DONE]"}}]}\n\n')).toBe(
      "token events:1",
    );
  });

  it("needs no more memory for a long line than for a short one", () => {
    const long = "x".repeat(1 << 18);
    expect(streamFacts(": " + long + "\n\ndata: " + TOKEN + "\n\n")).toBe("token events:1");
    expect(streamFacts(long + "\n" + long + ": 1\ndata: " + TOKEN + "\n\n")).toBe("token events:1");
    expect(streamFacts('data: {"choices":[{"delta":{"content":"' + long + '"}}]}\n\n')).toBe(
      "token events:1",
    );
  });
});
