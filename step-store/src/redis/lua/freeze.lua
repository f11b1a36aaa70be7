-- Raises the watermark of a part. KEYS: frozen. ARGV: ms since 1970.
local held = tonumber(redis.call('GET', KEYS[1]))
if not held or held < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1])
end
return 1
