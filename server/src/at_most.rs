//! A JSON list of which only the first items are kept, so that memory does not grow with what a stranger sends.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};

/// At most `N` items, and how many more there were.
#[derive(Debug)]
pub struct AtMost<T, const N: usize> {
    /// The first ones.
    pub items: Vec<T>,
    /// Those that were read over.
    pub more: usize,
}

impl<T, const N: usize> Default for AtMost<T, N> {
    fn default() -> Self {
        Self { items: Vec::new(), more: 0 }
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for AtMost<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct First<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for First<T, N> {
            type Value = AtMost<T, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut kept = AtMost::default();
                while kept.items.len() < N {
                    let Some(item) = list.next_element()? else { return Ok(kept) };
                    kept.items.push(item);
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    kept.more += 1;
                }
                Ok(kept)
            }
        }
        deserializer.deserialize_seq(First(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_kept_and_the_others_counted() {
        for (json, items, more) in [("[]", 0, 0), ("[1,2]", 2, 0), ("[1,2,3]", 3, 0), ("[1,2,3,\"x\",{}]", 3, 2)] {
            let list: AtMost<u8, 3> = serde_json::from_str(json).expect("a list");
            assert_eq!((list.items.len(), list.more), (items, more), "{json}");
        }
        assert!(serde_json::from_str::<AtMost<u8, 3>>("[1,2,3,]").is_err());
    }
}
