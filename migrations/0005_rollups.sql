-- Counts that are kept beside the rows and written in the same transaction, so that a question costs what its answer is
-- long, however many logs and events there are. `weavewatch-server verify` counts them anew and compares.

-- Logs of one value of one dimension on one day. Every log is counted for the dimension '' (all logs) and for each of its
-- values, each time on its own day and on the day 'all'. A value is spelled with a leading '='; '' stands for logs that do
-- not tell, of values and of days. Rows without logs are deleted.
create table rollups (
    dimension text not null,
    day text not null,
    value text not null,
    logs bigint not null,
    -- Distinct ones among the logs.
    machines bigint not null,
    split_engaged bigint not null,
    split_off bigint not null,
    split_unknown bigint not null,
    crossing_none bigint not null,
    crossing_atlas_per_frame bigint not null,
    crossing_every_present bigint not null,
    crossing_unknown bigint not null,
    interop_crossing bigint not null,
    killed bigint not null,
    retired bigint not null,
    corrected bigint not null,
    primary key (dimension, day, value)
);

-- On which days a machine has logs of a value, and how many: what tells distinct machines over any days, and what keeps
-- `rollups.machines` exact. `days` is packed as `server/src/store/days.rs` says: a row a day would be more than the logs.
create table rollup_machines (
    dimension text not null,
    value text not null,
    machine text not null,
    days bytea not null,
    primary key (dimension, value, machine)
);

create index rollup_machines_by_machine on rollup_machines (machine);

-- Which rules made the verdict (`resolver::RULES`); 0: older than their numbers.
alter table logs add column rules bigint not null default 0;

create index logs_by_rules on logs (rules, id);

-- What a log's verdict was by other rules, where it was another one: the last of each rules. `replaced` is when newer rules
-- came to their own.
create table verdict_history (
    log text not null references logs (id),
    rules bigint not null,
    report text not null,
    replaced text not null,
    primary key (log, rules)
);
