-- Puts requests in line, in the given order; those that stand already keep their place. All or none.
-- Sent twice: the second finds everything standing.
--
-- KEYS
--   1 wait
--   2 body
-- ARGV
--   1 cap
--   2 ttlMs
--   3… key, body, key, body …
-- Returns
--   {1, depth}  queued
--   {0, depth}  full: the new ones would exceed the cap; nothing was changed
--
-- use: mend
-- use: stamp

local wait, body, cap, ttlMs = KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2]

mendIfUneven(wait, body, ttlMs)
local depth = redis.call('LLEN', wait)

-- Near the cap only: look which ones are new before writing anything. Repeats are never refused.
if depth + (#ARGV - 2) / 2 > cap then
  local new, seen = 0, {}
  for index = 3, #ARGV, 2 do
    local key = ARGV[index]
    if not seen[key] and redis.call('HEXISTS', body, key) == 0 then
      new = new + 1
    end
    seen[key] = true
  end
  if new > 0 and depth + new > cap then
    return { 0, depth }
  end
end

-- The first write takes memory on purpose: a full Redis refuses here, before anything was changed.
local prefix, line = stamp(''), {}
for index = 3, #ARGV, 2 do
  if redis.call('HSETNX', body, ARGV[index], prefix .. ARGV[index + 1]) == 1 then
    line[#line + 1] = ARGV[index]
    if #line == 1000 then
      depth = redis.call('RPUSH', wait, unpack(line))
      line = {}
    end
  end
end
if #line > 0 then
  depth = redis.call('RPUSH', wait, unpack(line))
end
redis.call('PEXPIRE', wait, ttlMs)
redis.call('PEXPIRE', body, ttlMs)
return { 1, depth }
