-- Drops what none of these scripts can have put into a lane, and on which they would stumble for ever: a key of another
-- type, a count of vanished holders that is no number, requests under keys that do not survive the way to a holder. Whatever
-- goes with it counts as lost with its lane.
-- Sent twice: the second finds nothing to drop.
--
-- KEYS
--   1 lock
--   2 wait
--   3 body
--   4 seat
--   5 done
--   6 tries
-- ARGV
--   1 ttlMs
-- Returns
--   1
--
-- use: mend

local types = {
  [KEYS[1]] = 'string',
  [KEYS[2]] = 'list',
  [KEYS[3]] = 'hash',
  [KEYS[4]] = 'hash',
  [KEYS[5]] = 'hash',
  [KEYS[6]] = 'string',
}
for key, expected in pairs(types) do
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= expected then
    redis.call('DEL', key)
  end
end
local tries = redis.call('GET', KEYS[6])
if tries and not string.match(tries, '^%d%d?%d?%d?%d?%d?$') then
  redis.call('DEL', KEYS[6])
end
mend(KEYS[2], KEYS[3], ARGV[1])
return 1
