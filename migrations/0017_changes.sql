-- What tells that something changed: random marks, which every commit replaces as the last thing it does. Who has read the
-- marks, then the rows, may keep what it made of them until it reads another mark, whichever server or command wrote.
create table changes (
    -- One row, which the first commit makes.
    id bigint primary key,
    -- Another one after every commit that changes anything that a page may show.
    anything text not null,
    -- Another one after every commit that changes a log or a count of logs.
    logs text not null
);
