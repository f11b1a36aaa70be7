-- Takes, renews or gives up the lease on a shard: owner, epoch and when it ends (ms), with colons between.
-- KEYS: shard leases. ARGV: shard, owner, term (ms) or '' to give it up, and with a term what the epoch has to be above.
-- Answers the epoch, 0 when another has the lease or it was given up.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HGET', KEYS[1], ARGV[1]) or '0:0:0'
local owner, epoch, ends = string.match(held, '^(%d+):(%d+):(%d+)$')
local live = owner ~= '0' and tonumber(ends) > now
if ARGV[3] == '' then
  if owner == ARGV[2] then
    redis.call('HSET', KEYS[1], ARGV[1], '0:' .. epoch .. ':0')
  end
  return 0
end
if live and owner ~= ARGV[2] then
  return 0
end
local above = tonumber(ARGV[4])
if not live or tonumber(epoch) <= above then
  -- the clock's microseconds, so that a new owner is above the last one where the leases were lost, or are those of a
  -- while ago, too; what is asked for, where this server's clock is behind that of the one they were lost with
  epoch = string.format('%.0f', math.max(epoch + 1, time[1] * 1000000 + time[2], above + 1))
end
local lease = ARGV[2] .. ':' .. epoch .. ':' .. string.format('%.0f', now + ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], lease)
return tonumber(epoch)
