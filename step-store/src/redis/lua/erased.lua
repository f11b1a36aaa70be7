-- From now on reports of a user are refused, for so many ms. KEYS: erased. ARGV: the uid, the ms.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HGETALL', KEYS[1])
for place = 1, #held, 2 do
    if tonumber(held[place + 1]) <= now then
        redis.call('HDEL', KEYS[1], held[place])
    end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%d', now + tonumber(ARGV[2])))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
