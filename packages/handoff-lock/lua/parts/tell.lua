-- Passes the outcomes of removed requests on: in one message to each process that waits for some of them, or into
-- `done` when nobody waits or nobody listens. `values[key]` is false for an outcome that its caller delivers.
-- Needs stamp. Call it only after a write: `done` takes memory.
local function tell(lane, seat, done, keys, values, ttlMs)
  local channels = {}
  if #keys > 0 and redis.call('HLEN', seat) > 0 then
    channels = redis.call('HMGET', seat, unpack(keys))
  end
  local seated, left, messages = {}, {}, {}
  for index, key in ipairs(keys) do
    local channel, value = channels[index], values[key]
    if channel then
      seated[#seated + 1] = key
    end
    if value then
      local into = left
      if channel then
        messages[channel] = messages[channel] or { 'settled', lane }
        into = messages[channel]
      end
      into[#into + 1] = key
      into[#into + 1] = value
    end
  end
  for channel, message in pairs(messages) do
    if redis.call('PUBLISH', channel, cjson.encode(message)) == 0 then
      for index = 3, #message do
        left[#left + 1] = message[index]
      end
    end
  end
  if #seated > 0 then
    redis.call('HDEL', seat, unpack(seated))
  end
  if #left > 0 then
    local prefix = stamp('')
    for index = 2, #left, 2 do
      left[index] = prefix .. left[index]
    end
    redis.call('HSET', done, unpack(left))
    redis.call('PEXPIRE', done, ttlMs)
  end
end
