//! The small-world check on all worlds, on two threads: `cargo run --release -p resolver --example worlds`.
//!
//! Prints how many worlds were visited; stops with the first world in which a law does not hold.

#[path = "../tests/worlds/laws.rs"]
mod laws;
#[path = "../tests/worlds/space.rs"]
mod space;

use std::thread;

const THREADS: usize = 2;

fn main() {
    let places = space::places();
    let visited: u64 = thread::scope(|scope| {
        let share = |share| {
            let places = &places;
            scope.spawn(move || space::visit(places, share, THREADS, 1, &mut laws::Laws::default()))
        };
        let handles: Vec<_> = (0..THREADS).map(share).collect();
        handles.into_iter().map(|handle| handle.join().expect("the laws hold in every world")).sum()
    });
    println!("{visited} worlds on {} places: every law holds", places.len());
}
