-- The oldest postings of a part.
-- KEYS: feed, outbox. ARGV: the most bytes, but for the first.
-- Answers the highest number, the highest that was posted, the number of the first, the postings.
local feed = redis.call('HMGET', KEYS[1], 'last', 'posted')
local last = tonumber(feed[1]) or 0
local length = redis.call('LLEN', KEYS[2])
local postings, bytes, at = {}, 0, 0
while at < length do
  for _, posting in ipairs(redis.call('LRANGE', KEYS[2], at, at + 15)) do
    bytes = bytes + #posting
    if bytes > tonumber(ARGV[1]) and #postings > 0 then
      at = length
      break
    end
    postings[#postings + 1] = posting
  end
  at = at + 16
end
return { last, tonumber(feed[2]) or 0, last - length + 1, postings }
