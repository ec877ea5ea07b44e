//! One log of a report once more: everything that `explain` says of it, from what was seen in it, else from its file.

use std::io::{Cursor, Read};
use std::path::Path;

use tokio::sync::Semaphore;
use triage::bundle::{self, Limits};
use triage::explain::Dossier;
use wire::ScanReport;

use super::limits::ReportLimits;
use super::{answer, blocking, seen};
use crate::error::Error;
use crate::store::{ReportLog, Storage, Store};

/// Each may hold a whole bundle for a moment.
static A_FEW_AT_A_TIME: Semaphore = Semaphore::const_new(2);

/// All about a log of a report.
///
/// # Errors
/// [`Error::FileMissing`] when it takes the file and that is not there, [`Error::NotFound`] when the report has gone
/// meanwhile, or when the database fails.
pub async fn dossier(store: &Store, id: &str, log: &ReportLog) -> Result<Dossier, Error> {
    let report: ScanReport = serde_json::from_str(&log.summary).map_err(answer::ours)?;
    match store.report_observations(id, log.number).await? {
        // Some milliseconds at most.
        Some(packed) => blocking(move || Ok(seen::dossier(&packed, report.file)?)).await,
        None => from_file(store, id, log, &report.file).await,
    }
}

async fn from_file(store: &Store, id: &str, log: &ReportLog, wanted: &str) -> Result<Dossier, Error> {
    let turn = A_FEW_AT_A_TIME.acquire().await.map_err(|error| Error::Internal(error.into()))?;
    let holds = |name: &str| wanted.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with("!/"));
    let (mut found, mut is_missing) = (None, false);
    for (number, file) in (0_i64..).zip(store.report_files(id).await?) {
        if !holds(&file.name) {
            continue;
        }
        is_missing |= file.storage == Storage::Missing;
        let Some(contents) = store.report_file(id, number).await? else { continue };
        let (wanted, summary) = (wanted.to_owned(), log.summary.clone());
        let read = move || {
            let pieces = contents.read()?;
            Ok(pieces.and_then(|pieces| find(&file.name, &pieces.concat(), &wanted, &summary)))
        };
        match blocking(read).await? {
            Some((dossier, true)) => return Ok(dossier),
            Some((dossier, false)) => found = found.or(Some(dossier)),
            None => {}
        }
    }
    drop(turn);
    found.ok_or(if is_missing { Error::FileMissing } else { Error::NotFound })
}

/// The log of this name, and whether it is the very one: several may have the same name.
fn find(file: &str, bytes: &[u8], wanted: &str, summary: &str) -> Option<(Dossier, bool)> {
    let mut found: Option<(Dossier, bool)> = None;
    let mut look = |name: String, contents: &mut dyn Read| {
        if name == wanted && found.as_ref().is_none_or(|(_, same)| !same) {
            let dossier = Dossier::of_log(contents, name);
            let same = serde_json::to_string(&dossier.report).is_ok_and(|own| wire::cell::json(&own) == summary);
            if same || found.is_none() {
                found = Some((dossier, same));
            }
        }
    };
    if bundle::is_zip(bytes) || bundle::is_named(Path::new(file)) {
        let ReportLimits { logs: members, member_bytes, unpacked_bytes, .. } = ReportLimits::default();
        let limits = Limits { members, member_bytes, unpacked_bytes };
        let each = &mut |member: &str, contents: &mut dyn Read| look(format!("{file}!/{member}"), contents);
        bundle::members_within(Cursor::new(bytes), limits, each, &mut |_, _| {});
    } else {
        look(file.to_owned(), &mut &*bytes);
    }
    found
}
