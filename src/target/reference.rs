//! The reference model as a target: what a perfect implementation would observe.

use indexmap::IndexMap;

use super::protocol::{About, CallObservation, Observation, PROTOCOL, RaisedError};
use super::{Target, TargetError};
use crate::case::{Case, LayerSet, Verdict};
use crate::model::{ModelError, predict};
use crate::spec::{Profile, Spec};

/// The reference model of one profile.
#[derive(Debug)]
pub struct Reference<'s> {
    profile: &'s Profile,
    about: About,
}

impl<'s> Reference<'s> {
    /// The model of `implementation` at `version`.
    pub fn new(spec: &'s Spec, implementation: &str, version: &str) -> Result<Self, TargetError> {
        let profile = version.parse().ok().and_then(|version| spec.profile(implementation, &version));
        let profile = profile.ok_or_else(|| super::name::no_profile(spec, implementation, version))?;
        let about = About {
            protocol: PROTOCOL,
            implementation: implementation.to_owned(),
            version: version.to_owned(),
            layers: LayerSet::ALL,
            features: Vec::new(),
            about: IndexMap::from([("model".to_owned(), Some("reference".to_owned()))]),
        };
        Ok(Self { profile, about })
    }
}

impl Target for Reference<'_> {
    fn about(&self) -> &About {
        &self.about
    }

    fn observe(&mut self, cases: &[Case]) -> Result<Vec<Observation>, TargetError> {
        Ok(cases.iter().map(|case| observe(case, self.profile)).collect())
    }
}

fn observe(case: &Case, profile: &Profile) -> Observation {
    match predict(case, profile) {
        Ok(verdicts) => Observation::Calls(
            verdicts
                .into_iter()
                .map(|verdict| match verdict {
                    Verdict::Missed(missed) => CallObservation { missed, error: None },
                    Verdict::Error(class) => CallObservation {
                        missed: LayerSet::NONE,
                        error: Some(RaisedError { class, message: String::new() }),
                    },
                })
                .collect(),
        ),
        Err(ModelError::Unsupported(what)) => Observation::Unsupported(what),
        Err(ModelError::Unbuildable(class)) => Observation::Unbuildable(class),
    }
}
