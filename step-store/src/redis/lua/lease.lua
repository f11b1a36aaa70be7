-- Takes or renews a lease. KEYS: the lease. ARGV: who, how long in ms. Answers 1, or 0 where it is another's.
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then
    return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
