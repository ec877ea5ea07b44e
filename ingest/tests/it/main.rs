//! Starts the real `weavewatch` and looks at what it prints, how it ends, and what it sends.

mod bundle;
mod common;
mod hostile;
mod pages;
mod preview;
mod replay;
mod scan;
mod server;
mod service;
mod watch;
