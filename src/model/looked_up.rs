//! Which functions of an eager loop weren't found, and how they differ from those of an earlier call.
//!
//! Each function among the arguments has a jaxpr of its own under a key of its own, and one miss is enough to make the loop anew: why
//! the loop was traced is said of all of them together.

use std::rc::Rc;

use super::difference::{Difference, Explanation};
use super::leaf::Aval;
use super::predict::Simulation;
use crate::case::Layer;

/// The component of a key that is the function itself.
const FUNCTION: &str = "function";

/// What became of one of the functions.
pub(super) struct LookedUp {
    pub found: bool,
    /// Why not, if a key of its own or of one that looks the same is there.
    pub explanation: Option<Explanation>,
}

/// The functions of a call for a reader, by their parameters, and what they are called with.
#[derive(Debug, Clone, Default)]
pub(super) struct Functions {
    pub named: Rc<[(String, String)]>,
    pub avals: Rc<[Rc<Aval>]>,
}

impl Functions {
    /// How many functions two calls have in common, for a reader.
    fn shared(&self, before: &Self) -> usize {
        before.named.iter().filter(|function| self.named.contains(function)).count()
    }

    /// How near an earlier call is: by its functions, and then by what a jaxpr is made for.
    fn nearness(&self, before: &Self) -> (usize, bool, usize) {
        let of_trace = |aval: &Aval| (aval.shape.clone(), aval.dtype, aval.prng, aval.weak);
        let pairs = before.avals.iter().zip(&*self.avals);
        let alike = pairs.filter(|(before, now)| of_trace(before) == of_trace(now)).count();
        (self.shared(before), before.avals.len() == self.avals.len(), alike)
    }
}

/// Those of earlier calls, each with the number of the call.
pub(super) type Given = Vec<(usize, Functions)>;

/// So many calls with other functions are remembered.
const REMEMBERED: usize = 256;

impl Simulation<'_> {
    /// How many of the functions of the loop that is called now look as those of an earlier call.
    pub(super) fn shared_functions(&self, call: usize) -> usize {
        let given = self.given.iter().rfind(|(earlier, _)| *earlier == call);
        given.map_or(0, |(_, before)| self.given_now.shared(before))
    }

    /// Takes the call whose program is nearest for the one whose functions are, if they look the same and were given the same as those
    /// of the one that is: of both layers the same is said then.
    pub(super) fn agree_on_the_nearest(&mut self) {
        let nearest = |layer| self.explanations.iter().find(|it| it.layer == layer).map(|it| it.nearest);
        let given = |call| self.given.iter().rfind(|(known, _)| *known == call).map(|(_, functions)| functions);
        let Some((by_trace, by_dispatch)) = nearest(Layer::Trace).zip(nearest(Layer::Dispatch)) else { return };
        let Some((one, other)) = given(by_trace).zip(given(by_dispatch)) else { return };
        if one.named == other.named && one.nearness(other) == other.nearness(other) {
            let of_trace = self.explanations.iter_mut().filter(|it| it.layer == Layer::Trace);
            of_trace.for_each(|explanation| explanation.nearest = by_dispatch);
        }
    }

    /// Notes of a call's functions, in their order, why some were not found.
    pub(super) fn explain_functions(&mut self, looked_up: Vec<LookedUp>) {
        let now = self.given_now.clone();
        if looked_up.is_empty() {
            return;
        }
        let is_known = self.explanations.iter().any(|explanation| explanation.layer == Layer::Trace);
        let missed = || now.named.iter().zip(&looked_up).filter(|(_, it)| !it.found);
        let nearest = missed().filter_map(|(_, it)| it.explanation.as_ref()).map(|it| it.nearest).max();
        let before = match nearest {
            Some(nearest) => self.given.iter().rfind(|(call, _)| *call == nearest),
            // The one that has most of the functions and is called with most of the same, the last of several.
            None => {
                let earlier = self.given.iter().filter(|(call, _)| *call != self.calls);
                earlier.max_by_key(|(call, before)| (now.nearness(before), *call))
            }
        };
        let nearest = nearest.or_else(|| before.map(|(call, _)| *call));
        let before = before.map(|(_, before)| Rc::clone(&before.named));
        if let Some(nearest) = nearest.filter(|_| !is_known) {
            let mut differences: Vec<Difference> = Vec::new();
            for ((name, text), LookedUp { explanation, .. }) in missed() {
                let found = match explanation {
                    Some(explanation) => explanation.differences.clone(),
                    None => {
                        let was = before.iter().flat_map(|before| before.iter()).find(|(known, _)| known == name);
                        let other = was.filter(|(_, was)| was != text);
                        other.map(|(_, was)| Difference::new("", FUNCTION, was, text)).into_iter().collect()
                    }
                };
                for mut difference in found {
                    if difference.component == FUNCTION {
                        difference.path.clone_from(name);
                    }
                    if !differences.contains(&difference) {
                        differences.push(difference);
                    }
                }
            }
            // What the functions are given follows.
            differences.sort_by_key(|difference| difference.component != FUNCTION);
            if !differences.is_empty() {
                self.explanations.push(Explanation { layer: Layer::Trace, nearest, differences });
            }
        }
        if missed().next().is_some() && self.given.last().is_none_or(|(call, _)| *call != self.calls) {
            if self.given.len() >= REMEMBERED {
                self.given.remove(0);
            }
            self.given.push((self.calls, now));
        }
    }
}
