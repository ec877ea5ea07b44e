-- One row that `/readyz` writes: only a write that is committed tells that the next upload can be. Nobody reads it.
create table readiness (
    id bigint primary key,
    checked text not null
);
