-- The columns of every count; keys, tables and filters follow. A reason is joined at most once per log and token, so a
-- log counts once in each group.
select
    count(*) as logs,
    count(distinct l.machine) as machines,
    count(case when l.split = 'engaged' then 1 end) as split_engaged,
    count(case when l.split = 'off' then 1 end) as split_off,
    count(case when l.split = 'unknown' then 1 end) as split_unknown,
    count(case when l.crossing = 'none' then 1 end) as crossing_none,
    count(case when l.crossing = 'atlas_per_frame' then 1 end) as crossing_atlas_per_frame,
    count(case when l.crossing = 'every_present' then 1 end) as crossing_every_present,
    count(case when l.crossing = 'unknown' then 1 end) as crossing_unknown,
    count(case when l.interop_crossing = 1 then 1 end) as interop_crossing,
    count(case when l.killed = 1 then 1 end) as killed,
    count(case when l.retired = 1 then 1 end) as retired,
    count(case when l.basis = 'corrected' then 1 end) as corrected,
    count(case when l.outcome = 'engaged' then 1 end) as outcome_engaged,
    count(case when l.outcome = 'local' then 1 end) as outcome_local,
    count(case when l.outcome = 'crossing' then 1 end) as outcome_crossing,
    count(case when l.outcome = 'killed' then 1 end) as outcome_killed,
    count(case when l.outcome = 'taken_back' then 1 end) as outcome_taken_back,
    count(case when l.outcome = 'unknown' then 1 end) as outcome_unknown
