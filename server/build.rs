//! What cargo does not notice by itself: a new migration.

fn main() {
    println!("cargo::rerun-if-changed=../migrations");
}
