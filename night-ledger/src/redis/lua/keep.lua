-- Writes a field of a hash if it has none yet, and answers what it has then.
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
