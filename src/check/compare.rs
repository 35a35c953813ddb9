//! Compares what the three witnesses say of a case.

use serde::{Deserialize, Serialize};

use crate::case::{Behaviour, Case, LayerSet, Verdict};
use crate::model::{ModelError, behaviour};
use crate::spec::Profile;
use crate::target::{CallObservation, Observation};

/// Who stands alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Alone {
    /// Model and target agree: the rule is wrong, or doesn't say enough.
    Rule,
    /// Rule and target agree: a defect of jitkey.
    Model,
    /// Rule and model agree: a finding about the target.
    Target,
    /// No two agree.
    Everyone,
}

impl Alone {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Rule => "the rule stands alone",
            Self::Model => "the model stands alone: a defect of jitkey",
            Self::Target => "the target stands alone",
            Self::Everyone => "no two agree",
        }
    }
}

/// What the witnesses say of each call, as far as the target can see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Testimony {
    /// What follows from the rules.
    pub rule: Vec<Behaviour>,
    /// What the model predicts.
    pub model: Vec<Behaviour>,
    /// What the target did. An answer that is no result is an error of that name.
    pub target: Vec<Behaviour>,
}

impl Testimony {
    /// The last call, from 0, of which not all say the same; 0 if there is none.
    #[must_use]
    pub fn last_difference(&self) -> usize {
        let differs = |i: &usize| {
            let [rule, model, target] = [&self.rule, &self.model, &self.target].map(|calls| calls.get(*i));
            rule != model || model != target
        };
        (0..self.rule.len()).rev().find(differs).unwrap_or(0)
    }
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// All agree; what the target did.
    Holds(Vec<Behaviour>),
    /// Somebody differs.
    Differs(Alone, Testimony),
    /// The target can't do it, and says what.
    Unsupported(String),
    /// The values can't be built at all.
    Unbuildable,
    /// The target's own code failed.
    Failed(String),
    /// The model doesn't know it: a defect of the rule that made the case.
    Unpredictable(String),
}

/// Judges an observation of `case` against what the rules expect and what the model predicts.
#[must_use]
pub fn judge(
    case: &Case,
    expected: &[Behaviour],
    profile: &Profile,
    visible: LayerSet,
    observation: &Observation,
) -> Judgement {
    let all = |class: &str| vec![Verdict::Error(class.to_owned()).into(); expected.len()];
    let mut compared = vec![true; expected.len()];
    let target = match observation {
        Observation::Calls(calls) => {
            compared = calls.iter().map(|call| call.served.is_some()).collect();
            calls.iter().map(CallObservation::behaviour).collect()
        }
        Observation::Unsupported(what) => return Judgement::Unsupported(what.clone()),
        Observation::Unbuildable(_) => return Judgement::Unbuildable,
        Observation::Failed(why) => return Judgement::Failed(why.clone()),
        Observation::Crashed(_) => all("crash"),
        Observation::TimedOut(_) => all("time-out"),
    };
    // A target that didn't compare a program with one made on an empty cache says nothing of whether it is stale.
    let seen = |(i, call): (usize, Behaviour)| call.seen_by(visible, compared.get(i) == Some(&true));
    let as_seen = |calls: Vec<Behaviour>| calls.into_iter().enumerate().map(seen).collect::<Vec<_>>();
    let model = match behaviour(case, profile) {
        Ok(model) => as_seen(model),
        Err(ModelError::Unbuildable(_)) => return Judgement::Unbuildable,
        Err(error @ ModelError::Unsupported(_)) => return Judgement::Unpredictable(error.to_string()),
    };
    let (rule, target) = (as_seen(expected.to_vec()), as_seen(target));
    let alone = match (rule == model, model == target, rule == target) {
        (true, true, _) => return Judgement::Holds(target),
        (true, false, _) => Alone::Target,
        (false, true, _) => Alone::Rule,
        (false, false, true) => Alone::Model,
        (false, false, false) => Alone::Everyone,
    };
    Judgement::Differs(alone, Testimony { rule, model, target })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_disputed_last_need_not_be_the_last_call() {
        let calls = |all: [Verdict; 3]| all.map(Behaviour::from).to_vec();
        let [hit, trace] = [Verdict::HIT, Verdict::TRACE];
        let all_say = calls([trace.clone(), trace.clone(), hit.clone()]);
        let target = calls([trace.clone(), hit.clone(), hit]);
        let disputed = Testimony { rule: all_say.clone(), model: all_say.clone(), target };
        let agreed = Testimony { rule: all_say.clone(), model: all_say.clone(), target: all_say };
        assert_eq!((disputed.last_difference(), agreed.last_difference()), (1, 0));
    }
}
