//! What every route has in common, so that no handler repeats it and none can forget it: who may call, and how a refusal
//! looks. The table of routes knows the first, `error.rs` the second.

use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder};
use utoipa::{Modify, PartialSchema, ToSchema};

use crate::auth::Access;
use crate::{router, sessions};

/// The names of the security schemes.
const TOKEN: &str = "token";
const SESSION: &str = "session";

/// Adds guards and errors to every operation.
pub struct Common;

/// Why a request is not answered, RFC 9457.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a shape to be described: `error.rs` writes it")]
struct Problem {
    /// Stable: `urn:weavewatch:problem:` and a word.
    #[schema(examples("urn:weavewatch:problem:bad-query"))]
    r#type: String,
    title: String,
    status: u16,
    /// For a person; it may quote what was sent.
    detail: String,
    /// Under which the server's log has it; also in the header `x-request-id`.
    request_id: Option<String>,
}

impl Modify for Common {
    fn modify(&self, api: &mut OpenApi) {
        let components = api.components.get_or_insert_default();
        components.schemas.insert(Problem::name().into_owned(), Problem::schema());
        components.add_security_scheme(TOKEN, SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
        let cookie = ApiKeyValue::with_description(sessions::GUARDED, "Of a person who signed in, over TLS.");
        components.add_security_scheme(SESSION, SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
        for route in router::table() {
            let operation = api.paths.paths.get_mut(route.path).and_then(|item| operation(item, route.method));
            // A row without a description is a test's business.
            if let Some(operation) = operation {
                complete(operation, route.access);
            }
        }
    }
}

fn operation<'a>(item: &'a mut PathItem, method: &str) -> Option<&'a mut Operation> {
    match method {
        "GET" => item.get.as_mut(),
        "POST" => item.post.as_mut(),
        "PATCH" => item.patch.as_mut(),
        "DELETE" => item.delete.as_mut(),
        _ => None,
    }
}

fn complete(operation: &mut Operation, access: Access) {
    let open = access == Access::Open;
    let [token, session] = [TOKEN, SESSION].map(|name| SecurityRequirement::new(name, Vec::<String>::new()));
    operation.security = Some(match access {
        Access::Open => vec![],
        // A browser on the server's own machine needs none.
        Access::Page | Access::TriagePage => vec![SecurityRequirement::default(), token, session],
        Access::Read | Access::Triage | Access::Admin | Access::AdminPage => vec![token, session],
        Access::Enroll | Access::Upload | Access::Delete => vec![token],
    });
    if !open {
        for (status, description) in [
            ("401", "No token, or one that is unknown, revoked or expired"),
            ("403", "The token's scope does not reach so far, or a person's request comes from a foreign page"),
            ("429", "Too many requests, or wrong tokens; `Retry-After` says for how long"),
            ("500", "A fault of the server's own; its log tells the reason"),
            ("503", "The database does not answer; try again after a moment"),
        ] {
            let response = || ResponseBuilder::new().description(description).into();
            operation.responses.responses.entry(status.to_owned()).or_insert_with(response);
        }
    }
    // A page tells its errors to a person, everything else to a program.
    let (kind, content) = if access.is_page() {
        ("text/html", ContentBuilder::new().schema(Some(String::schema())).build())
    } else {
        ("application/problem+json", ContentBuilder::new().schema(Some(Ref::from_schema_name(Problem::name()))).build())
    };
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response
            && status.starts_with(['4', '5'])
            && response.content.is_empty()
        {
            response.content.insert(kind.to_owned(), RefOr::T(content.clone()));
        }
    }
}
