-- How far a part is. KEYS: feed. Answers the server's replication id, which is another one after a start and after a fail-over,
-- and last.
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
return {id or '', redis.call('HGET', KEYS[1], 'last') or '0'}
