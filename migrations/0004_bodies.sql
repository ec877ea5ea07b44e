-- One row for what a byte range brought instead of one for every record: a tenth of the room, and a thousandth of the
-- insertions. SQLite takes `bytea` for a type of its own invention, in which bytes stay bytes.

-- How many observations the range brought, and how many bytes they are as JSON, one a line. `body` is that, packed with
-- zstd; `plain` is the same as text where this migration made it. Both are null when there are none. The last record of a
-- range comes again in the next one: it counts there, because the range that starts last at or before a record owns it.
alter table log_ranges add column observations bigint not null default 0;
alter table log_ranges add column plain_bytes bigint not null default 0;
alter table log_ranges add column body bytea;
alter table log_ranges add column plain text;

-- How many observations of the log count, each once.
alter table logs add column events bigint not null default 0;

-- Another one with every upload that touches the log: what a server remembers of it holds for one of them.
alter table logs add column revision bigint not null default 0;

update log_ranges set plain = (
    select string_agg(o.body, '
' order by o.record_offset, o.ordinal)
    from observations o
    where o.log = log_ranges.log
      and o.record_offset >= log_ranges.start_offset
      and o.record_offset < coalesce(
          (select min(n.start_offset) from log_ranges n
           where n.log = log_ranges.log and n.start_offset > log_ranges.start_offset),
          log_ranges.end_offset)
);

update log_ranges
set plain_bytes = octet_length(plain),
    observations = length(plain) - length(replace(plain, '
', '')) + 1
where plain is not null;

update logs set events = (select count(*) from observations o where o.log = logs.id);

drop table observations;
