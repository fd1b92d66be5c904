import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Answer } from "../../../extproc/messages.js";
import type { Role } from "../../../extproc/role.js";
import { waitFor } from "../../support/wait-for.js";
import { bodyMessage, headersMessage, type StreamClient, settled } from "../support/client.js";
import { Diary, type DiarySettings } from "../support/diary.js";
import { serve, type TestServer } from "../support/grpc.js";
import type { ProcessingRequest } from "../support/processing.js";

const servers: TestServer[] = [];
after(() => {
  for (const server of servers) server.close();
});

async function open(role: Role): Promise<StreamClient> {
  const server = await serve({ test: role });
  servers.push(server);
  return server.client.open("test");
}

async function begin(settings: DiarySettings = {}): Promise<{ diary: Diary; stream: StreamClient }> {
  const diary = new Diary(settings);
  return { diary, stream: await open(diary) };
}

const MORE = { onRequestHeaders: (): Answer => ({ more: true }) };
const requestHeaders = headersMessage({ ":path": "/v1/chat/completions" });
const responseHeaders = (isWhole = false): ProcessingRequest => ({
  response_headers: {
    ...headersMessage({ ":status": "200", "content-type": "a" }).request_headers,
    end_of_stream: isWhole,
  },
});
const responseBody = (text: string, isEnd = false): ProcessingRequest => ({
  response_body: { body: Buffer.from(text), end_of_stream: isEnd },
});
const responseTrailers: ProcessingRequest = { request: "response_trailers", ...{ response_trailers: {} } };

/** Gives the event loop what it needs to deliver whatever is on its way. */
const soon = () => new Promise((resolve) => setTimeout(resolve, 30));

test("shows a job the whole exchange in order, one message at a time, though all come at once", async () => {
  let atWork = 0;
  const slow = async (): Promise<Answer> => {
    assert.equal(++atWork, 1);
    await soon();
    atWork--;
    return { more: true };
  };
  const { diary, stream } = await begin({
    answers: {
      onRequestHeaders: slow,
      onRequestBody: slow,
      onResponseHeaders: slow,
      onResponseBody: slow,
      onResponseTrailers: slow,
    },
  });
  const messages = [
    requestHeaders,
    bodyMessage("hello"),
    responseHeaders(),
    responseBody("a"),
    responseBody("b"),
    responseTrailers,
  ];
  for (const message of messages) stream.call.write(message);
  const kinds = [];
  for await (const answer of stream.call) kinds.push(answer.response);
  assert.deepEqual(kinds, [
    "request_headers",
    "request_body",
    "response_headers",
    "response_body",
    "response_body",
    "response_trailers",
  ]);
  assert.deepEqual(diary.entries, [
    "request headers",
    "request body hello, end",
    "response 200 a",
    "response body a",
    "response body b",
    "response trailers",
  ]);
  assert.equal(diary.ends, 1);
});

test("ends the stream after the request's body, or headers that are all, when the job wants no more", async () => {
  const { diary, stream } = await begin();
  await stream.ask(requestHeaders);
  await stream.ask(bodyMessage("x"));
  assert.ok(await stream.hasEnded());
  assert.equal(diary.ends, 1);

  const get = await begin();
  await get.stream.ask(headersMessage({ ":path": "/v1/models" }, { isWhole: true }));
  assert.ok(await get.stream.hasEnded());
  assert.deepEqual(get.diary.entries, ["request headers, whole"]);
});

test("ends the stream at the response's end, however it comes", async () => {
  for (const last of [responseHeaders(true), responseBody("x", true), responseTrailers]) {
    const { diary, stream } = await begin({ answers: MORE });
    await stream.ask(requestHeaders);
    await stream.ask(bodyMessage("x"));
    if (last !== responseTrailers && last.response_body) await stream.ask(responseHeaders());
    await stream.ask(last);
    assert.ok(await stream.hasEnded());
    assert.equal(diary.ends, 1);
  }
});

test("ends the stream when a job has had enough of the response", async () => {
  const { stream, diary } = await begin({ answers: { ...MORE, onResponseHeaders: () => ({ more: false }) } });
  await stream.ask(requestHeaders);
  await stream.ask(bodyMessage("x"));
  await stream.ask(responseHeaders());
  assert.ok(await stream.hasEnded());
  assert.equal(diary.ends, 1);
});

test("answers a caller itself, and nothing after that", async () => {
  const immediate = {
    status: 429,
    headers: { "content-type": "application/json", "retry-after": "3" },
    body: Buffer.from("{}"),
    details: "llm_breaker_limit",
  };
  const { diary, stream } = await begin({ answers: { onRequestHeaders: () => ({ immediate, more: true }) } });
  const answer = await stream.ask(requestHeaders);
  assert.deepEqual(answer.immediate_response?.status, { code: "TooManyRequests" });
  assert.deepEqual(
    answer.immediate_response?.headers.set_headers?.map(({ header }) => [header.key, `${header.raw_value}`]),
    Object.entries(immediate.headers),
  );
  assert.equal(`${answer.immediate_response?.body}`, "{}");
  assert.equal(answer.immediate_response?.details, "llm_breaker_limit");
  assert.equal(answer.request_headers, undefined);
  stream.call.write(bodyMessage("late"));
  assert.ok(await stream.hasEnded());
  assert.deepEqual(diary.entries, ["request headers"]);
  assert.equal(diary.ends, 1);
});

test("passes on a mode, a cleared body and mutations of trailers", async () => {
  const header_mutation = { remove_headers: ["x"] };
  const { stream } = await begin({
    answers: {
      onRequestHeaders: () => ({
        modeOverride: { response_header_mode: "SEND", response_body_mode: "STREAMED" },
        more: true,
      }),
      onRequestBody: () => ({ response: { body_mutation: { clear_body: true } } }),
      onResponseTrailers: () => ({ response: { status: "CONTINUE", header_mutation } }),
    },
  });
  const first = await stream.ask(requestHeaders);
  assert.deepEqual(first.mode_override, { response_header_mode: "SEND", response_body_mode: "STREAMED" });
  const second = await stream.ask(bodyMessage("x"));
  assert.equal(second.request_body?.response?.body_mutation?.clear_body, true);
  await stream.ask(responseHeaders());
  const third = await stream.ask(responseTrailers);
  assert.deepEqual(third.response_trailers, { header_mutation });
});

test("takes an early response before the request's body", async () => {
  const { diary, stream } = await begin({ answers: MORE });
  await stream.ask(requestHeaders);
  await stream.ask(responseHeaders());
  assert.deepEqual((await stream.ask(bodyMessage("late"))).request_body, {});
  await stream.ask(responseBody("x", true));
  assert.ok(await stream.hasEnded());
  assert.deepEqual(diary.entries, ["request headers", "response 200 a", "response body x, end"]);
});

test("shows no job a response that came first, twice, or unasked", async () => {
  const { diary, stream } = await begin({ answers: MORE });
  await stream.ask(responseHeaders());
  await stream.ask(requestHeaders);
  await stream.ask(responseBody("x"));
  assert.deepEqual(diary.entries, []);
  stream.call.end();
  assert.ok(await stream.hasEnded());

  const unasked = await begin();
  await unasked.stream.ask(requestHeaders);
  await unasked.stream.ask(responseHeaders());
  assert.ok(await unasked.stream.hasEnded());
  assert.deepEqual(unasked.diary.entries, ["request headers"]);
});

test("finishes the answer of a peer that has half-closed", async () => {
  const { diary, stream } = await begin({
    answers: {
      onRequestBody: async () => {
        await soon();
        return { more: true };
      },
    },
  });
  stream.call.write(requestHeaders);
  stream.call.write(bodyMessage("x"));
  stream.call.end();
  const kinds = [];
  for await (const answer of stream.call) kinds.push(answer.response);
  assert.deepEqual(kinds, ["request_headers", "request_body"]);
  assert.equal(diary.ends, 1);
});

test("tells a job once when its stream is cancelled, in any phase", async () => {
  const messages = [requestHeaders, bodyMessage("x"), responseHeaders(), responseBody("y")];
  for (let count = 1; count <= messages.length; count++) {
    const { diary, stream } = await begin({ answers: MORE });
    for (const message of messages.slice(0, count)) await stream.ask(message);
    stream.call.cancel();
    await settled(stream.call);
    await diary.ended();
    await soon();
    assert.equal(diary.entries.length, count);
    assert.equal(diary.ends, 1);
  }
});

test("writes nothing after a cancel that comes while a handler is at work", async () => {
  let resolve: (answer: Answer) => void = () => {};
  const promise = new Promise<Answer>((give) => {
    resolve = give;
  });
  const { diary, stream } = await begin({ answers: { onRequestBody: () => promise } });
  await stream.ask(requestHeaders);
  stream.call.write(bodyMessage("x"));
  stream.call.write(bodyMessage("y"));
  await waitFor(() => diary.entries.length === 2, 5000);
  stream.call.cancel();
  await settled(stream.call);
  await diary.ended();
  resolve({ more: true });
  await soon();
  assert.deepEqual(diary.entries, ["request headers", "request body x, end"]);
  assert.equal(diary.ends, 1);
});

test("answers CONTINUE for whatever a role throws or rejects", async () => {
  const fail = (): never => {
    throw new Error("broken");
  };
  const reject = () => Promise.reject(new Error("broken"));
  for (const handler of [fail, reject]) {
    const { stream } = await begin({ answers: { onRequestHeaders: handler, onRequestBody: handler } });
    assert.deepEqual((await stream.ask(requestHeaders)).request_headers, {});
    assert.deepEqual((await stream.ask(bodyMessage("x"))).request_body, {});
    assert.ok(await stream.hasEnded());
  }
  const unborn = await open({ begin: fail });
  assert.deepEqual((await unborn.ask(requestHeaders)).request_headers, {});
  assert.deepEqual((await unborn.ask(bodyMessage("x"))).request_body, {});

  const bad = await open({
    begin: () => ({ onRequestHeaders: () => ({}), onRequestBody: () => ({}), onEnd: fail }),
  });
  await bad.ask(requestHeaders);
  assert.deepEqual((await bad.ask(bodyMessage("x"))).request_body, {});
  assert.ok(await bad.hasEnded());
});

test("answers CONTINUE for an answer that can't be written", async () => {
  const bad = { dynamicMetadata: { fields: { x: { stringValue: 5 } } } } as unknown as Answer;
  for (const answer of [() => bad, () => Promise.resolve(bad)]) {
    const { stream } = await begin({ answers: { onRequestBody: answer } });
    await stream.ask(requestHeaders);
    assert.deepEqual((await stream.ask(bodyMessage("x"))).request_body, {});
    assert.ok(await stream.hasEnded());
  }
});

test("reads pieces and answers nothing in observability mode", async () => {
  const { diary, stream } = await begin({ answers: MORE });
  const messages = [
    requestHeaders,
    { request_body: { body: Buffer.from("a") } },
    { request_body: { body: Buffer.from("b"), end_of_stream: true } },
    responseHeaders(),
    responseBody("c", true),
  ];
  for (const message of messages) stream.call.write({ ...message, observability_mode: true });
  assert.ok(await stream.hasEnded());
  assert.deepEqual(diary.entries, [
    "request headers",
    "request body a",
    "request body b, end",
    "response 200 a",
    "response body c, end",
  ]);
  assert.equal(diary.ends, 1);
});
