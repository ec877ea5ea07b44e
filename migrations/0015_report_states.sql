-- What people make of a report: how far it is, in which build it is fixed, who looks after it, and what they note.
alter table reports add column state text not null default 'new';
-- The build in which it is fixed; only with the state `fixed`.
alter table reports add column build text;
-- A name, as whoever set it typed it.
alter table reports add column assignee text;

create index reports_by_state on reports (state, created, id);

-- Notes are only added, and go with their report. `who` is the id of a token, or `nobody` in a demo.
create table report_notes (
    -- Starts with the time, so that ids sort by it.
    id text primary key,
    report text not null references reports (id),
    at text not null,
    who text not null,
    note text not null
);

create index report_notes_by_report on report_notes (report, id);
