-- Words in logs that the vocabulary does not know, found when the log was judged: each once a log, replaced together with
-- the verdict. `kind` is `token` for a reason token and `shape` for a record of ours in an unknown wording.
create table log_drift (
    log text not null references logs (id),
    kind text not null,
    -- The token, or the marker that the record starts with: cut, and without anything that a terminal would obey.
    what text not null,
    -- Tag of the build that wrote the log, else its version.
    build text,
    -- How often, where first, and how the runtime put it there, as far as its values tell.
    records bigint not null,
    line bigint not null,
    example text not null,
    primary key (log, kind, what)
);

create index log_drift_by_word on log_drift (kind, what, log);
