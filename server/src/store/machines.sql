-- A machine's row with the number of its logs and what the newest ones tell; which machines, and in what order, follows.
select m.id, m.first_seen, m.last_contact, m.agent, m.heartbeat, m.heartbeat_at,
    (select count(*) from logs l where l.machine = m.id) as logs,
    (select l.outcome from logs l where l.machine = m.id order by l.started_s desc, l.id desc limit 1) as outcome,
    (select l.cohort from logs l where l.machine = m.id and l.cohort is not null
        order by l.started_s desc, l.id desc limit 1) as cohort
from machines m
