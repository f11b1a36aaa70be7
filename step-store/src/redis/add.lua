-- KEYS: entries, each once. ARGV: the most steps of a Day; then for each add the number of its key and the steps.
-- Answers the sum after each add, or -1 where it would pass the most and nothing of it was added.
local most = tonumber(ARGV[1])
local sums, changed, answers = {}, {}, {}
for i = 1, #KEYS do
    local text = redis.call('GET', KEYS[i])
    local steps = text and tonumber(text) or 0
    if text and not string.match(text, '^%d+$') then
        return redis.error_reply('ERR an entry of the step store is no number')
    end
    sums[i] = steps
end
for i = 2, #ARGV, 2 do
    local at = tonumber(ARGV[i])
    local sum = sums[at] + tonumber(ARGV[i + 1])
    if sum <= most then
        -- an add of 0 leaves an entry too: that someone reported is told apart from that nobody did
        sums[at], changed[at] = sum, true
        answers[#answers + 1] = sum
    else
        answers[#answers + 1] = -1
    end
end
for i = 1, #KEYS do
    if changed[i] then
        redis.call('SET', KEYS[i], string.format('%d', sums[i]))
    end
end
return answers
