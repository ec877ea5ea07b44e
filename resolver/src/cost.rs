//! What crossing costs: bytes on the bus, memory, and ways to use several adapters (issue 8).
//!
//! [`Frame`] is what is known of the pictures, [`placements`] the price of every way to the panel, [`MeasureFold`] what a log
//! measured, which overrules estimates; [`session`] is what a whole log put on the bus, [`curve`] what a fleet's logs measured
//! together; [`memory`] counts pages and page tables, [`strategies()`] compares ways to share work
//! among adapters, [`words`] prints numbers with their bounds. All of it is pure, as the whole crate.
//!
//! What is not known stays an interval or null. Numbers of the reference laptop are used where somebody asks for them only.

mod bus;
pub mod curve;
mod frame;
mod measured;
pub mod memory;
mod session;
mod strategies;
mod surfaces;
pub mod words;

pub use bus::{on_reference, placements};
pub use frame::{BYTES_PER_PIXEL_BOUNDS, Frame, Pixels, REFERENCE_LINK_BYTES_PER_S, REFERENCE_REFRESH_HZ};
pub use measured::{Laid, Measure, MeasureFold, Noted, Pace};
pub use session::{Session, session};
pub use strategies::{Machinery, strategies};
pub use surfaces::{Rings, Surface, in_crossing};
