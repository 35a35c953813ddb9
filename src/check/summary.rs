//! What came of a campaign: counts by family and by rule, findings, and what could not be run.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::compare::{Alone, Testimony};
use super::finding::Finding;
use crate::case::Behaviour;

/// The counts of a family.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyCount {
    /// Its rules.
    pub rules: usize,
    /// Those of them that state a stale hit.
    pub hazards: usize,
    /// Pairs that were compared.
    pub pairs: u64,
    /// Those on which rule and model agree.
    pub rule_model: u64,
    /// Those on which model and target agree.
    pub model_target: u64,
}

/// The counts of a rule: of the pairs in which it was the first of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleCount {
    /// Pairs that were compared.
    pub pairs: u64,
    /// Those on which rule, model and target agree.
    pub agreed: u64,
    /// What the target did in the pairs that were planted alone, call by call, and how often.
    pub observed: BTreeMap<String, u64>,
    /// Pairs that were not compared, by the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, u64>,
    /// The first pair on which they don't agree, as it was before it was made small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstDifference>,
}

impl RuleCount {
    /// One more pair on which all agree; `seen` is what the target did if the pair was planted alone.
    pub(super) fn hold(&mut self, seen: Option<&Vec<Behaviour>>) {
        self.agreed += 1;
        self.see(seen);
    }

    /// One more pair on which they don't.
    pub(super) fn differ(&mut self, seen: Option<&Vec<Behaviour>>, difference: FirstDifference) {
        self.first = earlier(self.first.take(), Some(difference));
        self.see(seen);
    }

    /// One more pair that could not be compared.
    pub(super) fn leave_out(&mut self, reason: String) {
        *self.left_out.entry(reason).or_default() += 1;
    }

    fn see(&mut self, seen: Option<&Vec<Behaviour>>) {
        self.pairs += 1;
        if let Some(calls) = seen {
            let words: Vec<_> = calls.iter().map(Behaviour::to_string).collect();
            *self.observed.entry(words.join(", ")).or_default() += 1;
        }
    }

    fn absorb(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.agreed += other.agreed;
        add(&mut self.observed, other.observed);
        add(&mut self.left_out, other.left_out);
        self.first = earlier(self.first.take(), other.first);
    }
}

/// A pair on which the witnesses don't agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstDifference {
    /// Its number in the campaign.
    pub pair: u64,
    /// The rules that made it.
    pub rules: Vec<String>,
    /// Who stands alone.
    pub alone: Alone,
    /// What each says.
    pub testimony: Testimony,
}

fn earlier(one: Option<FirstDifference>, other: Option<FirstDifference>) -> Option<FirstDifference> {
    one.into_iter().chain(other).min_by_key(|difference| difference.pair)
}

/// What the target could not run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The rules of the case.
    pub rules: String,
    /// Why.
    pub reason: String,
}

/// What came of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// By family, in the order of the spec.
    pub families: IndexMap<String, FamilyCount>,
    /// By rule.
    pub rules: BTreeMap<String, RuleCount>,
    /// The disagreements, made small, by the number of their pair.
    pub findings: Vec<Finding>,
    /// How many disagreements were not made small.
    pub more_findings: usize,
    /// What the target can't do, and how often it was asked.
    pub unsupported: BTreeMap<String, u64>,
    /// How many cases could not be built in Python at all.
    pub unbuildable: u64,
    /// How many draws gave no case.
    pub discarded: u64,
    /// What the target, or the model, could not run for a reason of its own.
    pub failures: Vec<Failure>,
    /// How many pairs held several planted pairs.
    pub composed: u64,
    /// How many pairs were not run since somebody stopped the campaign.
    #[serde(default)]
    pub not_run: u64,
    /// How often processes of the target ended, or had to be ended, and were started again while pairs ran.
    #[serde(default)]
    pub restarts: u64,
}

impl Summary {
    /// Whether nothing speaks against the target.
    #[must_use]
    pub fn conforms(&self) -> bool {
        self.findings.is_empty() && self.failures.is_empty()
    }

    /// How many pairs were compared.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.families.values().map(|family| family.pairs).sum()
    }

    /// Adds a finding; one that is known already is counted with it.
    pub(super) fn add_finding(&mut self, finding: Finding) {
        match self.findings.iter_mut().find(|known| known.case == finding.case && known.alone == finding.alone) {
            Some(known) => {
                known.count += finding.count;
                known.pair = known.pair.min(finding.pair);
            }
            None => self.findings.push(finding),
        }
    }

    /// Adds what came of another part of the campaign, or of a campaign with the same rules and another seed.
    pub fn absorb(&mut self, other: Self) {
        for (name, theirs) in other.families {
            let family = self.families.entry(name).or_default();
            family.rules = theirs.rules;
            family.hazards = theirs.hazards;
            family.pairs += theirs.pairs;
            family.rule_model += theirs.rule_model;
            family.model_target += theirs.model_target;
        }
        for (id, theirs) in other.rules {
            self.rules.entry(id).or_default().absorb(theirs);
        }
        other.findings.into_iter().for_each(|finding| self.add_finding(finding));
        self.more_findings += other.more_findings;
        add(&mut self.unsupported, other.unsupported);
        self.unbuildable += other.unbuildable;
        self.discarded += other.discarded;
        self.failures.extend(other.failures);
        self.tidy_failures();
        self.composed += other.composed;
        self.not_run += other.not_run;
        self.restarts += other.restarts;
    }

    /// Sorts the failures, each once.
    pub(super) fn tidy_failures(&mut self) {
        self.failures.sort();
        self.failures.dedup();
    }
}

fn add(counts: &mut BTreeMap<String, u64>, more: BTreeMap<String, u64>) {
    for (name, count) in more {
        *counts.entry(name).or_default() += count;
    }
}
