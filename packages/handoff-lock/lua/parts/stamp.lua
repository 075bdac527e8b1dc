-- Prefixes a stored text with the time of Redis in milliseconds since 1970, which is 13 digits until the year 2286.
local function stamp(text)
  local time = redis.call('TIME')
  return string.format('%s%03d:', time[1], math.floor(time[2] / 1000)) .. text
end
