-- Writes what came of reports, unit by unit: each whole or not at all.
-- KEYS: frozen, erased, feed, outbox, days, then those that units name by their place.
-- ARGV: the most bytes of postings kept, how many units, then for each of them:
--   when the first of its Days freezes (ms) or '', its part of the posting, the users it stores something of (8 bytes each),
--   how many pages: (key, day, field, revision or '', value) each,
--   how many groups of ids to look for: (first key, second key or 0, how many ids, ids) each,
--   how many groups of ids to add: (key, time to live (s), the most ids before these, how many ids, ids) each.
-- Answers five lists for each unit, all empty where it is written. Otherwise what was found: pages of another revision and
-- their values, the watermark that came before it, ids that are known (group, place), sets of ids that are full (group, how
-- many there are), users who were erased; all counted from 0.
local frozen = tonumber(redis.call('GET', KEYS[1]) or '-1e18')
local any_erased = redis.call('EXISTS', KEYS[2]) == 1
local at = 3
local days, posting = {}, {}

local function take()
  at = at + 1
  return ARGV[at - 1]
end

local function count()
  return tonumber(take())
end

local function ids()
  local from = at + 1
  at = from + tonumber(ARGV[at])
  return { unpack(ARGV, from, at - 1) }
end

local function look_at_pages(found)
  local pages = {}
  for n = 1, count() do
    local page = { key = KEYS[count()], day = take(), field = take(), revision = take(), value = take() }
    local held = redis.call('HGET', page.key, page.field) or ''
    if string.sub(held, 1, 4) ~= page.revision then
      found[1][#found[1] + 1] = n - 1
      found[1][#found[1] + 1] = held
    end
    pages[n] = page
  end
  return pages
end

local function look_for_ids(found)
  for group = 1, count() do
    local keys, all = { count(), count() }, ids()
    for _, key in ipairs(keys) do
      if key > 0 then
        for n, known in ipairs(redis.call('SMISMEMBER', KEYS[key], unpack(all))) do
          if known == 1 then
            found[3][#found[3] + 1] = group - 1
            found[3][#found[3] + 1] = n - 1
          end
        end
      end
    end
  end
end

local function look_for_room(found)
  local adds = {}
  for group = 1, count() do
    local add = { key = KEYS[count()], ttl = take(), most = count(), ids = ids() }
    add.held = redis.call('SCARD', add.key)
    if add.held + #add.ids > add.most then
      found[4][#found[4] + 1] = group - 1
      found[4][#found[4] + 1] = add.held
    end
    adds[group] = add
  end
  return adds
end

local function look_for_erased(found, users)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for n = 1, #users / 8 do
    local till = redis.call('ZSCORE', KEYS[2], string.sub(users, 8 * n - 7, 8 * n))
    if till and tonumber(till) > now then
      found[5][#found[5] + 1] = n - 1
    end
  end
end

local answers = {}
for unit = 1, tonumber(ARGV[2]) do
  local found = { {}, {}, {}, {}, {} }
  local freezes, part_of_posting, users = take(), take(), take()
  if freezes ~= '' and tonumber(freezes) <= frozen then
    found[2][1] = frozen
  end
  local pages = look_at_pages(found)
  look_for_ids(found)
  local adds = look_for_room(found)
  if any_erased and users ~= '' then
    look_for_erased(found, users)
  end
  if #found[1] + #found[2] + #found[3] + #found[4] + #found[5] == 0 then
    for _, page in ipairs(pages) do
      redis.call('HSET', page.key, page.field, page.value)
      if page.revision == '' then
        days[page.day] = true
      end
    end
    for _, add in ipairs(adds) do
      redis.call('SADD', add.key, unpack(add.ids))
      if add.held == 0 then
        redis.call('EXPIRE', add.key, add.ttl)
      end
    end
    if part_of_posting ~= '' then
      posting[#posting + 1] = part_of_posting
    end
  end
  answers[unit] = found
end

for day in pairs(days) do
  redis.call('SADD', KEYS[5], day)
end
if #posting > 0 then
  -- the version stands in front
  posting = '\1' .. table.concat(posting)
  local feed = redis.call('HMGET', KEYS[3], 'last', 'bytes')
  local bytes = (tonumber(feed[2]) or 0) + #posting
  redis.call('RPUSH', KEYS[4], posting)
  while bytes > tonumber(ARGV[1]) do
    bytes = bytes - #redis.call('LPOP', KEYS[4])
  end
  redis.call('HSET', KEYS[3], 'last', (tonumber(feed[1]) or 0) + 1, 'bytes', bytes)
end
return answers
