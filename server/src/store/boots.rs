//! What the logs of one machine tell of it over time: its topology boot by boot, and what somebody set.
//!
//! LUIDs are per boot, so logs that follow each other belong to one boot as long as no LUID has two names and no name
//! other LUIDs. A log that names no LUID tells nothing of a boot and is left aside.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::SignedDuration;
use jiff::civil::DateTime;
use serde::Serialize;
use sqlx::{AssertSqlSafe, Row};
use utoipa::ToSchema;
use wire::{Luid, Machine, MachineAdapter, Rect};

use super::columns::NO_START_S;
use super::learned::StoredLever;
use super::{Store, corrupt};

/// Logs that are looked at, newest first.
const LOGS: i64 = 2_000;
/// Boots in an answer.
const BOOTS: usize = 50;
/// Adapters of one boot; a hostile log can name hundreds.
const ADAPTERS: usize = 64;
/// Ids in one question, far below the least limit of both databases.
const IDS_PER_QUESTION: usize = 500;

/// What the logs tell of a machine.
#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
pub struct Learned {
    /// Newest first.
    pub boots: Vec<Boot>,
    /// There are older ones, or older logs that were not looked at.
    pub boots_left_out: bool,
    /// Each setting as it was told last, by name. A log that tells of no setting says nothing against it.
    pub settings: Vec<Setting>,
}

/// The topology of one boot.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct Boot {
    /// Its first log.
    pub first: LogTime,
    /// Its last log so far.
    pub last: LogTime,
    /// How many logs tell of it.
    pub logs: u64,
    /// Those with a LUID in its order, then those of which only the name is told.
    pub adapters: Vec<BootAdapter>,
    /// Where the 3D panel is; null when no log tells.
    pub panel: Option<Panel>,
}

/// An adapter as far as the logs of a boot tell it, with what it did.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct BootAdapter {
    /// DXGI's description.
    pub name: String,
    /// Valid within this boot; null where only the name is told.
    #[schema(value_type = Option<String>)]
    pub luid: Option<Luid>,
    /// `render`: an app rendered there; `scanout`: it drives the panel.
    #[schema(value_type = Vec<String>)]
    pub roles: BTreeSet<&'static str>,
    /// Dedicated video memory in MiB.
    pub dedicated_vram_mib: Option<u64>,
    /// WARP and its like.
    pub software: Option<bool>,
    /// Left out of the ranking, as a remote desktop's.
    pub remote: Option<bool>,
}

/// The panel on the desktop, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct Panel {
    /// Negative left of the primary monitor.
    pub left: i32,
    /// Negative above it.
    pub top: i32,
    /// Zero when the plug-in does not know.
    pub width: u32,
    /// Zero when the plug-in does not know.
    pub height: u32,
}

/// A log, and when it began by its own clock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct LogTime {
    /// For `/api/v1/logs/{id}`.
    pub log: String,
    /// Local time without zone.
    pub started: String,
}

/// One setting.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct Setting {
    /// The variable.
    pub name: String,
    /// Null where the log tells only what came of it.
    pub value: Option<String>,
    /// `env`, `user` or `machine`; null where the log does not tell.
    pub source: Option<String>,
    /// Whether the runtime followed it.
    pub honoured: Option<bool>,
    /// The first log that told the same without another value in between.
    pub since: LogTime,
    /// The newest log that told it.
    pub last: LogTime,
}

/// One log of the machine.
struct Told {
    at: LogTime,
    topology: Option<i64>,
    settings: BTreeMap<String, StoredLever>,
}

impl Store {
    /// What the logs of a machine tell of it; bounded.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn learned(&self, machine: &str) -> sqlx::Result<Learned> {
        let rows = sqlx::query(
            "select id, started_s, topology, settings from logs
             where machine = $1 and started_s > $2 and topology is not null
             order by started_s desc, id desc limit $3",
        )
        .bind(machine)
        .bind(NO_START_S)
        .bind(LOGS + 1)
        .fetch_all(&self.pool)
        .await?;
        let more = i64::try_from(rows.len()).is_ok_and(|rows| rows > LOGS);
        let told = rows.iter().take(LOGS as usize).map(|row| {
            let settings: Option<&str> = row.try_get(3)?;
            Ok(Told {
                at: LogTime { log: row.try_get(0)?, started: local(row.try_get(1)?) },
                topology: row.try_get(2)?,
                settings: settings.map(serde_json::from_str).transpose().map_err(corrupt)?.unwrap_or_default(),
            })
        });
        let told = told.collect::<sqlx::Result<Vec<_>>>()?;
        let ids: BTreeSet<_> = told.iter().filter_map(|log| log.topology).collect();
        let topologies = self.topologies(&ids.into_iter().collect::<Vec<_>>()).await?;
        let (boots, left_out) = boots(&told, &topologies);
        Ok(Learned { boots, boots_left_out: left_out || more, settings: settings(&told) })
    }

    async fn topologies(&self, ids: &[i64]) -> sqlx::Result<HashMap<i64, Machine>> {
        let mut topologies = HashMap::new();
        for chunk in ids.chunks(IDS_PER_QUESTION) {
            let places: Vec<_> = (1..=chunk.len()).map(|number| format!("${number}")).collect();
            let sql = format!("select id, json from topologies where id in ({})", places.join(", "));
            // The text holds nothing but placeholders.
            let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, id| query.bind(*id));
            for row in query.fetch_all(&self.pool).await? {
                topologies.insert(row.try_get(0)?, serde_json::from_str(row.try_get(1)?).map_err(corrupt)?);
            }
        }
        Ok(topologies)
    }
}

/// `2026-09-14T12:00:00` for the seconds that `logs.started_s` holds.
pub fn local(started_s: i64) -> String {
    let epoch = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    epoch.saturating_add(SignedDuration::from_secs(started_s)).to_string()
}

/// A boot in the making: which names stand behind which LUIDs, and the machines of its logs.
struct Open<'a> {
    first: &'a LogTime,
    last: &'a LogTime,
    logs: u64,
    names: BTreeMap<&'a str, BTreeSet<Luid>>,
    machines: Vec<&'a Machine>,
}

/// From newest to oldest; true when there are more than fit.
fn boots(told: &[Told], topologies: &HashMap<i64, Machine>) -> (Vec<Boot>, bool) {
    let mut found: Vec<Boot> = Vec::new();
    let mut open: Option<Open<'_>> = None;
    for log in told {
        let Some(machine) = log.topology.and_then(|id| topologies.get(&id)) else { continue };
        let names = names(machine);
        if names.is_empty() {
            continue;
        }
        match &mut open {
            Some(boot) if boot.agrees(&names) => {
                boot.first = &log.at;
                boot.logs += 1;
                if !boot.machines.contains(&machine) {
                    boot.machines.push(machine);
                }
                for (name, luids) in names {
                    boot.names.entry(name).or_default().extend(luids);
                }
            }
            other => {
                found.extend(other.take().map(Open::close));
                if found.len() == BOOTS {
                    return (found, true);
                }
                *other = Some(Open { first: &log.at, last: &log.at, logs: 1, names, machines: vec![machine] });
            }
        }
    }
    found.extend(open.map(Open::close));
    (found, false)
}

/// The LUIDs of each name; twins share theirs.
fn names(machine: &Machine) -> BTreeMap<&str, BTreeSet<Luid>> {
    let mut names: BTreeMap<&str, BTreeSet<Luid>> = BTreeMap::new();
    let listed = machine.adapters.iter().map(|own| (own.name.as_str(), own.luid));
    let scanout = machine.told_scanout.iter().map(|told| (told.name.as_str(), told.luid));
    for (name, luid) in listed.chain(scanout) {
        if let Some(luid) = luid.filter(|luid| !luid.is_zero() && !name.starts_with('<')) {
            names.entry(name).or_default().insert(luid);
        }
    }
    names
}

impl Open<'_> {
    fn agrees(&self, names: &BTreeMap<&str, BTreeSet<Luid>>) -> bool {
        names.iter().all(|(name, luids)| {
            let own_fits = self.names.get(name).is_none_or(|own| own.is_subset(luids) || luids.is_subset(own));
            let others = self.names.iter().filter(|(own, _)| *own != name);
            own_fits && others.into_iter().all(|(_, own)| own.is_disjoint(luids))
        })
    }

    fn close(self) -> Boot {
        let mut adapters: BTreeMap<Luid, BootAdapter> = BTreeMap::new();
        let mut names_only: BTreeMap<&str, &MachineAdapter> = BTreeMap::new();
        for machine in &self.machines {
            for adapter in &machine.adapters {
                match adapter.luid {
                    Some(luid) => {
                        let own = adapters.entry(luid).or_insert_with(|| plain(adapter));
                        own.fill(adapter);
                    }
                    None => {
                        names_only.entry(&adapter.name).or_insert(adapter);
                    }
                }
            }
        }
        for machine in &self.machines {
            let scanout = machine.told_scanout.as_ref().and_then(|told| told.luid);
            for (role, luid) in [("render", machine.session.device_luid), ("scanout", scanout)] {
                if let Some(own) = luid.and_then(|luid| adapters.get_mut(&luid)) {
                    own.roles.insert(role);
                }
            }
        }
        let known: BTreeSet<_> = adapters.values().map(|own| own.name.clone()).collect();
        let unknown = names_only.into_iter().filter(|(name, _)| !known.contains(*name));
        let unknown: Vec<_> = unknown.map(|(_, adapter)| plain(adapter)).collect();
        Boot {
            first: self.first.clone(),
            last: self.last.clone(),
            logs: self.logs,
            adapters: adapters.into_values().chain(unknown).take(ADAPTERS).collect(),
            panel: self.machines.iter().find_map(|machine| machine.panel).map(Panel::from),
        }
    }
}

fn plain(adapter: &MachineAdapter) -> BootAdapter {
    BootAdapter {
        name: adapter.name.clone(),
        luid: adapter.luid,
        roles: BTreeSet::new(),
        dedicated_vram_mib: adapter.dedicated_vram_mib,
        software: adapter.software,
        remote: adapter.remote,
    }
}

impl BootAdapter {
    /// What one log leaves open another may tell.
    fn fill(&mut self, other: &MachineAdapter) {
        self.dedicated_vram_mib = self.dedicated_vram_mib.or(other.dedicated_vram_mib);
        self.software = self.software.or(other.software);
        self.remote = self.remote.or(other.remote);
    }
}

impl From<Rect> for Panel {
    fn from(rect: Rect) -> Self {
        Self { left: rect.left, top: rect.top, width: rect.width, height: rect.height }
    }
}

/// From newest to oldest: the first word on a setting counts, the same word before it says since when.
fn settings(told: &[Told]) -> Vec<Setting> {
    let mut found: BTreeMap<&str, (Setting, bool)> = BTreeMap::new();
    for log in told {
        for (name, lever) in &log.settings {
            let StoredLever { value, source, honoured } = lever.clone();
            let setting =
                Setting { name: name.clone(), value, source, honoured, since: log.at.clone(), last: log.at.clone() };
            match found.get_mut(name.as_str()) {
                None => {
                    found.insert(name, (setting, true));
                }
                Some((own, same)) => {
                    let told = |own: &Setting| (own.value.clone(), own.source.clone(), own.honoured);
                    *same &= told(own) == told(&setting);
                    if *same {
                        own.since = setting.since;
                    }
                }
            }
        }
    }
    found.into_values().map(|(setting, _)| setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(adapters: &[(&str, u64)]) -> Machine {
        let adapter = |(name, luid): &(&str, u64)| MachineAdapter::new(name, (*luid != 0).then_some(Luid(*luid)));
        Machine::new(adapters.iter().map(adapter).collect())
    }

    fn told(day: i64, topology: i64, settings: &[(&str, &str)]) -> Told {
        let lever = |value: &str| StoredLever { value: Some(value.to_owned()), source: None, honoured: Some(true) };
        Told {
            at: LogTime { log: day.to_string(), started: local(day * 86_400) },
            topology: Some(topology),
            settings: settings.iter().map(|(name, value)| ((*name).to_owned(), lever(value))).collect(),
        }
    }

    #[test]
    fn a_boot_ends_where_a_name_or_a_luid_changes() {
        let topologies = HashMap::from([
            (1, machine(&[("N", 1), ("I", 2)])),
            (2, machine(&[("N", 1)])),
            (3, machine(&[("N", 5), ("I", 2)])),
            (4, machine(&[("X", 2)])),
            (5, machine(&[("N", 0)])),
            (6, machine(&[("T", 1), ("T", 2)])),
            (7, machine(&[("T", 2)])),
        ]);
        for (logs, expected) in [
            (vec![1, 2, 1], vec![3]),
            (vec![1, 3], vec![1, 1]),
            (vec![1, 4], vec![1, 1]),
            (vec![1, 5, 1], vec![2]),
            (vec![7, 6, 7], vec![3]),
            (vec![6, 2], vec![1, 1]),
            (vec![5], vec![]),
        ] {
            let told: Vec<_> = logs.iter().zip((0..10).rev()).map(|(id, day)| told(day, *id, &[])).collect();
            let (boots, left_out) = boots(&told, &topologies);
            assert_eq!(boots.iter().map(|boot| boot.logs).collect::<Vec<_>>(), expected, "{logs:?}");
            assert!(!left_out && boots.iter().all(|boot| boot.first.started <= boot.last.started), "{boots:?}");
        }
    }

    #[test]
    fn a_setting_is_told_by_its_newest_log_and_its_first_like_it() {
        let logs = [
            told(5, 1, &[]),
            told(4, 1, &[("A", "1")]),
            told(3, 1, &[("A", "1"), ("B", "x")]),
            told(2, 1, &[("A", "2")]),
            told(1, 1, &[("A", "1")]),
        ];
        let found: Vec<_> =
            settings(&logs).into_iter().map(|own| (own.name, own.value, own.since.log, own.last.log)).collect();
        let row = |name: &str, value: &str, since: &str, last: &str| {
            (name.to_owned(), Some(value.to_owned()), since.to_owned(), last.to_owned())
        };
        assert_eq!(found, [row("A", "1", "3", "4"), row("B", "x", "3", "3")]);
        assert_eq!(logs[0].at.started, "1970-01-06T00:00:00");
    }
}
