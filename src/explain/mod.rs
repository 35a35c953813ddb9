//! Why a program recompiled: its recording, the model's predictions of the same calls, and what the differences mean.
//!
//! A recording has the calls of several implementations, each of which has caches of its own: to the model it is one case
//! for each. Of a jitted function inside of another's call, that case has what the cache of `jax.jit` says.

mod absence;
mod advice;
mod beside;
mod call;
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
pub(crate) use call::seconds;
pub use call::{ExplainedCall, Explanation, Further, Nearest};
pub use patterns::{Pattern, listed, located, numbered};
pub use recording::{Recorded, Recording, RecordingError};
pub use repair::{Repair, Untried};
pub use transformed::{Transformation, Transformed};
pub use tried::Tried;

use crate::case::{Call, Layer, Step, Verdict, Via};
use crate::model::{self, Difference, Simulation};
use crate::spec::{Profile, Spec, Version};
use advice::Advisor;
use call::{DONATED, is_of_a_function, missed};
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

/// How many calls of a function are looked at for one that was made alike.
const LOOKED_BACK: usize = 64;

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
        && one.reads_each == other.reads_each
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
        for call in calls.iter_mut().filter(|call| call.stale.is_none()) {
            let mut stale = inside.stale(call.number).iter().cloned();
            (call.stale, call.stale_beside) = (stale.next(), stale.collect());
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
        Origin::Aside { .. } | Origin::Before(_) | Origin::Event => None,
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
        Origin::Aside { after, .. } => Some(Nearest::Aside(*after)),
        Origin::Event => None,
    });
    let made: Vec<_> = made.collect();
    for (step, origin) in case.steps.iter().zip(origins) {
        let is_own = api == inside::API;
        if let (Step::Call(call), Origin::Call(number), false) = (step, origin, is_own) {
            simulation.jitted_runs(inside.of(*number, call, case));
        }
        let predicted = simulation.step(step);
        let prediction = predicted.as_ref().ok().and_then(Option::as_ref);
        if is_own {
            inside.learn(step, *origin, prediction);
        }
        inside.learn_stale(step, *origin, prediction, case);
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
