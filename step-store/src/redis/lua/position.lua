-- How far a part's postings are, and in which history of the server: it has another name after each start and each change of
-- the primary.
-- KEYS: feed. Answers the name of the history, the highest number.
local name = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
return { name or '', tonumber(redis.call('HGET', KEYS[1], 'last')) or 0 }
