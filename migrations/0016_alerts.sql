-- What the rules of `serve --alerts` found last, one row a rule and what it watches: so a cool-down outlives a restart, and
-- several servers on one database tell people once (`server/src/store/alerts.rs`).
create table alerts (
    rule text not null,
    -- Empty for all logs of the rule together, else `=` and the build, or whatever the rule counts one by one.
    subject text not null,
    -- 1 while it is above the limit.
    above bigint not null,
    -- Since when it is above, or is not.
    since text not null,
    -- 1 when an alarm went out whose end nobody was told of yet.
    told bigint not null,
    -- When the newest alarm was made: the cool-down counts from here.
    alarmed text,
    -- When the newest message arrived somewhere.
    sent text,
    -- Why the newest attempt failed, when no later one made up for it.
    error text,
    -- The newest numbers: logs that the rule counts, of how many, on how many machines; null where nobody asked.
    counted bigint not null,
    logs bigint not null,
    machines bigint,
    primary key (rule, subject)
);

-- Messages on their way, at most one for each receiver of an alert: a newer one takes the place of one that did not arrive.
create table alert_messages (
    rule text not null,
    subject text not null,
    -- A webhook's name in the rules, or an address of e-mail.
    receiver text not null,
    -- `alarm`, `reminder` or `resolved`.
    kind text not null,
    -- JSON, as the server wrote it.
    body text not null,
    created text not null,
    -- Attempts that began.
    attempts bigint not null,
    -- Not before this time. Whoever tries moves it ahead first, so that nobody else does.
    next_try text not null,
    primary key (rule, subject, receiver)
);

create index alert_messages_by_next_try on alert_messages (next_try);
