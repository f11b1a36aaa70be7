-- What works on a batch left to be published: one after the other the owner (8 bytes), the length (10 digits) and the
-- bytes. Answers it without the entries that are to go. Nothing is written.
local function without(left, goes)
  local kept, at = {}, 1
  while at <= #left do
    local length = tonumber(string.sub(left, at + 8, at + 17))
    if not goes(string.sub(left, at, at + 7), string.sub(left, at + 18, at + 17 + length)) then
      kept[#kept + 1] = string.sub(left, at, at + 17 + length)
    end
    at = at + 18 + length
  end
  return table.concat(kept)
end
