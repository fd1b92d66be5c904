import { AnswerReader, feedAnswer, resetAnswer } from "../../../filter/bytes/answer";
import { FACTS_SIZE, isBetweenEvents } from "../../../filter/bytes/answer-facts";
import { guarded } from "../../fuzz/filter/guard-words";
import { changeReader } from "./support";

const answer = changetype<AnswerReader>(guarded(offsetof<AnswerReader>()));

function feed(text: string): void {
  const bytes = String.UTF8.encode(text);
  feedAnswer(answer, changetype<usize>(bytes), bytes.byteLength);
}

function isFreeAfter(text: string): bool {
  resetAnswer(answer, true);
  feed(text);
  return isBetweenEvents(answer);
}

const TOKEN = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';

// That a stream tells the same when its reader changes wherever it may is tested with every stream of the other files (support.ts).
describe("a reader may be given back", () => {
  it("before the first event, and behind each", () => {
    expect(isFreeAfter("")).toBe(true);
    expect(isFreeAfter(TOKEN)).toBe(true);
    expect(isFreeAfter(TOKEN + ": ping\n\n")).toBe(true);
    expect(isFreeAfter("\ufeff" + TOKEN.replaceAll("\n", "\r"))).toBe(true);
    expect(isFreeAfter(TOKEN + "event: message\n")).toBe(true);
    expect(isFreeAfter(TOKEN + "data: [DONE]\n\n")).toBe(true);
  });

  it("never in one", () => {
    for (let cut = 1; cut < TOKEN.length; cut++) expect(isFreeAfter(TOKEN + TOKEN.slice(0, cut))).toBe(false);
    expect(isFreeAfter(TOKEN + "data\n")).toBe(false);
    expect(isFreeAfter(TOKEN + "event: error\n")).toBe(false);
    expect(isFreeAfter(TOKEN + "event: mess")).toBe(false);
  });

  it("never with an error, whose text is wanted at the end", () => {
    expect(isFreeAfter('data: {"error":{"message":"gone"}}\n\n')).toBe(false);
    expect(isFreeAfter('data: {"error":{"code":500}}\n\n' + TOKEN)).toBe(false);
  });

  it("never of an answer in one piece", () => {
    resetAnswer(answer, false);
    expect(isBetweenEvents(answer)).toBe(false);
  });

  it("and the next one goes on with what was seen", () => {
    resetAnswer(answer, true);
    feed(TOKEN + 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}\r\n\r');
    expect(changeReader(answer)).toBe(true);
    feed("\ndata: [DO");
    expect(changeReader(answer)).toBe(false);
    feed("NE]\n\n");
    expect(answer.firstToken).toBe(true);
    expect(answer.doneMarkSeen).toBe(true);
    expect(answer.events).toBe(2);
    expect(answer.promptTokens).toBe(7);
    expect(answer.completionTokens).toBe(2);
    expect(FACTS_SIZE).toBeLessThan(64);
  });
});
