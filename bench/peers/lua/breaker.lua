-- A breaker as somebody writes it who has Lua at hand: a window of 30 one-second buckets, opened by a failure rate or a streak, for
-- a fixed wait. Each worker has a window of its own: Envoy's Lua has no memory that workers share.
local BUCKETS = 30
local MINIMUM_CALLS = 10
local FAILURE_RATE = 0.35
local CONSECUTIVE_FAILURES = 5
local WAIT = 5

local calls, failures = {}, {}
for i = 1, BUCKETS do
  calls[i], failures[i] = 0, 0
end
local totalCalls, totalFailures, streak = 0, 0, 0
local head, headStart, openUntil = 1, os.time(), 0

local function clear()
  for i = 1, BUCKETS do
    calls[i], failures[i] = 0, 0
  end
  totalCalls, totalFailures, streak = 0, 0, 0
end

local function advance(now)
  local steps = now - headStart
  if steps <= 0 then return end
  headStart = now
  for _ = 1, math.min(steps, BUCKETS) do
    head = head % BUCKETS + 1
    totalCalls = totalCalls - calls[head]
    totalFailures = totalFailures - failures[head]
    calls[head], failures[head] = 0, 0
  end
end

function envoy_on_request(handle)
  if os.time() < openUntil then
    handle:respond({ [":status"] = "503", ["retry-after"] = "1" }, "the backend is out of service")
  end
end

function envoy_on_response(handle)
  local now = os.time()
  if now < openUntil then return end
  advance(now)
  local isFailure = handle:headers():get(":status"):sub(1, 1) == "5"
  calls[head] = calls[head] + 1
  totalCalls = totalCalls + 1
  if not isFailure then
    streak = 0
    return
  end
  failures[head] = failures[head] + 1
  totalFailures = totalFailures + 1
  streak = streak + 1
  local isRateReached = totalCalls >= MINIMUM_CALLS and totalFailures >= FAILURE_RATE * totalCalls
  if streak >= CONSECUTIVE_FAILURES or isRateReached then
    openUntil = now + WAIT
    clear()
  end
end
