//! `GET /what-if`: what other rules, or a setting for everybody, would make of the stored sessions.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use dashboards::{EffectView, EndView, GroupView, Query, Tally, WhatIfPage, WhatIfView};
use resolver::cost::words;
use triage::replay::words as facts_words;
use wire::Outcome;

use super::{Asked, drawn, filter, frame, selection};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::openapi::{Changes, Filters};
use crate::what_if::{self, Answer, BusSaved, Effect, Ends, Fact, Pair, Question, Saved};

/// What a change would make of every stored session.
#[utoipa::path(
    get, path = "/what-if", operation_id = "what_if_page", tag = "pages",
    params(Changes, Filters),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    Asked(query): Asked,
) -> Result<Response, Html> {
    let page = WhatIfPage { frame: frame("/what-if", caller), ..WhatIfPage::default() };
    draw(&app, page, query).await.map_err(Html)
}

async fn draw(app: &App, page: WhatIfPage, query: Query) -> Result<Response, Error> {
    let filter = filter(&query)?;
    let mut question = Question::default();
    for name in ["policy", "set"] {
        for value in query.all(name) {
            question.take(name, value)?;
        }
    }
    // Without a change there is nothing to look at, and a replay of everything takes all processors.
    let answer = if question == Question::default() {
        None
    } else {
        Some(view(what_if::ask_in_turn(&app.store, &filter, &question, &query.filters_only().href("")).await?))
    };
    let selection = selection(&mut app.store.counting().await?, query, &filter).await?;
    drawn(WhatIfPage { selection, answer, ..page }.render())
}

fn view(answer: Answer) -> WhatIfView {
    WhatIfView {
        total: Tally { logs: answer.logs, machines: answer.machines },
        situations: answer.situations,
        bus: bus(&answer.bus),
        effects: answer.effects.into_iter().map(effect).collect(),
        missing: facts(answer.missing, |fact| match fact {
            "situation" => {
                "the log was judged by an older server: judge it again with `weavewatch-server rejudge`".to_owned()
            }
            other => facts_words::fact(other),
        }),
        assumed: facts(answer.assumed, |fact| facts_words::usual(fact).to_owned()),
    }
}

fn bus(own: &BusSaved) -> Vec<String> {
    let sentence = |(lead, saved): (&str, Saved)| {
        let bytes = |megabytes: i64| megabytes as f64 * 1e6;
        let days = if own.days == 1 { "day" } else { "days" };
        let words = if saved.known_logs == 0 {
            "what it saves is not known of any log".to_owned()
        } else if (saved.megabytes_low, saved.megabytes_high) == (0, 0) {
            "nothing changes in the logs of which it is known".to_owned()
        } else {
            let a_day = words::saving(bytes(saved.megabytes_per_day_low), bytes(saved.megabytes_per_day_high));
            format!("it {a_day} a day, over {} {days}", own.days)
        };
        let (known, unknown) = (saved.known_logs, saved.unknown_logs);
        format!("{lead}: {words}. Known of {known} logs, not of {unknown}, which are in no sum.")
    };
    let lead = ["From what logs tell", "With the reference laptop’s numbers for what they do not tell"];
    lead.into_iter().zip([own.told, own.reference]).map(sentence).collect()
}

fn effect(own: Effect) -> EffectView {
    EffectView {
        effect: own.effect,
        tally: Tally { logs: own.logs, machines: own.machines },
        groups: own.pairs.into_iter().map(group).collect(),
        groups_left_out: own.pairs_left_out,
        cohorts: own
            .cohorts
            .into_iter()
            .map(|cohort| (cohort.id, cohort.label, Tally { logs: cohort.logs, machines: cohort.machines }))
            .collect(),
        cohorts_left_out: own.cohorts_left_out,
    }
}

fn group(own: Pair) -> GroupView {
    let end = |ends: Option<Ends>| {
        ends.map(|ends| EndView {
            outcome: Outcome::from_word(ends.outcome),
            reason: ends.reason,
            interop_crossing: ends.interop_crossing,
        })
    };
    GroupView {
        did: Outcome::from_word(own.did),
        ends: [end(own.before), end(own.after)],
        tally: Tally { logs: own.logs, machines: own.machines },
        logs_query: own.logs_link.as_deref().and_then(|link| link.split_once('?')).map(|(_, query)| query.to_owned()),
        situations_left_out: own.situations_left_out,
    }
}

fn facts(facts: Vec<Fact>, in_words: impl Fn(&str) -> String) -> Vec<(String, Tally)> {
    let row = |own: Fact| (in_words(&own.fact), Tally { logs: own.logs, machines: own.machines });
    facts.into_iter().map(row).collect()
}
