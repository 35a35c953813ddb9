//! The reference model as a target: what a perfect implementation would observe.

use indexmap::IndexMap;

use super::protocol::{About, CallObservation, Observation, PROTOCOL, RaisedError, Served};
use super::{Target, TargetError};
use crate::case::{Case, LayerSet, Verdict};
use crate::model::{Difference, ModelError, Prediction, predict};
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
            features: vec!["stale".to_owned()],
            flags: IndexMap::new(),
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
        Ok(predictions) => Observation::Calls(predictions.into_iter().map(observed).collect()),
        Err(ModelError::Unsupported(what)) => Observation::Unsupported(what),
        Err(ModelError::Unbuildable(class)) => Observation::Unbuildable(class),
    }
}

fn observed(prediction: Prediction) -> CallObservation {
    let served = match prediction.stale {
        None => Served::Sound,
        Some(Difference { path, component, before, after }) => {
            Served::Stale { warm: format!("{component} {path}: {before}"), cold: after }
        }
    };
    let (missed, error) = match prediction.verdict {
        Verdict::Missed(missed) => (missed, None),
        Verdict::Error(class) => (LayerSet::NONE, Some(RaisedError { class, message: String::new() })),
    };
    CallObservation { missed, error, served: Some(served) }
}
