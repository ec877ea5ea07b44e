-- What each log tells of its PC, each distinct answer once, found by its content: the id comes from a hash of the text.
-- Rows never change; those that no log refers to any more go when a machine is deleted. What is not known of logs from
-- before is null until they are judged anew.

-- The PC as one log tells it, with the LUIDs of that boot: a machine object. `told_scanout` and `session.device_luid` are
-- the adapters of the verdict.
create table topologies (
    id bigint primary key,
    json text not null
);

-- A kind of PC: which adapter renders, which drives the panel, the others; no LUIDs. The label is for people.
create table cohorts (
    id text primary key,
    label text not null
);

-- What a replay needs: policy, path, machine with settings and session, facts that are missing. LUIDs are numbered.
create table situations (
    id bigint primary key,
    json text not null
);

alter table logs add column topology bigint references topologies (id);
alter table logs add column cohort text references cohorts (id);
alter table logs add column situation bigint references situations (id);
-- What somebody set, as the log tells it: a JSON object by variable; null when it tells of nothing.
alter table logs add column settings text;

create index logs_by_topology on logs (topology);
create index logs_by_cohort on logs (cohort);
-- Holds all columns that a what-if over the fleet reads.
create index logs_by_situation on logs (situation, machine, cohort, outcome);
