//! The server as its callers see it: one binary, a database per test, no socket where none is needed.
//!
//! Every test that takes a [`world::World`] runs on SQLite, and again on PostgreSQL when `WEAVEWATCH_TEST_POSTGRES` holds
//! the URL of a superuser, such as `postgres://app@127.0.0.1:5432/postgres`; each then makes a database of its own there.

mod access;
mod admin;
mod admin_pages;
mod backup;
mod columnar;
mod compare;
mod dead_letters;
mod described;
mod disk;
mod doctor;
mod drift;
mod embed;
mod enrolment;
mod explore;
mod export;
mod filters;
mod grafana;
mod health_page;
mod hostile;
mod ingest;
mod laws;
mod learned;
mod lifecycle;
mod limits;
mod live_page;
mod log_page;
mod machine_pages;
mod machines;
mod metrics;
mod migrations;
mod openapi;
mod page;
mod paging;
mod problems;
mod program;
mod replay;
mod report_page;
mod report_states;
mod reports;
mod requests;
mod retention;
mod rollups;
mod sample;
mod schemas;
mod sign_in;
mod summary;
mod told;
mod triage;
mod verify;
mod what_if;
mod world;
