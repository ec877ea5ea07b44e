//! What the crossings of a machine cost, for its page: what it put on the bus a day, from what its logs tell and with the reference
//! laptop's numbers for the rest; and how its frames stand to the curve of its kind of PC.

use resolver::cost::words;
use wire::Span;

use super::costs::crossed;
use crate::costs;
use crate::error::Error;
use crate::store::{Filter, MachineCosts, Store};

/// By name; empty without logs.
pub(super) async fn facts(store: &Store, machine: &str, cohort: Option<&str>) -> Result<Vec<(String, String)>, Error> {
    let MachineCosts { bus, days } = store.machine_costs(machine).await?;
    if bus.logs == 0 {
        return Ok(Vec::new());
    }
    let mut facts = Vec::new();
    for (name, is_reference) in [("Crosses a day", false), ("On the reference laptop", true)] {
        let own = crossed(&bus, is_reference, days);
        let [_, a_day] = own.words;
        let a_day = if own.known == 0 { "unknown".to_owned() } else { a_day };
        let measured = if own.measured > 0 { format!(", {} of them measured", own.measured) } else { String::new() };
        facts.push((name.to_owned(), format!("{a_day}; known of {} of {} logs{measured}", own.known, own.logs)));
    }
    let Some(cohort) = cohort else { return Ok(facts) };
    let mut filter = Filter::default();
    filter.take("cohort", cohort).map_err(Error::BadQuery)?;
    for curve in costs::curves(store, &filter).await? {
        let what =
            if curve.of == "service_frame" { "Service, a client’s frame" } else { "Between frames over the bridge" };
        let off = curve.off.iter().find(|own| own.machine == machine);
        for own in curve.points.iter().filter(|own| own.machine == machine) {
            let ms = |us: f64| words::ms(Some(Span::exact(us / 1000.0)));
            let size = words::amount(Some(Span::exact(own.bytes_per_frame)));
            let rate = words::rate(Some(Span::exact(own.bytes_per_frame / own.measured_us * 1e6)));
            let judged = match (off, curve.is_judged) {
                (Some(off), _) => format!("{:.1} times as long: {}", off.ratio, off.verdict),
                (None, true) => "as its kind".to_owned(),
                (None, false) => "too few machines of its kind for a verdict".to_owned(),
            };
            facts.push((
                what.to_owned(),
                format!(
                    "{} for {size}, {rate}; by the curve of its kind {}: {judged}",
                    ms(own.measured_us),
                    ms(own.fitted_us)
                ),
            ));
        }
    }
    Ok(facts)
}
