//! What the rules said so far: outcomes in the order of asking, warnings, missing facts.

use std::borrow::Cow;

use wire::RuleOutcome;

/// The notes of one replay.
pub struct Trace {
    pub rules: Vec<RuleOutcome>,
    pub warnings: Vec<String>,
    pub missing: Vec<Cow<'static, str>>,
}

impl Trace {
    pub fn new() -> Self {
        // The longest order of rules is a little above twenty.
        Self { rules: Vec::with_capacity(24), warnings: Vec::new(), missing: Vec::new() }
    }

    /// A rule was asked.
    pub fn note(&mut self, rule: &'static str, outcome: &'static str) {
        self.rules.push(RuleOutcome { rule: Cow::Borrowed(rule), outcome: Cow::Borrowed(outcome) });
    }

    /// A rule needed this fact; each is named once.
    pub fn miss(&mut self, fact: impl Into<Cow<'static, str>>) {
        let fact = fact.into();
        if !self.missing.contains(&fact) {
            self.missing.push(fact);
        }
    }
}

/// An enum whose variants have fixed words, so that tables can list them all.
macro_rules! outcomes {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident => $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// Every outcome in words.
            pub const WORDS: &[&str] = &[$($word),+];

            /// The outcome in words.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}
pub(super) use outcomes;
