-- Writes a seal unless it or one of its zones is sealed.
-- KEYS: seal, claims, zones, progress, sums, leases.
-- ARGV: the seal, the claims (a byte a position), instant (s), deadline (s), time to live (s), how many zones,
-- their names, then sums.
-- Answers {1}: written. {0}: it stands. {2, which zone from 1, instant}: taken.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return { 0 }
end
local zones, at = tonumber(ARGV[6]), 7
for z = 1, zones do
  local taken = redis.call('HGET', KEYS[3], ARGV[at + z - 1])
  if taken then
    return { 2, z, tonumber(taken) }
  end
end
for z = 1, zones do
  redis.call('HSET', KEYS[3], ARGV[at + z - 1], ARGV[3])
end
at = at + zones
redis.call('SET', KEYS[1], ARGV[1])
for first = 1, #ARGV[2], BLOCK do
  local number = (first - 1) / BLOCK
  redis.call('HSET', KEYS[2], number, joined('\0', string.sub(ARGV[2], first, first + BLOCK - 1), ''))
end
redis.call('HSET', KEYS[4], 'b' .. ARGV[3], 0, 'c' .. ARGV[3], 0, 'd' .. ARGV[3], ARGV[4])
-- so that it is there, with its time to live, before the first lease
redis.call('HSET', KEYS[6], 't0', 0)
for c = 1, tonumber(ARGV[at]) do
  redis.call('HINCRBY', KEYS[5], ARGV[at + 2 * c - 1], ARGV[at + 2 * c])
end
for _, key in ipairs(KEYS) do
  redis.call('EXPIRE', key, ARGV[5])
end
return { 1 }
