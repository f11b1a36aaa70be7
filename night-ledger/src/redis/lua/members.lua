-- Announces a member and answers who is alive.
-- KEYS: members, scored by when they lapse (ms). ARGV: who, term (ms).
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return redis.call('ZRANGE', KEYS[1], 0, -1)
