-- Completes jobs of one queue, each with BullMQ's own script, which is put before this one as the function `finish`. What one
-- of them stumbles over leaves the others alone.
-- Sent twice: the second finds nothing to complete, and answers so for each job.
--
-- KEYS
--   1… those of BullMQ's script; the one in the job's own place is made here
-- ARGV
--   1 the job's own place among the keys
--   2 timestamp
--   3 the field for what a job ends with
--   4 what it ends with
--   5 target
--   6 prefix of the queue's keys
--   7 packed options up to the token
--   8 packed options from behind the token
--   9… job id, token and whether to fetch the next job, 1 or 0, of each job
-- Returns
--   {answer, answer …} of BullMQ's script for each job, or a text that says what it stumbled over

local STR_8 = 0xd9

local keys = { unpack(KEYS) }
local answers = {}
for index = 9, #ARGV, 3 do
  local id, token = ARGV[index], ARGV[index + 1]
  keys[tonumber(ARGV[1])] = ARGV[6] .. id
  local options = ARGV[7] .. string.char(STR_8, #token) .. token .. ARGV[8]
  local args = { id, ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[index + 2], ARGV[6], options }
  local ended, answer = pcall(finish, keys, args)
  if not ended then
    local text = type(answer) == 'table' and answer.err or tostring(answer)
    answer = string.find(text, '^%u+ ') and text or 'ERR ' .. text
  end
  answers[#answers + 1] = answer
end
return answers
