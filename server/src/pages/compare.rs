//! `GET /compare`: two builds, kinds of PC or periods side by side.

use std::collections::BTreeMap;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use dashboards::{ComparePage, DIMENSIONS, Measure, Pair, Query, SIDES, Side, Spread};

use super::{Asked, drawn, filter, frame, key, selection, spread, spreads};
use crate::app::App;
use crate::auth::Caller;
use crate::compare::statistics::{Sample, holm, interval, p};
use crate::compare::{self, Difference, LEVEL};
use crate::error::{Error, Html};
use crate::openapi::Filters;
use crate::store::{Counting, Dimension, Filter};

/// Values that are offered for a side.
const CHOICES: usize = 200;
/// What is counted by when nothing is chosen.
const FIRST: &str = "gpu_pair";

/// Two sets of logs, what differs by more than chance first.
#[utoipa::path(
    get, path = "/compare", operation_id = "compare_page", tag = "pages",
    params(
        ("by" = Option<String>, Query, description = "`runtime`, `cohort` or `period`"),
        ("a" = Option<String>, Query, description = "One side: a value, or `FROM..TO`. Without both sides, the two newest builds."),
        ("b" = Option<String>, Query, description = "The other"),
        ("group_by" = Option<String>, Query, description = "What both are counted by"),
        Filters,
    ),
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
    let page = ComparePage { frame: frame("/compare", caller), ..ComparePage::default() };
    draw(&app, page, query).await.map_err(Html)
}

async fn draw(app: &App, mut page: ComparePage, query: Query) -> Result<Response, Error> {
    let filter = filter(&query)?;
    page.by = word(SIDES.iter().map(|(name, _)| *name), query.get("by").unwrap_or(SIDES[0].0))?;
    page.group_by = word(DIMENSIONS.iter().map(|(name, _)| *name), query.get("group_by").unwrap_or(FIRST))?;
    let mut counting = app.store.counting().await?;
    let own = &mut counting;
    page.choices = choices(own, page.by, &filter).await?;
    let mut values = [query.get("a").unwrap_or_default().to_owned(), query.get("b").unwrap_or_default().to_owned()];
    if page.by == "runtime" && values.iter().all(String::is_empty) {
        // The last build against the one before.
        if let [.., before, last] = page.choices.as_slice() {
            values = [before.0.clone(), last.0.clone()];
        }
    }
    let [a, b] = values;
    let sides = [(&mut page.a, a), (&mut page.b, b)];
    let mut filters = Vec::new();
    for (side, value) in sides {
        let label = page.choices.iter().find(|(own, _)| *own == value).map_or(&value, |(_, label)| label).clone();
        let query = own_query(&query, page.by, &value)?;
        let filter = self::filter(&query)?;
        let whole = if value.is_empty() { Spread::default() } else { spread(&own.total(&filter).await?) };
        *side = Side { label, whole, query, value };
        filters.push(filter);
    }
    if let [a, b] = filters.as_slice()
        && !page.a.value.is_empty()
        && !page.b.value.is_empty()
    {
        let dimension = Dimension::from_word(page.group_by).unwrap_or(Dimension::GpuPair);
        page.groups = pairs(own, a, b, dimension).await?;
        let answer = compare::compare(own, a, b).await?;
        let totals = [answer.a.logs, answer.b.logs];
        page.measures = answer.differences.into_iter().map(|own| measure(own, totals)).collect();
    }
    page.selection = selection(own, query, &filter).await?;
    drop(counting);
    drawn(page.render())
}

fn word(mut known: impl Iterator<Item = &'static str>, said: &str) -> Result<&'static str, Error> {
    known.find(|word| *word == said).ok_or_else(|| Error::BadQuery(format!("{said:?} cannot be compared by")))
}

/// The logs of a side.
fn own_query(query: &Query, by: &str, value: &str) -> Result<Query, Error> {
    let query = query.filters_only();
    if by != "period" || value.is_empty() {
        return Ok(query.with(by, value));
    }
    let wrong = || Error::BadQuery("a period is two days, such as 2026-09-01..2026-09-15".to_owned());
    let (from, to) = value.split_once("..").ok_or_else(wrong)?;
    Ok(query.with("from", from.trim()).with("to", to.trim()))
}

/// The values that a side can have, builds by version, kinds of PC by logs.
async fn choices(counting: &mut Counting, by: &str, filter: &Filter) -> Result<Vec<(String, String)>, Error> {
    let Some(dimension) = Dimension::from_word(by) else { return Ok(Vec::new()) };
    let counted = counting.groups(filter, dimension).await?;
    let labels = counting.cohorts_among(&counted).await?;
    let groups = counted.iter().take(CHOICES).filter_map(|group| key(group, dimension));
    let label = |key: &String| labels.get(key).unwrap_or(key).clone();
    let mut choices: Vec<_> = groups.map(|key| (label(&key), key)).map(|(label, key)| (key, label)).collect();
    if dimension == Dimension::Runtime {
        choices.sort_by_cached_key(|(value, _)| dashboards::version(value));
    }
    Ok(choices)
}

async fn pairs(counting: &mut Counting, a: &Filter, b: &Filter, dimension: Dimension) -> Result<Vec<Pair>, Error> {
    let mut groups: BTreeMap<Option<String>, [Spread; 2]> = BTreeMap::new();
    for (place, filter) in [a, b].into_iter().enumerate() {
        let counted = counting.groups(filter, dimension).await?;
        let labels = counting.cohorts_among(&counted).await?;
        for own in spreads(&counted, dimension) {
            let label = own.key.as_ref().and_then(|key| labels.get(key)).cloned();
            let key = own.key.clone();
            groups.entry(key).or_default()[place] = Spread { label, ..own };
        }
    }
    let sample = |own: &Spread| Sample { count: own.bad(), of: own.tally.logs };
    let mut pairs: Vec<_> = groups
        .into_values()
        .map(|[a, b]| {
            let (one, other) = (sample(&a), sample(&b));
            let change = one.share().zip(other.share()).map(|(a, b)| b - a).zip(interval(one, other));
            (p(one, other).unwrap_or(1.0), Pair { a, b, change, beyond_chance: false })
        })
        .collect();
    let beyond = holm(&pairs.iter().map(|(p, _)| *p).collect::<Vec<_>>(), LEVEL);
    for ((_, pair), beyond) in pairs.iter_mut().zip(beyond) {
        pair.beyond_chance = beyond;
    }
    Ok(pairs.into_iter().map(|(_, pair)| pair).collect())
}

fn measure(own: Difference, totals: [u64; 2]) -> Measure {
    Measure {
        name: own.measure,
        a: (own.a.logs, totals[0]),
        b: (own.b.logs, totals[1]),
        value: own.value,
        change: own.change.zip(own.interval),
        beyond_chance: own.beyond_chance,
    }
}
