-- A machine's row: made by its first batch. Batches can arrive out of order, so the newest one's words are kept.
insert into machines (id, first_seen, agent, last_contact, heartbeat, heartbeat_at)
values ($1, $2, $3, $2, $4, $5)
on conflict (id) do update set
    agent = case
        when machines.last_contact > excluded.last_contact then coalesce(machines.agent, excluded.agent)
        else coalesce(excluded.agent, machines.agent)
    end,
    last_contact = case
        when machines.last_contact > excluded.last_contact then machines.last_contact
        else excluded.last_contact
    end,
    heartbeat = case
        when excluded.heartbeat is null or machines.heartbeat_at > excluded.heartbeat_at then machines.heartbeat
        else excluded.heartbeat
    end,
    heartbeat_at = case
        when excluded.heartbeat is null or machines.heartbeat_at > excluded.heartbeat_at then machines.heartbeat_at
        else excluded.heartbeat_at
    end
