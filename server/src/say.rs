//! What the program says: data on stdout, everything else on stderr. A reader that is gone or a disk that is full ends no
//! server, so nothing here panics, and the macros that would are forbidden in this crate.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Prints a line of data and makes sure that it got out.
///
/// # Errors
/// When it did not; for data that can be asked for again see [`unless_gone`].
pub fn data(line: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// A reader that went away, such as `head`, has what it wanted.
///
/// # Errors
/// Every other failure.
pub fn unless_gone(printed: io::Result<()>) -> io::Result<()> {
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Says something to the person who started the program.
pub fn note(text: impl Display) {
    // Names and messages of the operating system may hold anything. When stderr is gone there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{}", wire::cell::terminal(&text.to_string()));
}

/// True when what is printed is thrown away. A process that is started without a stdout gets the null device, too.
pub fn is_lost() -> bool {
    let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
    match (same_file::Handle::stdout(), same_file::Handle::from_path(null)) {
        (Ok(stdout), Ok(null)) => stdout == null,
        _ => false,
    }
}
