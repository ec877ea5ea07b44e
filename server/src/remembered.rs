//! Pages that were drawn once stay in memory, packed, until a commit changes what they show.
//!
//! The key is exact: who asks, for which address, by which name of this server, and the mark that commits replace
//! (`store::changes`), read before the page is drawn. So nobody is shown an old page, whichever server or command wrote, and
//! no clock throws one away. Pages that tell the time, or what only this process knows, are not kept, and neither are those
//! for administrators. A page holds the masked token of its reader's forms (`forgery`), so each reader has pages of his own;
//! another address is another page with another mask, so that packing still tells nothing of the token.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, SET_COOKIE, VARY};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::filling;
use crate::lately::Lately;
use crate::packed;
use crate::pages::Framed;
use crate::store::Marks;

/// What all pages may take: some hundred of the longest, thousands of usual ones.
const BYTES: usize = 32 << 20;
/// A page that is longer before it is packed is drawn anew each time.
const PAGE_BYTES: usize = 8 << 20;
/// What an entry takes beside the bytes of its page and its address.
const ENTRY_BYTES: usize = 512;

/// What a page shows, and so what has to change before it is drawn again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shows {
    /// Logs and counts of them.
    Logs,
    /// Anything that is stored.
    Anything,
}

/// The pages, the newest used last.
pub struct Remembered(Mutex<Lately<Arc<Key>, (String, Page)>>);

impl Default for Remembered {
    fn default() -> Self {
        // Bytes bound it: each page takes some.
        Self(Mutex::new(Lately::new(usize::MAX, BYTES)))
    }
}

/// All that a page depends on beside what is stored.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Key {
    /// Path and query.
    address: String,
    /// Pages tell agents how to reach this server.
    host: Option<HeaderValue>,
    /// Nobody where pages are open.
    caller: Option<Caller>,
}

/// A page, as it is sent.
#[derive(Clone)]
struct Page {
    packed: Bytes,
    /// Where it may stand in a frame.
    framed: Option<Framed>,
}

/// The middleware of a page, behind its guard: what is remembered is shown to nobody who may not ask.
pub async fn remember(State((app, shows)): State<(App, Shows)>, request: Request, next: Next) -> Response {
    // What a page of a demo that fills says is old with the next machine, whatever the mark says.
    if request.method() != Method::GET || filling::missing().is_some() {
        return next.run(request).await;
    }
    // A database that does not answer has the page say so.
    let Ok(Some(marks)) = app.store.marks().await else { return next.run(request).await };
    let mark = shows.mark(marks);
    let takes_gzip = packed::is_taken(request.headers());
    let key = Key::of(&request);
    if let Some(page) = app.remembered.get(&key, &mark) {
        return page.answer(takes_gzip).await;
    }
    let response = next.run(request).await;
    if !is_lasting(&response) {
        return response;
    }
    let framed = response.extensions().get().cloned();
    let body = response.into_body();
    // It is in memory already.
    let packing = async {
        let plain = to_bytes(body, PAGE_BYTES).await.map_err(anyhow::Error::from)?;
        let packed = tokio::task::spawn_blocking(move || packed::pack(&plain)).await??;
        Ok::<_, anyhow::Error>(Bytes::from(packed))
    };
    match packing.await {
        Ok(packed) => {
            let page = Page { packed, framed };
            app.remembered.keep(key, mark, page.clone());
            page.answer(takes_gzip).await
        }
        Err(error) => Html(Error::Internal(error.context("failed to pack a page"))).into_response(),
    }
}

/// Marks a page that is another one soon, without a commit. It is drawn anew each time.
#[derive(Clone, Copy, Debug)]
pub struct Passing;

/// A whole page, and nothing that is meant for this answer alone.
fn is_lasting(response: &Response) -> bool {
    let headers = response.headers();
    response.status() == StatusCode::OK
        && headers.get(CONTENT_TYPE).is_some_and(|kind| kind == HTML)
        && !headers.contains_key(SET_COOKIE)
        && response.extensions().get::<Passing>().is_none()
        && response.body().size_hint().exact().is_some_and(|bytes| bytes <= PAGE_BYTES as u64)
}

const HTML: &str = "text/html; charset=utf-8";

impl Page {
    async fn answer(self, takes_gzip: bool) -> Response {
        let Self { packed, framed } = self;
        let told: [(HeaderName, &'static str); 2] = [(CONTENT_TYPE, HTML), (VARY, "accept-encoding")];
        let mut response = if takes_gzip {
            (told, [(CONTENT_ENCODING, "gzip")], Body::from(packed)).into_response()
        } else {
            let plain = tokio::task::spawn_blocking(move || packed::unpack(&packed)).await.map_err(anyhow::Error::from);
            match plain.and_then(|plain| plain.map_err(anyhow::Error::from)) {
                Ok(plain) => (told, plain).into_response(),
                Err(error) => return Html(Error::Internal(error.context("failed to unpack a page"))).into_response(),
            }
        };
        if let Some(framed) = framed {
            response.extensions_mut().insert(framed);
        }
        response
    }
}

impl Shows {
    fn mark(self, marks: Marks) -> String {
        match self {
            Self::Logs => marks.logs,
            Self::Anything => marks.anything,
        }
    }
}

impl Key {
    fn of(request: &Request) -> Self {
        Self {
            address: request.uri().path_and_query().map(ToString::to_string).unwrap_or_default(),
            host: request.headers().get(HOST).cloned(),
            caller: request.extensions().get().cloned(),
        }
    }

    fn size_bytes(&self) -> usize {
        self.address.len() + self.host.as_ref().map_or(0, HeaderValue::len)
    }
}

impl Remembered {
    fn get(&self, key: &Key, mark: &str) -> Option<Page> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, page) = kept.get(key)?;
        if own == mark {
            return Some(page.clone());
        }
        // It never comes back.
        kept.remove(key);
        None
    }

    fn keep(&self, key: Key, mark: String, page: Page) {
        let size_bytes = size_bytes(&key, &page);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(Arc::new(key), (mark, page), size_bytes);
    }
}

fn size_bytes(key: &Key, page: &Page) -> usize {
    ENTRY_BYTES + key.size_bytes() + page.packed.len()
}

impl std::fmt::Debug for Remembered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Remembered({} pages, {} bytes)", kept.by_key.len(), kept.size_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(address: &str) -> Key {
        Key { address: address.to_owned(), host: None, caller: None }
    }

    fn keep(pages: &Remembered, address: &str, mark: &str, bytes: usize) {
        pages.keep(key(address), mark.to_owned(), Page { packed: vec![0; bytes].into(), framed: None });
    }

    #[test]
    fn a_page_lasts_as_long_as_its_mark() {
        let pages = Remembered::default();
        keep(&pages, "/", "one", 10);
        assert!(pages.get(&key("/"), "one").is_some() && pages.get(&key("/"), "one").is_some());
        assert!(pages.get(&key("/?path=d3d11"), "one").is_none());
        let other = Key { host: Some(HeaderValue::from_static("elsewhere")), ..key("/") };
        assert!(pages.get(&other, "one").is_none());
        assert!(pages.get(&key("/"), "two").is_none());
        assert!(pages.get(&key("/"), "one").is_none(), "it is gone");
        assert_eq!(format!("{pages:?}"), "Remembered(0 pages, 0 bytes)");
    }

    #[test]
    fn the_pages_that_were_used_last_are_kept_within_the_bound() {
        let pages = Remembered::default();
        let size = BYTES / 10;
        for number in 0..9 {
            keep(&pages, &number.to_string(), "one", size);
        }
        assert!(pages.get(&key("0"), "one").is_some());
        keep(&pages, "new", "one", size);
        keep(&pages, "new", "two", size);
        assert!(pages.get(&key("0"), "one").is_some() && pages.get(&key("1"), "one").is_none(), "{pages:?}");
        keep(&pages, "long", "one", BYTES / 4);
        assert!(pages.get(&key("long"), "one").is_none(), "one page does not drive out all others");
        for number in 0..100_000 {
            keep(&pages, &format!("{number}"), "one", 0);
        }
        let kept = pages.0.lock().expect("nobody panicked");
        assert!(kept.size_bytes <= BYTES && kept.by_key.len() == kept.by_use.len(), "{}", kept.size_bytes);
    }
}
