//! How many rows there are behind every combination of some columns, and how many machines.
//!
//! Columns hold small numbers that the caller gave to its words. A row stands for `weight` logs of one machine.

use polars::prelude::{Column, DataFrame, DataType, Expr, IntoLazy, NamedFrom, PlSmallStr, Series, col};

use crate::{Error, failed};

/// Columns of equal length.
pub struct Counts {
    frame: DataFrame,
}

/// One combination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// A number for each column that was asked for.
    pub key: Vec<u32>,
    /// The sum of the weights.
    pub logs: u64,
    /// Distinct machines.
    pub machines: u64,
}

const MACHINE: &str = "machine";
const WEIGHT: &str = "weight";

impl Counts {
    /// Takes the machine of each row and how many logs it stands for.
    ///
    /// # Errors
    /// When the lengths differ.
    pub fn new(machine: &[u32], weight: &[u32]) -> Result<Self, Error> {
        let columns = vec![column(MACHINE, machine), column(WEIGHT, weight)];
        Ok(Self { frame: DataFrame::new(machine.len(), columns).map_err(failed)? })
    }

    /// Adds a column, or puts it in the place of one with this name.
    ///
    /// # Errors
    /// When its length is another one.
    pub fn with(&mut self, name: &'static str, values: &[u32]) -> Result<(), Error> {
        self.frame.with_column(column(name, values)).map(drop).map_err(failed)
    }

    /// Counts every combination of the named columns, most logs first; no name: everything together, if there is any.
    ///
    /// # Errors
    /// When there is no such column.
    pub fn by(&self, names: &[&'static str]) -> Result<Vec<Count>, Error> {
        let totals = [col(WEIGHT).cast(DataType::UInt64).sum(), col(MACHINE).n_unique().cast(DataType::UInt64)];
        let lazy = self.frame.clone().lazy();
        let counted = if names.is_empty() {
            lazy.select(totals)
        } else {
            let keys: Vec<Expr> = names.iter().map(|name| col(*name)).collect();
            lazy.group_by(keys).agg(totals)
        };
        let counted = counted.collect().map_err(failed)?;
        let numbers = |name: &str| -> Result<Vec<u64>, Error> {
            let values = counted.column(name).and_then(|values| values.cast(&DataType::UInt64)).map_err(failed)?;
            Ok(values.u64().map_err(failed)?.iter().map(Option::unwrap_or_default).collect())
        };
        let (logs, machines) = (numbers(WEIGHT)?, numbers(MACHINE)?);
        let keys = names.iter().map(|name| numbers(name)).collect::<Result<Vec<_>, _>>()?;
        let mut counts: Vec<_> = logs
            .into_iter()
            .zip(machines)
            .enumerate()
            .map(|(row, (logs, machines))| Count {
                // They came as numbers of this size.
                key: keys.iter().map(|values| values[row] as u32).collect(),
                logs,
                machines,
            })
            .filter(|count| count.logs > 0)
            .collect();
        counts.sort_unstable_by(|one, other| (other.logs, &one.key).cmp(&(one.logs, &other.key)));
        Ok(counts)
    }
}

fn column(name: &'static str, values: &[u32]) -> Column {
    Series::new(PlSmallStr::from_static(name), values).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(key: &[u32], logs: u64, machines: u64) -> Count {
        Count { key: key.to_vec(), logs, machines }
    }

    #[test]
    fn logs_are_summed_and_machines_counted_once() {
        let mut counts = Counts::new(&[1, 1, 2, 3], &[5, 1, 1, 1]).expect("equal lengths");
        counts.with("a", &[0, 0, 0, 7]).expect("equal lengths");
        counts.with("b", &[1, 2, 2, 2]).expect("equal lengths");
        assert_eq!(counts.by(&[]).expect("no names"), [count(&[], 8, 3)]);
        assert_eq!(counts.by(&["a"]).expect("it is there"), [count(&[0], 7, 2), count(&[7], 1, 1)]);
        let both = [count(&[0, 1], 5, 1), count(&[0, 2], 2, 2), count(&[7, 2], 1, 1)];
        assert_eq!(counts.by(&["a", "b"]).expect("they are there"), both);
        assert!(counts.by(&["c"]).is_err());
    }

    #[test]
    fn nothing_counts_nothing_and_lengths_must_fit() {
        let counts = Counts::new(&[], &[]).expect("equal lengths");
        assert_eq!(counts.by(&[]).expect("no names"), []);
        assert!(Counts::new(&[1], &[]).is_err());
        let mut one = Counts::new(&[1], &[1]).expect("equal lengths");
        assert!(one.with("a", &[1, 2]).is_err());
    }
}
