//! The `weavewatch-server` program. Everything lives in the library, where tests can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    server::run()
}
