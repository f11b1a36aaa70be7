-- Puts a brake on a night or takes it off; one that is final stays. A night that is far ahead keeps its brakes until it is
-- long over.
-- KEYS: brakes. ARGV: zone or '', the brake or '', the final one, time to live (s), the end of the night's day (Unix s).
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[3] then
  return 0
end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  local from = math.max(tonumber(redis.call('TIME')[1]), tonumber(ARGV[5]))
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('EXPIREAT', KEYS[1], string.format('%.0f', from + tonumber(ARGV[4])))
end
return 1
