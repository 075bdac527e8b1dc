-- Deletes outcomes nobody came for, one page at a time.
-- Sent twice: the second finds less to delete, and its count is lower.
--
-- KEYS
--   1 done
-- ARGV
--   1 cursor, 0 to begin
--   2 olderThanMs
-- Returns
--   {cursor, deleted}  cursor 0 when the round is complete
--
-- use: stamp

local cutMs = tonumber(string.sub(stamp(''), 1, -2)) - ARGV[2]
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', 200)
local deleted = 0
for index = 1, #page[2], 2 do
  -- One without a time was not left by a handoff, and nobody will come for it either.
  if tonumber(string.match(page[2][index + 1], '^(%d+):') or 0) <= cutMs then
    deleted = deleted + redis.call('HDEL', KEYS[1], page[2][index])
  end
end
return { page[1], deleted }
