-- Logs by outcome stand beside the other counts: what the pictures of the pages draw, for every value of every dimension.
-- Emptied roll-ups are built anew at the next start.
alter table rollups add column outcome_engaged bigint not null default 0;
alter table rollups add column outcome_local bigint not null default 0;
alter table rollups add column outcome_crossing bigint not null default 0;
alter table rollups add column outcome_killed bigint not null default 0;
alter table rollups add column outcome_taken_back bigint not null default 0;
alter table rollups add column outcome_unknown bigint not null default 0;
delete from rollups;
delete from rollup_machines;
