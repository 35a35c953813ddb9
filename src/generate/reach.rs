//! What generated pairs reach: the statistics of a generator.

use std::collections::BTreeMap;

use super::{Discard, Pair, Plan};
use crate::case::Value;

/// What a number of draws gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// By rule: the pairs that it is in.
    pub rules: BTreeMap<String, u64>,
    /// By family: the pairs whose first rule is of it.
    pub families: BTreeMap<String, u64>,
    /// By position: the planted pairs.
    pub positions: BTreeMap<String, u64>,
    /// By kind of value: the arguments' values, with all that is in them.
    pub kinds: BTreeMap<&'static str, u64>,
    /// By number of containers around the deepest leaf: the cases.
    pub depths: BTreeMap<usize, u64>,
    /// By number of pairs planted in one case: the cases.
    pub planted: BTreeMap<usize, u64>,
    /// By reason: the draws that gave no case.
    pub discarded: BTreeMap<String, u64>,
}

impl Reach {
    /// Counts a draw.
    pub fn count(&mut self, plan: &Plan<'_>, drawn: &Result<Pair, Discard>) {
        let pair = match drawn {
            Ok(pair) => pair,
            Err(discard) => return *self.discarded.entry(discard.to_string()).or_default() += 1,
        };
        for rule in &plan.rules {
            *self.rules.entry(rule.id.clone()).or_default() += 1;
        }
        *self.families.entry(plan.rules[0].family().to_owned()).or_default() += 1;
        for position in &pair.positions {
            *self.positions.entry(position.clone()).or_default() += 1;
        }
        *self.planted.entry(plan.rules.len()).or_default() += 1;
        pair.case.arguments().for_each(|value| self.values(value));
        let deepest = pair.case.arguments().map(Value::depth).max();
        *self.depths.entry(deepest.unwrap_or(0)).or_default() += 1;
    }

    /// How many cases there are.
    #[must_use]
    pub fn cases(&self) -> u64 {
        self.families.values().sum()
    }

    fn values(&mut self, value: &Value) {
        *self.kinds.entry(value.kind()).or_default() += 1;
        value.children().into_iter().for_each(|child| self.values(child));
    }
}
