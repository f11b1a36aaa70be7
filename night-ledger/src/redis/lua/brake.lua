-- Puts a brake on a night or takes it off; one that is final stays.
-- KEYS: brakes. ARGV: zone or '', the brake or '', the final one, time to live (s).
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[3] then
  return 0
end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[4])
end
return 1
