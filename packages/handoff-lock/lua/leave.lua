-- Gives the lane up without settling anything, and wakes a waiter.
-- Sent twice: the second finds another token or none.
--
-- KEYS
--   1 lock
--   2 wait
--   3 body
--   4 seat
--   5 tries
-- ARGV
--   1 token
--   2 ttlMs
-- Returns
--   1  left
--   0  lost: the token is not in the lock; nothing was changed
--
-- use: mend
-- use: wake

local lock, wait, seat = KEYS[1], KEYS[2], KEYS[4]

if redis.call('GET', lock) ~= ARGV[1] then
  return 0
end
redis.call('DEL', lock, KEYS[5])
mendIfUneven(wait, KEYS[3], ARGV[2])
if redis.call('LLEN', wait) == 0 then
  redis.call('DEL', seat)
else
  wake(string.match(lock, '{(.*)}'), wait, seat)
end
return 1
