-- Appends key, body, key, body … of the first `limit` requests to `reply`, and leaves the requests where they are.
-- Needs mend. Equal lengths can hide one lost entry beside one lost body; a body missing here uncovers that, and so does a
-- request that stands twice because it came back after losing its body.
local function firstRequests(reply, wait, body, limit, ttlMs)
  local keys = redis.call('LRANGE', wait, 0, limit - 1)
  if #keys == 0 then
    return reply
  end
  local bodies = redis.call('HMGET', body, unpack(keys))
  local stands = {}
  for index = 1, #keys do
    if stands[keys[index]] then
      bodies[index] = false
    end
    stands[keys[index]] = true
    if not bodies[index] then
      mend(wait, body, ttlMs)
      return firstRequests(reply, wait, body, limit, ttlMs)
    end
  end
  local length = #reply
  for index = 1, #keys do
    reply[length + 1] = keys[index]
    reply[length + 2] = bodies[index]
    length = length + 2
  end
  return reply
end
