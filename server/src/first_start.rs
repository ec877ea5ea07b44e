//! The first start: whoever can reach the server needs a token, and somebody has to have the first one.

use crate::app::State;
use crate::audit::Actor;
use crate::auth::Scope;
use crate::say;
use crate::store::Wish;
use crate::tokens::command::withdraw;

/// Says how one gets a token. When the server listens for other machines and nobody can manage it, makes one for an admin and
/// prints it, once: `admin token: TOKEN`.
///
/// # Errors
/// When the system has no random numbers, or the database fails.
pub async fn welcome(app: &State) -> anyhow::Result<()> {
    if app.bound_to_loopback {
        if app.store.tokens().await?.is_empty() {
            tracing::info!(
                "there are no tokens yet: make one for the agents with `weavewatch-server token create --scope agent`"
            );
        }
        return Ok(());
    }
    if app.store.has_token(Scope::Admin).await? {
        return Ok(());
    }
    if say::is_lost() {
        tracing::warn!(
            "nobody can manage this server yet, and stdout leads nowhere: make a token with `weavewatch-server token \
             create --scope admin`"
        );
        return Ok(());
    }
    let wish = Wish { scope: Scope::Admin, name: "first start", expires_days: None };
    let token = app.store.make_token(wish, &Actor::command_line()).await?;
    match say::data(format_args!("admin token: {}", token.secret)) {
        Ok(()) => tracing::info!(token = token.id, "made a token of scope admin, which is printed on stdout, only now"),
        // The server is of use without it.
        Err(error) => tracing::warn!("{:#}", withdraw(&app.store, &token.id, error).await),
    }
    Ok(())
}
