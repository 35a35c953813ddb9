//! What XLA compiles of a function that is traced already: outside of any jit, a transformation makes a program of its own of it.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ExplainedCall, Explanation, LOOKED_BACK, Nearest, Recorded, Recording};
use crate::case::{Layer, Verdict};
use crate::model::Difference;

/// What became of what a transformation makes of a function, `jax.grad` say, outside of all that is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transformed {
    /// XLA compiled it.
    Compiled,
    /// XLA compiled nothing: it was there, in a file perhaps, or the call raised.
    Found,
}

/// A transformation around a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Transformation {
    /// `vmap` or `derivative`.
    kind: String,
    /// How many rows it maps over.
    rows: Option<u64>,
}

impl fmt::Display for Transformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rows {
            Some(rows) => write!(f, "{} over {rows}", self.kind),
            None => f.write_str(&self.kind),
        }
    }
}

/// Explains the calls whose function was traced already and that compiled what the same transformations had made of it for another
/// number of rows. That it's other arguments which are mapped or differentiated, a recording doesn't say.
pub(super) fn explain_sizes(recording: &Recording, recorded: &[&Recorded], calls: &mut [ExplainedCall]) {
    let given = |number: usize| recording.described(recorded, number - 1);
    let mut compiled: HashMap<_, Vec<(&[Transformation], usize)>> = HashMap::new();
    for (recorded, call) in recorded.iter().zip(calls) {
        let under = &recorded.under[..];
        if call.transformed != Some(Transformed::Compiled) || under.is_empty() {
            continue;
        }
        let kinds: Vec<&str> = under.iter().map(|transformation| transformation.kind.as_str()).collect();
        let earlier = compiled.entry((call.function, kinds)).or_default();
        // What is given something else has a program of its own for each number.
        let mut alike =
            earlier.iter().rev().take(LOOKED_BACK).filter(|(_, number)| given(*number) == given(call.number));
        let latest = alike.clone().next();
        let is_new = alike.all(|(before, _)| *before != under);
        if let (Some((before, number)), true) = (latest, is_new && call.observed == Verdict::HIT) {
            let names =
                |under: &[Transformation]| under.iter().map(ToString::to_string).collect::<Vec<_>>().join(" of ");
            let [before, after] = [before, under].map(names);
            let differences = vec![Difference::new("", "rows mapped over", before, after)];
            call.explanations.push(Explanation { layer: Layer::Compile, nearest: Nearest::Call(*number), differences });
        }
        if is_new {
            earlier.push((under, call.number));
        }
    }
}
