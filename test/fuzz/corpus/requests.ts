// Bodies of requests as clients send them, small: each endpoint, pictures, tools, odd spellings.

export const CHATS: readonly string[] = [
  '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":16,"stream":true}',
  '{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}],"max_completion_tokens":8,"n":2,"temperature":1.5,"stop":["x"],"user":"u"}',
  '{"model":"m","messages":[{"role":"user","content":"w"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\\"a\\":12345678901234567890}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}}],"tool_choice":"auto","parallel_tool_calls":false}',
  '{"messages":[{"role":"developer","content":"d","name":"n"},{"role":"user","content":"u"}],"model":"m","stream_options":{"include_usage":true},"reasoning_effort":"high","response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}},"seed":1,"logprobs":true}',
  '{"mod\\u0065l":"a\\u00e9","Model":"b","stream":false,"n":1,"messages":[]}',
];

export const BODIES: readonly string[] = [
  ...CHATS,
  '{"model":"m","prompt":["a","b"],"max_tokens":1,"best_of":2,"suffix":"s"}',
  '{"model":"m","prompt":[1,2,3],"stream":true}',
  '{"model":"m","input":["a",[1,2]],"encoding_format":"base64"}',
  '{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"u"}]},{"type":"function_call_output","call_id":"c","output":"o"}],"instructions":"i","max_output_tokens":9,"previous_response_id":"r"}',
  '{"model":"m","system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","data":"d"},"title":"t"},{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"r"}]}]}],"max_tokens":4,"tools":[{"name":"f","input_schema":{}}],"thinking":{"type":"enabled","budget_tokens":1}}',
  '{"inputs":"a","parameters":{"max_new_tokens":3,"best_of":1}}',
  '{"text_input":"a","parameters":{"max_tokens":3}}',
];

export const REQUEST_WORDS: readonly string[] = [
  ..."model Model messages role content user assistant system tool developer text type max_tokens max_completion_tokens stream n"
    .split(" ")
    .map((word) => `"${word}"`),
  ..."tool_calls function name arguments parameters tools tool_choice stop temperature thinking input prompt inputs image_url"
    .split(" ")
    .map((word) => `"${word}"`),
  '"model":"',
  '"mod\\u0065l":"b"',
  '"stream":true',
  '{"role":"user","content":"',
  '{"type":"text","text":"',
  "\\u0065",
];
