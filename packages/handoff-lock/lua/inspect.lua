-- Looks at one lane at one moment. Writes nothing.
--
-- KEYS
--   1 lock
--   2 wait
--   3 body
--   4 seat
--   5 done
--   6 tries
-- ARGV
--   none
-- Returns
--   {depth, bodies, holder or nil, leaseLeftMs, seats, outcomes, tries or nil, head or nil, 1 when the head has a body}

local head = redis.call('LINDEX', KEYS[2], 0)
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
}
