-- Forgets postings up to a number. KEYS: feed, outbox. ARGV: the number.
local upto = tonumber(ARGV[1])
local numbers = redis.call('HMGET', KEYS[1], 'last', 'posted')
local last, posted = tonumber(numbers[1] or 0), tonumber(numbers[2] or 0)
if upto > last then
    return redis.error_reply('ERR it was not posted: there is no posting of this number')
end
local first = last - redis.call('LLEN', KEYS[2]) + 1
if upto >= first then
    local gone = 0
    for _, posting in ipairs(redis.call('LPOP', KEYS[2], upto - first + 1)) do
        gone = gone + #posting
    end
    redis.call('HINCRBY', KEYS[1], 'bytes', -gone)
end
if upto > posted then
    redis.call('HSET', KEYS[1], 'posted', ARGV[1])
end
return 1
