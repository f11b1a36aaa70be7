-- Windows on the claims. ARGV[at] is how many; each has its first and last position, how many pieces, and for each piece
-- where it begins in the window (from 1), the bytes that are expected there and the bytes they become.
-- Answers the windows, nil when the claims end before one of them does; whether all is as expected; and what follows in
-- ARGV. Nothing is written.
local function look(key, at)
  local windows, as_expected = {}, true
  local count = tonumber(ARGV[at])
  at = at + 1
  for w = 1, count do
    local first, last, pieces = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
    at = at + 3
    local held = redis.call('GETRANGE', key, first, last)
    if #held ~= last - first + 1 then
      return nil, false, at
    end
    local parts, upto = {}, 1
    for p = 1, pieces do
      local from, old, new = tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2]
      at = at + 3
      if string.sub(held, from, from + #old - 1) ~= old then
        as_expected = false
      end
      parts[#parts + 1] = string.sub(held, upto, from - 1)
      parts[#parts + 1] = new
      upto = from + #new
    end
    parts[#parts + 1] = string.sub(held, upto)
    windows[w] = { first, held, table.concat(parts) }
  end
  return windows, as_expected, at
end

local function write(key, windows)
  for _, window in ipairs(windows) do
    if window[2] ~= window[3] then
      redis.call('SETRANGE', key, window[1], window[3])
    end
  end
end

-- ARGV[at] is how many fields of the sums change; each has its name and by how much. Answers what follows.
local function count(key, at)
  local changes = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, changes do
    redis.call('HINCRBY', key, ARGV[at], ARGV[at + 1])
    at = at + 2
  end
  return at
end
