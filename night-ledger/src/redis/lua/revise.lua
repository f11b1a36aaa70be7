-- Changes claims that no sender changes, and the sums with them, if they are as expected.
-- KEYS: claims, progress, sums. ARGV: the field of the seal's end, what it must be or '', what it becomes or '', then windows
-- and sums. Answers 1: done. 0: not as expected, nothing written. 2: the end is another. 3: no such seal or position.
local stands = redis.call('HGET', KEYS[2], ARGV[1])
if not stands then
  return 3
end
if ARGV[2] ~= '' and stands ~= ARGV[2] then
  return 2
end
local windows, as_expected, at = look(KEYS[1], 4)
if not windows then
  return 3
end
if not as_expected then
  return 0
end
write(KEYS[1], windows)
count(KEYS[3], at)
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
end
return 1
