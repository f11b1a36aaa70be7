-- Begins to close a seal: nothing of it opens again from now on.
-- KEYS: progress. ARGV: the field of the seal's end. Answers what it was ('' for no seal).
local stands = redis.call('HGET', KEYS[1], ARGV[1])
if stands == '0' then
  redis.call('HSET', KEYS[1], ARGV[1], '1')
end
return stands or ''
