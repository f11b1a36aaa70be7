-- The postings that are still to be posted. KEYS: feed, outbox. Answers last, posted, then the postings.
local numbers = redis.call('HMGET', KEYS[1], 'last', 'posted')
local answer = redis.call('LRANGE', KEYS[2], 0, -1)
table.insert(answer, 1, numbers[2] or '0')
table.insert(answer, 1, numbers[1] or '0')
return answer
