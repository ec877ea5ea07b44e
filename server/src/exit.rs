//! The exit codes of contract section 3, as far as they mean something here.

use crate::columnar;
use crate::serve::CannotListen;

/// What was typed cannot be done, whatever the state of files and network.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// What was looked for was found.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Found(pub String);

/// 1: something was found. 2: wrong usage. 4: the address cannot be had. 3: everything else, which is about a file, a database or an output.
pub fn code(error: &anyhow::Error) -> u8 {
    let place = error.downcast_ref::<columnar::Error>().is_some_and(|error| matches!(error, columnar::Error::Place(_)));
    if error.is::<Usage>() || place {
        2
    } else if error.is::<Found>() {
        1
    } else if error.is::<CannotListen>() {
        4
    } else {
        3
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn what_was_typed_stays_wrong_usage_behind_its_context() {
        let usage = Err::<(), _>(Usage("no such token".to_owned())).context("failed to revoke").expect_err("an error");
        assert_eq!(code(&usage), 2);
        assert_eq!(code(&Found("a difference".to_owned()).into()), 1);
        assert_eq!(code(&anyhow::anyhow!("the disk is gone")), 3);
    }
}
