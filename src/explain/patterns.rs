//! What several calls of one function show together.
//!
//! A recording has no outputs: that a state is fed back is seen only in what changes from one call to the next, and said with
//! an "if".

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::Serialize;

use super::{Advice, ExplainedCall, Nearest};
use crate::case::Layer;
use crate::model::Difference;
use crate::spec::{Habit, Sign};

/// Something to mend: a pattern across the calls of a function, or one cause of misses that are no part of any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pattern {
    /// The id of the pattern or cause.
    pub id: String,
    /// What is seen in the calls, if it is a pattern.
    pub sign: Option<Sign>,
    /// What was called.
    pub api: String,
    /// The function's name.
    pub name: String,
    /// Where the function is written.
    pub at: Option<String>,
    /// The numbers of the calls in which it is seen.
    pub calls: Vec<usize>,
    /// Where in their arguments.
    pub paths: Vec<String>,
    /// How many of the calls compiled.
    pub compiles: usize,
    /// How many of these compile for nothing else, and wouldn't if it was mended.
    pub saves: usize,
    /// What is the matter.
    pub says: String,
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
    let mut patterns = Vec::new();
    for calls in functions.values() {
        for habit in habits {
            patterns.extend(seen(habit, calls).map(|seen| pattern(habit, &seen, calls.len())));
        }
    }
    rank(&mut patterns);
    patterns
}

/// What makes results wrong comes first, then what saves most.
pub(super) fn rank(patterns: &mut [Pattern]) {
    patterns.sort_by_key(|pattern| {
        let Pattern { sign, saves, compiles, calls, .. } = pattern;
        std::cmp::Reverse((*sign == Some(Sign::Stale), *saves, *compiles, calls.len()))
    });
}

/// The calls of a function that show a habit.
fn seen<'e>(habit: &Habit, calls: &[&'e ExplainedCall]) -> Option<Vec<Seen<'e>>> {
    let missing = |call: &&'e ExplainedCall| Some((*call, because(habit, call))).filter(|(_, found)| !found.is_empty());
    match habit.sign {
        Sign::Stale | Sign::PerhapsStale => {
            // Whether a body looks at a flag, a recording doesn't say.
            let perhaps = |difference: &Difference| difference.component == "flags";
            let stale = |call: &&'e ExplainedCall| {
                let difference = call.stale().filter(|found| perhaps(found) == (habit.sign == Sign::PerhapsStale))?;
                Some((*call, vec![(difference, None)]))
            };
            Some(calls.iter().filter_map(stale).collect()).filter(|seen: &Vec<_>| !seen.is_empty())
        }
        Sign::Repeats => Some(calls.iter().filter_map(missing).collect()).filter(|seen: &Vec<_>| seen.len() >= 2),
        Sign::NewEachTime => {
            let misses: Vec<Seen<'e>> = calls.iter().filter_map(missing).collect();
            let mut values: IndexMap<&str, Vec<&str>> = IndexMap::new();
            for (difference, _) in misses.iter().flat_map(|(_, found)| found) {
                values.entry(&difference.path).or_default().push(&difference.after);
            }
            values.retain(|_, values| {
                let different: HashSet<_> = values.iter().collect();
                values.len() >= 2 && 10 * different.len() >= 9 * values.len() && 2 * values.len() >= calls.len() - 1
            });
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
            let seen: Vec<_> = calls.windows(2).map_while(chained).collect();
            let rest = calls.get(seen.len() + 1..)?;
            let is_so = match habit.sign {
                Sign::Settles => {
                    // What comes later has to be what it settled at, and not merely something that was there before.
                    let settled = seen.last().map(|(call, _)| call.like);
                    let stays =
                        |call: &&ExplainedCall| call.is_predicted() && !made(call) && Some(call.like) == settled;
                    !seen.is_empty() && !rest.is_empty() && rest.iter().all(stays)
                }
                _ => seen.len() >= 2 && rest.is_empty(),
            };
            is_so.then_some(seen)
        }
    }
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
    let below = [Layer::Trace, Layer::Lower, Layer::Compile];
    below.iter().any(|layer| super::missed(&call.observed).contains(*layer))
}

fn compiles(call: &ExplainedCall) -> bool {
    super::missed(&call.observed).contains(Layer::Compile)
}

fn pattern(habit: &Habit, seen: &[Seen<'_>], of: usize) -> Pattern {
    let (first, found) = &seen[0];
    let calls: Vec<usize> = seen.iter().map(|(call, _)| call.number).collect();
    let mut paths: Vec<String> = Vec::new();
    for (difference, _) in seen.iter().flat_map(|(_, found)| found) {
        if !difference.path.is_empty() && !paths.contains(&difference.path) {
            paths.push(difference.path.clone());
        }
    }
    // Of another function nothing is found, whatever else is as before.
    let is_all = |call: &ExplainedCall| {
        let advice = || call.advice.iter().flatten();
        advice().all(|advice| habit.causes.contains(&advice.cause))
            || call.explanation().is_some_and(super::names_functions)
                && because(habit, call).iter().any(|(difference, _)| difference.component == "function")
    };
    let (difference, advice) = found[0];
    let filled = [
        ("{where}", located(&paths, &first.name)),
        ("{function}", first.name.clone()),
        ("{calls}", numbered(&calls)),
        ("{count}", calls.len().to_string()),
        ("{of}", of.to_string()),
        ("{what}", difference.to_string()),
    ];
    let says = filled.iter().fold(habit.says.clone(), |text, (name, value)| text.replace(name, value));
    let of_cause = |text: fn(&Advice) -> &String| advice.map(text).cloned().unwrap_or_default();
    Pattern {
        id: habit.id.clone(),
        sign: Some(habit.sign),
        api: first.api.clone(),
        name: first.name.clone(),
        at: first.at.clone(),
        compiles: seen.iter().filter(|(call, _)| compiles(call)).count(),
        saves: seen.iter().filter(|(call, _)| compiles(call) && is_all(call)).count(),
        says,
        fix: habit.fix.clone().unwrap_or_else(|| of_cause(|advice| &advice.fix)),
        rule: habit.rule.clone().unwrap_or_else(|| of_cause(|advice| &advice.rule)),
        calls,
        paths,
    }
}

/// What is to mend beside the patterns: for each function each cause of misses that are no part of one.
pub(super) fn others(calls: &[ExplainedCall], patterns: &[Pattern]) -> Vec<Pattern> {
    let known: HashSet<usize> = patterns.iter().flat_map(|pattern| pattern.calls.iter().copied()).collect();
    let mut others: IndexMap<_, Pattern> = IndexMap::new();
    for call in calls.iter().filter(|call| call.is_again() && !known.contains(&call.number)) {
        let causes: HashSet<_> = call.advice.iter().flatten().map(|advice| &advice.cause).collect();
        for (difference, advice) in call.differences().iter().zip(&call.advice) {
            let Some(advice) = advice.as_ref().filter(|advice| advice.cause != "program") else { continue };
            let pattern = others.entry((call.function, &advice.cause)).or_insert_with(|| Pattern {
                id: advice.cause.clone(),
                sign: None,
                api: call.api.clone(),
                name: call.name.clone(),
                at: call.at.clone(),
                calls: Vec::new(),
                paths: Vec::new(),
                compiles: 0,
                saves: 0,
                says: advice.says.clone(),
                fix: advice.fix.clone(),
                rule: advice.rule.clone(),
            });
            if !difference.path.is_empty() && !pattern.paths.contains(&difference.path) {
                pattern.paths.push(difference.path.clone());
            }
            if pattern.calls.last() != Some(&call.number) {
                pattern.calls.push(call.number);
                pattern.compiles += usize::from(compiles(call));
                pattern.saves += usize::from(compiles(call) && causes.len() == 1);
            }
        }
    }
    others.into_values().collect()
}

/// `opt.mu, opt.nu and 3 more of step`
fn located(paths: &[String], function: &str) -> String {
    if paths.is_empty() { function.to_owned() } else { format!("{} of {function}", listed(paths, 3)) }
}

/// `calls 2, 3, 4 and 96 more`
#[must_use]
pub fn numbered(numbers: &[usize]) -> String {
    let texts: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    format!("call{} {}", if numbers.len() == 1 { "" } else { "s" }, listed(&texts, 6))
}

fn listed(texts: &[String], most: usize) -> String {
    match texts {
        [only] => only.clone(),
        [rest @ .., last] if texts.len() <= most => format!("{} and {last}", rest.join(", ")),
        _ => format!("{} and {} more", texts[..most.min(texts.len())].join(", "), texts.len().saturating_sub(most)),
    }
}
