-- Looks at one lane at one moment, and at a page of what stands and lies in it. Writes nothing.
--
-- KEYS
--   1 lock
--   2 wait
--   3 body
--   4 seat
--   5 done
--   6 tries
-- ARGV
--   1 how many requests of the line to pass over
--   2 how many of them, and of the outcomes nobody came for, to show; 0 for none
-- Returns
--   {depth, bodies, holder or nil, leaseLeftMs, seats, outcomes, tries or nil, head or nil, 1 when the head has a body, {key, body or nil, channel or nil, key …}, {key, value, key, value …}}

local passed, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local head = redis.call('LINDEX', KEYS[2], 0)
local line, left = {}, {}
if limit > 0 then
  for _, key in ipairs(redis.call('LRANGE', KEYS[2], passed, passed + limit - 1)) do
    line[#line + 1] = key
    line[#line + 1] = redis.call('HGET', KEYS[3], key)
    line[#line + 1] = redis.call('HGET', KEYS[4], key)
  end
  left = redis.call('HSCAN', KEYS[5], 0, 'COUNT', limit)[2]
  for index = #left, 2 * limit + 1, -1 do
    left[index] = nil
  end
end
return {
  redis.call('LLEN', KEYS[2]),
  redis.call('HLEN', KEYS[3]),
  redis.call('GET', KEYS[1]),
  redis.call('PTTL', KEYS[1]),
  redis.call('HLEN', KEYS[4]),
  redis.call('HLEN', KEYS[5]),
  redis.call('GET', KEYS[6]),
  head,
  (head and redis.call('HEXISTS', KEYS[3], head)) or 1,
  line,
  left,
}
