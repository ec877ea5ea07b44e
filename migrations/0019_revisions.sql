-- Which machines' logs changed since: a server holds a copy of the logs in columns (`server/src/store/frames.rs`) and reads anew
-- only what other numbers stand here for.

-- Goes up by one with every commit that changes a log. Whoever commits holds the row until then, so the numbers are in the
-- order of the commits.
alter table changes add column revision bigint not null default 0;
-- The revision of the last commit that deleted a machine.
alter table changes add column deleted bigint not null default 0;

-- Not a column of `machines`: this is written last, when no other lock may be waited for.
create table machine_revisions (
    machine text primary key,
    revision bigint not null
);

create index machine_revisions_by_revision on machine_revisions (revision, machine);
