//! A finding: a disagreement, made as small as it gets.

use serde::{Deserialize, Serialize};

use super::compare::{Alone, Testimony};
use crate::case::{Behaviour, Case, Value};
use crate::model::{Difference, Simulation};
use crate::spec::{CaseFile, Outcome, Profile, Spec};

/// A disagreement between the witnesses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rules that made the case.
    pub rules: Vec<String>,
    /// What they say.
    pub says: Vec<String>,
    /// Who stands alone.
    pub alone: Alone,
    /// What follows from the rules for the smallest case, also of layers that the target can't show.
    pub expected: Vec<Behaviour>,
    /// What each says of the smallest case.
    pub testimony: Testimony,
    /// The smallest case found.
    pub case: Case,
    /// How the key of the last call that is disputed differs from that of the nearest call before, as the model sees it.
    pub differences: Vec<Difference>,
    /// How many containers stand around its deepest leaf.
    pub depth: usize,
    /// Whether the target did the same again when it was asked once more. If not, the case is the first one, not a smaller.
    pub reproduced: bool,
    /// What the target said besides: the message of its exception, or how it ended.
    pub detail: Option<String>,
    /// The number of the pair in the campaign, before it was made smaller.
    pub pair: u64,
    /// How many pairs of the campaign disagreed in the same rule and the same way.
    pub count: usize,
    /// The implementation and version that the case was made for.
    pub implementation: String,
    /// Its version.
    pub version: String,
}

impl Finding {
    /// A name for its file.
    #[must_use]
    pub fn file_name(&self, number: usize) -> String {
        let name: String = self.rules.join("+").chars().map(|c| if c == '/' { '-' } else { c }).collect();
        format!("{name}-{number}.yaml")
    }

    /// The case with what the rules expect of it, as a file that every verb can read.
    #[must_use]
    pub fn case_file(&self) -> CaseFile {
        let outcome = Outcome { calls: self.expected.clone(), when_missed: None };
        CaseFile {
            id: format!("finding/{}", self.rules.join("+")),
            says: self.says.join(" "),
            version: Some(self.version.clone()),
            expect: Some(outcome.into()),
            observed: Some(self.testimony.target.clone()),
            ..CaseFile::bare(&self.implementation, self.case.clone())
        }
    }
}

/// What the rules of a finding say.
pub(super) fn statements(spec: &Spec, rules: &[String]) -> Vec<String> {
    rules.iter().filter_map(|id| spec.rules.get(id)).map(|rule| rule.says.clone()).collect()
}

/// How the key of the call of that number, from 0, differs from the nearest before; nothing if it hit or was the first.
#[must_use]
pub fn differences(case: &Case, profile: &Profile, call: usize) -> Vec<Difference> {
    let Ok(mut simulation) = Simulation::explaining(case, profile) else { return Vec::new() };
    let mut predictions = case
        .steps
        .iter()
        .map(|step| simulation.step(step))
        .take_while(Result::is_ok)
        .filter_map(|it| it.ok().flatten());
    predictions.nth(call).map(|prediction| prediction.differences().to_vec()).unwrap_or_default()
}

/// How many containers stand around the deepest value of any argument.
#[must_use]
pub fn depth(case: &Case) -> usize {
    case.arguments().map(Value::depth).max().unwrap_or(0)
}

/// How many values the calls have, containers and what is in them.
pub(super) fn size(case: &Case) -> usize {
    fn of(value: &Value) -> usize {
        1 + value.children().into_iter().map(of).sum::<usize>()
    }
    case.arguments().map(of).sum()
}
