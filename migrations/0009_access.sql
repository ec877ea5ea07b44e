-- Who may ask for how long, who is signed in, and who did what. Times are RFC 3339 text in UTC with milliseconds, so that
-- they sort as text.

-- When a token ends by itself; null: never.
alter table tokens add column expires text;

-- People who are signed in: the hash of what their browser holds, and the token that they signed in with. A session is worth
-- nothing without its token, so that revoking the token ends it.
create table sessions (
    hash text primary key,
    token text not null,
    created text not null,
    expires text not null
);

create index sessions_by_token on sessions (token);
create index sessions_by_expiry on sessions (expires);

-- What was done: rows are only added, and go when they are old. A row is written in the transaction of its deed. The name of
-- a machine that was deleted stays here, as the proof that it was.
create table audit (
    -- Starts with the time, so that ids sort by it.
    id text primary key,
    at text not null,
    -- Id of a token, or `command line`, or `nobody` for who could not sign in.
    who text not null,
    -- Address that the request came from; null for the command line.
    peer text,
    deed text not null,
    -- What it was done to: id of a token or a machine, for instance.
    object text not null,
    outcome text not null,
    -- Id of the request, as the server's log has it.
    request text
);
