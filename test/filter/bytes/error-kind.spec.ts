import { kindOfText, kindOfWord, NOT_CONTEXT } from "../../../filter/bytes/error-kind";
import { atMemoryEnd, bodyFacts, kindName } from "./support";

/** Reads the text where a read past its end would trap. */
function copy(text: string): usize {
  const bytes = String.UTF8.encode(text);
  const at = atMemoryEnd(bytes.byteLength);
  memory.copy(at, changetype<usize>(bytes), bytes.byteLength);
  return at;
}

function ofText(text: string): string {
  return kindName(kindOfText(copy(text), String.UTF8.byteLength(text)));
}

function ofWord(word: string): i32 {
  return kindOfWord(copy(word), word.length);
}

function expectAll(texts: string[], wanted: string): void {
  for (let i = 0; i < texts.length; i++) expect(ofText(texts[i])).toBe(wanted, texts[i]);
}

const CONTEXT: string[] = [
  "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.",
  "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens",
  "'max_tokens' or 'max_completion_tokens' is too large: 5000.",
  "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
  "Requested token count exceeds the model's maximum context length of 4096 tokens.",
  "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
  "`inputs` tokens + `max_new_tokens` must be <= 4096",
  "`inputs` must have less than 4095 tokens. Given: 5000",
  "request (6031 tokens) exceeds the available context size (1024 tokens), try increasing it",
  "the request exceeds the available context size. try increasing the context size",
  "the input length exceeds the context length",
  "The request exceeds the model context length.",
  "prompt is too long: 210000 tokens > 200000 maximum",
  "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
  "Your request exceeded model's maximum context limit",
  "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
  "The input token count (1203339) exceeds the maximum number of tokens allowed (1048575).",
  "The maximum input length is 4096 tokens, got 5000.",
  "Please reduce the length of the messages or completion. Current length is 9075 while limit is 8192",
  "This endpoint's maximum context length is 163840 tokens. However, you requested about 200000 tokens",
  "litellm.ContextWindowExceededError: This model's maximum context length is 4096 tokens.",
  "  THIS MODEL'S MAXIMUM CONTEXT LENGTH IS 4096 TOKENS",
];

const FILTER: string[] = [
  "Your request was rejected as a result of our safety system.",
  "Your request was rejected as a result of the safety system.",
  "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again.",
  "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
  "Content Exists Risk",
];

const MODEL: string[] = [
  "The model `qwen` does not exist.",
  "The model 'qwen' does not exist.",
  "The model `gpt-9` does not exist or you do not have access to it.",
  "The model `a`b` does not exist.",
  "The model `CUDA out of memory. Tried to allocate` does not exist.",
  'model "x" not found, try pulling it first',
  "model 'x' not found",
  "The API deployment for this resource does not exist. If you created it within the last 5 minutes, wait.",
  "models/gemini-9 is not found for API version v1main, or is not supported",
  "Model Not Exist",
  "No endpoints found for x/y.",
];

const QUOTA: string[] = [
  "Insufficient Balance",
  "Your credit balance is too low to access the Anthropic API.",
];

const UNKNOWN: string[] = [
  "",
  " ",
  "Internal server error",
  // A full cache: a fault of this engine now, whatever the request.
  "Context size has been exceeded.",
  // Also what rate limits say.
  "You exceeded your current quota, please check your plan and billing details.",
  "Rate limit reached for gpt-4o on tokens per min",
  "2 validation errors:\n {'input': \"This model's maximum context length is\"}",
  "[json.exception.parse_error.101] parse error; last read: 'prompt is too long'",
  "Invalid 'messages[0].content': string too long (string_above_max_length), exceeds the available context size",
  "The model is fine",
  "The model `x` exists",
  "The model x does not exist",
  "The model `x' does not exist",
  "a model 'x' not found",
  "The prompt is too long",
  "maximum input length is many tokens",
  "maximum input length is  tokens",
  "maximum input length is 12",
  "current length is 9 but limit is 8",
  "x".repeat(170) + "This model's maximum context length is 4096 tokens.",
  "EngineCore encountered an issue. See stack trace (above) for the root cause.",
  "CUDA out of memory. Tried to allocate 20.00 MiB",
];

describe("the kind of an error, by its text", () => {
  it("context exceeded", () => expectAll(CONTEXT, "context"));
  it("content refused", () => expectAll(FILTER, "filter"));
  it("unknown model", () => expectAll(MODEL, "model"));
  it("no money", () => expectAll(QUOTA, "quota"));
  it("none of these", () => expectAll(UNKNOWN, "unknown"));

  it("a text that was cut never reads past its end", () => {
    const all = [CONTEXT, FILTER, MODEL, QUOTA, UNKNOWN];
    let kinds: i32 = 0;
    for (let i = 0; i < all.length; i++) {
      for (let j = 0; j < all[i].length; j++) {
        const size = all[i][j].length;
        const at = copy(all[i][j]);
        for (let cut = 0; cut < size; cut++) kinds |= 1 << kindOfText(at + <usize>cut, size - cut);
      }
    }
    expect(kinds).toBe(0b11111);
    expect(kindOfText(0, -1)).toBe(0);
  });
});

describe("the kind of an error, by its code or type", () => {
  it("known words", () => {
    expect(kindName(ofWord("context_length_exceeded"))).toBe("context");
    expect(kindName(ofWord("exceed_context_size_error"))).toBe("context");
    expect(kindName(ofWord("content_filter"))).toBe("filter");
    expect(kindName(ofWord("content_policy_violation"))).toBe("filter");
    expect(kindName(ofWord("ResponsibleAIPolicyViolation"))).toBe("filter");
    expect(kindName(ofWord("model_not_found"))).toBe("model");
    expect(kindName(ofWord("DeploymentNotFound"))).toBe("model");
    expect(kindName(ofWord("invalid_model"))).toBe("model");
    expect(kindName(ofWord("insufficient_quota"))).toBe("quota");
    expect(kindName(ofWord("credit_balance_exhausted"))).toBe("quota");
    expect(kindName(ofWord("enforced_spend_limit_reached"))).toBe("quota");
    expect(kindName(ofWord("billing_error"))).toBe("quota");
    expect(kindName(ofWord("billing_not_active"))).toBe("quota");
    expect(kindName(ofWord("billing_hard_limit_reached"))).toBe("quota");
    expect(ofWord("string_above_max_length")).toBe(NOT_CONTEXT);
  });

  it("others", () => {
    const words = [
      "",
      "NotFoundError",
      "BadRequestError",
      "rate_limit_exceeded",
      "slow_down",
      "not_found_error",
      "invalid_request_error",
      "Context_length_exceeded",
      "content_filtex",
      "model_not_fount",
      "insufficient_quotx",
      "credit_balance_exhaustex",
      "exceed_context_size_erroz",
      "billing_hard_limit_reachex",
      "enforced_spend_limit_reachex",
    ];
    for (let i = 0; i < words.length; i++) expect(kindName(ofWord(words[i]))).toBe("unknown", words[i]);
  });
});

describe("the kind of an error body", () => {
  it("the word outweighs the text, whichever comes first", () => {
    const text = '"message":"The model `x` does not exist."';
    expect(bodyFacts('{"error":{"code":"insufficient_quota",' + text + "}}")).toBe(
      "error complete kind:quota text:The model `x` does not exist.",
    );
    expect(bodyFacts('{"error":{' + text + ',"type":"NotFoundError","code":404}}')).toBe(
      "error complete code:404 kind:model text:The model `x` does not exist.",
    );
    expect(bodyFacts('{"error":{' + text + ',"type":"requests","code":"context_length_exceeded"}}')).toBe(
      "error complete kind:context text:The model `x` does not exist.",
    );
  });

  it("a string that is too long is not a context that is exceeded", () => {
    expect(
      bodyFacts('{"error":{"code":"string_above_max_length","message":"prompt is too long: 9 > 8"}}'),
    ).toBe("error complete text:prompt is too long: 9 > 8");
    expect(
      bodyFacts('{"error":{"message":"prompt is too long: 9 > 8","code":"string_above_max_length"}}'),
    ).toBe("error complete text:prompt is too long: 9 > 8");
  });

  it("is known for flat bodies and for plain text", () => {
    expect(
      bodyFacts('{"object":"error","message":"m","type":"invalid_request_error","code":"model_not_found"}'),
    ).toBe("error complete kind:model text:m");
    expect(bodyFacts("prompt is too long: 9 > 8")).toBe("kind:context text:prompt is too long: 9 > 8");
    expect(bodyFacts('{"message":"Model Not Exist"}')).toBe("complete kind:model text:Model Not Exist");
  });

  it("is not told by answers that echo its words", () => {
    expect(
      bodyFacts(
        '{"choices":[{"message":{"content":"context_length_exceeded"},"finish_reason":"content_filter"}]}',
      ),
    ).toBe("token finish complete");
    expect(
      bodyFacts('{"error":{"message":"m","param":"model_not_found","x":{"code":"content_filter"}}}'),
    ).toBe("error complete text:m");
  });
});
