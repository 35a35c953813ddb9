//! Why a program recompiled: its recording, the model's predictions of the same calls, and what the differences mean.
//!
//! A recording has the calls of several implementations, each of which has caches of its own: to the model it is one case
//! for each.

mod advice;
mod patterns;
mod recording;
mod replay;

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::Serialize;

pub use advice::Advice;
pub use patterns::{Pattern, numbered};
pub use recording::{Recorded, Recording, RecordingError};

use crate::case::{Layer, LayerSet, Verdict};
use crate::model::{Difference, Explanation, Simulation};
use crate::spec::{Spec, Version};
use advice::Advisor;
use replay::Replay;

/// A recording, explained.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// The versions of everything that can change a verdict, by library.
    pub about: IndexMap<String, Option<String>>,
    /// The calls, in order.
    pub calls: Vec<ExplainedCall>,
    /// What several of them show together, what to mend first on top.
    pub patterns: Vec<Pattern>,
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
    /// What the call has that the program which serves it was not traced from.
    pub stale: Option<Difference>,
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
        // That the layer above made another program says nothing by itself.
        let says_something = |explanation: &&Explanation| {
            explanation.differences.iter().any(|difference| difference.component != "program")
        };
        let traced = missed(&self.observed).contains(Layer::Trace);
        let of_trace = self.explanations.iter().find(|explanation| explanation.layer == Layer::Trace);
        of_trace.filter(|_| traced).filter(says_something).or_else(|| self.explanations.iter().find(says_something))
    }

    /// What makes the call's hit a stale one, if the model says of the call what it did.
    #[must_use]
    pub fn stale(&self) -> Option<&Difference> {
        self.stale.as_ref().filter(|_| self.is_predicted())
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
        let mut known: HashSet<(&str, &str, Option<&str>)> = HashSet::new();
        for (i, (recorded, given)) in recording.calls().zip(&recording.given).enumerate() {
            let first = known.insert((&recorded.api, &recorded.name, recorded.at.as_deref()));
            calls.push(ExplainedCall {
                number: i + 1,
                api: recorded.api.clone(),
                name: recorded.name.clone(),
                at: recorded.at.clone(),
                from: recorded.from.clone(),
                observed: recorded.observed.verdict(),
                predicted: None,
                unpredicted: given.as_ref().err().cloned(),
                first,
                explanations: Vec::new(),
                advice: Vec::new(),
                stale: None,
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
        let patterns = patterns::patterns(&calls, &spec.habits);
        Ok(Self { about: recording.about, calls, patterns })
    }

    /// The patterns and, beside them, each cause of misses that are no part of one: what to mend first on top.
    #[must_use]
    pub fn to_mend(&self) -> Vec<Pattern> {
        let mut all = self.patterns.clone();
        all.extend(patterns::others(&self.calls, &self.patterns));
        patterns::rank(&mut all);
        all
    }
}

/// Writes what the model says of the calls of `api` into them.
fn predict(recording: &Recording, api: &str, spec: &Spec, version: &Version, calls: &mut [ExplainedCall]) {
    let Replay { case, numbers, left_out } = Replay::of(recording, api);
    for (number, why) in left_out {
        calls[number - 1].unpredicted = Some(why);
    }
    let of_calls: Vec<usize> = numbers.iter().copied().flatten().collect();
    let mut fail = |why: String| of_calls.iter().for_each(|number| calls[number - 1].unpredicted = Some(why.clone()));
    let Some(profile) = spec.profile(api, version) else {
        return fail(format!("there is no profile of {api} {version}"));
    };
    let mut simulation = match Simulation::of_recording(&case, profile) {
        Ok(simulation) => simulation,
        Err(error) => return fail(error.to_string()),
    };
    for (step, number) in case.steps.iter().zip(&numbers) {
        match (simulation.step(step), number) {
            (Ok(Some(prediction)), Some(number)) => {
                let call = &mut calls[number - 1];
                call.predicted = Some(prediction.verdict);
                call.stale = prediction.stale;
                call.explanations = prediction.explanations;
                for explanation in &mut call.explanations {
                    explanation.nearest = of_calls[explanation.nearest - 1];
                }
            }
            (Err(error), Some(number)) => calls[number - 1].unpredicted = Some(error.to_string()),
            _ => {}
        }
    }
}
