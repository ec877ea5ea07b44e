//! `weavewatch-server token`: tokens on the command line, by whoever may start the program on the database.

use anyhow::Context;

use crate::args::TokenAction;
use crate::audit::Actor;
use crate::exit::Usage;
use crate::say;
use crate::store::{Store, Wish};

/// The command `token`.
///
/// # Errors
/// [`Usage`] for what cannot be done, or what the database says.
pub async fn run(action: TokenAction) -> anyhow::Result<()> {
    match action {
        TokenAction::Create { scope, name, expires_days, database } => {
            if say::is_lost() {
                let why = "failed to make a token: stdout leads nowhere, and a token is shown once only";
                return Err(Usage(why.to_owned()).into());
            }
            let store = database.open_or_create().await?;
            let wish = Wish { scope, name: &name, expires_days };
            let token = store.make_token(wish, &Actor::command_line()).await?;
            say::note(format_args!("token {} of scope {}; it is shown only now:", token.id, scope.as_str()));
            let shown = match say::data(&token.secret) {
                Ok(()) => Ok(()),
                Err(error) => Err(withdraw(&store, &token.id, error).await),
            };
            store.close().await;
            shown
        }
        TokenAction::List { database } => {
            let store = database.open().await?;
            let tokens = store.tokens().await;
            store.close().await;
            let mut lines = vec![format!(
                "{:<8}  {:<9}  {:<24}  {:<24}  {:<24}  {:<32}  name",
                "id", "scope", "created", "expires", "revoked", "machine"
            )];
            lines.extend(tokens?.iter().map(|row| {
                let (revoked, name) = (row.revoked.as_deref().unwrap_or("-"), wire::cell::terminal(&row.name));
                let (expires, machine) = (row.expires.as_deref().unwrap_or("-"), row.machine.as_deref().unwrap_or("-"));
                format!(
                    "{:<8}  {:<9}  {:<24}  {expires:<24}  {revoked:<24}  {machine:<32}  {name}",
                    row.id, row.scope, row.created
                )
            }));
            say::unless_gone(say::data(lines.join("\n"))).context("failed to print the tokens")
        }
        TokenAction::Revoke { id, database } => {
            let store = database.open().await?;
            let found = store.revoke_token(&id, &Actor::command_line()).await;
            store.close().await;
            if !found? {
                let why = format!("failed to revoke: no valid token has the id {id}, see `token list`");
                return Err(Usage(why).into());
            }
            say::note(format_args!("revoked {id}"));
            Ok(())
        }
    }
}

/// Nobody has seen the token, so nobody may use it.
pub async fn withdraw(store: &Store, id: &str, unseen: std::io::Error) -> anyhow::Error {
    let error = anyhow::Error::new(unseen);
    match store.revoke_token(id, &Actor::command_line()).await {
        Ok(_) => error.context("failed to print the token, so it was revoked: make another one"),
        Err(also) => error.context(format!("failed to print the token, and to revoke it ({also}): revoke {id} later")),
    }
}
