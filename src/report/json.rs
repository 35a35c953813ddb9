//! The report for programs.

use serde::Serialize;

use crate::check::Summary;
use crate::target::About;

/// A campaign's outcome.
#[derive(Debug, Serialize)]
pub struct Report<'r> {
    /// The version of jitkey, and of the spec it came with.
    pub jitkey: &'static str,
    /// The target.
    pub target: &'r About,
    /// The seed, as it is printed.
    pub seed: String,
    /// Whether nothing speaks against the target.
    pub conforms: bool,
    /// How many pairs were compared.
    pub pairs: u64,
    /// The counts, findings and failures.
    #[serde(flatten)]
    pub summary: &'r Summary,
}

impl<'r> Report<'r> {
    /// The report of a campaign on `target`.
    #[must_use]
    pub fn new(target: &'r About, seed: u64, summary: &'r Summary) -> Self {
        Self {
            jitkey: env!("CARGO_PKG_VERSION"),
            target,
            seed: format!("{seed:#x}"),
            conforms: summary.conforms(),
            pairs: summary.pairs(),
            summary,
        }
    }

    /// As JSON, indented.
    ///
    /// # Panics
    /// Never: everything in it has a JSON form.
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has a JSON form")
    }
}
