//! Output of `displayxr-cli`.
