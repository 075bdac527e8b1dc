-- Takes the outcome of a request, or the lane, or a seat. Without a key (maintenance) it takes a free lane, and touches
-- neither outcomes nor seats. The body is sent only after an answer `absent`, since almost every request stands already.
-- Sent twice: the lane is taken again with the same token; an outcome taken by the first is gone, the request joins the
-- line again and whoever decides it recognises the repeat.
--
-- KEYS
--   1 lock
--   2 wait
--   3 body
--   4 seat
--   5 done
--   6 tries
-- ARGV
--   1 token
--   2 leaseMs
--   3 ttlMs
--   4 batch
--   5 channel, or nothing for a caller that will not listen: it gets no seat, and its outcome goes to done
--   6 key, or nothing
--   7 body, or missing
-- Returns
--   {0, value}                         settled
--   {1, tries, key, body, key, body …} turn; the requests keep their place
--   {2, position, head}                waiting; position counts up to 256
--   {3}                                absent: not standing and no body given; nothing was changed but repairs
--
-- use: mend
-- use: first-requests
-- use: stamp

local lock, wait, body = KEYS[1], KEYS[2], KEYS[3]
local token, ttlMs, key = ARGV[1], ARGV[3], ARGV[6]

if key ~= '' then
  local value = redis.call('HGET', KEYS[5], key)
  if value then
    redis.call('HDEL', KEYS[5], key)
    return { 0, value }
  end
end

-- Touching comes first because it takes no memory: after it a full Redis lets the rest of this script pass, so that a
-- full Redis can still be worked empty.
redis.call('PEXPIRE', wait, ttlMs)
redis.call('PEXPIRE', body, ttlMs)
mendIfUneven(wait, body, ttlMs)

local holder = redis.call('GET', lock)
local mine = not holder or holder == token
local turn = mine and firstRequests({ 1, 0 }, wait, body, tonumber(ARGV[4]), ttlMs)

if key ~= '' and redis.call('HEXISTS', body, key) == 0 then
  if not ARGV[7] then
    return { 3 }
  end
  local stored = stamp(ARGV[7])
  redis.call('HSET', body, key, stored)
  redis.call('RPUSH', wait, key)
  redis.call('PEXPIRE', wait, ttlMs)
  redis.call('PEXPIRE', body, ttlMs)
  if turn and #turn < 2 + 2 * tonumber(ARGV[4]) then
    turn[#turn + 1] = key
    turn[#turn + 1] = stored
  end
end

if turn then
  redis.call('SET', lock, token, 'PX', ARGV[2])
  -- A lock that was free begins another turn; one that already held our token is the same turn, asked for twice.
  turn[2] = holder and tonumber(redis.call('GET', KEYS[6]) or 0) or redis.call('INCR', KEYS[6])
  redis.call('PEXPIRE', KEYS[6], ttlMs)
  if key ~= '' then
    redis.call('HDEL', KEYS[4], key)
  end
  return turn
end

-- A lock that would never lapse was not taken here; from now on it has a lease like any other.
if redis.call('PTTL', lock) == -1 then
  redis.call('PEXPIRE', lock, ARGV[2])
end
if key == '' then
  return { 2, 0, '' }
end
if ARGV[5] ~= '' and redis.call('HSET', KEYS[4], key, ARGV[5]) == 1 then
  redis.call('PEXPIRE', KEYS[4], ttlMs)
end
return { 2, redis.call('LPOS', wait, key, 'MAXLEN', 256) or 256, redis.call('LINDEX', wait, 0) }
