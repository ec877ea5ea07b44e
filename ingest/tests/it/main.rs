//! Starts the real `weavewatch` and looks at what it prints, how it ends, and what it sends.

mod accuracy;
mod agent;
mod bundle;
mod common;
mod cost;
mod daemon;
mod disk_full;
mod hostile;
mod hour;
mod pages;
mod preview;
mod replay;
mod scan;
mod server;
mod service;
mod simulate;
mod trouble;
mod watch;
