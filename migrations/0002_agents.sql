-- What agents say of themselves and of their logs beside the events, and tokens that belong to one machine. What is not
-- known of rows from before is null.

-- Of the newest batch: version of the agent, and when it came. Of the newest that had one: the heartbeat as JSON.
alter table machines add column agent text;
alter table machines add column last_contact text;
alter table machines add column heartbeat text;
alter table machines add column heartbeat_at text;

-- What the log's local times mean, as JSON, and whether its last line was never completed. Like `facts`, from the range
-- that ends last.
alter table logs add column clock text;
alter table logs add column unfinished bigint not null default 0;

create index logs_by_machine on logs (machine, started_s, id);

-- What will never arrive, in all: the largest numbers that the agent told. `log` is the id in `logs`, which need not be
-- there, or empty when the loss is about no log.
create table losses (
    machine text not null references machines (id),
    log text not null,
    reason text not null,
    file text,
    bytes bigint not null,
    events bigint not null,
    primary key (machine, log, reason)
);

-- The only machine that the token is good for; null: any. The machine need not have sent anything yet. It has one valid
-- token at a time.
alter table tokens add column machine text;

create unique index tokens_by_machine on tokens (machine) where revoked is null;
