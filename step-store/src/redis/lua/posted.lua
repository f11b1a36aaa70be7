-- Forgets the postings of a part up to a number.
-- KEYS: feed, outbox. ARGV: the number.
local feed = redis.call('HMGET', KEYS[1], 'last', 'posted', 'bytes')
local last, posted, bytes = tonumber(feed[1]) or 0, tonumber(feed[2]) or 0, tonumber(feed[3]) or 0
local upto = math.min(tonumber(ARGV[1]), last)
local gone = upto - (last - redis.call('LLEN', KEYS[2]))
if gone > 0 then
  for _, posting in ipairs(redis.call('LPOP', KEYS[2], gone)) do
    bytes = bytes - #posting
  end
end
if gone > 0 or upto > posted then
  redis.call('HSET', KEYS[1], 'posted', math.max(posted, upto), 'bytes', bytes)
end
return 1
