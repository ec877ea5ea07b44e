//! The exit codes of all commands (contract section 3), and which one wins when several apply.

use std::process::ExitCode;

/// How a command ended. The order is that of precedence: a later one wins over an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Exit {
    /// 0: done.
    #[default]
    Done,
    /// 1: done, and a finding of `--fail-on` was there.
    Matched,
    /// 3: some input could not be read.
    Unreadable,
    /// 4: the server could not be reached or refused; what it did not take is sent again next time.
    Server,
    /// 2: wrong usage.
    Usage,
}

impl Exit {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Matched => 1,
            Self::Usage => 2,
            Self::Unreadable => 3,
            Self::Server => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_wins_over_four_over_three_over_one() {
        let mut all = [Exit::Matched, Exit::Usage, Exit::Done, Exit::Server, Exit::Unreadable];
        all.sort_unstable();
        assert_eq!(all.map(Exit::code), [0, 1, 3, 4, 2]);
    }
}
