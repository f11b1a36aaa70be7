-- Writes what was worked out for the users of some pages, each unit whole or not at all.
-- KEYS: frozen, erased, feed, outbox, days of a part; then those that units name by their place among the rest, 0 for none.
-- ARGV: the most bytes of the outbox, the front of a posting; then for each unit:
--   when the first of its Days freezes, in ms, or nothing
--   how many users, each
--   how many sets of ids, each: the set, the other one in which its ids may be, the seconds it lives, the most it holds, how
--     many ids are added, how many are looked for besides, then all of them
--   how many pages, each: its key, the revision it was read with or nothing, the value, the key of its groups, its group, its Day
--   what is posted of it
-- Answers for each unit nothing where it is written, else what stands in its way:
--   f, the watermark; e, a user who was erased; k, a set's number, an id that is known; c, a set's number, how many ids it
--   has; p, a page's number, its value.
local PIECE = 1000
local frozen = tonumber(redis.call('GET', KEYS[1]) or nil)
local erased = nil
if redis.call('EXISTS', KEYS[2]) == 1 then
    local time = redis.call('TIME')
    erased = time[1] * 1000 + math.floor(time[2] / 1000)
end
local at = 2
local function take()
    at = at + 1
    return ARGV[at]
end
local function key()
    return KEYS[tonumber(take()) + 5]
end

local answers, postings = {}, {}
while at < #ARGV do
    local found = {}
    local function find(kind, ...)
        found[#found + 1] = kind
        for _, one in ipairs({...}) do
            found[#found + 1] = one
        end
    end
    local freezes = tonumber(take())
    if freezes and frozen and freezes <= frozen then
        find('f', string.format('%d', frozen))
    end
    for _ = 1, tonumber(take()) do
        local uid = take()
        if erased then
            local until_then = tonumber(redis.call('HGET', KEYS[2], uid) or nil)
            if until_then and until_then > erased then
                find('e', uid)
            end
        end
    end
    local sets = {}
    for number = 1, tonumber(take()) do
        local own, other = key(), tonumber(take())
        local seconds, most, add, look = take(), tonumber(take()), tonumber(take()), tonumber(take())
        local first, last = at + 1, at + add + look
        at = last
        local held = redis.call('SCARD', own)
        if add > 0 and held + add > most then
            find('c', string.format('%d', number), string.format('%d', held))
        end
        local function search(set)
            for from = first, last, PIECE do
                local upto = math.min(from + PIECE - 1, last)
                local known = redis.call('SMISMEMBER', set, unpack(ARGV, from, upto))
                for place = 1, #known do
                    if known[place] == 1 then
                        find('k', string.format('%d', number), ARGV[from + place - 1])
                    end
                end
            end
        end
        if held > 0 then
            search(own)
        end
        if other > 0 then
            search(KEYS[other + 5])
        end
        sets[number] = {own, held, seconds, first, first + add - 1}
    end
    local pages = {}
    for number = 1, tonumber(take()) do
        local page, revision = key(), take()
        if redis.call('GETRANGE', page, 0, 3) ~= revision then
            find('p', string.format('%d', number), redis.call('GET', page) or '')
        end
        pages[number] = {page, revision, take(), key(), take(), take()}
    end
    local posting = take()
    if #found == 0 then
        for _, set in ipairs(sets) do
            for from = set[4], set[5], PIECE do
                redis.call('SADD', set[1], unpack(ARGV, from, math.min(from + PIECE - 1, set[5])))
            end
            if set[2] == 0 and set[5] >= set[4] then
                redis.call('EXPIRE', set[1], set[3])
            end
        end
        for _, page in ipairs(pages) do
            redis.call('SET', page[1], page[3])
            if page[2] == '' then
                redis.call('SADD', page[4], page[5])
                redis.call('SADD', KEYS[5], page[6])
            end
        end
        postings[#postings + 1] = posting
    end
    answers[#answers + 1] = found
end

local joined = table.concat(postings)
if joined ~= '' then
    local posting = ARGV[2] .. joined
    redis.call('RPUSH', KEYS[4], posting)
    redis.call('HINCRBY', KEYS[3], 'last', 1)
    local bytes = redis.call('HINCRBY', KEYS[3], 'bytes', #posting)
    local over = bytes - tonumber(ARGV[1])
    if over > 0 then
        -- the oldest go: who reads the feed sees the gap
        local gone = 0
        while gone < over do
            local oldest = redis.call('LPOP', KEYS[4])
            if not oldest then
                break
            end
            gone = gone + #oldest
        end
        redis.call('HINCRBY', KEYS[3], 'bytes', -gone)
    end
end
return answers
