// Policies as operators write them for the gate.

export const POLICIES: readonly string[] = [
  '{"backends":{"gpu":{},"small":{},"public":{}},"chains":{"chat":{"tiers":["gpu","small","public"]}}}',
  '{"name":"p","breaker":{"slidingWindowSize":30,"failureRateThreshold":50,"minimumNumberOfCalls":10,"waitDurationInOpenState":"10s","mode":"shadow"},"backends":{"gpu":{"cluster":"gpu_cluster","contextWindow":8192,"firstTokenTimeout":"5s","maxConcurrentCalls":100,"rewritesBody":true,"price":{"prompt":0.5,"completion":1.5},"budgetPerDay":100}},"chains":{"chat":{"tiers":["gpu"],"models":["llama-*","m"]}},"defaultChain":"chat"}',
  '{"backends":{"a":{"breaker":{"triggers":{"slowFirstToken":{"threshold":"2s"}}}},"b":{}},"chains":{"c":{"tiers":["a","b"],"limits":{"tokensPerMinute":1000},"exhausted":{"action":"fixed","text":"later"}}},"service":{"cluster":"svc"},"shedClasses":["batch"],"tracing":true}',
  '{"backends":{"a":{}},"chain":"x","chains":{"x":{"tiers":["a"]}},"breaker":{"outcomes":{"status":{"429":"backpressure"},"body":[{"contains":"oops","as":"failure"}]}}}',
  '{"backends":{},"chains":{},"unknown":[1,-2.5e3,null,true,"\\u00e9\\ud83d\\ude00"]}',
];

export const POLICY_WORDS: readonly string[] = [
  ..."name backends chains chain defaultChain breaker tiers models limits exhausted action service cluster tracing"
    .split(" ")
    .map((word) => `"${word}":`),
  ..."slidingWindowSize failureRateThreshold minimumNumberOfCalls waitDurationInOpenState mode price prompt budgetPerDay"
    .split(" ")
    .map((word) => `"${word}":`),
  ..."triggers outcomes status body contextWindow firstTokenTimeout maxConcurrentCalls rewritesBody shedClasses"
    .split(" ")
    .map((word) => `"${word}":`),
  '"250ms"',
  '"5s"',
  '"1.5h"',
  '"gpu":{}',
  '["a"]',
  "1e5",
  "-1",
  "0.5",
  "1-2",
];
