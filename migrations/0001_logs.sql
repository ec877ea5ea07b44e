-- What the agents send and what the server makes of it. One schema for SQLite and PostgreSQL, hence only `text` and
-- `bigint`, flags as 0 or 1, JSON documents as text, and times as RFC 3339 text in UTC.

-- A PC, by its pseudonym: never a host or user name.
create table machines (
    id text primary key,
    first_seen text not null
);

-- One log of one machine. The verdict columns are a copy of what stands in `report`, for counting; they are replaced in
-- the transaction that adds observations. The defaults are what is true of a log before anything was read.
create table logs (
    -- Made from machine and log, so that it is the same in every database.
    id text primary key,
    machine text not null references machines (id),
    log text not null,
    file text not null,
    -- When the first piece arrived.
    received text not null,
    -- Where the newest piece ends; `facts` holds up to there.
    end_offset bigint not null,
    -- Bytes below `end_offset` that no piece covers.
    missing_bytes bigint not null default 0,
    facts text not null default '',
    report text not null default '',
    -- The start by the log's own clock, as if that were UTC; a floor sorts logs without one last.
    started_s bigint not null default -1000000000000,
    -- The local day of the start.
    day text,
    exe text,
    runtime text,
    path text not null default 'unknown',
    split text not null default 'unknown',
    crossing text not null default 'unknown',
    interop_crossing bigint not null default 0,
    killed bigint not null default 0,
    retired bigint not null default 0,
    basis text not null default 'absent',
    -- The one word that pages use for a verdict.
    outcome text not null default 'unknown',
    -- Adapter names: a LUID means nothing outside its boot.
    render text,
    scanout text,
    gpu_pair text,
    unique (machine, log)
);

create index logs_by_start on logs (started_s, id);
create index logs_by_day on logs (day);

-- The reason tokens of a log's verdict, each once.
create table log_reasons (
    log text not null references logs (id),
    token text not null,
    primary key (log, token)
);

create index log_reasons_by_token on log_reasons (token, log);

-- The byte ranges that have arrived, without those that lie inside another. An observation is known best by the range
-- that ends last among those that hold its offset.
create table log_ranges (
    log text not null references logs (id),
    start_offset bigint not null,
    end_offset bigint not null,
    primary key (log, start_offset, end_offset)
);

-- What the parser saw. `ordinal` counts observations of one offset: an event and a flaw can share a record.
create table observations (
    log text not null references logs (id),
    record_offset bigint not null,
    ordinal bigint not null,
    line bigint not null,
    kind text not null,
    shape text,
    body text not null,
    primary key (log, record_offset, ordinal)
);

create index observations_by_line on observations (log, line);

-- Who may ask. The token itself is printed once and not kept.
create table tokens (
    id text primary key,
    name text not null,
    scope text not null,
    hash text not null unique,
    created text not null,
    revoked text
);
