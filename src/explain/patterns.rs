//! What several calls of one function show together.
//!
//! A recording has no outputs: that a state is fed back is seen only in what changes from one call to the next, and said with
//! an "if".

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use indexmap::map::Entry;
use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::call::aspect;
use super::ends::without_common_ends;
use super::inside::CHANGED_INSIDE;
use super::{Advice, ExplainedCall, Explanation, Nearest, Tried, Untried, seconds};
use crate::case::Layer;
use crate::model::{CHANGED, Difference, Written};
use crate::spec::{Habit, Sign};

/// Something to mend: a pattern across the calls of a function, or one cause of misses that are no part of any.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// The id of the pattern or cause.
    pub id: String,
    /// What is seen in the calls, if it is a pattern.
    pub sign: Option<Sign>,
    /// What the program called.
    pub api: String,
    /// The function's name, or those of all that have it in common.
    pub name: String,
    /// Where the function is written, the first of them.
    pub at: Option<String>,
    /// The numbers of the calls in which it is seen.
    pub calls: Vec<usize>,
    /// Where in their arguments.
    pub paths: Vec<String>,
    /// The ids of the causes of which it speaks.
    #[serde(skip)]
    causes: Vec<String>,
    /// How many of the calls compiled.
    pub compiles: usize,
    /// How many compiles there would be less if nothing else was mended: of these calls, and of later ones that had to compile again
    /// what was made before.
    pub saves: usize,
    /// Seconds that these took, if the recording says so.
    pub saves_seconds: Option<f64>,
    /// Seconds that jax took to trace, lower and compile its calls, if the recording says so.
    pub seconds: Option<f64>,
    /// What is the matter.
    pub says: String,
    /// The sentences with which it ends that are the same for all of that id.
    #[serde(skip)]
    pub in_common: String,
    /// What to do.
    pub fix: String,
    /// The rule that says so.
    pub rule: String,
}

/// A call, and what makes it part of a pattern.
type Seen<'e> = (&'e ExplainedCall, Vec<(&'e Difference, Option<&'e Advice>)>);

/// The patterns that `habits` name.
pub(super) fn patterns(calls: &[ExplainedCall], habits: &[Habit]) -> Vec<Pattern> {
    let mut functions: IndexMap<_, Vec<&ExplainedCall>> = IndexMap::new();
    for call in calls {
        functions.entry(call.function).or_default().push(call);
    }
    // Functions that are made in one place show what they have in common together, and all that are given what was made anew.
    let mut joined: IndexMap<_, (Vec<Seen<'_>>, Vec<&[&ExplainedCall]>)> = IndexMap::new();
    for calls in functions.values() {
        for (i, habit) in habits.iter().enumerate() {
            for seen in seen(habit, calls).into_iter().flat_map(|seen| by_hazard(habit, seen)) {
                let (first, found) = &seen[0];
                let stale = found.iter().find(|(difference, _)| sign_of(difference) == Some(habit.sign));
                let what = stale.map(|(difference, _)| difference.to_string());
                let differences = seen.iter().flat_map(|(_, found)| found).map(|(found, _)| *found);
                let in_common = in_common(differences).filter(|_| habit.sign == Sign::Repeats);
                let place = in_common.is_none().then(|| (first.place(), paths(&seen)));
                let in_common = in_common.map(|texts| (&first.called, texts));
                let (together, of) = joined.entry((i, place, in_common, what)).or_default();
                together.extend(seen);
                of.push(calls);
            }
        }
    }
    // Two can be meant, as one for each of two models.
    joined.retain(|(i, ..), (seen, _)| habits[*i].sign != Sign::MadeAlike || seen.len() >= 2);
    let pattern = |((i, ..), (mut seen, of)): ((usize, _, _, _), (Vec<Seen<'_>>, Vec<_>))| {
        seen.sort_by_key(|(call, _)| call.number);
        pattern(&habits[i], &seen, &of)
    };
    let mut patterns: Vec<_> = joined.into_iter().map(pattern).collect();
    rank(&mut patterns);
    patterns
}

impl Pattern {
    /// Whether it can be just what is wanted, so that there is nothing to do.
    #[must_use]
    pub fn may_be_meant(&self) -> bool {
        self.fix.starts_with("Nothing")
    }
}

/// What makes results wrong comes first, then what saves most time, or most compiles where a recording has no times; last what may be
/// meant.
pub(super) fn rank(patterns: &mut [Pattern]) {
    patterns.sort_by_key(|pattern| {
        let Pattern { sign, saves, saves_seconds, compiles, calls, .. } = pattern;
        let is_wrong = sign.is_some_and(Sign::is_wrong);
        let milliseconds = (saves_seconds.unwrap_or_default() * 1e3) as u64;
        std::cmp::Reverse((is_wrong, !pattern.may_be_meant(), milliseconds, *saves, *compiles, calls.len()))
    });
}

/// What functions of several places have in common if they have the cause of these, whatever the arguments: what surrounds their calls,
/// or functions that were made anew in one place. Two that are given another shape, or an object of one class, can have nothing to do
/// with each other.
fn in_common<'e>(differences: impl Iterator<Item = &'e Difference>) -> Option<BTreeSet<[&'e str; 3]>> {
    let texts = |found: &'e Difference| {
        let is_common =
            found.is_of_the_context() || found.after.starts_with("another <") && found.after.contains(" at ");
        is_common.then(|| [&found.component, &found.before, &found.after].map(String::as_str))
    };
    differences.map(texts).collect()
}

/// What may be wrong with a hit that was traced from something else; nothing if no body can tell.
fn sign_of(difference: &Difference) -> Option<Sign> {
    match difference.component.as_str() {
        // Whether a body looks at a flag, a recording doesn't say.
        "flags" => Some(Sign::PerhapsStale),
        "error on an empty cache" => Some(Sign::RaisesAlone),
        CHANGED => Some(Sign::Changed),
        CHANGED_INSIDE => Some(Sign::ChangedInside),
        _ => match Written::otherwise(&difference.before, &difference.after) {
            Some(Written::Dtype) => None,
            Some(Written::Number) => Some(Sign::PerhapsPromoted),
            None => Some(Sign::Stale),
        },
    }
}

/// The calls of a function that show a habit; stale hits by where it is that differs.
fn by_hazard<'e>(habit: &Habit, seen: Vec<Seen<'e>>) -> Vec<Vec<Seen<'e>>> {
    let mut groups: IndexMap<_, Vec<Seen<'e>>> = IndexMap::new();
    for one in seen {
        let hazard = one.1.iter().find(|(found, _)| sign_of(found) == Some(habit.sign));
        groups.entry(hazard.map(|(found, _)| &found.path)).or_default().push(one);
    }
    groups.into_values().collect()
}

/// The values at a path.
#[derive(Default)]
struct Values<'e> {
    known: HashSet<&'e str>,
    /// In how many misses it was none of those.
    new: usize,
    of: usize,
}

/// The calls of a function that show a habit.
fn seen<'e>(habit: &Habit, calls: &[&'e ExplainedCall]) -> Option<Vec<Seen<'e>>> {
    let missing = |call: &&'e ExplainedCall| Some((*call, because(habit, call))).filter(|(_, found)| !found.is_empty());
    match habit.sign {
        Sign::Stale
        | Sign::Changed
        | Sign::ChangedInside
        | Sign::PerhapsStale
        | Sign::PerhapsPromoted
        | Sign::RaisesAlone => {
            let stale = |call: &&'e ExplainedCall| {
                let call = *call;
                let found = call.stale.iter().chain(&call.stale_beside).filter(move |_| call.is_predicted());
                let found = found.filter(|difference| sign_of(difference) == Some(habit.sign));
                found.map(move |difference| (call, vec![(difference, None)]))
            };
            Some(calls.iter().flat_map(stale).collect()).filter(|seen: &Vec<_>| !seen.is_empty())
        }
        Sign::MadeAlike => {
            let alike = |call: &&'e ExplainedCall| Some((*call, vec![(call.made_alike.as_ref()?, None)]));
            Some(calls.iter().filter_map(alike).collect()).filter(|seen: &Vec<_>| !seen.is_empty())
        }
        Sign::Repeats => Some(calls.iter().filter_map(missing).collect()).filter(|seen: &Vec<_>| seen.len() >= 2),
        Sign::NewEachTime => {
            let misses: Vec<Seen<'e>> = calls.iter().filter_map(missing).collect();
            let mut values: IndexMap<&str, Values<'_>> = IndexMap::new();
            for (difference, _) in misses.iter().flat_map(|(_, found)| found) {
                let Values { known, new, of } = values.entry(&difference.path).or_default();
                known.insert(&difference.before);
                *new += usize::from(known.insert(&difference.after));
                *of += 1;
            }
            values.retain(|_, Values { new, of, .. }| *of >= 2 && 10 * *new >= 9 * *of && 2 * *of >= calls.len() - 1);
            let there = |(call, mut found): Seen<'e>| {
                found.retain(|(difference, _)| values.contains_key(difference.path.as_str()));
                Some((call, found)).filter(|(_, found)| !found.is_empty())
            };
            Some(misses.into_iter().filter_map(there).collect()).filter(|seen: &Vec<_>| !seen.is_empty())
        }
        Sign::Settles | Sign::NeverSettles => {
            let chained = |pair: &[&'e ExplainedCall]| {
                let explanation = pair[1].explanation()?;
                let follows = explanation.nearest == Nearest::Call(pair[0].number) && pair[1].from == pair[0].from;
                // The states of two functions are no one state.
                let follows = follows && !super::names_functions(explanation);
                missing(&pair[1]).filter(|_| follows)
            };
            let mut seen: Vec<_> = calls.windows(2).map_while(chained).collect();
            let rest = calls.get(seen.len() + 1..)?;
            let is_so = match habit.sign {
                Sign::Settles => {
                    // What comes later has to be what it settled at, and not merely something that was there before.
                    let settled = seen.last().map(|(call, _)| call.like);
                    let stays =
                        |call: &&ExplainedCall| call.is_predicted() && !made(call) && Some(call.like) == settled;
                    !seen.is_empty() && !rest.is_empty() && rest.iter().all(stays)
                }
                _ => {
                    let is_whole = seen.len() >= 2 && rest.is_empty();
                    keep_what_is_in_all(&mut seen);
                    is_whole && seen.iter().all(|(_, found)| !found.is_empty())
                }
            };
            is_so.then_some(seen)
        }
    }
}

/// Leaves out what stands at a path that isn't in all of the calls.
fn keep_what_is_in_all(seen: &mut [Seen<'_>]) {
    let mut in_calls: HashMap<&str, usize> = HashMap::new();
    for (_, found) in seen.iter() {
        let paths: HashSet<_> = found.iter().map(|(difference, _)| difference.path.as_str()).collect();
        paths.into_iter().for_each(|path| *in_calls.entry(path).or_default() += 1);
    }
    let all = seen.len();
    seen.iter_mut().for_each(|(_, found)| found.retain(|(difference, _)| in_calls[difference.path.as_str()] == all));
}

/// The differences of a call that have one of the causes of a habit.
fn because<'e>(habit: &Habit, call: &'e ExplainedCall) -> Vec<(&'e Difference, Option<&'e Advice>)> {
    if !call.is_again() {
        return Vec::new();
    }
    let with_advice = call.differences().iter().zip(call.advice.iter().map(Option::as_ref));
    with_advice.filter(|(_, advice)| advice.is_some_and(|advice| habit.causes.contains(&advice.cause))).collect()
}

/// Whether anything was made for a call, on the fast path or off it.
fn made(call: &ExplainedCall) -> bool {
    if call.is_transformed_anew() {
        return true;
    }
    let below = [Layer::Trace, Layer::Lower, Layer::Compile];
    below.iter().any(|layer| super::missed(&call.observed).contains(*layer))
}

/// Where it is that differs, in the order of the calls.
fn paths(seen: &[Seen<'_>]) -> Vec<String> {
    let found = seen.iter().flat_map(|(_, found)| found).map(|(found, _)| &found.path);
    found.filter(|path| !path.is_empty()).cloned().collect::<IndexSet<_>>().into_iter().collect()
}

/// What the calls of some functions show, `of` all calls of each.
fn pattern<'e>(habit: &Habit, seen: &[Seen<'e>], of: &[&[&ExplainedCall]]) -> Pattern {
    let (first, found) = &seen[0];
    let calls: Vec<usize> = seen.iter().map(|(call, _)| call.number).collect();
    let paths = paths(seen);
    let of_call =
        |(call, found): &Seen<'e>| found.iter().map(|(found, _)| (call.number, place(found))).collect::<Vec<_>>();
    let mended: Mended<'_> = seen.iter().flat_map(of_call).collect();
    let (difference, advice) = found[0];
    // A hit that is wrong took nothing: what its call compiled has other causes.
    let is_hit = sign_of(difference) == Some(habit.sign);
    let cost: Vec<_> = seen.iter().map(|(call, _)| *call).filter(|_| !is_hit).collect();
    let saved = match habit.sign {
        Sign::MadeAlike => cost.clone(),
        _ if is_hit => Vec::new(),
        _ => of.iter().flat_map(|calls| saved(calls, &mended)).collect(),
    };
    let names: IndexSet<_> = seen.iter().map(|(call, _)| &call.name).collect();
    let name = listed(&names.into_iter().cloned().collect::<Vec<_>>(), 3);
    let filled = [
        ("{where}", located(&paths, &name)),
        ("{function}", name.clone()),
        ("{calls}", numbered(&calls)),
        ("{count}", calls.len().to_string()),
        ("{of}", of.iter().map(|calls| calls.len()).sum::<usize>().to_string()),
        ("{what}", if is_hit { what(difference, seen) } else { difference.to_string() }),
    ];
    // Behind the sentence that has the last of what is filled in.
    let tail = habit.says.rsplit('}').next().unwrap_or_default();
    let in_common = tail.split_once(". ").map(|(_, rest)| format!(" {rest}")).unwrap_or_default();
    let says = filled.iter().fold(habit.says.clone(), |text, (name, value)| text.replace(name, value));
    let of_cause = |text: fn(&Advice) -> &String| advice.map(text).cloned().unwrap_or_default();
    Pattern {
        id: habit.id.clone(),
        sign: Some(habit.sign),
        api: first.called.clone(),
        name,
        at: first.at.clone(),
        compiles: cost.iter().filter(|call| call.compiles()).count(),
        saves: saved.len(),
        saves_seconds: seconds(saved),
        seconds: seconds(cost),
        says,
        in_common,
        fix: habit.fix.clone().unwrap_or_else(|| {
            // Each cause that is seen has its own, in the words of where it says most.
            let of_causes = seen.iter().flat_map(|(_, found)| found).filter_map(|(_, advice)| *advice);
            let mut fixes: IndexMap<&str, &str> = IndexMap::new();
            for advice in of_causes {
                let fix = fixes.entry(&advice.cause).or_insert(&advice.fix);
                if advice.fix.len() > fix.len() {
                    *fix = &advice.fix;
                }
            }
            let fixes: IndexSet<_> = fixes.into_values().collect();
            fixes.into_iter().collect::<Vec<_>>().join(" ")
        }),
        rule: habit.rule.clone().unwrap_or_else(|| of_cause(|advice| &advice.rule)),
        calls,
        paths,
        causes: habit.causes.clone(),
    }
}

/// What differs in the first of these calls, and what the others have in its place; of long texts what they don't have in common.
fn what(first: &Difference, seen: &[Seen<'_>]) -> String {
    let (before, after) = without_common_ends(&first.before, &first.after);
    let shown = Difference { before, after, ..first.clone() }.to_string();
    let found = seen.iter().flat_map(|(_, found)| found).map(|(found, _)| *found);
    let is_other = |found: &&Difference| (&found.before, &found.after) != (&first.before, &first.after);
    let other = |found: &Difference| {
        let (before, after) = without_common_ends(&found.before, &found.after);
        if found.before == first.before { after } else { format!("{after} was {before}") }
    };
    let others = found.filter(|found| place(found) == place(first)).filter(is_other);
    let others: IndexSet<_> = others.map(other).collect();
    if others.is_empty() {
        return shown;
    }
    format!("{shown}; later {}", listed(&others.into_iter().collect::<Vec<_>>(), 3))
}

/// Where a key differs from another: path and component; a flag is one of its own.
type Place<'e> = (&'e str, &'e str);

fn place(difference: &Difference) -> Place<'_> {
    (difference.flag().unwrap_or(&difference.path), &difference.component)
}

/// Which differences of which calls are mended.
type Mended<'e> = HashSet<(usize, Place<'e>)>;

/// What makes a call's keys others than those of the first one: what stood at a place of a layer's key at first, and what does now.
type Key<'e> = BTreeMap<(Layer, Place<'e>), (&'e str, String)>;

/// The layers that have keys.
const LAYERS: [Layer; 4] = [Layer::Dispatch, Layer::Trace, Layer::Lower, Layer::Compile];

fn copied<'e>((place, changed): (&(Layer, Place<'e>), &(&'e str, String))) -> ((Layer, Place<'e>), (&'e str, String)) {
    (*place, changed.clone())
}

fn number_of(nearest: Nearest) -> Option<usize> {
    match nearest {
        Nearest::Call(number) => Some(number),
        Nearest::Aside(_) | Nearest::Nothing => None,
    }
}

/// Which of a function's calls would not compile without some of the differences.
fn saved<'e>(calls: &[&'e ExplainedCall], mended: &Mended<'_>) -> Vec<&'e ExplainedCall> {
    // Texts can be the same where keys aren't.
    let alike: HashSet<_> = found_again(calls, &Mended::new()).into_iter().map(|call| call.number).collect();
    found_again(calls, mended).into_iter().filter(|call| !alike.contains(&call.number)).collect()
}

/// Which of a function's calls compile although there would be an earlier key that is the same, without some of the differences.
///
/// A key is known by what makes it another than the first one: what it differs in from the nearest, and that one from its own; so are
/// those of the layers below, whose nearest can be another.
fn found_again<'e>(calls: &[&'e ExplainedCall], mended: &Mended<'_>) -> Vec<&'e ExplainedCall> {
    let mut keys: HashMap<usize, Key<'_>> = HashMap::new();
    let (mut known, mut found_again) = (HashSet::new(), Vec::new());
    let mut tried: HashMap<usize, &Tried> = HashMap::new();
    // What the first one found was there before it.
    known.extend(calls.first().filter(|first| !made(first)).map(|_| Key::new()));
    for call in calls.iter().copied().filter(|call| made(call)) {
        let main = call.explanation();
        let of_like =
            call.untried.and_then(|why| if let Untried::Like(other) = why { tried.get(&other) } else { None });
        let repair = call.tried.as_ref().or(of_like.copied());
        tried.extend(repair.map(|repair| (call.number, repair)));
        let leaves_nothing = repair.is_some_and(|repair| repair.left.is_empty());
        let stated: HashSet<_> = call.differences().iter().map(aspect).collect();
        let mut key = Key::new();
        for layer in LAYERS {
            let mut of_layer = call.explanations.iter().find(|explanation| explanation.layer == layer);
            // What is nearest to the layer below says nothing of what is left of a miss that is mended.
            of_layer = of_layer.filter(|of_layer| {
                !(leaves_nothing && call.is_below(layer) && main.is_some_and(|main| main.nearest != of_layer.nearest))
            });
            let is_main = main.is_some_and(|main| main.layer == layer);
            let Some(Explanation { nearest, differences, .. }) = of_layer.or(main) else { continue };
            if let Some(before) = number_of(*nearest).and_then(|number| keys.get(&number)) {
                key.extend(before.range((layer, ("", ""))..).take_while(|((of, _), _)| *of == layer).map(copied));
            }
            // What one layer says of an argument, another one says in its own words.
            let is_said = |found: &&Difference| found.component != "program" && !stated.contains(&aspect(found));
            let differences = differences.iter().filter(|_| of_layer.is_some());
            for found in differences.filter(|found| is_main || call.is_below(layer) && is_said(found)) {
                let (place, Difference { before, after, .. }) = (place(found), found);
                if mended.contains(&(call.number, place)) || call.costs_the_fast_path_alone(found) {
                    continue;
                }
                // What was made anew is like nothing before.
                let is_new = after.starts_with("another ") || *nearest == Nearest::Nothing;
                let at_first = key.get(&(layer, place)).map_or(before.as_str(), |(at_first, _)| at_first);
                if !is_new && at_first == after {
                    key.remove(&(layer, place));
                } else {
                    let now = if is_new { format!("{after} {}", call.number) } else { after.clone() };
                    key.insert((layer, place), (at_first, now));
                }
            }
        }
        let is_known = !known.insert(key.clone());
        // Of a miss that isn't explained it can't be said.
        if is_known && call.is_again() && call.compiles() && !call.differences().is_empty() {
            found_again.push(call);
        }
        keys.insert(call.number, key);
    }
    found_again
}

/// A cause of misses that are no part of a pattern, in functions of one place.
struct Cause<'e> {
    pattern: Pattern,
    mended: Mended<'e>,
    /// The numbers of the functions.
    of: IndexSet<usize>,
    names: IndexSet<&'e str>,
    differences: Vec<&'e Difference>,
}

impl<'e> Cause<'e> {
    fn new(call: &'e ExplainedCall, advice: &Advice) -> Self {
        let pattern = Pattern {
            id: advice.cause.clone(),
            sign: None,
            api: call.called.clone(),
            name: String::new(),
            at: call.at.clone(),
            calls: Vec::new(),
            paths: Vec::new(),
            causes: vec![advice.cause.clone()],
            compiles: 0,
            saves: 0,
            saves_seconds: None,
            seconds: None,
            says: advice.says.clone(),
            in_common: String::new(),
            fix: advice.fix.clone(),
            rule: advice.rule.clone(),
        };
        let names = IndexSet::from([&*call.name]);
        Self { pattern, mended: Mended::new(), of: IndexSet::new(), names, differences: Vec::new() }
    }

    fn is_of(&mut self, call: &'e ExplainedCall, difference: &'e Difference) {
        let Self { pattern, mended, of, differences, .. } = self;
        mended.insert((call.number, place(difference)));
        of.insert(call.function);
        differences.push(difference);
        // What no key is near to has the name of the function.
        let nearest = call.explanation().map(|explanation| explanation.nearest);
        let is_of_the_function = difference.path == call.name && nearest == Some(Nearest::Nothing);
        if !difference.path.is_empty() && !is_of_the_function && !pattern.paths.contains(&difference.path) {
            pattern.paths.push(difference.path.clone());
        }
        if pattern.calls.last() != Some(&call.number) {
            pattern.calls.push(call.number);
            pattern.compiles += usize::from(call.compiles());
        }
    }

    fn extend(&mut self, other: Self) {
        let Self { pattern, mended, of, names, .. } = self;
        pattern.calls.extend(&other.pattern.calls);
        pattern.calls.sort_unstable();
        pattern.compiles += other.pattern.compiles;
        let known: HashSet<_> = pattern.paths.iter().cloned().collect();
        pattern.paths.extend(other.pattern.paths.into_iter().filter(|path| !known.contains(path)));
        mended.extend(other.mended);
        of.extend(other.of);
        names.extend(other.names);
    }

    /// With what it cost, and what would be saved.
    fn counted(self, calls: &[ExplainedCall], functions: &HashMap<usize, Vec<&ExplainedCall>>) -> Pattern {
        let of_function = |function| functions.get(function).map(|calls| saved(calls, &self.mended));
        let saved: Vec<_> = self.of.iter().filter_map(of_function).flatten().collect();
        let names: Vec<_> = self.names.iter().map(ToString::to_string).collect();
        Pattern {
            name: listed(&names, 3),
            saves: saved.len(),
            saves_seconds: seconds(saved),
            seconds: seconds(self.pattern.calls.iter().map(|number| &calls[number - 1])),
            ..self.pattern
        }
    }
}

/// What is to mend beside the patterns: each cause of misses that are no part of one, for the functions of each place, or of all that
/// have it in common.
pub(super) fn others(calls: &[ExplainedCall], patterns: &[Pattern]) -> Vec<Pattern> {
    let mut known: HashMap<usize, Vec<&Pattern>> = HashMap::new();
    for pattern in patterns {
        pattern.calls.iter().for_each(|call| known.entry(*call).or_default().push(pattern));
    }
    let mut functions: HashMap<usize, Vec<&ExplainedCall>> = HashMap::new();
    calls.iter().for_each(|call| functions.entry(call.function).or_default().push(call));
    let mut of_places: IndexMap<_, Cause<'_>> = IndexMap::new();
    for call in calls.iter().filter(|call| call.is_again()) {
        let further = call.further.iter().map(|further| (&further.difference, &further.advice));
        for (difference, advice) in call.differences().iter().zip(&call.advice).chain(further) {
            let says_why = |advice: &&Advice| advice.cause != "program" && !call.costs_the_fast_path_alone(difference);
            let Some(advice) = advice.as_ref().filter(says_why) else { continue };
            let is_part = |pattern: &&&Pattern| {
                pattern.causes.contains(&advice.cause)
                    && (difference.path.is_empty() || pattern.paths.contains(&difference.path))
            };
            if !known.get(&call.number).into_iter().flatten().any(|pattern| is_part(&pattern)) {
                let cause = of_places.entry((call.place(), &advice.cause));
                cause.or_insert_with(|| Cause::new(call, advice)).is_of(call, difference);
            }
        }
    }
    let mut causes: IndexMap<_, Cause<'_>> = IndexMap::new();
    for ((place, id), cause) in of_places {
        let in_common = in_common(cause.differences.iter().copied()).map(|texts| (cause.pattern.api.clone(), texts));
        match causes.entry((id, in_common.is_none().then_some(place), in_common)) {
            Entry::Occupied(mut known) => known.get_mut().extend(cause),
            Entry::Vacant(new) => drop(new.insert(cause)),
        }
    }
    causes.into_values().map(|cause| cause.counted(calls, &functions)).collect()
}

/// `opt.mu, opt.nu and 3 more of step`
#[must_use]
pub fn located(paths: &[String], function: &str) -> String {
    if paths.is_empty() { function.to_owned() } else { format!("{} of {function}", listed(paths, 3)) }
}

/// `calls 2, 3, 4 and 96 more`
#[must_use]
pub fn numbered(numbers: &[usize]) -> String {
    let texts: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    format!("call{} {}", if numbers.len() == 1 { "" } else { "s" }, listed(&texts, 6))
}

/// `a, b and 3 more`
#[must_use]
pub fn listed(texts: &[String], most: usize) -> String {
    match texts {
        [only] => only.clone(),
        [rest @ .., last] if texts.len() <= most => format!("{} and {last}", rest.join(", ")),
        _ => format!("{} and {} more", texts[..most.min(texts.len())].join(", "), texts.len().saturating_sub(most)),
    }
}
