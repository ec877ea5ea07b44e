//! Names of what a simulated fleet writes beside its logs. Whoever reads logs passes over files that start with them: they
//! say what the logs should say, not what somebody's machine said.

/// The truth of one log; one object a line.
pub const TRUTH_SCHEMA: &str = "weavewatch.truth/1";

/// The totals of a fleet.
pub const TOTALS_SCHEMA: &str = "weavewatch.totals/1";
