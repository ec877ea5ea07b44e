//! The `weavewatch` program. Everything is in the library, where tests can call it.

fn main() -> std::process::ExitCode {
    ingest::run().into()
}
