-- Prolongs a turn. It never creates a lock: one that is gone stays gone.
-- Sent twice: prolongs twice.
--
-- KEYS
--   1 lock
-- ARGV
--   1 token
--   2 leaseMs
-- Returns
--   1  renewed
--   0  lost: the token is not in the lock; nothing was changed

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
