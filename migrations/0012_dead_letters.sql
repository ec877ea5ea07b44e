-- Segments of uploads that were refused, as they were sent, so that a newer version or a person can look at them. The
-- oldest go first when there are too many (`server/src/store/dead_letters.rs`).
create table dead_letters (
    -- Made from machine and content: the same one again is not kept twice.
    id text primary key,
    machine text not null references machines (id),
    received text not null,
    -- Its place in the batch.
    place bigint not null,
    reason text not null,
    -- How long it was; `body` is the beginning of its JSON, packed with zstd.
    size_bytes bigint not null,
    body bytea not null
);

create index dead_letters_by_received on dead_letters (received, id);
create index dead_letters_by_machine on dead_letters (machine, received, id);
