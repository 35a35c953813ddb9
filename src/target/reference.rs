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
        let about = about(implementation, version, ("model", "reference"));
        Ok(Self { profile, about })
    }
}

impl Target for Reference<'_> {
    fn about(&self) -> &About {
        &self.about
    }

    fn observe(&mut self, cases: &[Case]) -> Result<Vec<Observation>, TargetError> {
        let calls = |case| Ok(predict(case, self.profile)?.into_iter().map(predicted).collect());
        Ok(cases.iter().map(|case| observation(calls(case))).collect())
    }
}

/// What a model says of itself in answer to `hello`.
pub(super) fn about(implementation: &str, version: &str, what: (&str, &str)) -> About {
    About {
        protocol: PROTOCOL,
        implementation: implementation.to_owned(),
        version: version.to_owned(),
        layers: LayerSet::ALL,
        features: vec!["stale".to_owned()],
        flags: IndexMap::new(),
        about: IndexMap::from([(what.0.to_owned(), Some(what.1.to_owned()))]),
    }
}

/// What a target would observe that does what a model says.
pub(super) fn observation(calls: Result<Vec<CallObservation>, ModelError>) -> Observation {
    match calls {
        Ok(calls) => Observation::Calls(calls),
        Err(ModelError::Unsupported(what)) => Observation::Unsupported(what),
        Err(ModelError::Unbuildable(class)) => Observation::Unbuildable(class),
    }
}

/// The same of one call.
pub(super) fn observed(verdict: Verdict, served: Served) -> CallObservation {
    let (missed, error) = match verdict {
        Verdict::Missed(missed) => (missed, None),
        Verdict::Error(class) => (LayerSet::NONE, Some(RaisedError { class, message: String::new() })),
    };
    CallObservation { missed, error, served: Some(served) }
}

fn predicted(prediction: Prediction) -> CallObservation {
    let served = match prediction.stale {
        None => Served::Sound,
        Some(Difference { path, component, before, after }) => {
            Served::Stale { warm: format!("{component} {path}: {before}"), cold: after }
        }
    };
    observed(prediction.verdict, served)
}
