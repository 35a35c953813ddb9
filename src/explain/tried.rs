//! What is tried on the model of what would mend a call that missed.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde::Serialize;

use super::advice::Advisor;
use super::call::{Kind, Place, place_of};
use super::{Explained, Nearest, Repair, Untried, profile_of};
use crate::case::{Case, LayerSet, Verdict};
use crate::model::{Difference, behaviour};
use crate::spec::{CaseFile, Outcome, Spec};

/// Repairs are tried for the first calls of so many kinds.
const TRIED: usize = 64;

/// What a repair does, on the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// With the differences that are stated taken from the nearest call, the call is served.
    pub mends: bool,
    /// With any one of them left, it misses.
    pub minimal: bool,
    /// The layers below that are missed all the same.
    pub left: LayerSet,
    /// What the keys differ in there.
    pub by: Vec<Difference>,
}

impl Explained {
    /// Tries what mends the first call of each kind, and leaves out what isn't needed for that from the explanations of all of them.
    pub(super) fn try_repairs(&mut self, spec: &Spec, advisor: &Advisor<'_>) {
        let mut kinds: IndexMap<Kind, Vec<usize>> = IndexMap::new();
        for call in self.calls.iter().filter(|call| call.is_again()) {
            kinds.entry(call.kind()).or_default().push(call.number);
        }
        let mut unneeded: HashMap<Kind, HashSet<Place>> = HashMap::new();
        let mut tried = 0;
        for numbers in kinds.into_values() {
            let number = numbers[0];
            let Some(repair) = self.attempt(number, spec, tried < TRIED) else { continue };
            tried += usize::from(repair.is_ok());
            let why = *repair.as_ref().err().unwrap_or(&Untried::Like(number));
            numbers[1..].iter().for_each(|number| self.calls[number - 1].untried = Some(why));
            let call = &mut self.calls[number - 1];
            let repair = match repair {
                Ok(repair) => repair,
                Err(why) => {
                    call.untried = Some(why);
                    continue;
                }
            };
            let is_same = |a: &Difference, b: &Difference| place_of(a) == place_of(b);
            let stated = call.differences();
            // What one place makes of the key alone can look otherwise than beside the others: an argument is absent that the other
            // call has by name.
            let is_it = |found: &Difference, stated: &Difference| {
                let rest = found.path.strip_prefix(&stated.path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
                    || stated.is_of_the_form() && found.is_an_argument()
            };
            let is_stated = |found: &Vec<Difference>| found.iter().any(|a| stated.iter().any(|b| is_it(a, b)));
            let is_enough = |a: &Difference| {
                let mut each = repair.each.iter().flatten();
                each.any(|b| is_same(a, b) || a.is_of_the_form() && b.is_an_argument())
            };
            let mends = repair.each.iter().all(is_stated);
            let rest: HashSet<Place> = stated.iter().filter(|stated| !is_enough(stated)).map(place_of).collect();
            // What covers the rest has to stay.
            let covers = |found: &Vec<Difference>| {
                let needed = stated.iter().filter(|stated| !rest.contains(&place_of(stated)));
                found.iter().any(|a| needed.clone().any(|b| is_it(a, b)))
            };
            let minimal = rest.is_empty() || mends && repair.each.iter().all(covers);
            // Others of the kind can differ from theirs in something else.
            if mends && numbers.len() == 1 && call.further.is_empty() {
                call.further = advisor.each(call, &repair.by);
            }
            if minimal && !rest.is_empty() {
                unneeded.insert(call.kind(), rest);
            }
            call.tried = Some(Tried { mends, minimal, left: repair.left, by: repair.by });
        }
        if unneeded.is_empty() {
            return;
        }
        for call in &mut self.calls {
            if let Some(places) = unneeded.get(&call.kind()) {
                call.leave_out(places);
                let further = advisor.further(call);
                if !further.is_empty() {
                    call.further = further;
                }
            }
        }
    }

    /// What mends a call that missed, by its number; `None` if there is nothing near it, or it can't be tried.
    #[must_use]
    pub fn repair(&self, number: usize, spec: &Spec) -> Option<Repair> {
        self.attempt(number, spec, true)?.ok()
    }

    /// The same, or why it can't be tried, if only since it is none of those that are; `None` if there is nothing near it.
    fn attempt(&self, number: usize, spec: &Spec, is_one: bool) -> Option<Result<Repair, Untried>> {
        let call = self.calls.get(number.checked_sub(1)?)?;
        let explanation = call.explanation()?;
        let profile = profile_of(spec, &call.api, &self.version)?;
        let replay = self.replays.get(&call.api)?;
        match explanation.nearest {
            Nearest::Call(_) if call.is_transformed_anew() => Some(Err(Untried::Transformed)),
            Nearest::Call(_) if !is_one => Some(Err(Untried::Others(TRIED))),
            Nearest::Call(nearest) => Some(replay.repair(nearest, number, explanation.layer, &profile)),
            Nearest::Aside(_) => Some(Err(Untried::Aside)),
            Nearest::Nothing => None,
        }
    }

    /// A call that missed as a case of two calls, and that case repaired, for a target or a script.
    ///
    /// # Errors
    /// Why that can't be tried, or made a case.
    pub fn cases(&self, number: usize, spec: &Spec) -> Result<[CaseFile; 2], Untried> {
        let Repair { missing, repaired, .. } = self.attempt(number, spec, true).ok_or(Untried::Unexplained)??;
        let call = &self.calls[number - 1];
        let profile = spec.profile(&call.api, &self.version).ok_or(Untried::Unknown)?;
        let file = |id: String, says: String, case: Case| {
            let calls = behaviour(&case, profile).ok()?;
            // What the function of the program returned a case doesn't know, and that of a case can't be placed everywhere.
            if calls.iter().any(|verdict| matches!(verdict.verdict, Verdict::Error(_))) {
                return None;
            }
            let expect = Some(Outcome { calls, when_missed: None }.into());
            let (api, version) = (call.api.clone(), Some(self.version.to_string()));
            Some(CaseFile {
                id,
                says,
                api,
                version,
                case,
                expect,
                observed: None,
                repairs: None,
                fix: None,
                sources: Vec::new(),
            })
        };
        let Some(Nearest::Call(nearest)) = call.explanation().map(|it| it.nearest) else {
            return Err(Untried::Unexplained);
        };
        let id = format!("call-{number}");
        let found: Vec<String> = call.differences().iter().map(ToString::to_string).collect();
        let says = format!("Call {number} of {} after call {nearest}: {}.", call.name, found.join("; "));
        let mended = file(format!("{id}-repaired"), "The same without the difference.".to_owned(), repaired)
            .ok_or(Untried::Returns)?;
        let fix = call.advice.iter().flatten().next().map(|advice| advice.fix.clone());
        Ok([file(id.clone(), says, missing).ok_or(Untried::Returns)?, CaseFile { repairs: Some(id), fix, ..mended }])
    }
}
