//! A written case of the spec.

use serde::{Deserialize, Serialize};

use super::{Expectation, SourceRef};
use crate::case::{Behaviour, Case};

/// A case with a name, and what is expected of it: a file under `spec/cases/`, or a frozen finding.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// The stable id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// What the case shows, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
    /// The implementation that is called.
    pub api: String,
    /// The version that the expectation was made for, where it is not for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The program.
    pub case: Case,
    /// What happens, by call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
    /// Of a finding: what the target did instead, by call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Vec<Behaviour>>,
    /// The id of the case whose program this one repairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<String>,
    /// What somebody does whose program recompiles because of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRef>,
}

impl CaseFile {
    /// A case of which nothing else is known.
    #[must_use]
    pub fn bare(api: &str, case: Case) -> Self {
        Self {
            id: String::new(),
            says: String::new(),
            api: api.to_owned(),
            version: None,
            case,
            expect: None,
            observed: None,
            repairs: None,
            fix: None,
            sources: Vec::new(),
        }
    }
}
