//! The small-world check on a sample: every 67th of all worlds, the same ones each time. All of them:
//! `cargo run --release -p resolver --example worlds`.

#[path = "worlds/laws.rs"]
mod laws;
#[path = "worlds/space.rs"]
mod space;

use std::thread;

/// Coprime to every dimension, so that the sample meets every value of each.
const STRIDE: usize = 67;
const THREADS: usize = 2;

#[test]
fn the_laws_hold_in_a_sample_of_all_worlds() {
    let places = space::places();
    assert!(places.len() * space::PER_PLACE >= 20_000_000);
    let visited: u64 = thread::scope(|scope| {
        let share = |share| {
            let places = &places;
            scope.spawn(move || space::visit(places, share, THREADS, STRIDE, &mut laws::Laws::default()))
        };
        let handles: Vec<_> = (0..THREADS).map(share).collect();
        handles.into_iter().map(|handle| handle.join().expect("the laws hold")).sum()
    });
    println!("{visited} worlds");
    assert!(visited >= 300_000, "{visited}");
}
