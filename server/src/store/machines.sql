-- A machine's row with the number of its logs; which machines, and in what order, follows.
select m.id, m.first_seen, m.last_contact, m.agent, m.heartbeat, m.heartbeat_at,
    (select count(*) from logs l where l.machine = m.id) as logs
from machines m
