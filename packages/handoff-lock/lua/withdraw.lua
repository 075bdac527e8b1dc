-- Drops a request for good and passes its outcome on. Needs no turn: the holder may have it in hand, and then the store
-- decides. Costs time in proportion to the line.
-- Sent twice: the second finds nothing standing.
--
-- KEYS
--   1 wait
--   2 body
--   3 seat
--   4 done
-- ARGV
--   1 key
--   2 value
--   3 ttlMs
-- Returns
--   1  withdrawn
--   0  not standing; nothing was changed but repairs
--
-- use: mend
-- use: stamp
-- use: tell

local wait, body, key = KEYS[1], KEYS[2], ARGV[1]

mendIfUneven(wait, body, ARGV[3])
if redis.call('LREM', wait, 1, key) == 0 then
  return 0
end
redis.call('HDEL', body, key)
tell(string.match(wait, '{(.*)}'), KEYS[3], KEYS[4], { key }, { [key] = ARGV[2] }, ARGV[3])
return 1
