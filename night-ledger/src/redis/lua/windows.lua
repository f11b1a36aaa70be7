-- Windows on the claims, each in a block of its own. ARGV[at] is how many; each has its first and last position, how many
-- pieces, and for each piece where it begins in the window (from 1), the bytes that are expected there and those they become.
-- Answers the windows, nil when the claims end before one of them does; whether all is as expected; and what follows in ARGV.
-- Nothing is written.
local function look(key, at)
  local windows, as_expected = {}, true
  local count = tonumber(ARGV[at])
  at = at + 1
  for w = 1, count do
    local number, held, first, last = block(key, tonumber(ARGV[at]), tonumber(ARGV[at + 1]))
    local claims, before, head, tail = part(held, first, last)
    local pieces = tonumber(ARGV[at + 2])
    at, first, last = at + 3, first - before, last - before
    if #claims < last then
      return nil, false, at
    end
    local parts, upto = {}, 1
    for _ = 1, pieces do
      local from, old, new = first - 1 + ARGV[at], ARGV[at + 1], ARGV[at + 2]
      at = at + 3
      if string.sub(claims, from, from + #old - 1) ~= old then
        as_expected = false
      end
      parts[#parts + 1] = string.sub(claims, upto, from - 1)
      parts[#parts + 1] = new
      upto = from + #new
    end
    parts[#parts + 1] = string.sub(claims, upto)
    windows[w] = {
      number = number, head = head, tail = tail, first = first, last = last, claims = claims, becomes = table.concat(parts),
    }
  end
  return windows, as_expected, at
end

-- The claims in a window as they are.
local function held_in(window)
  return string.sub(window.claims, window.first, window.last)
end

local function write(key, windows)
  for _, window in ipairs(windows) do
    if window.becomes ~= window.claims then
      redis.call('HSET', key, window.number, joined(window.head, window.becomes, window.tail))
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
