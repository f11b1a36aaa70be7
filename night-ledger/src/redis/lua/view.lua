-- Parts of a seal's claims as they stand at one moment, and where its users were moved.
-- KEYS: claims, moved, channels. ARGV: first and last position of each part.
-- Answers {parts of the claims, parts of the moves, numbers of channels by name}.
local claims, moved = {}, {}
for i = 1, #ARGV, 2 do
  claims[#claims + 1] = redis.call('GETRANGE', KEYS[1], ARGV[i], ARGV[i + 1])
  moved[#moved + 1] = redis.call('GETRANGE', KEYS[2], ARGV[i], ARGV[i + 1])
end
return { claims, moved, redis.call('HGETALL', KEYS[3]) }
