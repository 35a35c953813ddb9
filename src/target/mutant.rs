//! A mutant as a target: what an implementation with that defect would observe.

use indexmap::IndexMap;

use super::protocol::{About, CallObservation, Observation, PROTOCOL, RaisedError, Served};
use super::{Target, TargetError};
use crate::case::{Behaviour, Case, LayerSet, Verdict};
use crate::model::{ModelError, Prediction, predict};
use crate::spec::{Mutant, Profile};

/// The reference model of one profile, with a defect.
#[derive(Debug, Clone)]
pub struct Mutated<'s> {
    mutant: &'s Mutant,
    profile: Profile,
    about: About,
}

impl<'s> Mutated<'s> {
    /// The model of `profile` with the defect.
    ///
    /// # Errors
    /// If the mutant's edits don't fit the profile.
    pub fn new(mutant: &'s Mutant, profile: &Profile, version: &str) -> Result<Self, String> {
        let about = About {
            protocol: PROTOCOL,
            implementation: profile.profile.clone(),
            version: version.to_owned(),
            layers: LayerSet::ALL,
            features: vec!["stale".to_owned()],
            flags: IndexMap::new(),
            about: IndexMap::from([("mutant".to_owned(), Some(mutant.id.clone()))]),
        };
        Ok(Self { mutant, profile: mutant.profile(profile)?, about })
    }

    /// What the calls do. A case that the mutant can't be told in its own terms is one that it does nothing wrong with.
    pub fn calls(&self, case: &Case) -> Result<Vec<Behaviour>, ModelError> {
        let seen = self.mutant.seen(case).and_then(|seen| predict(&seen, &self.profile).ok());
        let predictions = match seen {
            Some(predictions) => predictions,
            None => predict(case, &self.profile)?,
        };
        Ok(predictions.iter().map(Prediction::behaviour).map(|call| self.mutant.answer(call)).collect())
    }
}

impl Target for Mutated<'_> {
    fn about(&self) -> &About {
        &self.about
    }

    fn observe(&mut self, cases: &[Case]) -> Result<Vec<Observation>, TargetError> {
        let observe = |case: &Case| match self.calls(case) {
            Ok(calls) => Observation::Calls(calls.into_iter().map(observed).collect()),
            Err(ModelError::Unsupported(what)) => Observation::Unsupported(what),
            Err(ModelError::Unbuildable(class)) => Observation::Unbuildable(class),
        };
        Ok(cases.iter().map(observe).collect())
    }
}

fn observed(call: Behaviour) -> CallObservation {
    let served = match call.stale {
        true => Served::Stale { warm: String::new(), cold: String::new() },
        false => Served::Sound,
    };
    let (missed, error) = match call.verdict {
        Verdict::Missed(missed) => (missed, None),
        Verdict::Error(class) => (LayerSet::NONE, Some(RaisedError { class, message: String::new() })),
    };
    CallObservation { missed, error, served: Some(served) }
}
