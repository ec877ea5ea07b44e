//! The fleet's totals, counted from the columnar copy alone: the answer that a database must agree with.

use std::path::PathBuf;

use polars::prelude::{
    DataFrame, DataType, ExplodeOptions, Expr, LazyFrame, PlRefPath, ScanArgsParquet, SortMultipleOptions, by_name,
    col, len, lit,
};

use crate::{Error, failed};

/// Counts of logs, but for `machines`; the names are those of `GET /api/v1/summary`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the contract, section 4")]
pub struct Totals {
    pub logs: i64,
    pub machines: i64,
    pub split_engaged: i64,
    pub split_off: i64,
    pub split_unknown: i64,
    pub crossing_none: i64,
    pub crossing_atlas_per_frame: i64,
    pub crossing_every_present: i64,
    pub crossing_unknown: i64,
    pub interop_crossing: i64,
    pub killed: i64,
    pub retired: i64,
    pub corrected: i64,
    /// In the order of [`wire::Outcome::ALL`].
    pub outcomes: [i64; 6],
}

/// Logs and machines that name a reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReasonTotal {
    /// The token; none for the logs without any.
    pub token: Option<String>,
    /// Logs that name it.
    pub logs: i64,
    /// Distinct machines among them.
    pub machines: i64,
}

/// Counts all logs in these files of the table `logs`, and by reason, most logs first.
///
/// # Errors
/// When a file cannot be read or has other columns.
pub fn totals(files: &[PathBuf]) -> Result<(Totals, Vec<ReasonTotal>), Error> {
    if files.is_empty() {
        return Ok((Totals::default(), Vec::new()));
    }
    let equals = |column: &str, word: &str| count_where(col(column).eq(lit(word.to_owned())));
    let mut counts = vec![
        len().alias("logs"),
        col("machine").n_unique().alias("machines"),
        equals("split", "engaged").alias("split_engaged"),
        equals("split", "off").alias("split_off"),
        equals("split", "unknown").alias("split_unknown"),
        equals("crossing", "none").alias("crossing_none"),
        equals("crossing", "atlas_per_frame").alias("crossing_atlas_per_frame"),
        equals("crossing", "every_present").alias("crossing_every_present"),
        equals("crossing", "unknown").alias("crossing_unknown"),
        count_where(col("interop_crossing")).alias("interop_crossing"),
        count_where(col("killed")).alias("killed"),
        count_where(col("retired")).alias("retired"),
        equals("basis", "corrected").alias("corrected"),
    ];
    let outcome = |outcome: wire::Outcome| format!("outcome_{}", outcome.as_str());
    counts.extend(wire::Outcome::ALL.map(|one| equals("outcome", one.as_str()).alias(outcome(one))));
    let total = scan(files)?.select(counts).collect().map_err(failed)?;
    let number = |name: &str| whole(&total, name, 0);
    let mut outcomes = [0; 6];
    for (count, one) in outcomes.iter_mut().zip(wire::Outcome::ALL) {
        *count = number(&outcome(one))?;
    }
    let totals = Totals {
        logs: number("logs")?,
        machines: number("machines")?,
        split_engaged: number("split_engaged")?,
        split_off: number("split_off")?,
        split_unknown: number("split_unknown")?,
        crossing_none: number("crossing_none")?,
        crossing_atlas_per_frame: number("crossing_atlas_per_frame")?,
        crossing_every_present: number("crossing_every_present")?,
        crossing_unknown: number("crossing_unknown")?,
        interop_crossing: number("interop_crossing")?,
        killed: number("killed")?,
        retired: number("retired")?,
        corrected: number("corrected")?,
        outcomes,
    };
    Ok((totals, reasons(files)?))
}

fn reasons(files: &[PathBuf]) -> Result<Vec<ReasonTotal>, Error> {
    let options = ExplodeOptions { empty_as_null: true, keep_nulls: true };
    let frame = scan(files)?
        .select([col("machine"), col("reasons")])
        .explode(by_name(["reasons"], true, false), options)
        .group_by([col("reasons")])
        .agg([len().alias("logs"), col("machine").n_unique().alias("machines")])
        .sort(["logs", "reasons"], SortMultipleOptions::default().with_order_descending_multi([true, false]))
        .collect()
        .map_err(failed)?;
    let tokens = frame.column("reasons").and_then(|column| column.str().cloned()).map_err(failed)?;
    (0..frame.height())
        .map(|row| {
            Ok(ReasonTotal {
                token: tokens.get(row).map(str::to_owned),
                logs: whole(&frame, "logs", row)?,
                machines: whole(&frame, "machines", row)?,
            })
        })
        .collect()
}

fn scan(files: &[PathBuf]) -> Result<LazyFrame, Error> {
    let paths = files.iter().map(|file| PlRefPath::try_from_path(file)).collect::<Result<Vec<_>, _>>();
    // The names are taken as they stand: there is no pattern in them.
    let args = ScanArgsParquet { glob: false, ..ScanArgsParquet::default() };
    LazyFrame::scan_parquet_files(paths.map_err(failed)?.into_iter().collect(), args).map_err(failed)
}

fn count_where(condition: Expr) -> Expr {
    condition.cast(DataType::Int64).sum()
}

fn whole(frame: &DataFrame, column: &str, row: usize) -> Result<i64, Error> {
    let value = frame.column(column).and_then(|column| column.get(row)).map_err(failed)?;
    value.try_extract::<i64>().map_err(failed)
}
