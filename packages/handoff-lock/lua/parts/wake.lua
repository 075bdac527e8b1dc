-- Tells one live waiter that the lane is free: the first seat among the first 256 requests, else any. Answers whether
-- somebody heard it. A seat that nobody hears is deleted; each silent channel is tried once.
-- Usually one look at 32 places; with seats only far back, or of many dead processes, in proportion to the seats.
local function wake(lane, wait, seat)
  if redis.call('HLEN', seat) == 0 then
    return false
  end
  local silent = {}
  local function heard(key, channel)
    if not silent[channel] then
      if redis.call('PUBLISH', channel, cjson.encode({ 'wake', lane, key })) > 0 then
        return true
      end
      silent[channel] = true
    end
    redis.call('HDEL', seat, key)
    return false
  end
  for first = 0, 224, 32 do
    local keys = redis.call('LRANGE', wait, first, first + 31)
    if #keys == 0 then
      break
    end
    for index, channel in ipairs(redis.call('HMGET', seat, unpack(keys))) do
      if channel and heard(keys[index], channel) then
        return true
      end
    end
  end
  local seats = redis.call('HGETALL', seat)
  for index = 1, #seats, 2 do
    if heard(seats[index], seats[index + 1]) then
      return true
    end
  end
  return false
end
