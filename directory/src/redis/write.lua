-- Writes a page, records in it, the change log and the counts by zone, if the page is still the one that was read.
-- KEYS: the part's pages, log, head and zones, then the records.
-- ARGV: 1 the page's number; 2 the stamp it must have, '' if it must not be there; 3 its bytes, '' if it goes; 4 its new
-- stamp; 5 how many changes the log keeps, 0 if this is none that it tells; 6 how many zones follow, each with how many
-- more users are in it and how many more moved out of it; then the records, '' for one that goes.
-- Answers 1, or 0 if the page is another one.
local page, over, bytes, stamp, kept, zones = unpack(ARGV, 1, 6)
local held = redis.call('HGET', KEYS[1], page)
if (held and string.sub(held, 2, 9) or '') ~= over then
    return 0
end

local gone, written, place = {}, {}, 6 + 3 * zones
for i = 5, #KEYS do
    local record = ARGV[place + i - 4]
    if record == '' then
        gone[#gone + 1] = KEYS[i]
    else
        written[#written + 1] = KEYS[i]
        written[#written + 1] = record
    end
end
for first = 1, #written, 1000 do
    redis.call('MSET', unpack(written, first, math.min(first + 999, #written)))
end
for first = 1, #gone, 1000 do
    redis.call('DEL', unpack(gone, first, math.min(first + 999, #gone)))
end

if bytes == '' then
    redis.call('HDEL', KEYS[1], page)
else
    redis.call('HSET', KEYS[1], page, bytes)
end

local function count(field, by)
    if by ~= '0' and redis.call('HINCRBY', KEYS[4], field, by) <= 0 then
        redis.call('HDEL', KEYS[4], field)
    end
end
for i = 7, place, 3 do
    count('now:' .. ARGV[i], ARGV[i + 1])
    count('was:' .. ARGV[i], ARGV[i + 2])
end

if kept ~= '0' then
    local before = redis.call('HGET', KEYS[3], 'mark') or ''
    local mark = string.sub(redis.sha1hex(before .. page .. ':' .. stamp), 1, 16)
    redis.call('HINCRBY', KEYS[3], 'number', 1)
    redis.call('HSET', KEYS[3], 'mark', mark)
    redis.call('RPUSH', KEYS[2], mark .. page)
    redis.call('LTRIM', KEYS[2], -kept, -1)
end
return 1
