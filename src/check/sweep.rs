//! A sweep: steps whose state was fed back, as they were recorded, against what the model says of the same calls.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::case::{Case, Layer, Verdict};
use crate::model::{Difference, ModelError, Prediction, Simulation};
use crate::spec::{Spec, Version};
use crate::target::{CallObservation, RaisedError};

/// A line of `python -m jitkey.sweep`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Line {
    /// The first line: the versions of everything that can change a verdict.
    About {
        /// The versions, by library.
        about: IndexMap<String, Option<String>>,
    },
    /// Every other line.
    Recorded(Box<Recorded>),
}

/// One subject with one kind of input, as it was run.
#[derive(Debug, Clone, Deserialize)]
pub struct Recorded {
    /// What has the state: `optax.adam`.
    pub subject: String,
    /// The kind of parameters and gradients.
    pub input: String,
    /// What its step is jitted with.
    pub api: String,
    /// What the arguments of the step are called.
    pub arguments: Vec<String>,
    /// What came of it.
    #[serde(flatten)]
    pub run: Run,
}

/// What came of a subject.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Run {
    /// It ran: the calls as a case, and what was seen of each.
    Ran {
        /// The calls.
        case: Box<Case>,
        /// What was seen.
        calls: Vec<CallObservation>,
    },
    /// It could not be made, or its first state could not.
    Failed {
        /// The exception.
        failed: RaisedError,
    },
    /// It was given something that a case has no word for.
    Unrecorded {
        /// What.
        unrecorded: String,
    },
}

/// When the state stops changing the key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Settles {
    /// Every call after the first hits.
    AtOnce,
    /// The fast path is missed once more or oftener, and nothing is compiled.
    AfterDispatch,
    /// After this many more compiles.
    After(usize),
    /// The last call still compiled.
    Never,
    /// A step raises.
    Raises(String),
    /// There was no step.
    NotRun(String),
}

/// One subject with one kind of input, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What has the state.
    pub subject: String,
    /// The kind of parameters and gradients.
    pub input: String,
    /// What each call did.
    pub observed: Vec<Verdict>,
    /// When the state stops changing the key.
    pub settles: Settles,
    /// How the key of the first call that missed again differs from the one before.
    pub changed: Vec<Difference>,
    /// What the model says instead, if it disagrees; or why it says nothing.
    pub disagreement: Option<String>,
}

impl Row {
    /// Judges what was recorded under jax `version`.
    #[must_use]
    pub fn of(recorded: &Recorded, spec: &Spec, version: &Version) -> Self {
        let mut row = Self {
            subject: recorded.subject.clone(),
            input: recorded.input.clone(),
            observed: Vec::new(),
            settles: Settles::AtOnce,
            changed: Vec::new(),
            disagreement: None,
        };
        let (case, calls) = match &recorded.run {
            Run::Failed { failed } => {
                row.settles = Settles::NotRun(shown(failed));
                return row;
            }
            Run::Unrecorded { unrecorded } => {
                row.settles = Settles::NotRun(unrecorded.clone());
                row.disagreement = Some(unrecorded.clone());
                return row;
            }
            Run::Ran { case, calls } => (case, calls),
        };
        row.observed = calls.iter().map(CallObservation::verdict).collect();
        row.settles = settles(calls);
        match predicted(case, &recorded.api, spec, version) {
            Err(why) => row.disagreement = Some(why),
            Ok(predictions) => {
                let verdicts: Vec<_> = predictions.iter().map(|call| call.verdict.clone()).collect();
                if verdicts != row.observed {
                    let words: Vec<_> = verdicts.iter().map(ToString::to_string).collect();
                    row.disagreement = Some(format!("the model says {}", words.join(", ")));
                }
                let again = predictions.into_iter().skip(1).find(|call| !call.differences().is_empty());
                row.changed = again.map_or_else(Vec::new, |call| call.differences().to_vec());
                row.changed.iter_mut().for_each(|difference| name_argument(difference, &recorded.arguments));
            }
        }
        row
    }

    /// Whether each call compiled.
    pub fn compiles(&self) -> impl Iterator<Item = bool> {
        self.observed
            .iter()
            .map(|verdict| matches!(verdict, Verdict::Missed(missed) if missed.contains(Layer::Compile)))
    }
}

fn shown(error: &RaisedError) -> String {
    format!("{}: {}", error.class, error.message.lines().next().unwrap_or_default())
}

fn settles(calls: &[CallObservation]) -> Settles {
    if let Some(error) = calls.iter().find_map(|call| call.error.as_ref()) {
        return Settles::Raises(shown(error));
    }
    let again = calls.get(1..).unwrap_or_default();
    match again.iter().filter(|call| call.missed.contains(Layer::Compile)).count() {
        _ if calls.last().is_some_and(|last| !last.missed.is_empty()) => Settles::Never,
        0 if again.iter().all(|call| call.missed.is_empty()) => Settles::AtOnce,
        0 => Settles::AfterDispatch,
        more => Settles::After(more),
    }
}

fn predicted(case: &Case, api: &str, spec: &Spec, version: &Version) -> Result<Vec<Prediction>, String> {
    let profile = spec.profile(api, version).ok_or_else(|| format!("there is no profile of {api} {version}"))?;
    let simulate = || {
        let mut simulation = Simulation::explaining(case, profile)?;
        let steps = case.steps.iter().map(|step| simulation.step(step));
        Ok(steps.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    };
    simulate().map_err(|error: ModelError| error.to_string())
}

/// `args[1].mu` is `state.mu` to a reader.
fn name_argument(difference: &mut Difference, arguments: &[String]) {
    for (i, name) in arguments.iter().enumerate() {
        if let Some(rest) = difference.path.strip_prefix(&format!("args[{i}]")) {
            difference.path = format!("{name}{rest}");
            return;
        }
    }
}

/// All that was swept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Sweep {
    /// The versions of everything that can change a verdict.
    pub about: IndexMap<String, Option<String>>,
    /// The subjects with their inputs, in the order in which they ran.
    pub rows: Vec<Row>,
}

impl Sweep {
    /// Takes a line in, judged by the profile of the jax that `about` names.
    ///
    /// # Errors
    /// If `about` was not there before, or names no version.
    pub fn add(&mut self, line: Line, spec: &Spec) -> Result<(), String> {
        match line {
            Line::About { about } => self.about = about,
            Line::Recorded(recorded) => {
                let jax = self.about.get("jax").and_then(Option::as_deref).ok_or("no line says which jax was run")?;
                let version = Version::told(jax, &self.about).map_err(|_| format!("`{jax}` is no version of jax"))?;
                self.rows.push(Row::of(&recorded, spec, &version));
            }
        }
        Ok(())
    }

    /// Whether the model predicted every call.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.rows.iter().all(|row| row.disagreement.is_none())
    }
}
