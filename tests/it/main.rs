//! Everything that needs more than one crate: the fences between them, and the programs as their users meet them.

mod columnar;
mod demo;
mod durability;
mod enrol;
mod fleet;
mod hostile;
mod kills;
mod layering;
mod page;
mod reports;
mod servers;
mod shapes;
mod tasks;
mod torture;
mod uploads;
mod verdicts;
mod walk;
