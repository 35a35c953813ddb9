//! A call of a recording, explained.

use std::collections::HashSet;

use serde::Serialize;

use super::{Advice, Transformed, Tried, Untried};
use crate::case::{Layer, LayerSet, Verdict};
use crate::model::{Difference, Written};

/// Why a call missed a layer.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// The layer.
    pub layer: Layer,
    /// Whose key is nearest.
    pub nearest: Nearest,
    /// How the keys differ; if none is near, what became of those before.
    pub differences: Vec<Difference>,
}

impl Explanation {
    /// That the layer above made another program says nothing by itself.
    pub(super) fn says_something(&self) -> bool {
        self.differences.iter().any(|difference| difference.component != "program")
    }
}

/// Whose key is nearest to that of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nearest {
    /// That of the call of this number.
    Call(usize),
    /// That of no call of the recording, but of one inside of a trace or of what was compiled ahead of time, after the call of
    /// this number had begun; 0 is before all of them.
    Aside(usize),
    /// There is no key of the function.
    Nothing,
}

/// The component of which leaves are donated.
pub(super) const DONATED: &str = "donated leaves";

/// A path and a component.
pub(super) type Place = (String, String);

/// Which function was called, where its key differs at which layer, and by what cause.
pub(super) type Kind = (usize, Option<Layer>, Vec<(Place, Option<String>)>);

/// A call, explained.
#[derive(Debug, Serialize)]
pub struct ExplainedCall {
    /// Its number in the recording, from one.
    pub number: usize,
    /// Whose caches were asked: those of `jax.jit`.
    pub api: String,
    /// What the program called: that, or `flax.nnx.jit`, which calls it.
    pub called: String,
    /// The function's name.
    pub name: String,
    /// Where the function is written.
    pub at: Option<String>,
    /// Which function of the recording it is, from zero: several can be made in one place.
    pub function: usize,
    /// Where the call is made.
    pub from: Option<String>,
    /// The number of the call that was the first to be given the same, of those that the function had one after the other.
    #[serde(skip)]
    pub(super) like: usize,
    /// Whether a later call is given an object that the nearest one was given, and this one is not.
    #[serde(skip)]
    pub(super) nearest_comes_again: bool,
    /// What it did.
    pub observed: Verdict,
    /// Seconds that jax took to trace, lower and compile it, as it measures that.
    pub seconds: Option<f64>,
    /// What became of what a transformation around it makes of it, of which the model says nothing: the verdict is that of the function
    /// itself, whose body ran or didn't.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transformed: Option<Transformed>,
    /// What the model says that it does, if it says anything; with the error, where the program raised as it ran and missed what
    /// the model says.
    pub predicted: Option<Verdict>,
    /// Why the model says nothing.
    pub unpredicted: Option<String>,
    /// The number of the last call of the function before it of which the model says nothing: what that left isn't known.
    pub after_unpredicted: Option<usize>,
    /// Whether it is the first call of its function, but for those that only traced it: no key could be nearby.
    pub first: bool,
    /// Why each layer was missed, from the top.
    pub explanations: Vec<Explanation>,
    /// What the differences of the layer that matters mean, one for each.
    pub advice: Vec<Option<Advice>>,
    /// What functions read from outside that aren't those of the call whose key is nearest, where it looks otherwise: no part of a
    /// key, and often why they are made anew.
    pub outside: Vec<Difference>,
    /// The number of an earlier call whose function read the same from outside, where the function was made anew and that of the call
    /// beside it didn't.
    pub alike: Option<usize>,
    /// What the layers below would miss if that was mended, and what each means.
    pub further: Vec<Further>,
    /// What the call has that the program which serves it was not traced from.
    pub stale: Option<Difference>,
    /// That its function was made as an earlier one, which is still there and was given the same first, and compiles the same again.
    #[serde(skip)]
    pub(super) made_alike: Option<Difference>,
    /// What else it has that the program was not traced from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale_beside: Vec<Difference>,
    /// What became of its repair when it was tried on the model, if it was.
    pub tried: Option<Tried>,
    /// Why it was not, if there is a key near to the call.
    pub untried: Option<Untried>,
}

/// What a layer below would miss by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Further {
    /// How the keys differ there.
    #[serde(flatten)]
    pub difference: Difference,
    /// What that means.
    pub advice: Option<Advice>,
}

impl ExplainedCall {
    /// Whether the model says what happened.
    #[must_use]
    pub fn is_predicted(&self) -> bool {
        self.predicted.as_ref() == Some(&self.observed)
    }

    /// Whether something was made for it that an earlier call of the function might have left.
    #[must_use]
    pub fn is_again(&self) -> bool {
        !self.first && (!missed(&self.observed).is_empty() || self.is_transformed_anew())
    }

    /// Whether its function was found, and what a transformation makes of it was compiled for another number of rows.
    pub(super) fn is_transformed_anew(&self) -> bool {
        let is_found = missed(&self.observed).is_empty() && self.is_predicted();
        is_found && self.transformed == Some(Transformed::Compiled) && !self.explanations.is_empty()
    }

    /// Whether its function is written in the program, and in no library.
    pub(super) fn is_of_the_program(&self) -> bool {
        self.at.as_ref().is_some_and(|at| !at.contains('/'))
    }

    /// Whether XLA compiled something for it.
    #[must_use]
    pub fn compiles(&self) -> bool {
        self.transformed == Some(Transformed::Compiled) || missed(&self.observed).contains(Layer::Compile)
    }

    /// The explanation of the layer that matters: of the trace if the body ran, of what is lowered anew if the fast path has another
    /// program nearby, and otherwise of the topmost.
    #[must_use]
    pub fn explanation(&self) -> Option<&Explanation> {
        if !self.is_predicted() {
            // What explains another miss doesn't explain this one.
            return None;
        }
        let missed = missed(&self.observed);
        let of = |layer: Layer| self.explanations.iter().find(|explanation| explanation.layer == layer);
        if let Some(of_trace) =
            of(Layer::Trace).filter(|_| missed.contains(Layer::Trace)).filter(|of| of.says_something())
        {
            return Some(of_trace);
        }
        let topmost = self.explanations.iter().find(|of| of.says_something());
        // What the fast path has nearby can be another program than the one that was traced and is lowered now; a loop is looked up
        // as a whole.
        let is_other = |lower: &&Explanation| topmost.is_some_and(|topmost| topmost.nearest != lower.nearest);
        let is_lowered = missed.contains(Layer::Lower) && !missed.contains(Layer::Trace);
        let of_lower = of(Layer::Lower).filter(|_| is_lowered && !self.api.starts_with("lax."));
        of_lower.filter(|of| of.says_something()).filter(is_other).or(topmost)
    }

    /// What makes the call's hit a stale one, if the model says of the call what it did. An equal number of another library's, or a
    /// dtype in another form, makes none.
    #[must_use]
    pub fn stale(&self) -> Option<&Difference> {
        let is_other = |stale: &&Difference| Written::otherwise(&stale.before, &stale.after).is_none();
        self.stale.as_ref().filter(|_| self.is_predicted()).filter(is_other)
    }

    /// The differences that matter.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        self.explanation().map_or(&[], |explanation| &explanation.differences)
    }

    /// Whether one of the differences that matter keeps the call off the fast path and nothing else, where others beside it have it
    /// lowered or compiled again. Of a loop whose jaxpr is another that is where a leaf lies, if no table below has it.
    #[must_use]
    pub fn costs_the_fast_path_alone(&self, found: &Difference) -> bool {
        if self.is_of_a_traced_loop() {
            let of = |layers: &'static [Layer]| {
                let those = self.explanations.iter().filter(|of| layers.contains(&of.layer));
                those.flat_map(|of| &of.differences).filter(|of| aspect(of) == aspect(found))
            };
            let beside = of(&[Layer::Trace, Layer::Lower, Layer::Compile]).count();
            return found.is_of_the_placement() && beside == 0 && of(&[Layer::Dispatch]).count() > 0;
        }
        let is_traced = missed(&self.observed).contains(Layer::Trace);
        let main = self.explanation().filter(|main| main.layer == Layer::Dispatch && !is_traced);
        let Some(main) = main.filter(|main| main.differences.contains(found)) else { return false };
        let is_beside = |of: &&Explanation| of.layer > Layer::Trace && of.nearest == main.nearest;
        let below = || self.explanations.iter().filter(is_beside).flat_map(|of| &of.differences);
        // What another of the differences says in the same words there is that one's.
        let is_of_another = |below: &Difference| {
            let stated = main.differences.iter().find(|stated| place_of(stated) == place_of(below));
            stated.is_some_and(|stated| stated != found)
        };
        let is_stated = |below: &Difference| main.differences.iter().any(|stated| aspect(stated) == aspect(below));
        below().filter(|below| aspect(below) == aspect(found)).all(is_of_another) && below().any(is_stated)
    }

    /// Where a difference is: at a path, in the `context` of the call, or in the call of the function of that name as a whole.
    #[must_use]
    pub fn where_is<'a>(&'a self, found: &'a Difference) -> &'a str {
        match found.path.as_str() {
            "" if found.is_of_the_context() => "context",
            "" => &self.name,
            path => path,
        }
    }

    /// What is called and where that is made, which can be several functions; the number of the function, where the place isn't known.
    #[must_use]
    pub fn place(&self) -> (&str, &str, Option<&str>, Option<usize>) {
        let function = self.at.is_none().then_some(self.function);
        (&self.called, &self.name, self.at.as_deref(), function)
    }

    /// Which function it is, where it differs and what that means: what mends one call of a kind mends all.
    pub(super) fn kind(&self) -> Kind {
        let further = self.further.iter().map(|Further { difference, advice }| (difference, advice));
        let all = self.differences().iter().zip(&self.advice).chain(further);
        let place = |(found, advice): (&Difference, &Option<Advice>)| {
            (place_of(found), advice.as_ref().map(|advice| advice.cause.clone()))
        };
        (self.function, self.explanation().map(|explanation| explanation.layer), all.map(place).collect())
    }

    pub(super) fn put_last_what_costs_the_fast_path_alone(&mut self) {
        let costs_little: Vec<_> =
            self.differences().iter().filter(|found| self.costs_the_fast_path_alone(found)).collect();
        let costs_little: HashSet<_> = costs_little.into_iter().map(place_of).collect();
        let of_dispatch = self.explanations.iter_mut().filter(|explanation| explanation.layer == Layer::Dispatch);
        of_dispatch.for_each(|it| it.differences.sort_by_key(|found| costs_little.contains(&place_of(found))));
    }

    /// Leaves out what stands at these places from the explanation of the layer that matters.
    pub(super) fn leave_out(&mut self, places: &HashSet<Place>) {
        let Some(layer) = self.explanation().map(|explanation| explanation.layer) else { return };
        let stays = |known: &Difference| !places.contains(&place_of(known));
        let mut kept = self.differences().iter().map(stays).collect::<Vec<_>>().into_iter();
        self.advice.retain(|_| kept.next().unwrap_or(true));
        let of_layer = self.explanations.iter_mut().filter(|explanation| explanation.layer == layer);
        of_layer.for_each(|explanation| explanation.differences.retain(stays));
        if !self.differences().iter().any(is_of_a_function) {
            self.outside.clear();
        }
    }

    /// Whether a layer is below that which matters. An eager loop is looked up before its functions are traced, by what its program is
    /// made for.
    pub(super) fn is_below(&self, layer: Layer) -> bool {
        let Some(main) = self.explanation().map(|explanation| explanation.layer) else { return false };
        let looked_up = self.is_of_a_traced_loop() && layer == Layer::Dispatch;
        looked_up || matches!(layer, Layer::Lower | Layer::Compile) && layer > main
    }

    /// Whether it is an eager loop that missed a jaxpr: its program is looked up on the fast path after that.
    pub(super) fn is_of_a_traced_loop(&self) -> bool {
        self.api.starts_with("lax.") && self.explanation().is_some_and(|main| main.layer == Layer::Trace)
    }

    /// What the keys of the layers below differ in at other places.
    pub(super) fn below(&self) -> Vec<&Difference> {
        let Some(main) = self.explanation() else { return Vec::new() };
        let is_below =
            |explanation: &&Explanation| self.is_below(explanation.layer) && explanation.nearest == main.nearest;
        let mut known: HashSet<_> = main.differences.iter().map(aspect).collect();
        let found = self.explanations.iter().filter(is_below).flat_map(|explanation| &explanation.differences);
        found.filter(|found| found.component != "program" && known.insert(aspect(found))).collect()
    }
}

/// Of what an argument is or where it is placed: one layer says that in other words than another.
pub(super) fn aspect(found: &Difference) -> (&str, &str) {
    let component = found.component.as_str();
    match found.path.as_str() {
        "" if component.starts_with("donat") => ("", "donation"),
        "" => (found.flag().unwrap_or_default(), component),
        path => (path, if found.is_of_the_placement() { "placement" } else { "value" }),
    }
}

/// Whether it can be that another function is there.
pub(super) fn is_of_a_function(found: &Difference) -> bool {
    found.is_the_function() || found.after.contains('<')
}

pub(super) fn place_of(found: &Difference) -> Place {
    (found.flag().unwrap_or(&found.path).to_owned(), found.component.clone())
}

/// Seconds that jax took for all of them, if the recording says so of any.
pub(crate) fn seconds<'e>(calls: impl IntoIterator<Item = &'e ExplainedCall>) -> Option<f64> {
    calls.into_iter().filter_map(|call| call.seconds).reduce(|all, more| all + more)
}

pub(super) fn missed(verdict: &Verdict) -> LayerSet {
    match verdict {
        Verdict::Missed(missed) => *missed,
        Verdict::Error(_) => LayerSet::NONE,
    }
}
