-- One step of the work on a batch, whole or not at all.
-- KEYS: claims, leases, sums, pending, worked, moved, channels.
-- ARGV: owner (8 bytes), batch (16 bytes), term (ms), what the owner's live lease must cover ('-' or '+' and runs), what it
-- is to cover (runs), what is to be published ('-' or '+' and bytes), attempt (a byte) and chunk for the log or '', time to
-- live (s), how many turns, (field, value) each, then windows, sums, how many moves, (channel, first position, how many) each.
-- Answers {1}: done. {2, ms}: another's lease. {3}: no such seal or position.
-- {0, claims of the windows, leases and turns by field}: not as expected, nothing written.
local claims, leases = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- a lease is the owner (8 bytes), when it ends (13 digits, ms) and the runs it covers
local lease = redis.call('HGET', leases, ARGV[2])
local own = nil
if lease then
  local left = tonumber(string.sub(lease, 9, 21)) - now
  if left > 0 then
    if string.sub(lease, 1, 8) ~= ARGV[1] then
      return { 2, left }
    end
    own = '+' .. string.sub(lease, 22)
  end
end

local at = 10
local turns = tonumber(ARGV[9])
local as_expected = ARGV[4] == '-' or ARGV[4] == own
for _ = 1, turns do
  as_expected = as_expected and (redis.call('HGET', leases, ARGV[at]) or '0') == ARGV[at + 1]
  at = at + 2
end
local windows, same
windows, same, at = look(claims, at)
if not windows or (#windows == 0 and redis.call('EXISTS', claims) == 0) then
  return { 3 }
end

if not (same and as_expected) then
  local held = {}
  for w, window in ipairs(windows) do
    held[w] = held_in(window)
  end
  local all, live = redis.call('HGETALL', leases), {}
  for i = 1, #all, 2 do
    -- a batch has 16 bytes, a turn fewer
    if #all[i] == 16 and tonumber(string.sub(all[i + 1], 9, 21)) <= now then
      redis.call('HDEL', leases, all[i])
    else
      live[#live + 1] = all[i]
      live[#live + 1] = all[i + 1]
    end
  end
  return { 0, held, live }
end

write(claims, windows)
at = count(KEYS[3], at)
for i = 1, turns do
  redis.call('HINCRBY', leases, ARGV[8 + 2 * i], 1)
end
local term = tonumber(ARGV[3])
if term > 0 then
  redis.call('HSET', leases, ARGV[2], ARGV[1] .. string.format('%013.0f', now + term) .. ARGV[5])
elseif lease then
  redis.call('HDEL', leases, ARGV[2])
end
if ARGV[6] ~= '-' then
  -- what other works on the batch left stays
  local others = without(redis.call('HGET', KEYS[4], ARGV[2]) or '', function(owner)
    return owner == ARGV[1]
  end)
  local own = ARGV[1] .. string.format('%010d', #ARGV[6] - 1) .. string.sub(ARGV[6], 2)
  redis.call('HSET', KEYS[4], ARGV[2], others .. own)
  redis.call('EXPIRE', KEYS[4], ARGV[8])
end
if ARGV[7] ~= '' then
  local batch = ARGV[2] .. string.sub(ARGV[7], 1, 1)
  local chunks = redis.call('HGET', KEYS[5], batch) or ''
  if redis.call('HSET', KEYS[5], batch, chunks .. string.sub(ARGV[7], 2)) == 1 then
    redis.call('EXPIRE', KEYS[5], ARGV[8])
  end
end
local moves = tonumber(ARGV[at])
at = at + 1
for _ = 1, moves do
  local channel = redis.call('HGET', KEYS[7], ARGV[at])
  if not channel then
    channel = redis.call('HLEN', KEYS[7]) + 1
    redis.call('HSET', KEYS[7], ARGV[at], channel)
    redis.call('EXPIRE', KEYS[7], ARGV[8])
  end
  if redis.call('EXISTS', KEYS[6]) == 0 then
    -- at its full length at once, so that it is allocated but once
    redis.call('SETRANGE', KEYS[6], redis.call('HLEN', claims) * BLOCK - 1, '\0')
    redis.call('EXPIRE', KEYS[6], ARGV[8])
  end
  redis.call('SETRANGE', KEYS[6], ARGV[at + 1], string.rep(string.char(channel), tonumber(ARGV[at + 2])))
  at = at + 3
end
return { 1 }
