//! Who may do what, whether the clocks of those who send are right, and whether what people read is.

use jiff::{Timestamp, ToSpan};

use super::Check;
use crate::auth::Scope;
use crate::store::{Store, TokenRow};
use crate::text;

/// Clocks that are set by the network are this close.
const CLOSE_MS: i64 = 5_000;
/// Beyond this nothing that has a time can be trusted.
const FAR_MS: i64 = 60 * 60 * 1_000;

/// Is there a token for everything that has to be done?
pub(super) async fn tokens(store: &Store) -> sqlx::Result<Check> {
    let tokens = store.tokens().await?;
    let valid: Vec<_> = tokens.iter().filter(|token| token.is_valid()).collect();
    let has = |scope: Scope| valid.iter().any(|token| token.scope == scope.as_str());
    let found = format!("{} valid of {}", valid.len(), tokens.len());
    let make = |scope: &str| format!("make one with `weavewatch-server token create --scope {scope}`");
    Ok(if !has(Scope::Agent) && !has(Scope::Enrolment) {
        Check::warning("tokens", format!("{found}; nobody can upload"), make("enrolment"))
    } else if !has(Scope::Admin) {
        Check::warning("tokens", format!("{found}; nobody can manage the server over the network"), make("admin"))
    } else {
        Check::ok("tokens", found)
    })
}

/// This machine's clock against the database's, and against what was received and logged.
pub(super) async fn clock(store: &Store) -> sqlx::Result<Check> {
    let now = Timestamp::now();
    if let Some(theirs) = store.database_time_ms().await? {
        let apart = (theirs - now.as_millisecond()).abs();
        if apart > CLOSE_MS {
            let found = format!("this machine and the database are {} s apart", apart / 1_000);
            let advice = "let both follow a time server";
            return Ok(if apart > FAR_MS {
                Check::failed("clock", found, advice)
            } else {
                Check::warning("clock", found, advice)
            });
        }
    }
    let newest = store.newest_contact().await?.and_then(|time| time.parse::<Timestamp>().ok());
    if let Some(ahead) = newest.map(|newest| newest.as_millisecond() - now.as_millisecond()).filter(|ms| *ms > CLOSE_MS)
    {
        let found = format!("the newest upload came {} s from now", ahead / 1_000);
        let advice = "this clock was set back, or that of another server is ahead: let all follow a time server";
        return Ok(if ahead > FAR_MS {
            Check::failed("clock", found, advice)
        } else {
            Check::warning("clock", found, advice)
        });
    }
    // The clock on a wall somewhere is at most 14 hours ahead of UTC.
    let latest = now.saturating_add(15.hours()).map_or(i64::MAX, Timestamp::as_second);
    let early = store.logs_from(latest).await?;
    Ok(if early > 0 {
        let advice = "the clocks of those PCs are ahead; their days count under dates to come";
        Check::warning("clock", format!("{early} logs start in the future"), advice)
    } else {
        Check::ok(
            "clock",
            newest.map_or_else(
                || "nothing was received yet".to_owned(),
                |newest| format!("newest upload {}", newest.strftime("%Y-%m-%dT%H:%M:%SZ")),
            ),
        )
    })
}

/// Are all verdicts by the rules of today?
pub(super) async fn rules(store: &Store) -> sqlx::Result<Check> {
    let waiting = store.logs_to_judge(false).await?;
    Ok(if waiting == 0 {
        Check::ok("rules", format!("every verdict is by rules {}", resolver::RULES))
    } else {
        let advice = "`weavewatch-server rejudge` has the rules of today decide, beside a running server";
        Check::warning("rules", format!("{waiting} logs were judged by older rules"), advice)
    })
}

/// Do the counts that are kept agree with the rows? One sum of them: all of them are the business of `verify`.
pub(super) async fn counts(store: &Store) -> sqlx::Result<Check> {
    let (counted, logs) = store.counted_logs().await?;
    Ok(if counted == logs {
        Check::ok("counts", format!("{logs} logs, each counted once"))
    } else {
        let advice = "`weavewatch-server verify --repair` counts everything anew";
        Check::failed("counts", format!("{counted} logs are counted, and {logs} are there"), advice)
    })
}

impl TokenRow {
    /// Whether it opens anything now.
    fn is_valid(&self) -> bool {
        // Times are spelled so that they sort as text.
        self.revoked.is_none() && self.expires.as_ref().is_none_or(|expires| *expires > text::now())
    }
}
