-- Cohorts are counted like every other dimension from now on. Emptied roll-ups are built anew at the next start.
delete from rollups;
delete from rollup_machines;
