-- What each log put on the bus between GPUs, and what it measured of it: written in the transaction of its verdict. Null is not
-- known, never zero. Logs from before know nothing until they are judged again.
--
-- Sums are in megabytes (10^6 bytes), the lower bound rounded down and the upper bound up. `told_…` comes from what the log tells
-- alone; `reference_…` takes the numbers of the reference laptop for what it does not tell.
create table log_costs (
    log text primary key references logs (id),
    -- As in `logs`, so that counting reads this narrow table alone.
    machine text not null,
    day text,
    cohort text,
    situation bigint,
    crossing text not null,
    -- 1: counters of the log tell what crossed.
    measured bigint,
    -- How long the log was in its last state, and how long it ran.
    seconds_low bigint,
    seconds_high bigint,
    -- What crossed; the same if the log had split; if every present had crossed; what a split saves, which may be negative.
    told_bus_megabytes_low bigint,
    told_bus_megabytes_high bigint,
    told_atlas_megabytes_low bigint,
    told_atlas_megabytes_high bigint,
    told_present_megabytes_low bigint,
    told_present_megabytes_high bigint,
    told_split_saves_megabytes_low bigint,
    told_split_saves_megabytes_high bigint,
    reference_bus_megabytes_low bigint,
    reference_bus_megabytes_high bigint,
    reference_atlas_megabytes_low bigint,
    reference_atlas_megabytes_high bigint,
    reference_present_megabytes_low bigint,
    reference_present_megabytes_high bigint,
    reference_split_saves_megabytes_low bigint,
    reference_split_saves_megabytes_high bigint,
    -- The slowest and the fastest window of the bridge.
    bridge_bytes_per_second_low bigint,
    bridge_bytes_per_second_high bigint,
    -- What the bridge said that it moved when it throttled: the link carries this.
    link_at_least_bytes_per_second bigint,
    -- Frames over the bridge: their size as the nearest eighth of a power of two, how many, all their bytes (in units of 1,024)
    -- and the time between them (milliseconds), all windows together.
    frame_class bigint,
    bridge_frames bigint,
    bridge_kibibytes bigint,
    bridge_ms bigint,
    -- Frames of the service's clients, and the time it took for them.
    client_frames bigint,
    client_ms bigint
);

create index log_costs_by_machine on log_costs (machine, day);
-- Holds all columns that the curve of a topology reads.
create index log_costs_measured on log_costs
    (cohort, machine, frame_class, bridge_frames, bridge_kibibytes, bridge_ms, client_frames, client_ms)
    where bridge_frames > 0;
-- Holds all columns that a what-if over the fleet reads, in the order in which it adds them up: without it every row is sorted.
create index log_costs_by_situation on log_costs
    (situation, crossing,
     told_atlas_megabytes_low, told_atlas_megabytes_high, told_present_megabytes_low, told_present_megabytes_high,
     told_split_saves_megabytes_low, told_split_saves_megabytes_high,
     reference_atlas_megabytes_low, reference_atlas_megabytes_high, reference_present_megabytes_low,
     reference_present_megabytes_high, reference_split_saves_megabytes_low, reference_split_saves_megabytes_high);

insert into log_costs (log, machine, day, cohort, situation, crossing)
select id, machine, day, cohort, situation, crossing from logs where report <> '';

-- The sums of `log_costs` by day and kind of PC, kept in the same transaction; '' stands for logs that do not tell. Rows without
-- logs are deleted. `weavewatch-server verify` counts them anew and compares.
create table cost_days (
    day text not null,
    cohort text not null,
    logs bigint not null,
    -- Logs whose counters tell what crossed.
    measured bigint not null,
    -- Logs of which it is known at all, and what crossed in those.
    told_logs bigint not null,
    told_megabytes_low bigint not null,
    told_megabytes_high bigint not null,
    reference_logs bigint not null,
    reference_megabytes_low bigint not null,
    reference_megabytes_high bigint not null,
    primary key (day, cohort)
);

insert into cost_days
select coalesce(day, ''), coalesce(cohort, ''), count(*), 0, 0, 0, 0, 0, 0, 0 from log_costs group by 1, 2;
