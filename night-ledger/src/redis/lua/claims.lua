-- Claims lie in blocks of so many positions, each under its number in a hash: a zero byte (which is no claim) and runs of equal
-- claims, each the claim and how many, less 1; where that would be longer than BLOCK bytes, its claims as they are, a byte
-- each. So no block is longer than BLOCK bytes; the last one of a seal, where it has fewer positions, may take up to two bytes
-- a position, and the zero byte.
local BLOCK = 1000
local MOST = 256
local sub, byte, rep, find, char = string.sub, string.byte, string.rep, string.find, string.char

-- The claims of the runs that reach from place `first` (from 1) to `last`, the place before them, and the runs before and
-- after them. They end before `last` where the block does.
local function part(held, first, last)
  if byte(held) ~= 0 then
    return held, 0, '\0', ''
  end
  local at, before, many = 2, 0, byte(held, 3)
  while many and before + many + 1 < first do
    before, at = before + many + 1, at + 2
    many = byte(held, at + 1)
  end
  local head, claims, upto = sub(held, 1, at - 1), {}, before
  while many and upto < last do
    claims[#claims + 1] = rep(sub(held, at, at), many + 1)
    upto, at = upto + many + 1, at + 2
    many = byte(held, at + 1)
  end
  return table.concat(claims), before, head, sub(held, at)
end

-- A block of runs, claims (at least one) and runs again.
local function joined(head, claims, tail)
  local runs, at, before = { head }, 1, 0
  -- runs that go on over an edge become one
  if #head > 1 and byte(head, -2) == byte(claims) and byte(head, -1) < MOST - 1 then
    before = byte(head, -1) + 1
    runs[1] = sub(head, 1, -3)
  end
  if tail ~= '' and byte(tail) == byte(claims, -1) and byte(tail, 2) < MOST - 1 then
    claims = claims .. rep(sub(tail, 1, 1), byte(tail, 2) + 1)
    tail = sub(tail, 3)
  end
  while at <= #claims do
    local claim = sub(claims, at, at)
    -- what means something else in a pattern has a % before it
    local same = find('^$()%.[]*+-?', claim, 1, true) and '%' .. claim or claim
    local _, last = find(claims, '^' .. same .. '*', at)
    local many = before + last - at + 1
    at, before = last + 1, 0
    while many > MOST do
      runs[#runs + 1] = claim .. char(MOST - 1)
      many = many - MOST
    end
    runs[#runs + 1] = claim .. char(many - 1)
  end
  runs[#runs + 1] = tail
  local block = table.concat(runs)
  return #block > BLOCK and part(block, 1, BLOCK) or block
end

-- The block with positions from `first` to `last`: its number, what is held, and their places in it.
local function block(key, first, last)
  local number = math.floor(first / BLOCK)
  local before = number * BLOCK - 1
  return number, redis.call('HGET', key, number) or '', first - before, last - before
end
