-- Adds a key unless there are too many. KEYS: the keys. ARGV: the most, the id, what is kept. Answers 1, or 0.
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[1]) then
    return 0
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 1
