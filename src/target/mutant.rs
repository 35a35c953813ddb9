//! A mutant as a target: what an implementation with that defect would observe.

use super::protocol::{About, Observation, Served};
use super::reference::{about, observation, observed};
use super::{Target, TargetError};
use crate::case::{Behaviour, Case};
use crate::model::{ModelError, behaviour};
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
        let about = about(&profile.profile, version, ("mutant", &mutant.id));
        Ok(Self { mutant, profile: mutant.profile(profile)?, about })
    }

    /// What the calls do. A case that the mutant can't be told in its own terms is one that it does nothing wrong with.
    pub fn calls(&self, case: &Case) -> Result<Vec<Behaviour>, ModelError> {
        let seen = self.mutant.seen(case).and_then(|seen| behaviour(&seen, &self.profile).ok());
        let calls = match seen {
            Some(calls) => calls,
            None => behaviour(case, &self.profile)?,
        };
        Ok(calls.into_iter().map(|call| self.mutant.answer(call)).collect())
    }
}

impl Target for Mutated<'_> {
    fn about(&self) -> &About {
        &self.about
    }

    fn observe(&mut self, cases: &[Case]) -> Result<Vec<Observation>, TargetError> {
        let served = |stale| match stale {
            true => Served::Stale { warm: String::new(), cold: String::new() },
            false => Served::Sound,
        };
        let calls =
            |case| Ok(self.calls(case)?.into_iter().map(|call| observed(call.verdict, served(call.stale))).collect());
        Ok(cases.iter().map(|case| observation(calls(case))).collect())
    }
}
