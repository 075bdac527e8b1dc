-- Makes line and bodies match again after part of a lane was lost: drops entries without a body, entries that stand
-- twice, bodies without an entry, and entries whose key no caller can have given. Costs time in proportion to the whole
-- lane, and runs only when something is amiss. The first write never takes memory.
local function mend(wait, body, ttlMs)
  local bodies = {}
  for _, key in ipairs(redis.call('HKEYS', body)) do
    bodies[key] = true
  end
  local entries = redis.call('LRANGE', wait, 0, -1)
  local line = {}
  for _, key in ipairs(entries) do
    local stray = key == '' or #key > 128 or string.find(key, '[^\33-\126]')
    if bodies[key] and not stray then
      bodies[key] = nil
      line[#line + 1] = key
    end
  end
  if #line < #entries then
    redis.call('DEL', wait)
    for first = 1, #line, 1000 do
      redis.call('RPUSH', wait, unpack(line, first, math.min(first + 999, #line)))
    end
  end
  for key in pairs(bodies) do
    redis.call('HDEL', body, key)
  end
  redis.call('PEXPIRE', wait, ttlMs)
  redis.call('PEXPIRE', body, ttlMs)
end

-- Two lengths are compared on every step, so a sound lane pays for two counters only.
local function mendIfUneven(wait, body, ttlMs)
  if redis.call('LLEN', wait) ~= redis.call('HLEN', body) then
    mend(wait, body, ttlMs)
  end
end
