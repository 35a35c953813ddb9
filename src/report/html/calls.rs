//! The calls as the page's script reads them. A program makes few kinds of calls, many times: each kind stands there once,
//! and so does each difference and each text.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use serde::Serialize;

use crate::case::{Layer, Verdict};
use crate::explain::{Explained, ExplainedCall, Nearest, Untried};
use crate::report::explain::{became, did, nearest, untried, what};

/// How many differences of one layer are shown.
const MOST: usize = 60;

/// The calls; everything is named by its place in a list.
#[derive(Debug, Default, Serialize)]
pub(super) struct Calls {
    texts: IndexSet<String>,
    /// API, name and place.
    functions: IndexSet<(usize, usize, Option<usize>)>,
    /// Path, component, before and after.
    differences: IndexSet<[usize; 4]>,
    kinds: IndexSet<Kind>,
    /// The kind of each call.
    calls: Vec<usize>,
    /// By the number of a call, whose keys are nearest to its own, for each layer of its kind.
    nearest: BTreeMap<usize, Vec<Near>>,
    /// By the number of a call, what became of its repair.
    tried: BTreeMap<usize, usize>,
}

/// What calls have in common that differ in nothing but their number, and that of the nearest.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
struct Kind {
    function: usize,
    from: Option<usize>,
    state: &'static str,
    /// What it did, in words.
    did: usize,
    first: bool,
    again: bool,
    /// What the model says that it does, if that is something else.
    otherwise: Option<usize>,
    unpredicted: Option<usize>,
    /// The difference that makes its hit a stale one.
    stale: Option<usize>,
    /// Each layer that is explained, with its differences, and how many more there are.
    layers: Vec<(Layer, Vec<usize>, usize)>,
    /// What is the matter, what to do, and the rule that says so.
    advice: Vec<[usize; 3]>,
}

/// The deepest that a call had to go, in one word.
pub(super) fn state(call: &ExplainedCall) -> &'static str {
    let missed = match &call.observed {
        Verdict::Error(_) => return "error",
        Verdict::Missed(missed) => *missed,
    };
    let depth =
        [(Layer::Trace, "trace"), (Layer::Lower, "lower"), (Layer::Compile, "compile"), (Layer::Dispatch, "dispatch")];
    let deepest = depth.into_iter().find(|(layer, _)| missed.contains(*layer)).map(|(_, word)| word);
    deepest.unwrap_or(if call.is_again() { "compile" } else { "hit" })
}

/// Whose key is nearest.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Near {
    /// That of the call of this number.
    Call(usize),
    /// One of no call, in words, or none.
    Said([Option<usize>; 1]),
}

impl Calls {
    pub fn of(explained: &Explained) -> Self {
        let mut calls = Self::default();
        for call in &explained.calls {
            let kind = calls.kind(call);
            let kind = calls.kinds.insert_full(kind).0;
            calls.calls.push(kind);
            // What was tried of another call stands with that one.
            let is_own = !matches!(call.untried, Some(Untried::Like(_)));
            if let Some(became) = became(call).or_else(|| untried(call).filter(|_| is_own)) {
                let became = calls.text(&became);
                calls.tried.insert(call.number, became);
            }
            if !call.explanations.is_empty() {
                let said = call.explanations.iter().map(|explanation| match explanation.nearest {
                    Nearest::Call(number) => Near::Call(number),
                    other => Near::Said([nearest(other).map(|said| calls.text(&said))]),
                });
                let said = said.collect();
                calls.nearest.insert(call.number, said);
            }
        }
        calls
    }

    fn kind(&mut self, call: &ExplainedCall) -> Kind {
        let function = (self.text(&call.called), self.text(&call.name), call.at.as_ref().map(|at| self.text(at)));
        let otherwise = call.predicted.as_ref().filter(|_| !call.is_predicted());
        let mut advice: Vec<[usize; 3]> = Vec::new();
        let further = call.further.iter().filter_map(|further| further.advice.as_ref());
        for known in call.advice.iter().flatten().chain(further).filter(|advice| advice.cause != "program") {
            let said = [&known.says, &known.fix, &known.rule].map(|text| self.text(text));
            // One repair for all that it mends.
            if !advice.iter().any(|[_, fix, rule]| [*fix, *rule] == said[1..]) {
                advice.push(said);
            }
        }
        let mut layers = Vec::new();
        for explanation in &call.explanations {
            let is_main = call.explanation().is_some_and(|main| main.layer == explanation.layer);
            let outside = call.outside.iter().filter(|_| is_main).take(MOST);
            let differences = explanation.differences.iter().take(MOST).chain(outside);
            let differences = differences.map(|difference| self.difference(call, difference));
            let differences = differences.collect();
            layers.push((explanation.layer, differences, explanation.differences.len().saturating_sub(MOST)));
        }
        Kind {
            function: self.functions.insert_full(function).0,
            from: call.from.as_ref().map(|from| self.text(from)),
            state: state(call),
            did: self.text(&did(call)),
            first: call.first,
            again: call.is_again(),
            otherwise: otherwise.map(|predicted| self.text(&what(predicted))),
            unpredicted: call.unpredicted.as_ref().map(|why| self.text(why)),
            stale: call.stale().map(|difference| self.difference(call, difference)),
            layers,
            advice,
        }
    }

    fn difference(&mut self, call: &ExplainedCall, difference: &crate::model::Difference) -> usize {
        let crate::model::Difference { component, before, after, .. } = difference;
        let texts = [call.where_is(difference), component, before, after].map(|text| self.text(text));
        self.differences.insert_full(texts).0
    }

    fn text(&mut self, text: &str) -> usize {
        match self.texts.get_index_of(text) {
            Some(place) => place,
            None => self.texts.insert_full(text.to_owned()).0,
        }
    }
}
