-- Parts of a seal's claims as they stand at one moment, and where its users were moved.
-- KEYS: claims, moved, channels. ARGV: first and last position of each part, which lie in one block.
-- Answers {parts of the claims, parts of the moves, numbers of channels by name}.
local claims, moved = {}, {}
for i = 1, #ARGV, 2 do
  local _, held, first, last = block(KEYS[1], tonumber(ARGV[i]), tonumber(ARGV[i + 1]))
  local near, before = part(held, first, last)
  claims[#claims + 1] = string.sub(near, first - before, last - before)
  moved[#moved + 1] = redis.call('GETRANGE', KEYS[2], ARGV[i], ARGV[i + 1])
end
return { claims, moved, redis.call('HGETALL', KEYS[3]) }
