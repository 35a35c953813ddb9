//! Why a program recompiled: its recording, the model's predictions of the same calls, and what the differences mean.
//!
//! A recording has the calls of several implementations, each of which has caches of its own: to the model it is one case
//! for each.

mod advice;
mod recording;

use indexmap::IndexMap;
use serde::Serialize;

pub use advice::Advice;
pub use recording::{Recorded, Recording, RecordingError};

use crate::case::{Case, Layer, LayerSet, Step, Verdict};
use crate::model::{Difference, Explanation, Simulation};
use crate::spec::{Spec, Version};
use advice::Advisor;

/// A recording, explained.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// The versions of everything that can change a verdict, by library.
    pub about: IndexMap<String, Option<String>>,
    /// The calls, in order.
    pub calls: Vec<ExplainedCall>,
}

/// A call, explained.
#[derive(Debug, Serialize)]
pub struct ExplainedCall {
    /// Its number in the recording, from one.
    pub number: usize,
    /// What was called: `jax.jit`.
    pub api: String,
    /// The function's name.
    pub name: String,
    /// Where the function is written.
    pub at: Option<String>,
    /// Where the call is made.
    pub from: Option<String>,
    /// What it did.
    pub observed: Verdict,
    /// What the model says that it does, if it says anything.
    pub predicted: Option<Verdict>,
    /// Why the model says nothing.
    pub unpredicted: Option<String>,
    /// Whether it is the first call of a function that is written there: no key could be nearby.
    pub first: bool,
    /// Why each layer was missed, `nearest` being a number of the recording.
    pub explanations: Vec<Explanation>,
    /// What the differences of the layer that matters mean, one for each.
    pub advice: Vec<Option<Advice>>,
}

impl ExplainedCall {
    /// Whether the model says what happened.
    #[must_use]
    pub fn is_predicted(&self) -> bool {
        self.predicted.as_ref() == Some(&self.observed)
    }

    /// Whether something was made for it that an earlier call of the function might have left.
    #[must_use]
    pub fn is_again(&self) -> bool {
        !self.first && !missed(&self.observed).is_empty()
    }

    /// The explanation of the layer that matters: of the trace if the body ran, and otherwise of the topmost.
    #[must_use]
    pub fn explanation(&self) -> Option<&Explanation> {
        if !self.is_predicted() {
            // What explains another miss doesn't explain this one.
            return None;
        }
        let says_something = |explanation: &&Explanation| !explanation.differences.is_empty();
        let traced = missed(&self.observed).contains(Layer::Trace);
        let of_trace = self.explanations.iter().find(|explanation| explanation.layer == Layer::Trace);
        of_trace.filter(|_| traced).filter(says_something).or_else(|| self.explanations.iter().find(says_something))
    }

    /// The differences that matter.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        self.explanation().map_or(&[], |explanation| &explanation.differences)
    }
}

fn missed(verdict: &Verdict) -> LayerSet {
    match verdict {
        Verdict::Missed(missed) => *missed,
        Verdict::Error(_) => LayerSet::NONE,
    }
}

impl Explained {
    /// Predicts the calls of a recording and explains those that missed.
    ///
    /// # Errors
    /// If the recording doesn't say which jax was run, or `spec` has a cause that is no pattern.
    pub fn of(recording: Recording, spec: &Spec) -> Result<Self, RecordingError> {
        let version: Version = recording.jax()?;
        let advisor = Advisor::of(spec)?;
        let mut calls: Vec<ExplainedCall> = Vec::new();
        let mut known: Vec<(String, String, Option<String>)> = Vec::new();
        for (i, recorded) in recording.calls().enumerate() {
            let identity = (recorded.api.clone(), recorded.name.clone(), recorded.at.clone());
            let first = !known.contains(&identity);
            if first {
                known.push(identity);
            }
            calls.push(ExplainedCall {
                number: i + 1,
                api: recorded.api.clone(),
                name: recorded.name.clone(),
                at: recorded.at.clone(),
                from: recorded.from.clone(),
                observed: recorded.observed.verdict(),
                predicted: None,
                unpredicted: recorded.unrecorded.clone(),
                first,
                explanations: Vec::new(),
                advice: Vec::new(),
            });
        }
        for api in recording.apis() {
            predict(&recording, &api, spec, &version, &mut calls);
        }
        for call in &mut calls {
            if call.first {
                call.explanations.clear();
            }
            call.advice = call.differences().iter().map(|difference| advisor.advise(&call.api, difference)).collect();
        }
        Ok(Self { about: recording.about, calls })
    }
}

/// Writes what the model says of the calls of `api` into them.
fn predict(recording: &Recording, api: &str, spec: &Spec, version: &Version, calls: &mut [ExplainedCall]) {
    let (case, numbers): (Case, Vec<usize>) = recording.case(api);
    let mut fail = |numbers: &[usize], why: &str| {
        for number in numbers {
            calls[number - 1].unpredicted.get_or_insert_with(|| why.to_owned());
        }
    };
    let Some(profile) = spec.profile(api, version) else {
        return fail(&numbers, &format!("there is no profile of {api} {version}"));
    };
    let mut simulation = match Simulation::explaining(&case, profile) {
        Ok(simulation) => simulation,
        Err(error) => return fail(&numbers, &error.to_string()),
    };
    let mut of_calls = numbers.iter();
    for step in &case.steps {
        let number = if matches!(step, Step::Call(_)) { of_calls.next() } else { None };
        match (simulation.step(step), number) {
            (Ok(Some(prediction)), Some(number)) => {
                let call = &mut calls[number - 1];
                call.predicted = Some(prediction.verdict);
                call.explanations = prediction.explanations;
                for explanation in &mut call.explanations {
                    explanation.nearest = numbers[explanation.nearest - 1];
                }
            }
            (Err(error), Some(number)) => calls[number - 1].unpredicted = Some(error.to_string()),
            _ => {}
        }
    }
}
