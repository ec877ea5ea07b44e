//! A blocking HTTP client for tests: one request after the other, JSON out and in.

use std::sync::Once;

use serde_json::Value;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Such as 200.
    pub status: u16,
    /// The header `content-type`, empty when there is none.
    pub content_type: String,
    /// As text.
    pub body: String,
}

impl Answer {
    /// The body of a 200 as JSON.
    ///
    /// # Panics
    /// When it is something else.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// A connection to one server.
pub struct Http {
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
    base: String,
    token: Option<String>,
}

impl Http {
    /// For the server at `base`, with or without a token.
    ///
    /// # Panics
    /// When the system gives no event loop.
    pub fn new(base: &str, token: Option<&str>) -> Self {
        static PROVIDER: Once = Once::new();
        // The client wants to know its TLS before its first plain request.
        PROVIDER.call_once(|| {
            let installed = rustls::crypto::ring::default_provider().install_default();
            installed.expect("nobody else installs one");
        });
        Self {
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an event loop"),
            client: reqwest::Client::builder().no_proxy().build().expect("a client without special wishes"),
            base: base.to_owned(),
            token: token.map(str::to_owned),
        }
    }

    /// Gets `path`, which starts with a slash.
    ///
    /// # Panics
    /// When there is no answer.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.send(self.client.get(format!("{}{path}", self.base)))
    }

    /// Posts JSON to `path`.
    ///
    /// # Panics
    /// When there is no answer.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let request = self.client.post(format!("{}{path}", self.base)).header("content-type", "application/json");
        self.send(request.body(body.to_string()))
    }

    /// The same to a server that may be gone: then there is no answer.
    pub fn offer(&self, path: &str, body: &Value) -> Option<Answer> {
        let request = self.client.post(format!("{}{path}", self.base)).header("content-type", "application/json");
        self.try_send(request.body(body.to_string())).ok()
    }

    /// Deletes `path`.
    ///
    /// # Panics
    /// When there is no answer.
    #[track_caller]
    pub fn delete(&self, path: &str) -> Answer {
        self.send(self.client.delete(format!("{}{path}", self.base)))
    }

    /// Brings files to `path` as a form, each in a part that is named `file`.
    ///
    /// # Panics
    /// When there is no answer.
    #[track_caller]
    pub fn bring(&self, path: &str, files: &[(&str, Vec<u8>)]) -> Answer {
        const BOUNDARY: &str = "a-boundary-that-is-in-no-log";
        let mut body = Vec::new();
        for (name, bytes) in files {
            let head =
                format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
            body.extend([head.as_bytes(), bytes, b"\r\n"].concat());
        }
        body.extend(format!("--{BOUNDARY}--\r\n").bytes());
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        self.send(self.client.post(format!("{}{path}", self.base)).header("content-type", kind).body(body))
    }

    /// Every item of a list that is paged by cursor.
    ///
    /// # Panics
    /// When a page is no page.
    #[track_caller]
    pub fn all_items(&self, path: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = self.get(&format!("{path}{cursor}")).json();
            items.extend(page["items"].as_array().expect("a page has items").iter().cloned());
            match page["next"].as_str() {
                None => return items,
                Some(next) => cursor = format!("{}cursor={next}", if path.contains('?') { '&' } else { '?' }),
            }
        }
    }

    /// Gets `path` from a server that may be gone: then there is no answer.
    pub fn ask(&self, path: &str) -> Option<Answer> {
        self.try_send(self.client.get(format!("{}{path}", self.base))).ok()
    }

    #[track_caller]
    fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        self.try_send(request).unwrap_or_else(|error| panic!("no answer: {error:?}"))
    }

    fn try_send(&self, mut request: reqwest::RequestBuilder) -> reqwest::Result<Answer> {
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        self.runtime.block_on(async {
            let response = request.send().await?;
            let status = response.status().as_u16();
            let content_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
            let content_type = content_type.unwrap_or_default().to_owned();
            Ok(Answer { status, content_type, body: response.text().await? })
        })
    }
}
