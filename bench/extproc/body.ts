import type { RequestOfLine } from "../load/requests.js";

const bodyBytes = 2048;
const words =
  "the of and to a in is it you that he was for on are with as his they be at one have this from or had by hot but some what there we can out other were all your when up use word how said each she which do their time if will way about many then them would write like so these her long make thing see him two has look more day could go come did my sound no most number who over know water than call first people may down side been now find".split(
    " ",
  );

/** A chat of 2 kB with some history, other words on every line, so that no cache of whole texts would help. */
export const chatOf2kB: RequestOfLine = (line) => {
  let state = line * 2_654_435_761 + 1;
  const next = (): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return words[(state >>> 8) % words.length] ?? "";
  };
  const sentence = (count: number): string => Array.from({ length: count }, next).join(" ");
  const messages = [
    { role: "system", content: `You are a helpful assistant. ${sentence(40)}` },
    { role: "user", content: sentence(60) },
    { role: "assistant", content: sentence(90) },
    { role: "user", content: "" },
  ];
  const chat = { model: "qwen3-32b", messages, max_tokens: 512, temperature: 0.7 };
  const last = messages[3];
  if (last) {
    const left = bodyBytes - JSON.stringify(chat).length;
    last.content = sentence(left).slice(0, left);
  }
  const body = JSON.stringify(chat);
  return Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: bench.example.com\r\nauthorization: Bearer sk-bench\r\n` +
      `user-agent: bench\r\naccept: application/json\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
};
