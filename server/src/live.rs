//! What arrives just now: the newest logs in memory, and whoever watches them come.
//!
//! Only of this process: another server on the same database has watchers of its own. A log that grows arrives again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Semaphore, broadcast};

/// Logs that are remembered.
pub const REMEMBERED: usize = 200;
/// Arrivals that a slow watcher may be behind; it misses those before.
const BEHIND: usize = 256;
/// Pages that watch at the same time. Each holds a connection.
const WATCHERS: usize = 64;

/// The arrivals.
#[derive(Debug)]
pub struct Live {
    /// Ids, newest first, each once.
    recent: Mutex<VecDeque<String>>,
    news: broadcast::Sender<String>,
    /// A permit for each watcher.
    pub watchers: Arc<Semaphore>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            recent: Mutex::default(),
            news: broadcast::Sender::new(BEHIND),
            watchers: Arc::new(Semaphore::new(WATCHERS)),
        }
    }
}

impl Live {
    /// Tells of logs that are stored now.
    pub fn arrived(&self, logs: Vec<String>) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        for log in logs {
            recent.retain(|own| *own != log);
            recent.push_front(log.clone());
            // Nobody may be watching.
            let _ = self.news.send(log);
        }
        recent.truncate(REMEMBERED);
    }

    /// The ids of the newest, newest first.
    pub fn recent(&self, most: usize) -> Vec<String> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter().take(most).cloned().collect()
    }

    /// What arrives from now on.
    pub fn watch(&self) -> broadcast::Receiver<String> {
        self.news.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_grows_comes_to_the_front_and_old_ones_are_forgotten() {
        let live = Live::default();
        let mut watcher = live.watch();
        live.arrived(vec!["a".to_owned(), "b".to_owned()]);
        live.arrived(vec!["a".to_owned()]);
        assert_eq!(live.recent(9), ["a", "b"]);
        assert_eq!(live.recent(1), ["a"]);
        let told: Vec<_> = std::iter::from_fn(|| watcher.try_recv().ok()).collect();
        assert_eq!(told, ["a", "b", "a"]);
        live.arrived((0..1_000).map(|number| number.to_string()).collect());
        assert_eq!((live.recent(usize::MAX).len(), live.recent(1)), (REMEMBERED, vec!["999".to_owned()]));
    }
}
