-- What changed in a part since a change with a number and a mark.
-- KEYS: the part's pages, log and head. ARGV: the number, the mark.
-- Answers the number and the mark of the last change, 1 if the log does not reach back, else 0, and the pages: those that
-- changed, in order of time, or all.
local held = redis.call('HMGET', KEYS[3], 'number', 'mark')
local number, mark = held[1] or '0', held[2] or '0000000000000000'
if number == ARGV[1] and mark == ARGV[2] then
    return { number, mark, '0' }
end

local behind = number - ARGV[1]
if behind > 0 and behind < redis.call('LLEN', KEYS[2]) then
    local changes = redis.call('LRANGE', KEYS[2], -behind - 1, -1)
    if string.sub(changes[1], 1, 16) == ARGV[2] then
        local answer = { number, mark, '0' }
        for i = 2, #changes do
            answer[#answer + 1] = string.sub(changes[i], 17)
        end
        return answer
    end
end

local answer = { number, mark, '1' }
for _, page in ipairs(redis.call('HKEYS', KEYS[1])) do
    answer[#answer + 1] = page
end
return answer
