//! Why a program recompiled: its recording, the model's predictions of the same calls, and what the differences mean.
//!
//! A recording has the calls of several implementations, each of which has caches of its own: to the model it is one case
//! for each. Of a jitted function inside of another's call, that case has what the cache of `jax.jit` says.

mod absence;
mod advice;
mod beside;
pub(crate) mod ends;
mod functions;
mod in_turn;
mod inside;
mod methods;
mod outside;
mod patterns;
mod recording;
mod repair;
mod replay;
mod transformed;
mod tried;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde::Serialize;

pub use advice::Advice;
pub use beside::Beside;
pub use patterns::{Pattern, listed, located, numbered};
pub use recording::{Recorded, Recording, RecordingError};
pub use repair::{Repair, Untried};
pub use transformed::{Transformation, Transformed};
pub use tried::Tried;

use crate::case::{Call, Layer, LayerSet, Step, Verdict, Via};
use crate::model::{self, Difference, Simulation, Written};
use crate::spec::{Profile, Spec, Version};
use advice::Advisor;
use in_turn::InTurn;
use inside::Inside;
use outside::Outside;
use replay::{Origin, Replay};

/// A recording, explained.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// The versions of everything that can change a verdict, by library.
    pub about: IndexMap<String, Option<String>>,
    /// The calls, in order.
    pub calls: Vec<ExplainedCall>,
    /// What several of them show together, what to mend first on top.
    pub patterns: Vec<Pattern>,
    /// What was compiled beside the calls, by the line of the program, where most was first.
    pub beside: Vec<Beside>,
    /// How many calls have begun and aren't among these: they hadn't ended, or could not be written.
    pub unended: usize,
    #[serde(skip)]
    version: Version,
    /// By what is called.
    #[serde(skip)]
    replays: HashMap<String, Replay>,
}

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
    fn says_something(&self) -> bool {
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

/// How many calls of a function are looked at for one that was made alike.
const LOOKED_BACK: usize = 64;

/// The component of which leaves are donated.
const DONATED: &str = "donated leaves";

/// A path and a component.
type Place = (String, String);

/// Which function was called, where its key differs at which layer, and by what cause.
type Kind = (usize, Option<Layer>, Vec<(Place, Option<String>)>);

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
    like: usize,
    /// Whether a later call is given an object that the nearest one was given, and this one is not.
    #[serde(skip)]
    nearest_comes_again: bool,
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
    made_alike: Option<Difference>,
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
    fn is_transformed_anew(&self) -> bool {
        let is_found = missed(&self.observed).is_empty() && self.is_predicted();
        is_found && self.transformed == Some(Transformed::Compiled) && !self.explanations.is_empty()
    }

    /// Whether its function is written in the program, and in no library.
    fn is_of_the_program(&self) -> bool {
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
    fn kind(&self) -> Kind {
        let further = self.further.iter().map(|Further { difference, advice }| (difference, advice));
        let all = self.differences().iter().zip(&self.advice).chain(further);
        let place = |(found, advice): (&Difference, &Option<Advice>)| {
            (place_of(found), advice.as_ref().map(|advice| advice.cause.clone()))
        };
        (self.function, self.explanation().map(|explanation| explanation.layer), all.map(place).collect())
    }

    fn put_last_what_costs_the_fast_path_alone(&mut self) {
        let costs_little: Vec<_> =
            self.differences().iter().filter(|found| self.costs_the_fast_path_alone(found)).collect();
        let costs_little: HashSet<_> = costs_little.into_iter().map(place_of).collect();
        let of_dispatch = self.explanations.iter_mut().filter(|explanation| explanation.layer == Layer::Dispatch);
        of_dispatch.for_each(|it| it.differences.sort_by_key(|found| costs_little.contains(&place_of(found))));
    }

    /// Leaves out what stands at these places from the explanation of the layer that matters.
    fn leave_out(&mut self, places: &HashSet<Place>) {
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
    fn is_below(&self, layer: Layer) -> bool {
        let Some(main) = self.explanation().map(|explanation| explanation.layer) else { return false };
        let looked_up = self.is_of_a_traced_loop() && layer == Layer::Dispatch;
        looked_up || matches!(layer, Layer::Lower | Layer::Compile) && layer > main
    }

    /// Whether it is an eager loop that missed a jaxpr: its program is looked up on the fast path after that.
    fn is_of_a_traced_loop(&self) -> bool {
        self.api.starts_with("lax.") && self.explanation().is_some_and(|main| main.layer == Layer::Trace)
    }

    /// What the keys of the layers below differ in at other places.
    fn below(&self) -> Vec<&Difference> {
        let Some(main) = self.explanation() else { return Vec::new() };
        let is_below =
            |explanation: &&Explanation| self.is_below(explanation.layer) && explanation.nearest == main.nearest;
        let mut known: HashSet<_> = main.differences.iter().map(aspect).collect();
        let found = self.explanations.iter().filter(is_below).flat_map(|explanation| &explanation.differences);
        found.filter(|found| found.component != "program" && known.insert(aspect(found))).collect()
    }
}

/// Of what an argument is or where it is placed: one layer says that in other words than another.
fn aspect(found: &Difference) -> (&str, &str) {
    let component = found.component.as_str();
    match found.path.as_str() {
        "" if component.starts_with("donat") => ("", "donation"),
        "" => (found.flag().unwrap_or_default(), component),
        path => (path, if found.is_of_the_placement() { "placement" } else { "value" }),
    }
}

/// Whether it can be that another function is there.
fn is_of_a_function(found: &Difference) -> bool {
    found.is_the_function() || found.after.contains('<')
}

fn place_of(found: &Difference) -> Place {
    (found.flag().unwrap_or(&found.path).to_owned(), found.component.clone())
}

fn names_functions(explanation: &Explanation) -> bool {
    explanation.differences.iter().any(Difference::is_the_function)
}

/// Whether two calls are given the same, with the same around them, but for the function that is called.
fn is_given_alike(one: &Call, other: &Call) -> bool {
    one.args == other.args
        && one.kwargs == other.kwargs
        && one.options == other.options
        && one.context == other.context
        && one.reads == other.reads
}

/// Seconds that jax took for all of them, if the recording says so of any.
pub(crate) fn seconds<'e>(calls: impl IntoIterator<Item = &'e ExplainedCall>) -> Option<f64> {
    calls.into_iter().filter_map(|call| call.seconds).reduce(|all, more| all + more)
}

fn missed(verdict: &Verdict) -> LayerSet {
    match verdict {
        Verdict::Missed(missed) => *missed,
        Verdict::Error(_) => LayerSet::NONE,
    }
}

impl Explained {
    /// Predicts the calls of a recording and explains those that missed.
    ///
    /// # Errors
    /// If the recording doesn't say which jax was run, or `spec` has a cause that is no pattern.
    pub fn of(recording: Recording, spec: &Spec) -> Result<Self, RecordingError> {
        let version: Version = recording.jax()?;
        let advisor = Advisor::of(spec)?;
        let mut calls: Vec<ExplainedCall> = Vec::new();
        let (mut known, mut lowered): (HashSet<usize>, HashSet<usize>) = Default::default();
        // The functions of which a call has run, and the calls before which each of their function had raised.
        let (mut ran, mut after_failures): (HashSet<usize>, HashSet<usize>) = Default::default();
        let functions = recording.functions();
        let recorded_calls: Vec<_> = recording.calls().collect();
        let mut last: HashMap<usize, usize> = HashMap::new();
        // The call of the function before each.
        let mut before: Vec<Option<usize>> = Vec::new();
        for (i, (recorded, given)) in recorded_calls.iter().zip(&recording.given).enumerate() {
            let function = functions[i];
            before.push(last.insert(function, i));
            let described = |i: usize| recording.described(&recorded_calls, i);
            // What was only traced left no program that a call could do without.
            let is_traced_only = recorded.transformed.is_some()
                || described(i).is_some_and(|call| matches!(call.via, Via::Trace | Via::EvalShape | Via::MakeJaxpr));
            let is_new = known.insert(function);
            if !is_new && !ran.contains(&function) {
                after_failures.insert(i);
            }
            if recorded.raised_before_it_ran().is_none() {
                ran.insert(function);
            }
            let same = before[i].filter(|before| described(*before).is_some() && described(*before) == described(i));
            calls.push(ExplainedCall {
                number: i + 1,
                api: recorded.api.clone(),
                called: recorded.called.as_ref().unwrap_or(&recorded.api).clone(),
                name: recorded.name.clone(),
                at: recorded.at.clone(),
                function,
                from: recorded.from.clone(),
                like: same.map_or(i + 1, |before| calls[before].like),
                nearest_comes_again: false,
                observed: recorded.observed.verdict(),
                seconds: recorded.seconds,
                transformed: recorded.transformed,
                predicted: None,
                unpredicted: given.as_ref().err().cloned(),
                after_unpredicted: None,
                first: if is_traced_only { is_new } else { lowered.insert(function) },
                explanations: Vec::new(),
                advice: Vec::new(),
                outside: Vec::new(),
                alike: None,
                further: Vec::new(),
                stale: None,
                stale_beside: Vec::new(),
                made_alike: None,
                tried: None,
                untried: None,
            });
        }
        let mut replays = HashMap::new();
        let (mut apis, mut inside) = (recording.apis(), Inside::default());
        apis.sort_by_key(|api| api != inside::API);
        for api in apis {
            let replay = Replay::of(&recording, &api);
            let profile = profile_of(spec, &api, &version);
            predict(&replay, (&api, profile.as_ref()), &recording, &mut calls, &mut inside);
            replays.insert(api, replay);
        }
        transformed::explain_sizes(&recording, &recorded_calls, &mut calls);
        let mut unpredicted: HashMap<usize, usize> = HashMap::new();
        for call in &mut calls {
            call.after_unpredicted = unpredicted.get(&call.function).copied();
            if call.predicted.is_none() {
                unpredicted.insert(call.function, call.number);
            }
        }
        let outside = Outside::of(&recording);
        let place_of_call = |number: usize| {
            let Recorded { name, at, .. } = recorded_calls[number - 1];
            (name.as_str(), at.as_deref())
        };
        let mut firsts: HashSet<usize> = HashSet::new();
        let mut made_at: HashMap<_, Vec<usize>> = HashMap::new();
        (1..=calls.len()).for_each(|number| made_at.entry(place_of_call(number)).or_default().push(number));
        let in_turn = OnceCell::new();
        let number_of_calls = calls.len();
        for (call, absence) in calls.iter_mut().zip(absence::absences(&recording, &functions)) {
            // That another function is another one says nothing, where this one was there before; and below the trace the
            // program of another has nothing to be found.
            let is_of_another = |explanation: &Explanation| match explanation.nearest {
                Nearest::Call(number) => {
                    let below = matches!(explanation.layer, Layer::Lower | Layer::Compile);
                    functions[number - 1] != call.function && (below || names_functions(explanation))
                }
                _ => false,
            };
            let is_near = !call.first && !after_failures.contains(&(call.number - 1));
            // The functions of an eager loop were there before, and what they left went with them.
            let is_loop = call.api.starts_with("lax.") && missed(&call.observed).contains(Layer::Trace);
            let are_anew =
                |of: &Explanation| is_loop && of.layer == Layer::Trace && is_of_another(of) && names_functions(of);
            for explanation in call.explanations.iter_mut().filter(|explanation| are_anew(explanation)) {
                explanation.differences.retain(Difference::is_the_function);
            }
            call.explanations.retain(|explanation| is_near && (!is_of_another(explanation) || are_anew(explanation)));
            for explanation in &mut call.explanations {
                let options = |number: usize| Some(&recording.described(&recorded_calls, number - 1)?.options);
                let nearest = explanation.nearest;
                let is_alike = matches!(nearest, Nearest::Call(number) if options(number) == options(call.number));
                // Which leaves are donated, and that it is another program, is what the rest makes.
                for (component, follows) in [(DONATED, is_alike), ("program", true)] {
                    if follows && explanation.differences.iter().any(|difference| difference.component != component) {
                        explanation.differences.retain(|difference| difference.component != component);
                    }
                }
            }
            let is_lost = call.explanation().is_none() || absence.component == absence::WRAPPING;
            if call.is_again() && call.is_predicted() && is_lost {
                let missed = missed(&call.observed);
                let traced = Some(Layer::Trace).filter(|layer| missed.contains(*layer));
                let layer = traced.or_else(|| missed.iter().next()).unwrap_or(Layer::Dispatch);
                call.explanations = vec![Explanation { layer, nearest: Nearest::Nothing, differences: vec![absence] }];
            }
            let described = |number: usize| recording.described(&recorded_calls, number - 1);
            // Where the function before is gone, the last call of that one is beside this one, or of one that was made alike.
            let beside = call.explanation().and_then(|explanation| match explanation.nearest {
                Nearest::Call(number) => Some(number),
                Nearest::Nothing => before[call.number - 1].map(|before| before + 1),
                Nearest::Aside(_) => None,
            });
            let is_anew =
                |explanation: &Explanation| explanation.nearest == Nearest::Nothing || names_functions(explanation);
            let reads_as = |number: &usize| {
                let both = described(*number).zip(described(call.number));
                both.is_some_and(|(then, now)| outside.is_alike(then, now))
            };
            if call.explanation().is_some_and(is_anew) && beside.is_some_and(|beside| !reads_as(&beside)) {
                let of_place = &made_at[&place_of_call(call.number)];
                let earlier = of_place.iter().rev().copied().skip_while(|number| *number >= call.number);
                call.alike = earlier.take(LOOKED_BACK).find(reads_as);
            }
            if let Some(beside) = call.alike.or(beside) {
                let both = described(beside).zip(described(call.number));
                let both = both.filter(|_| call.differences().iter().any(is_of_a_function));
                let stated = call.differences();
                call.outside = both.map_or_else(Vec::new, |(before, after)| outside.differences(before, after, stated));
            }
            if call.first && call.compiles() && call.is_of_the_program() {
                let of_place = &made_at[&place_of_call(call.number)];
                let is_like = |number: &usize| {
                    let both = described(*number).zip(described(call.number));
                    both.is_some_and(|(then, now)| is_given_alike(then, now) && outside.is_alike(then, now))
                };
                let earlier = of_place.iter().rev().copied().filter(|number| firsts.contains(number));
                call.made_alike = earlier.take(LOOKED_BACK).find(is_like).map(|earlier| {
                    let before = format!("that of call {earlier}");
                    Difference::new(&call.name, "function", before, "one that was made alike".to_owned())
                });
                firsts.insert(call.number);
            }
            call.nearest_comes_again = call.explanation().is_some_and(|explanation| match explanation.nearest {
                Nearest::Call(nearest) => {
                    explanation.differences.iter().filter(|found| is_of_a_function(found)).any(|found| {
                        let in_turn = in_turn.get_or_init(|| InTurn::of(number_of_calls, described));
                        in_turn.comes_again(nearest, call.number, found)
                    })
                }
                _ => false,
            });
            call.put_last_what_costs_the_fast_path_alone();
            call.advice = advisor.of_call(call);
            call.further = advisor.further(call);
        }
        let (beside, unended) = (Beside::all(&recording), recording.unended());
        let mut explained =
            Self { about: recording.about, calls, patterns: Vec::new(), beside, unended, version, replays };
        explained.try_repairs(spec, &advisor);
        explained.patterns = patterns::patterns(&explained.calls, &spec.habits);
        Ok(explained)
    }

    /// The patterns and, beside them, each cause of misses that are no part of one: what to mend first on top.
    #[must_use]
    pub fn to_mend(&self) -> Vec<Pattern> {
        let mut all = self.patterns.clone();
        all.extend(patterns::others(&self.calls, &self.patterns));
        patterns::rank(&mut all);
        all
    }
}

/// The profile for what is recorded, where a flag that stands with a call isn't as it was when the recording began, whatever jax
/// begins with.
fn profile_of(spec: &Spec, api: &str, version: &Version) -> Option<Profile> {
    let mut profile = spec.profile(api, version)?.clone();
    profile.flag_defaults.clear();
    Some(profile)
}

/// Writes what the model says of the calls that are replayed into them.
fn predict(
    replay: &Replay,
    (api, profile): (&str, Option<&Profile>),
    recording: &Recording,
    calls: &mut [ExplainedCall],
    inside: &mut Inside,
) {
    let recorded: Vec<_> = recording.calls().collect();
    let Replay { case, origins, left_out, .. } = replay;
    for (number, why) in left_out {
        calls[number - 1].unpredicted = Some(why.clone());
    }
    let numbers = origins.iter().filter_map(|origin| match origin {
        Origin::Call(number) => Some(*number),
        Origin::Aside(_) | Origin::Before(_) | Origin::Event => None,
    });
    let mut fail = |why: String| numbers.clone().for_each(|number| calls[number - 1].unpredicted = Some(why.clone()));
    let Some(profile) = profile else { return fail("there is no profile of that version".to_owned()) };
    let mut simulation = match Simulation::of_recording(case, profile) {
        Ok(simulation) => simulation,
        Err(error) => return fail(error.to_string()),
    };
    // What the model numbers are all calls, asides too.
    let made = origins.iter().filter_map(|origin| match origin {
        Origin::Call(number) | Origin::Before(number) => Some(Nearest::Call(*number)),
        Origin::Aside(number) => Some(Nearest::Aside(*number)),
        Origin::Event => None,
    });
    let made: Vec<_> = made.collect();
    for (step, origin) in case.steps.iter().zip(origins) {
        let is_own = api == inside::API;
        if let (Step::Call(call), Origin::Call(number), false) = (step, origin, is_own) {
            simulation.jitted_runs(inside.of(*number, call, case));
        }
        let predicted = simulation.step(step);
        if is_own {
            inside.learn(step, *origin, predicted.as_ref().ok().and_then(Option::as_ref));
        }
        match (predicted, *origin) {
            (Ok(Some(prediction)), Origin::Call(number)) => {
                let call = &mut calls[number - 1];
                // A program that raises when it runs has been looked up as any other.
                let recorded = recorded[number - 1];
                call.predicted = Some(match prediction.verdict {
                    Verdict::Missed(missed) if recorded.ran_into_an_error(&missed) => call.observed.clone(),
                    verdict => verdict,
                });
                (call.stale, call.stale_beside) = (prediction.stale, prediction.stale_beside);
                let found =
                    prediction.explanations.into_iter().map(|model::Explanation { layer, nearest, differences }| {
                        Explanation { layer, nearest: made[nearest - 1], differences }
                    });
                call.explanations = found.collect();
            }
            (Err(error), Origin::Call(number)) => calls[number - 1].unpredicted = Some(error.to_string()),
            _ => {}
        }
    }
}
