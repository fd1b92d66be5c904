import { SLOTS_PER_WINDOW } from "./slots.js";

/**
 * What the library runs for each change of a key: its own script counts in fixed windows. KEYS[1] is a hash of slot →
 * points, as in sliding-window.ts; the time is Redis's, so that gateways need not agree on one. ARGV: points (below 0: to
 * be taken back, as far as their slot still holds them), seconds they count, limit, window in seconds. Points for the
 * whole window are a question, which changes nothing when refused; others are told whatever the limit.
 * Gives {total, ms until the points leave}; refused: {total with what was asked, ms until that fits}. One step for all
 * gateways: nobody sees a half. O(slots).
 */
export const SLIDING_WINDOW_SCRIPT = `
local points, seconds = tonumber(ARGV[1]), tonumber(ARGV[2])
local limit, window = tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local width = math.ceil(window * 1000 / ${SLOTS_PER_WINDOW})
local total, alive = 0, {}
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
  local slot, held = tonumber(entries[i]), tonumber(entries[i + 1])
  if slot * width <= now then
    redis.call('HDEL', KEYS[1], entries[i])
  else
    total = total + held
    alive[#alive + 1] = { slot, held }
  end
end
if points > 0 and seconds == window and total + points > limit then
  table.sort(alive, function(a, b) return a[1] < b[1] end)
  local excess, wait = total + points - limit, width
  for _, entry in ipairs(alive) do
    excess, wait = excess - entry[2], entry[1] * width - now
    if excess <= 0 then break end
  end
  return { total + points, math.max(wait, 1) }
end
local slot = math.ceil((now + seconds * 1000) / width)
local field = string.format('%.0f', slot)
if points < 0 then
  points = -math.min(-points, tonumber(redis.call('HGET', KEYS[1], field) or '0'))
end
if points ~= 0 then
  redis.call('HINCRBY', KEYS[1], field, points)
  redis.call('PEXPIRE', KEYS[1], 2 * width + window * 1000)
end
return { total + points, slot * width - now }
`;
