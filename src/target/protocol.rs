//! The protocol between jitkey and a target's process: JSON lines on stdin and stdout.
//!
//! jitkey writes `{"hello": {"protocol": 1}}` and then `{"id": 1, "case": {…}}` again and again, without waiting; the
//! target answers `{"hello": {…}}`, and for each case one of `{"id": 1, "result": {"calls": […]}}`,
//! `{"id": 1, "unsupported": "…"}`, `{"id": 1, "unbuildable": {"class": "…"}}` and `{"id": 1, "failed": "…"}`, in any order.
//! The end of its stdin ends it.

use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::case::{Behaviour, Case, LayerSet, Value, Verdict};
use crate::spec::Version;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// What jitkey writes.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Request {
    /// The greeting.
    Hello {
        /// Who speaks.
        hello: Greeting,
    },
    /// A case to run.
    Case {
        /// The number that the reply carries.
        id: u64,
        /// The case.
        case: Box<Case>,
    },
}

/// jitkey's greeting.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Greeting {
    /// The version of the protocol.
    pub protocol: u32,
}

/// What a target is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct About {
    /// The version of the protocol.
    pub protocol: u32,
    /// The implementation, by the name of its profile.
    pub implementation: String,
    /// Its version, by which the profile is chosen.
    pub version: String,
    /// The layers that it can observe.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::case::Layer>"))]
    pub layers: LayerSet,
    /// Optional things that it can do.
    #[serde(default)]
    pub features: Vec<String>,
    /// The config flags that it has, each with its present value and another. A campaign sets each around a call.
    #[serde(default, skip_serializing)]
    pub flags: IndexMap<String, [Value; 2]>,
    /// What else is worth printing: versions of libraries, the platform.
    #[serde(default)]
    pub about: IndexMap<String, Option<String>>,
}

impl About {
    /// The version by which profiles and what rules say are chosen, on the Python that is told; `None` if it is no version.
    #[must_use]
    pub fn runs(&self) -> Option<Version> {
        Version::told(&self.version, &self.about).ok()
    }
}

/// A target's first line.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloReply {
    /// What the target is.
    pub hello: About,
}

/// A target's answer to a case.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reply {
    /// The number of the case.
    pub id: u64,
    /// What happened.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What happened with a case.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran.
    Result {
        /// One entry for each call.
        calls: Vec<CallObservation>,
    },
    /// The target can't do what the case asks for: in words.
    Unsupported(String),
    /// Python raised while the case's values were built.
    Unbuildable(RaisedError),
    /// The target's own code failed: a traceback.
    Failed(String),
}

/// What was seen of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallObservation {
    /// The layers that were missed, of those that the target can observe.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::case::Layer>"))]
    pub missed: LayerSet,
    /// The exception that the call raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RaisedError>,
    /// What is known of the program that served the call; nothing if the target didn't compare it with that of the same
    /// call on an empty cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
}

/// What is known of the program that served a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Served {
    /// It was traced from what the call is made of.
    Sound,
    /// It was traced from something else, or a call on an empty cache raises.
    Stale {
        /// What the program was traced from, or the part of it that differs.
        warm: String,
        /// The same on an empty cache, or the class of the exception that is raised there.
        cold: String,
    },
}

impl CallObservation {
    /// What the call did.
    #[must_use]
    pub fn behaviour(&self) -> Behaviour {
        Behaviour { verdict: self.verdict(), stale: matches!(self.served, Some(Served::Stale { .. })) }
    }

    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match &self.error {
            Some(error) => Verdict::Error(error.class.clone()),
            None => Verdict::Missed(self.missed),
        }
    }
}

/// An exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RaisedError {
    /// The name of its class.
    pub class: String,
    /// Its message, as much as is worth showing.
    #[serde(default)]
    pub message: String,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// It ran: one entry for each call.
    Calls(Vec<CallObservation>),
    /// The target can't do what the case asks for.
    Unsupported(String),
    /// Python raised while the case's values were built: a fact about the case.
    Unbuildable(String),
    /// The target's own code failed, or its answer made no sense.
    Failed(String),
    /// The process ended.
    Crashed(String),
    /// No answer came within that time.
    TimedOut(Duration),
}

impl Observation {
    /// Why there is no answer, where none came.
    #[must_use]
    pub fn silence(&self) -> Option<String> {
        match self {
            Self::Crashed(how) => Some(how.clone()),
            Self::TimedOut(limit) => Some(format!("no answer within {} s", limit.as_secs())),
            _ => None,
        }
    }
}

impl From<Outcome> for Observation {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Result { calls } => Self::Calls(calls),
            Outcome::Unsupported(what) => Self::Unsupported(what),
            Outcome::Unbuildable(error) => Self::Unbuildable(error.class),
            Outcome::Failed(why) => Self::Failed(why),
        }
    }
}
