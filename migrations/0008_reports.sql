-- What people bring: logs, captures and bundles with everything that was said of them. The files stay as they came, so
-- that better rules and a better parser can read them again.

-- One upload. Its id cannot be guessed, and is the only thing that its address is made of.
create table reports (
    id text primary key,
    created text not null,
    -- When it was read last, and by which version of the rules.
    analysed text not null,
    rules bigint not null,
    -- The PC that a bundle's manifest names by its pseudonym. It need not be known.
    machine text,
    -- Of the files as they came, and of all that is stored of the report.
    bytes bigint not null,
    stored_bytes bigint not null,
    -- What was not taken, as a JSON list of names with reasons.
    refused text not null
);

create index reports_by_created on reports (created, id);
create index reports_by_machine on reports (machine);

-- The files of a report in the order in which they came; `body` is zstd.
create table report_files (
    report text not null references reports (id),
    number bigint not null,
    name text not null,
    bytes bigint not null,
    body bytea not null,
    primary key (report, number)
);

-- The logs in them, by start, then name. `summary` is the scan object, `explained` and `page` are what `explain` says of
-- the log as JSON and as markdown, both zstd.
create table report_logs (
    report text not null references reports (id),
    number bigint not null,
    -- The base name when it is one that the runtime gives, which holds program, process id and start: with it the same
    -- log is found among those that agents sent.
    file text,
    outcome text not null,
    summary text not null,
    explained bytea not null,
    page bytea not null,
    primary key (report, number)
);

create index report_logs_by_file on report_logs (file);
create index logs_by_file on logs (file);
