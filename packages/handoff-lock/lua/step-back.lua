-- Ends a wait: takes the outcome if it is there, else gives up the seat, as long as no other process took it over. A hint
-- may have been on its way to that seat, so if the lane is free another waiter gets it. The request keeps its place.
-- Sent twice: the second finds no seat; an outcome taken by the first is found out by entering again.
--
-- KEYS
--   1 lock
--   2 wait
--   3 seat
--   4 done
-- ARGV
--   1 key
--   2 channel
--   3 anything, or missing: nobody is there any more who could take an outcome, so it stays for whoever comes for it
-- Returns
--   {0, value}  settled
--   {1}         given up
--
-- use: wake

local lock, seat, done, key = KEYS[1], KEYS[3], KEYS[4], ARGV[1]

local value = not ARGV[3] and redis.call('HGET', done, key)
if value then
  redis.call('HDEL', done, key)
  return { 0, value }
end
if redis.call('HGET', seat, key) == ARGV[2] then
  redis.call('HDEL', seat, key)
  if redis.call('EXISTS', lock) == 0 then
    wake(string.match(lock, '{(.*)}'), KEYS[2], seat)
  end
end
return { 1 }
