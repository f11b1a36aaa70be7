-- Raises a night's epoch in a shard and, if asked to, the batches confirmed of one of its seals.
-- KEYS: progress. ARGV: epoch, time to live (s), then nothing, or the field of the batches and their count.
-- Answers {1}: accepted. {0, epoch}: a higher one is held. {3}: no such seal.
local held = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
local epoch = tonumber(ARGV[1])
if held > epoch then
  return { 0, held }
end
local batches = ARGV[3] and redis.call('HGET', KEYS[1], ARGV[3])
if ARGV[3] and not batches then
  return { 3 }
end
if held < epoch then
  local new = redis.call('EXISTS', KEYS[1]) == 0
  redis.call('HSET', KEYS[1], 'epoch', ARGV[1])
  if new then
    redis.call('EXPIRE', KEYS[1], ARGV[2])
  end
end
if batches and tonumber(ARGV[4]) > tonumber(batches) then
  redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
end
return { 1 }
