//! What was used last, within bounds: the memory behind shortcuts that may forget anything at any time.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Values by key, the newest used last.
pub(crate) struct Lately<K, V> {
    pub(crate) by_key: HashMap<K, Entry<V>>,
    /// The keys by when they were used.
    pub(crate) by_use: BTreeMap<u64, K>,
    /// What all values take.
    pub(crate) size_bytes: usize,
    uses: u64,
    most: usize,
    most_bytes: usize,
}

/// A value, when it was used, and what it takes.
pub(crate) struct Entry<V> {
    value: V,
    used: u64,
    size_bytes: usize,
}

impl<K: Clone + Eq + Hash, V> Lately<K, V> {
    /// Keeps at most so many values of so many bytes together; one that takes more than an eighth of that is not kept.
    pub(crate) fn new(most: usize, most_bytes: usize) -> Self {
        Self { by_key: HashMap::new(), by_use: BTreeMap::new(), uses: 0, size_bytes: 0, most, most_bytes }
    }

    /// A value, which is the newest used from now on.
    pub(crate) fn get<Q>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let entry = self.by_key.get_mut(key)?;
        let own = self.by_use.remove(&entry.used)?;
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(self.uses, own);
        Some(&entry.value)
    }

    /// Takes a value out.
    pub(crate) fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let entry = self.by_key.remove(key)?;
        self.by_use.remove(&entry.used);
        self.size_bytes -= entry.size_bytes;
        Some(entry.value)
    }

    /// Keeps a value instead of the one before, and forgets those that were not used for longest, as the bounds want it.
    pub(crate) fn put(&mut self, key: K, value: V, size_bytes: usize) {
        if size_bytes > self.most_bytes / 8 {
            return;
        }
        self.remove(&key);
        self.uses += 1;
        self.size_bytes += size_bytes;
        self.by_use.insert(self.uses, key.clone());
        self.by_key.insert(key, Entry { value, used: self.uses, size_bytes });
        while self.by_key.len() > self.most || self.size_bytes > self.most_bytes {
            let Some((_, oldest)) = self.by_use.pop_first() else { return };
            self.remove(&oldest);
        }
    }
}
