//! Which kind of PC wrote a log: the names of its adapters by role, without LUIDs, in whatever order they are enumerated.

use std::collections::BTreeMap;

use resolver::Examination;
use sha2::{Digest, Sha256};
use sqlx::{AnyConnection, AssertSqlSafe, Row};
use wire::{Luid, Machine, MachineAdapter};

use super::Store;
use crate::text;

/// Every Windows has it; it tells no PCs apart.
const BASIC_RENDER: &str = "Microsoft Basic Render Driver";
/// Stands for a role that the log does not tell.
const NOT_TOLD: &str = "?";
/// Ids in one question, far below the least limit of both databases.
const IDS_PER_QUESTION: usize = 500;

/// A kind of PC.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cohort {
    /// 16 hex digits, made from the roles and names.
    pub(super) id: String,
    /// For people: `RENDER → SCANOUT + OTHERS`, or one name where one adapter does both.
    pub(super) label: String,
}

impl Cohort {
    /// The cohort of a log; null when it names no adapter at all.
    pub(super) fn of(examination: &Examination) -> Option<Self> {
        let verdict = &examination.judgement.verdict;
        let machine = &examination.told.machine;
        let told_scanout = machine.told_scanout.as_ref().filter(|told| !told.is_open());
        let render = verdict.render.as_ref().map(|own| (own.name.as_str(), Some(own.luid)));
        let device = || machine.session.device_luid.and_then(|luid| Some((name_of(machine, luid)?, Some(luid))));
        let scanout = verdict.scanout.as_ref().map(|own| (own.name.as_str(), Some(own.luid)));
        Self::new(
            &machine.adapters,
            render.or_else(device),
            scanout.or_else(|| told_scanout.map(|told| (told.name.as_str(), told.luid))),
        )
    }

    fn new(adapters: &[MachineAdapter], render: Option<Role<'_>>, scanout: Option<Role<'_>>) -> Option<Self> {
        let mut others: Vec<_> = adapters
            .iter()
            .filter(|own| own.software != Some(true) && own.name != BASIC_RENDER && !own.name.starts_with('<'))
            .collect();
        let is_one = matches!((render, scanout), (Some(own), Some(other)) if same(own, other));
        for role in [render, scanout.filter(|_| !is_one)].into_iter().flatten() {
            let by_luid = others.iter().position(|own| own.luid.is_some() && own.luid == role.1);
            let at = by_luid.or_else(|| others.iter().position(|own| own.name == role.0));
            if let Some(at) = at {
                others.remove(at);
            }
        }
        if render.is_none() && scanout.is_none() && others.is_empty() {
            return None;
        }
        let name = |role: Option<Role<'_>>| role.map_or(NOT_TOLD, |(name, _)| name).to_owned();
        let mut label = if is_one { name(render) } else { format!("{} → {}", name(render), name(scanout)) };
        let mut others: Vec<_> = others.into_iter().map(|own| own.name.as_str()).collect();
        others.sort_unstable();
        for other in others {
            label.push_str(" + ");
            label.push_str(other);
        }
        Some(Self { id: text::hex(&Sha256::digest(&label)[..8]), label: text::for_column(&label) })
    }
}

/// An adapter's name, and its LUID where it is told.
type Role<'a> = (&'a str, Option<Luid>);

fn same(one: Role<'_>, other: Role<'_>) -> bool {
    match (one.1, other.1) {
        (Some(one), Some(other)) => one == other,
        _ => one.0 == other.0,
    }
}

fn name_of(machine: &Machine, luid: Luid) -> Option<&str> {
    machine.adapters.iter().find(|own| own.luid == Some(luid)).map(|own| own.name.as_str())
}

impl Store {
    /// What people call these cohorts, by id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn cohort_labels(&self, ids: &[String]) -> sqlx::Result<BTreeMap<String, String>> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        labels(&mut *self.pool.acquire().await?, ids).await
    }
}

/// The same within a transaction.
pub(super) async fn labels(connection: &mut AnyConnection, ids: &[String]) -> sqlx::Result<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    for chunk in ids.chunks(IDS_PER_QUESTION) {
        let places: Vec<_> = (1..=chunk.len()).map(|number| format!("${number}")).collect();
        let sql = format!("select id, label from cohorts where id in ({})", places.join(", "));
        // The text holds nothing but placeholders.
        let query = chunk.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, id| query.bind(id.clone()));
        for row in query.fetch_all(&mut *connection).await? {
            labels.insert(row.try_get(0)?, row.try_get(1)?);
        }
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, luid: u64) -> MachineAdapter {
        MachineAdapter::new(name, Some(Luid(luid)))
    }

    fn label(adapters: &[(&str, u64)], render: Option<(&str, u64)>, scanout: Option<(&str, u64)>) -> Option<String> {
        let adapters: Vec<_> = adapters.iter().map(|(name, luid)| adapter(name, *luid)).collect();
        let role = |(name, luid)| (name, Some(Luid(luid)));
        let role = |own: Option<(_, _)>| own.map(role);
        Cohort::new(&adapters, role(render), role(scanout)).map(|cohort| cohort.label)
    }

    #[test]
    fn neither_boot_nor_order_makes_another_kind_of_pc() {
        let one = label(&[("N", 1), ("I", 2), ("X", 3), ("A", 4)], Some(("N", 1)), Some(("I", 2)));
        assert_eq!(one.as_deref(), Some("N → I + A + X"));
        let next_boot =
            label(&[("A", 14), ("I", 12), (BASIC_RENDER, 9), ("X", 13), ("N", 11)], Some(("N", 11)), Some(("I", 12)));
        assert_eq!(next_boot, one);
    }

    #[test]
    fn roles_and_twins_count_and_what_is_not_told_is_no_guess() {
        let n = ("N", 1);
        let cases = [
            (vec![n], Some(n), Some(n), Some("N")),
            (vec![n, ("N", 2)], Some(n), Some(n), Some("N + N")),
            (vec![n, ("N", 2)], Some(n), Some(("N", 2)), Some("N → N")),
            (vec![n, ("I", 2)], None, Some(("I", 2)), Some("? → I + N")),
            (vec![n, ("I", 2)], None, None, Some("? → ? + I + N")),
            (vec![], Some(n), Some(("I", 2)), Some("N → I")),
            (vec![(BASIC_RENDER, 3)], None, None, None),
        ];
        for (adapters, render, scanout, expected) in cases {
            assert_eq!(label(&adapters, render, scanout).as_deref(), expected, "{adapters:?}");
        }
    }
}
