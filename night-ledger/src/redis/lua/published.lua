-- Forgets what was left to be published and is, by whomever it was left; what was left since stays.
-- KEYS: pending. ARGV: batch (16 bytes), the bytes that are published.
local all = redis.call('HGET', KEYS[1], ARGV[1])
if not all then
  return 0
end
local left = without(all, function(_, bytes)
  return bytes == ARGV[2]
end)
if left == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
elseif #left < #all then
  redis.call('HSET', KEYS[1], ARGV[1], left)
end
return 1
