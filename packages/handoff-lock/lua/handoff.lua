-- Removes settled requests, passes their outcomes on, and keeps, yields or releases the lane.
-- Sent twice: nothing is left to remove, so nobody is told twice; the answer is the same, or `lost` when the first one gave
-- the lane up.
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
--   5 yield, 1 or 0
--   6 how many own keys follow
--   7 how many delivered keys follow
--   8… own keys, then delivered keys, then key, value, key, value … of the others
-- Returns
--   {0}                         lost: the token is not in the lock; nothing was changed
--   {1}                         released: the line is empty
--   {2}                         yielded: another waiter was woken
--   {3, key, body, key, body …} next
--
-- use: mend
-- use: first-requests
-- use: stamp
-- use: tell
-- use: wake

local lock, wait, body, seat = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local ttlMs = ARGV[3]

if redis.call('GET', lock) ~= ARGV[1] then
  return { 0 }
end
mendIfUneven(wait, body, ttlMs)

local delivered = 8 + ARGV[6]
local others = delivered + ARGV[7]
if others > delivered then
  redis.call('HDEL', KEYS[5], unpack(ARGV, delivered, others - 1))
end

local keys, values = {}, {}
for index = 8, delivered - 1 do
  keys[#keys + 1] = ARGV[index]
  values[ARGV[index]] = false
end
for index = others, #ARGV, 2 do
  keys[#keys + 1] = ARGV[index]
  values[ARGV[index]] = ARGV[index + 1]
end

-- Settled requests are nearly always the head of the line: those are popped together after looking at each of them.
-- Any other one is searched for, in proportion to the line.
local removed = {}
if #keys > 0 then
  local taken, found = {}, 0
  for _, head in ipairs(redis.call('LRANGE', wait, 0, #keys - 1)) do
    if values[head] == nil then
      break
    end
    removed[#removed + 1] = head
    found = taken[head] and found or found + 1
    taken[head] = true
  end
  if #removed > 0 then
    redis.call('LPOP', wait, #removed)
  end
  if found < #keys then
    for _, key in ipairs(keys) do
      if not taken[key] and redis.call('HEXISTS', body, key) == 1 and redis.call('LREM', wait, 1, key) == 1 then
        removed[#removed + 1] = key
        taken[key] = true
      end
    end
  end
  if #removed > 0 then
    redis.call('HDEL', body, unpack(removed))
  end
end
local lane = string.match(lock, '{(.*)}')
tell(lane, seat, KEYS[5], removed, values, ttlMs)

local reply = firstRequests({ 3 }, wait, body, tonumber(ARGV[4]), ttlMs)
if #reply == 1 then
  -- Every seat belongs to a standing request, so an empty line leaves only those of processes that went away.
  redis.call('DEL', lock, KEYS[6], seat)
  return { 1 }
end
if ARGV[5] == '1' and wake(lane, wait, seat) then
  redis.call('DEL', lock, KEYS[6])
  return { 2 }
end
redis.call('PEXPIRE', lock, ARGV[2])
redis.call('DEL', KEYS[6])
redis.call('PEXPIRE', wait, ttlMs)
redis.call('PEXPIRE', body, ttlMs)
return reply
