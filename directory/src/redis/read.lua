-- A page and records of users in it, as they stand at one moment.
-- KEYS: the part's pages, then the records. ARGV: the page's number.
-- Answers the page, then the records; nil for what is not there.
local answer = { redis.call('HGET', KEYS[1], ARGV[1]) }
for first = 2, #KEYS, 1000 do
    local last = math.min(first + 999, #KEYS)
    for _, record in ipairs(redis.call('MGET', unpack(KEYS, first, last))) do
        answer[#answer + 1] = record
    end
end
return answer
