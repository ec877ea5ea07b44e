-- Cohorts are counted like every other dimension from now on. Emptied roll-ups are built anew at the next start.
delete from rollups;
drop table rollup_machines;

-- On which days a machine has logs of a value, and how many, a row for 64 days: what tells distinct machines over any days, and
-- what keeps `rollups.machines` exact.
create table rollup_machines (
    dimension text not null,
    value text not null,
    machine text not null,
    -- Days since 1970, divided by 64.
    block bigint not null,
    -- One a day with logs, the first day's is the lowest.
    bits bigint not null,
    -- Days and counts, packed as `server/src/store/days.rs` says.
    days bytea not null,
    primary key (dimension, value, machine, block)
);

create index rollup_machines_by_machine on rollup_machines (machine);
-- All that a question about some days reads.
create index rollup_machines_by_block on rollup_machines (dimension, block, value, machine, bits);
