//! One look at a text that tells whether any rule could find something in it. Nearly every line of a log has nothing, and a
//! look with one pattern costs much less than all rules.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// Each rule's matches hold at least one of these.
static SIGNS: LazyLock<Regex> = LazyLock::new(|| {
    let people = "users|home|settings|docume~|username|user[\"']? *[=:]|logname|s-1-";
    let machines = r"\\\\|//|unc\\|computername|hostname|clientname|userdomain|userdnsdomain|logonserver";
    let addresses = "@|%40";
    let secrets = "token|pass|pwd|secret|key|cred|auth|cookie|bearer|sig=|-u[ =]|-user|ww_|eyj|akia|asia|gh[pousr]_|github|glpat|xox|sk-|aiza";
    Regex::new(&format!("(?i-u){people}|{machines}|{addresses}|{secrets}")).expect("the pattern is a constant")
});

/// False when no rule but those for known names can find anything.
pub fn are_in(text: &[u8]) -> bool {
    SIGNS.is_match(text)
}
