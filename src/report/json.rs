//! The report for programs.

use serde::{Deserialize, Serialize};

use crate::case::text;
use crate::check::{Shard, Summary};
use crate::target::About;

/// What came of a campaign on a target, or of several that were merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The version of jitkey.
    pub jitkey: String,
    /// The fingerprint of the spec.
    pub spec: String,
    /// The name by which the target is asked for, with its version.
    pub name: String,
    /// What the target is.
    pub target: About,
    /// The campaigns, or the parts of them, whose pairs are counted here.
    pub campaigns: Vec<Part>,
    /// Whether nothing speaks against the target.
    pub conforms: bool,
    /// How many pairs were compared.
    pub pairs: u64,
    /// The counts, findings and failures.
    #[serde(flatten)]
    pub summary: Summary,
}

/// A campaign, and which shards of it were run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// The seed, as it is printed.
    pub seed: String,
    /// How many pairs the whole campaign has.
    pub pairs: u64,
    /// The patterns that chose its rules; all rules if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Whether the functions were traced only, and never run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trace_only: bool,
    /// Into how many shards it is divided.
    pub of: u64,
    /// Those that were run.
    pub shards: Vec<u64>,
}

impl Part {
    /// One shard of a campaign.
    #[must_use]
    pub fn new(seed: u64, pairs: u64, rules: Vec<String>, shard: Shard) -> Self {
        Self { seed: format!("{seed:#x}"), pairs, rules, trace_only: false, of: shard.of, shards: vec![shard.number] }
    }

    /// The shards that are missing for the campaign to be complete.
    #[must_use]
    pub fn missing(&self) -> Vec<u64> {
        (1..=self.of).filter(|number| !self.shards.contains(number)).collect()
    }

    /// `seed 0x5eed1`, with the shards if some are missing.
    #[must_use]
    pub fn words(&self) -> String {
        if self.missing().is_empty() {
            return format!("seed {}", self.seed);
        }
        let shards: Vec<_> = self.shards.iter().map(u64::to_string).collect();
        format!("seed {} ({} of {} shards: {})", self.seed, shards.len(), self.of, shards.join(", "))
    }

    /// The arguments of `jitkey check` that make the same pairs again.
    #[must_use]
    pub fn arguments(&self) -> String {
        let rules: String = self.rules.iter().map(|glob| format!("--rules {} ", super::quoted(glob))).collect();
        let trace_only = if self.trace_only { " --trace-only" } else { "" };
        format!("{rules}--pairs {} --seed {}{trace_only}", self.pairs, self.seed)
    }
}

impl Report {
    /// The report of a part of a campaign on `target`, which is asked for as `name`, with the spec of that fingerprint.
    #[must_use]
    pub fn new(name: String, target: About, spec: &str, part: Part, summary: Summary) -> Self {
        Self {
            jitkey: env!("CARGO_PKG_VERSION").to_owned(),
            spec: spec.to_owned(),
            name,
            target,
            campaigns: vec![part],
            conforms: summary.conforms(),
            pairs: summary.pairs(),
            summary,
        }
    }

    /// The seeds, as they are printed.
    #[must_use]
    pub fn seeds(&self) -> String {
        self.campaigns.iter().map(Part::words).collect::<Vec<_>>().join(", ")
    }

    /// Reads what [`Report::to_text`] has written.
    ///
    /// # Errors
    /// If `text` is no JSON or no report of this version.
    pub fn from_text(text: &str) -> Result<Self, text::TextError> {
        text::from_json(text)
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
