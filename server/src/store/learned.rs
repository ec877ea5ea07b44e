//! What a log tells of its PC beside the verdict: topology of the boot, cohort, the situation that a replay needs, settings.
//!
//! The first three are shared by logs that tell the same: found by a hash of their content, written once, never changed.
//! Rows that nothing refers to any more stay until [`sweep`]; a foreign key keeps a log from referring to one that is gone.

use std::collections::BTreeMap;

use resolver::replay::situation;
use resolver::{Examination, Lever};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use wire::{Machine, MachineAdapter, SessionFacts, Settings, ToldScanout};

use super::cohorts::Cohort;
use super::columns::Columns;
use super::{Write, corrupt};
use crate::text;

/// One setting as `logs.settings` holds it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredLever {
    /// What it was set to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<String>,
    /// By whom: `env`, `user` or `machine`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// Whether the runtime followed it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub honoured: Option<bool>,
}

/// What one log tells of its PC.
pub struct Facts {
    /// Id and JSON.
    pub(super) topology: (i64, String),
    pub(super) situation: (i64, String),
    pub(super) cohort: Option<Cohort>,
    pub(super) settings: Option<String>,
}

impl Facts {
    /// Of everything that is stored of a log.
    pub(super) fn of(examination: &Examination) -> sqlx::Result<Self> {
        Ok(Self {
            topology: content(&topology(examination))?,
            situation: content(&situation(examination))?,
            cohort: Cohort::of(examination),
            settings: settings(&examination.levers)?,
        })
    }
}

/// Keeps the documents that a log's row is about to refer to, where it did not refer to them before.
pub(super) async fn put(write: &mut Write<'_>, facts: &Facts, old: &Columns, new: &Columns) -> sqlx::Result<()> {
    for (is_new, (id, json), sql) in [
        (
            old.topology != new.topology,
            &facts.topology,
            "insert into topologies (id, json) values ($1, $2) on conflict (id) do nothing",
        ),
        (
            old.situation != new.situation,
            &facts.situation,
            "insert into situations (id, json) values ($1, $2) on conflict (id) do nothing",
        ),
    ] {
        if is_new {
            sqlx::query(sql).bind(*id).bind(json).execute(write.connection()).await?;
        }
    }
    if let Some(cohort) = facts.cohort.as_ref().filter(|_| old.cohort != new.cohort) {
        sqlx::query("insert into cohorts (id, label) values ($1, $2) on conflict (id) do nothing")
            .bind(&cohort.id)
            .bind(&cohort.label)
            .execute(write.connection())
            .await?;
    }
    Ok(())
}

/// Deletes what no log refers to. Another server may begin to refer to a row meanwhile; the foreign key then fails one of both,
/// which is tried again.
pub(super) async fn sweep(write: &mut Write<'_>) -> sqlx::Result<()> {
    for statement in [
        "delete from topologies where not exists (select 1 from logs l where l.topology = topologies.id)",
        "delete from situations where not exists (select 1 from logs l where l.situation = situations.id)",
        "delete from cohorts where not exists (select 1 from logs l where l.cohort = cohorts.id)",
    ] {
        sqlx::query(statement).execute(write.connection()).await?;
    }
    Ok(())
}

/// The text of a document as it is stored, and the number that it is found by.
///
/// # Errors
/// When it is no JSON, which plain data always is.
pub fn content<T: Serialize>(value: &T) -> sqlx::Result<(i64, String)> {
    let mut value = serde_json::to_value(value).map_err(corrupt)?;
    shorten(&mut value);
    // PostgreSQL takes no NUL; JSON spells it out.
    let json = value.to_string();
    let digest = Sha256::digest(&json);
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    // Not negative, so that its hex digits are those of every other program.
    Ok((i64::from_be_bytes(bytes) & i64::MAX, json))
}

/// Leaves out what reading fills in again, which is most of a machine: nulls, empty maps and lists, default session facts.
fn shorten(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Object(session)) = map.get_mut("session")
                && let Ok(Value::Object(defaults)) = serde_json::to_value(SessionFacts::default())
            {
                session.retain(|name, fact| defaults.get(name) != Some(fact));
            }
            for (_, inner) in map.iter_mut() {
                shorten(inner);
            }
            // A machine without a list of monitors is one whose monitors nobody told, which is another thing.
            map.retain(|name, inner| match inner {
                Value::Null => false,
                Value::Object(inner) => !inner.is_empty(),
                Value::Array(inner) => !inner.is_empty() || matches!(name.as_str(), "monitors" | "adapters"),
                _ => true,
            });
        }
        Value::Array(list) => list.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// The PC of one boot: no settings, no session; what the verdict says of the two adapters that matter.
fn topology(examination: &Examination) -> Machine {
    let verdict = &examination.judgement.verdict;
    let mut machine = examination.told.machine.clone();
    let device_luid = verdict.render.as_ref().map(|render| render.luid).or(machine.session.device_luid);
    machine.session = SessionFacts { device_luid, ..SessionFacts::default() };
    machine.settings = Settings::default();
    for own in [&verdict.render, &verdict.scanout].into_iter().flatten() {
        if machine.adapters.iter().all(|adapter| adapter.luid != Some(own.luid)) {
            list(&mut machine, own);
        }
    }
    if let Some(scanout) = &verdict.scanout {
        machine.told_scanout = Some(ToldScanout { name: scanout.name.clone(), luid: Some(scanout.luid), via: None });
    }
    machine
}

/// Gives an adapter of the verdict its place: that of its name, where one without a LUID stands, else behind the others.
fn list(machine: &mut Machine, own: &wire::Adapter) {
    let mut named = machine.adapters.iter_mut().filter(|adapter| adapter.luid.is_none() && adapter.name == own.name);
    match (named.next(), named.next()) {
        (Some(adapter), None) => adapter.luid = Some(own.luid),
        _ => machine.adapters.push(MachineAdapter::new(&own.name, Some(own.luid))),
    }
}

fn settings(levers: &BTreeMap<&'static str, Lever>) -> sqlx::Result<Option<String>> {
    if levers.is_empty() {
        return Ok(None);
    }
    let stored = |lever: &Lever| StoredLever {
        value: lever.value.as_deref().map(text::for_column),
        source: lever.source.map(|source| source.as_str().to_owned()),
        honoured: lever.honoured,
    };
    let stored: BTreeMap<_, _> = levers.iter().map(|(name, lever)| (*name, stored(lever))).collect();
    serde_json::to_string(&stored).map(Some).map_err(corrupt)
}

#[cfg(test)]
mod tests {
    use wire::{Luid, Path, Policy, Rect, Situation};

    use super::*;

    #[test]
    fn a_shortened_situation_reads_back_whole() {
        let mut machine = Machine::new(vec![MachineAdapter {
            name: "A\0".to_owned(),
            luid: Some(Luid(1)),
            vendor_id: None,
            device_id: None,
            dedicated_vram_mib: Some(0),
            software: Some(false),
            remote: None,
            feature_level: None,
            vulkan_type: None,
        }]);
        for told in [None, Some(ToldScanout::open()), Some(ToldScanout { name: "B".into(), luid: None, via: None })] {
            machine.told_scanout = told;
            for panel in [None, Some(Rect { left: 0, top: 0, width: 3840, height: 2160 })] {
                machine.panel = panel;
                machine.session.hwnd = !machine.session.hwnd;
                let whole = Situation {
                    policy: Policy::Adr039,
                    path: Path::OpenGl,
                    machine: machine.clone(),
                    missing: vec!["session.hwnd".into()],
                    unasked: false,
                };
                let (id, json) = content(&whole).expect("plain data");
                assert!(!json.contains("null") && id >= 0 && !json.contains('\0'), "{json}");
                assert_eq!(serde_json::from_str::<Situation>(&json).expect("it was just written"), whole);
            }
        }
    }
}
