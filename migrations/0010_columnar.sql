-- The columnar copy, work that one of several servers does for all, and what retention goes by.

-- A local day that has or had logs; empty for logs without a date. The stamp is random, and another one after every
-- transaction that changes something of the day. A copy notes the stamp that it was written at, so it knows by itself
-- what it has to write again, also after a restore.
create table columnar_days (
    day text primary key,
    stamp text not null
);

insert into columnar_days (day, stamp) select distinct coalesce(day, ''), '' from logs;

-- One row: what this database is called in its copies, so that nobody writes over the copy of another one.
create table identity (
    id bigint primary key,
    name text not null
);

-- Who does a kind of work at the moment, and until when others leave it alone unless it is renewed.
create table leases (
    name text primary key,
    holder text not null,
    until text not null
);

-- When the newest piece of the log came; null: before this was noted, so `received` counts.
alter table logs add column last_received text;
-- 1: its events were removed to make room, its verdict was kept.
alter table logs add column events_pruned bigint not null default 0;
