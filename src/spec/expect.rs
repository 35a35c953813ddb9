//! What a rule says will happen.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Requirement, Version};
use crate::case::{Behaviour, Verdict, text};

/// What happens: one verdict for each call, or for a planted pair just that of its second call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What each call does. A planted pair's single one is that of the second call; its first is then `trace`.
    pub calls: Vec<Behaviour>,
    /// What shows instead as soon as anything beside the pair misses the fast path: the pair is equal for dispatch and
    /// yet different, or invalid, for the layers below.
    pub when_missed: Option<Verdict>,
}

impl Outcome {
    /// Whether the verdicts are left to the model: the rule says only that no hit is stale.
    #[must_use]
    pub fn is_predicted(&self) -> bool {
        self.calls.is_empty()
    }

    /// What the last call does.
    ///
    /// # Panics
    /// If the verdicts are left to the model.
    #[must_use]
    pub fn last(&self) -> &Behaviour {
        self.calls.last().expect("an outcome has a verdict")
    }

    /// What each call does, where an outcome that says nothing of stale programs leaves that to what is predicted. The
    /// verdicts of written and recorded cases were measured without looking for stale ones.
    #[must_use]
    pub fn completed(&self, predicted: &[Behaviour]) -> Vec<Behaviour> {
        let stale = |i: usize| !self.is_stale() && predicted.get(i).is_some_and(|call| call.stale);
        let complete = |(i, call): (usize, &Behaviour)| Behaviour { stale: call.stale || stale(i), ..call.clone() };
        self.calls.iter().enumerate().map(complete).collect()
    }

    /// Whether a call is served by a program that was traced from something visibly different: the rule states a hazard.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.calls.iter().any(|call| call.stale)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_predicted() {
            return f.write_str("as predicted");
        }
        let calls: Vec<_> = self.calls.iter().map(Behaviour::to_string).collect();
        f.write_str(&calls.join(", "))?;
        match &self.when_missed {
            Some(verdict) => write!(f, "; {verdict} beside a miss"),
            None => Ok(()),
        }
    }
}

/// An [`Outcome`], for every version or by version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation(Vec<(Requirement, Outcome)>);

impl Expectation {
    /// The outcome at `version`, if the rule says one.
    #[must_use]
    pub fn at(&self, version: &Version) -> Option<&Outcome> {
        self.0.iter().find(|(requirement, _)| requirement.matches(version)).map(|(_, outcome)| outcome)
    }

    /// The outcomes with the versions they hold at.
    pub fn by_version(&self) -> impl Iterator<Item = (&Requirement, &Outcome)> {
        self.0.iter().map(|(requirement, outcome)| (requirement, outcome))
    }
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct OutcomeForm {
    /// The verdict.
    verdict: Verdict,
    /// Whether the program served is stale.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stale: bool,
    /// What shows beside anything that misses the fast path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when_missed: Option<Verdict>,
}

/// Leaves the verdicts to the model.
const PREDICTED: &str = "predicted";

const EXPECTING: &str = "a verdict (`hit`, `dispatch`, `compile`, `lower`, `trace`, `{error: Class}`), a list of verdicts, \
                         `{verdict: …, stale: true, when_missed: …}`, or a map from versions, `{\"<0.5\": …, \">=0.5\": …}`";

fn outcome(tree: &serde_yaml::Value) -> Result<Outcome, String> {
    let plain = |verdict: Verdict| Outcome { calls: vec![verdict.into()], when_missed: None };
    match tree {
        serde_yaml::Value::String(word) if word == PREDICTED => Ok(Outcome { calls: Vec::new(), when_missed: None }),
        serde_yaml::Value::String(_) => Ok(plain(verdict(tree)?)),
        serde_yaml::Value::Sequence(items) if !items.is_empty() => {
            let each: Vec<Outcome> = items.iter().map(outcome).collect::<Result<_, _>>()?;
            if each.iter().any(|one| one.calls.len() != 1) {
                return Err("a list of verdicts has one for each call, and no lists in it".to_owned());
            }
            Ok(Outcome { calls: each.iter().map(|one| one.last().clone()).collect(), when_missed: None })
        }
        serde_yaml::Value::Mapping(map) if map.contains_key("verdict") => {
            let form: OutcomeForm = text::from_tree(tree).map_err(|error| error.to_string())?;
            let call = Behaviour { verdict: form.verdict, stale: form.stale };
            Ok(Outcome { calls: vec![call], when_missed: form.when_missed })
        }
        serde_yaml::Value::Mapping(map) if map.len() == 1 => Ok(plain(verdict(tree)?)),
        _ => Err(format!("expected {EXPECTING}")),
    }
}

fn verdict(tree: &serde_yaml::Value) -> Result<Verdict, String> {
    text::from_tree(tree).map_err(|error| error.to_string())
}

impl<'de> Deserialize<'de> for Expectation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tree = serde_yaml::Value::deserialize(deserializer)?;
        let versions = tree
            .as_mapping()
            .filter(|map| map.keys().all(|key| key.as_str().is_some_and(Requirement::is_begun_by)) && !map.is_empty());
        let Some(versions) = versions else {
            return outcome(&tree).map(Self::from).map_err(D::Error::custom);
        };
        versions
            .iter()
            .map(|(key, tree)| {
                let key = key.as_str().expect("checked above").to_owned();
                Ok((Requirement::try_from(key).map_err(D::Error::custom)?, outcome(tree).map_err(D::Error::custom)?))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl Serialize for Outcome {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_predicted() {
            return PREDICTED.serialize(serializer);
        }
        let Behaviour { verdict, stale } = self.last().clone();
        match &self.when_missed {
            None => self.calls.serialize(serializer),
            Some(when_missed) => {
                OutcomeForm { verdict, stale, when_missed: Some(when_missed.clone()) }.serialize(serializer)
            }
        }
    }
}

impl Serialize for Expectation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [(requirement, outcome)] if requirement.to_string() == "*" => outcome.serialize(serializer),
            by_version => {
                serializer.collect_map(by_version.iter().map(|(requirement, outcome)| (requirement, outcome)))
            }
        }
    }
}

impl From<Outcome> for Expectation {
    fn from(outcome: Outcome) -> Self {
        Self(vec![(Requirement::every(), outcome)])
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Expectation {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Expectation".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let verdict = generator.subschema_for::<Verdict>();
        let full = generator.subschema_for::<OutcomeForm>();
        let one = serde_json::json!({ "anyOf": [verdict, { "const": PREDICTED }, { "type": "array", "items": { "anyOf": [verdict, full] }, "minItems": 1 }, full] });
        schemars::json_schema!({
            "description": format!("What happens: {EXPECTING}."),
            "anyOf": [
                one,
                { "type": "object", "patternProperties": { "^(python)?[<>=]": one }, "additionalProperties": false, "minProperties": 1 },
            ],
        })
    }
}
