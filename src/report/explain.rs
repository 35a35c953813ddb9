//! Why a program recompiled, for a terminal.

use std::collections::HashMap;
use std::fmt::Write;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::counted;
use super::text::Style;
use crate::case::text::to_json;
use crate::case::{Layer, Verdict};
use crate::explain::ends::{SHORT, without_common_ends};
use crate::explain::{
    Advice, Beside, Explained, ExplainedCall, Explanation, Further, Nearest, Pattern, Transformed, Tried, listed,
    located, numbered, seconds,
};
use crate::model::Difference;
use crate::spec::Sign;

/// The calls that missed something an earlier call of the function might have left, those that are alike together; then
/// what it all cost, and what to mend first.
#[must_use]
pub fn text(explained: &Explained, style: Style) -> String {
    let mut text = String::new();
    for group in groups(explained) {
        describe(&mut text, &group, style);
    }
    text + &summary(explained, style)
}

/// The same as JSON, each difference with the path at which the text has it.
#[must_use]
pub fn json(explained: &Explained) -> String {
    let mut written = serde_json::json!(explained);
    for (call, written) in explained.calls.iter().zip(items(&mut written["calls"])) {
        let of_layers = call.explanations.iter().zip(items(&mut written["explanations"]));
        let stated = of_layers
            .flat_map(|(explanation, written)| explanation.differences.iter().zip(items(&mut written["differences"])));
        stated.for_each(|(difference, written)| written["path"] = call.where_is(difference).into());
        let below = call.further.iter().zip(items(&mut written["further"]));
        below.for_each(|(further, written)| written["path"] = call.where_is(&further.difference).into());
    }
    to_json(&written)
}

fn items(list: &mut Value) -> impl Iterator<Item = &mut Value> {
    list.as_array_mut().into_iter().flatten()
}

/// Calls of the functions of one place that missed in the same way: at places that are alike but for numbers, for the same causes.
struct Group<'e>(Vec<&'e ExplainedCall>);

/// Where a call differs: the path without its numbers, the component, the cause, and the change where that has no path.
type Place<'e> = (String, &'e str, Option<&'e str>, Option<(&'e str, &'e str)>);

impl<'e> Group<'e> {
    fn first(&self) -> &'e ExplainedCall {
        self.0[0]
    }

    /// What its other calls have that the first one hasn't: other values where that has `known`, and for the first of a place the
    /// paths that it hasn't.
    fn others(&self, place: &Place<'e>, known: &Difference, is_first: bool) -> Vec<String> {
        let is_known = |found: &Difference| self.first().differences().iter().any(|first| first.path == found.path);
        let mut others: IndexSet<String> = IndexSet::new();
        for (found, at) in self.0[1..].iter().flat_map(|call| call.differences().iter().zip(places(call))) {
            if found.path == known.path && found.component == known.component {
                if found.after != known.after && !found.after.starts_with(ANOTHER) {
                    others.insert(shortened(&found.after));
                }
            } else if is_first && at == *place && !is_known(found) {
                others.insert(format!("at {}", found.path));
            }
        }
        others.into_iter().collect()
    }
}

/// What functions read from outside that were made anew, each name once: the first of the group need not read anything else.
fn outside(group: &Group<'_>) -> Vec<(String, String, String)> {
    let mut read: IndexMap<&str, (usize, &Difference, IndexSet<String>)> = IndexMap::new();
    for (call, found) in group.0.iter().flat_map(|call| call.outside.iter().map(|found| (call.number, found))) {
        let (_, first, others) = read.entry(&found.path).or_insert_with(|| (call, found, IndexSet::new()));
        if found.after != first.after {
            others.insert(shortened(&found.after));
        }
    }
    let more = read.len().saturating_sub(KINDS);
    let rows = read.into_values().take(KINDS).map(|(call, found, others)| {
        let mut row = row(group.first(), found);
        if call != group.first().number {
            let _ = write!(row.2, " (call {call})");
        }
        if !others.is_empty() {
            let _ = write!(row.2, "; later {}", listed(&others.into_iter().collect::<Vec<_>>(), SHOWN));
        }
        row
    });
    let more = (more > 0).then(|| (format!("and {more} more"), String::new(), String::new()));
    rows.chain(more).collect()
}

/// How the text of what looks as before and isn't the same begins.
const ANOTHER: &str = "another ";

fn places(call: &ExplainedCall) -> impl Iterator<Item = Place<'_>> {
    call.differences().iter().zip(&call.advice).map(|(Difference { path, component, before, after }, advice)| {
        // What surrounds the calls has no path, and one call enters what the next one leaves.
        let change = path.is_empty().then_some((before.as_str(), after.as_str()));
        (without_numbers(path), component.as_str(), advice.as_ref().map(|advice| advice.cause.as_str()), change)
    })
}

/// `layers[#].w`: the places of a container are alike.
fn without_numbers(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            _ => text.push(c),
        }
    }
    text
}

fn groups(explained: &Explained) -> Vec<Group<'_>> {
    let mut groups: IndexMap<_, Vec<&ExplainedCall>> = IndexMap::new();
    for call in explained.calls.iter().filter(|call| call.is_again()) {
        let places: IndexSet<_> = places(call).collect();
        let further = call
            .further
            .iter()
            .map(|Further { difference, .. }| (without_numbers(&difference.path), difference.component.as_str()));
        let further: IndexSet<_> = further.collect();
        let (places, further) = (places.into_iter().collect::<Vec<_>>(), further.into_iter().collect::<Vec<_>>());
        let places = (places, further, call.alike.is_some());
        let did = (&call.observed, call.transformed, &call.predicted, &call.unpredicted);
        groups.entry((call.place(), did, places)).or_default().push(call);
    }
    groups.into_values().map(Group).collect()
}

/// So many differences of one kind are shown, and of so many kinds.
const SHOWN: usize = 3;
const KINDS: usize = 12;

fn describe(text: &mut String, group: &Group<'_>, style: Style) {
    let Style { bad, dim, bold, end, .. } = style;
    let call = group.first();
    let numbers: Vec<_> = group.0.iter().map(|call| call.number).collect();
    let place = call.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
    let from: IndexSet<String> = group.0.iter().filter_map(|call| call.from.clone()).collect();
    let from: Vec<_> = from.into_iter().collect();
    let from = if from.is_empty() { String::new() } else { format!(", called at {}", listed(&from, SHOWN)) };
    let _ = write!(text, "{bold}{}{end}{place}{from}\n  {} ", call.name, numbered(&numbers));
    let _ = writeln!(text, "{bad}{}{end}", did(call));
    if let Some(explanation) = call.explanation() {
        let alike = if group.0.len() > 1 { " or the like" } else { "" };
        let made = call.alike.map(|number| format!("; what call {number} had was made alike")).unwrap_or_default();
        let _ = match nearest(explanation.nearest) {
            Some(nearest) if matches!(explanation.nearest, Nearest::Aside(_)) => {
                writeln!(text, "  {dim}The key nearest to it was left by {nearest}{alike}{made}:{end}")
            }
            Some(nearest) => writeln!(text, "  {dim}The key nearest to it is that of {nearest}{alike}{made}:{end}"),
            None => writeln!(text, "  {dim}No key is near to it{made}:{end}"),
        };
    }
    describe_differences(text, group, style);
    write_advice(text, call.differences().iter().zip(&call.advice), style);
    describe_further(text, call, style);
    if let Some(became) = became(call).or_else(|| untried(call)) {
        let _ = writeln!(text, "  {dim}{became}{end}");
    }
    match (&call.predicted, &call.unpredicted) {
        (_, Some(why)) => drop(writeln!(text, "  {dim}Not predicted: {why}.{end}")),
        (Some(predicted), None) if predicted != &call.observed => {
            let perhaps = |number| format!("; it says nothing of call {number}, and what that left can be the reason");
            let perhaps = call.after_unpredicted.map(perhaps).unwrap_or_default();
            let says = match (what(predicted), predicted) {
                (says, Verdict::Missed(missed)) if says == what(&call.observed) => {
                    let path = if missed.contains(Layer::Dispatch) { "missed" } else { "took" };
                    format!("{says} and {path} the fast path")
                }
                (says, _) => says,
            };
            let _ = writeln!(text, "  {bad}The model says that it {says}, so this is not explained{perhaps}.{end}");
        }
        _ => {}
    }
    text.push('\n');
}

/// The differences of the first call, few of each kind, and what the others have in their place.
fn describe_differences(text: &mut String, group: &Group<'_>, style: Style) {
    let call = group.first();
    let mut kinds: IndexMap<Place<'_>, Vec<&Difference>> = IndexMap::new();
    for (difference, place) in call.differences().iter().zip(places(call)) {
        kinds.entry(place).or_default().push(difference);
    }
    let kinds = if kinds.len() > SHOWN + 1 { alike(kinds) } else { kinds };
    let mut rows = Vec::new();
    let more = kinds.len().saturating_sub(KINDS);
    for (place, found) in kinds.iter().take(KINDS) {
        // One line is as long as what it would say of one more.
        let shown = if found.len() <= SHOWN + 1 { found.len() } else { SHOWN };
        for (i, difference) in found[..shown].iter().enumerate() {
            let mut row = row(call, difference);
            let others = group.others(place, difference, i == 0);
            if !others.is_empty() {
                let _ = write!(row.2, "; later {}", listed(&others, SHOWN));
            }
            rows.push(row);
        }
        if found.len() > shown {
            rows.push((format!("and {} more", found.len() - shown), String::new(), "likewise".to_owned()));
        }
    }
    if more > 0 {
        rows.push((format!("and {more} of other kinds"), String::new(), String::new()));
    }
    rows.extend(outside(group));
    write_rows(text, &rows, style);
}

/// What the layers below would miss if that was mended.
fn describe_further(text: &mut String, call: &ExplainedCall, style: Style) {
    if call.further.is_empty() {
        return;
    }
    let Style { dim, end, .. } = style;
    let _ = writeln!(text, "  {dim}Below, it differs in more than that:{end}");
    let shown = if call.further.len() <= SHOWN + 1 { call.further.len() } else { SHOWN };
    let mut rows: Vec<_> = call.further[..shown].iter().map(|further| row(call, &further.difference)).collect();
    if call.further.len() > shown {
        rows.push((format!("and {} more", call.further.len() - shown), String::new(), String::new()));
    }
    write_rows(text, &rows, style);
    write_advice(text, call.further.iter().map(|further| (&further.difference, &further.advice)), style);
}

/// Paths, components and changes, one below the other.
fn write_rows(text: &mut String, rows: &[(String, String, String)], Style { bold, end, .. }: Style) {
    let width = |column: fn(&(String, String, String)) -> &String| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or_default()
    };
    let (paths, components) = (width(|row| &row.0), width(|row| &row.1));
    for (path, component, change) in rows {
        let line = format!("    {bold}{path:paths$}{end}  {component:components$}  {change}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// What is the matter and what to do, of each cause once; where else that has to be done, if it names a place.
fn write_advice<'e>(
    text: &mut String,
    advised: impl Iterator<Item = (&'e Difference, &'e Option<Advice>)>,
    Style { dim, bold, end, .. }: Style,
) {
    // Two paths of one cause are mended by one change.
    let mut stated: IndexMap<&str, (&Advice, IndexSet<&str>)> = IndexMap::new();
    for (difference, advice) in advised {
        if let Some(advice) = advice.as_ref().filter(|advice| advice.cause != "program") {
            stated.entry(&advice.cause).or_insert((advice, IndexSet::new())).1.insert(&difference.path);
        }
    }
    for (i, (advice, paths)) in stated.values().enumerate() {
        let _ = writeln!(text, "  {}  {dim}{}{end}", advice.says, advice.rule);
        // Two causes can have one repair.
        if stated.get_index(i + 1).is_none_or(|(_, (next, _))| next.fix != advice.fix) {
            let is_named = paths.first().is_some_and(|path| !path.is_empty() && advice.fix.contains(*path));
            let others: Vec<_> = paths.iter().skip(1).map(|path| (*path).to_owned()).collect();
            let is_more = is_named && !others.is_empty();
            let likewise = if is_more { format!(" Likewise {}.", listed(&others, SHOWN)) } else { String::new() };
            let _ = writeln!(text, "  {bold}{}{likewise}{end}", advice.fix);
        }
    }
}

/// Of kinds of differences that say the same of other places one, under the first place, with all that they say.
fn alike<'e>(kinds: IndexMap<Place<'e>, Vec<&'e Difference>>) -> IndexMap<Place<'e>, Vec<&'e Difference>> {
    let mut alike: IndexMap<_, (Place<'e>, Vec<&'e Difference>)> = IndexMap::new();
    for (place, found) in kinds {
        let changes: IndexSet<_> = found.iter().map(|found| (&found.before, &found.after)).collect();
        let says = (place.1, place.2, changes.into_iter().collect::<Vec<_>>());
        alike.entry(says).or_insert_with(|| (place, Vec::new())).1.extend(found);
    }
    alike.into_values().collect()
}

/// A text in a list of several.
fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(SHORT).collect();
    if chars.next().is_some() { format!("{head}…") } else { head }
}

/// Whose key is nearest, if any is.
pub(super) fn nearest(nearest: Nearest) -> Option<String> {
    let aside = "one that was traced inside of another or compiled ahead of time";
    match nearest {
        Nearest::Call(number) => Some(format!("call {number}")),
        Nearest::Aside(0) => Some(format!("{aside}, before the first call")),
        Nearest::Aside(number) => Some(format!("{aside}, after call {number} had begun")),
        Nearest::Nothing => None,
    }
}

/// What became of the repair of a call, if it was tried.
pub(super) fn became(call: &ExplainedCall) -> Option<String> {
    let Explanation { layer, nearest, differences } = call.explanation()?;
    let (Tried { mends, minimal, left, by }, nearest) = (call.tried.as_ref()?, self::nearest(*nearest)?);
    let (served, missed) = match layer {
        Layer::Dispatch => ("the call takes the fast path", "it doesn't"),
        Layer::Trace => ("nothing is traced", "it is"),
        Layer::Lower => ("nothing is lowered", "it is"),
        Layer::Compile => ("nothing is compiled", "it is"),
    };
    let left: Vec<_> = BELOW.iter().filter(|(layer, _)| left.contains(*layer)).map(|(_, word)| *word).collect();
    // What stands above isn't said again.
    let by: Vec<_> = by.iter().filter(|_| call.further.is_empty()).map(ToString::to_string).collect();
    let by = if by.is_empty() { String::new() } else { format!(" ({})", listed(&by, SHOWN)) };
    let below =
        if left.is_empty() { String::new() } else { format!(", but it is {} all the same{by}", left.join(" and ")) };
    let rest = match (mends, minimal, differences.len()) {
        (true, true, 1) => format!("{served}{below}."),
        (true, true, _) => format!("{served}{below}; with any one of them left, {missed}."),
        (true, false, _) => format!("{served}{below}, and not all of them are needed for that."),
        (false, ..) => "that isn't all yet.".to_owned(),
    };
    let these = if differences.len() == 1 { "that" } else { "these" };
    Some(format!("Tried on the model: with {these} as in {nearest}, {rest}"))
}

/// Why the repair of a call was not tried, if there was something to try.
pub(super) fn untried(call: &ExplainedCall) -> Option<String> {
    call.untried.map(|why| format!("Not tried on the model: {why}."))
}

/// What each layer below the fast path makes, as a verb.
const BELOW: [(Layer, &str); 3] = [(Layer::Trace, "traced"), (Layer::Lower, "lowered"), (Layer::Compile, "compiled")];

/// What a call did, as a verb.
pub(super) fn what(verdict: &Verdict) -> String {
    let missed = match verdict {
        Verdict::Missed(missed) => missed,
        Verdict::Error(class) => return format!("raised {class}"),
    };
    let again: Vec<_> = BELOW.iter().filter(|(layer, _)| missed.contains(*layer)).map(|(_, word)| *word).collect();
    match again[..] {
        [] if missed.is_empty() => "hit".to_owned(),
        [] => "missed the fast path".to_owned(),
        _ => format!("{} again", again.join(", ")),
    }
}

/// The same of a call, which can be one under a transformation.
pub(super) fn did(call: &ExplainedCall) -> String {
    let did = what(&call.observed);
    match call.transformed {
        Some(Transformed::Compiled) => format!("{did}, and compiled what a transformation makes of it"),
        Some(Transformed::Found) => format!("{did} under a transformation"),
        None => did,
    }
}

/// Where the function of calls that hit is written, and these are made: what misses has that above.
fn place_of_a_hazard(explained: &Explained, pattern: &Pattern) -> Option<String> {
    let is_one = matches!(
        pattern.sign?,
        Sign::Stale | Sign::Changed | Sign::ChangedInside | Sign::PerhapsStale | Sign::PerhapsPromoted
    );
    let of_it = explained.calls.iter().filter(|call| pattern.calls.contains(&call.number));
    let from: IndexSet<String> = of_it.filter_map(|call| call.from.clone()).collect();
    let from: Vec<_> = from.into_iter().collect();
    let at = pattern.at.as_ref().filter(|_| is_one && !from.is_empty())?;
    Some(format!("{} ({at}), called at {}", pattern.name, listed(&from, SHOWN)))
}

fn row(call: &ExplainedCall, difference: &Difference) -> (String, String, String) {
    let Difference { component, before, after, .. } = difference;
    let change = match after.strip_prefix(ANOTHER) {
        Some(text) if text == before => format!("another {before}"),
        _ => {
            let (before, after) = without_common_ends(before, after);
            format!("now {after}, before {before}")
        }
    };
    let little = if call.costs_the_fast_path_alone(difference) { " (off the fast path only)" } else { "" };
    (call.where_is(difference).to_owned(), component.clone(), change + little)
}

/// What it all cost, and what to mend, the first thing first.
#[must_use]
pub fn summary(explained: &Explained, style: Style) -> String {
    let Style { good, bad, dim, bold, end } = style;
    let Totals { calls, first, again, recompiled, otherwise, unpredicted } = Totals::of(explained);
    let mut text = String::new();
    let colour = if recompiled == 0 { good } else { bad };
    let took = took(explained).map(|took| format!(" in {took}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "{bold}{}{end}: {first} first of {}, {colour}{recompiled} compiled again{end}{took}{dim}, {} missed something less{end}",
        counted(calls, "call"),
        if first == 1 { "its function" } else { "their functions" },
        again - recompiled,
    );
    let to_mend = explained.to_mend();
    let width = to_mend.iter().map(|pattern| Cost::of(pattern).text().len()).max().unwrap_or_default();
    let mut said: HashMap<&str, &str> = HashMap::new();
    for (i, pattern) in to_mend.iter().enumerate() {
        // What costs no compile, or may be meant, can wait.
        let is_wrong = pattern.sign.is_some_and(Sign::is_wrong);
        let is_urgent = is_wrong || pattern.compiles > 0 && !pattern.may_be_meant();
        let first = if i == 0 && is_urgent { "  mend this first" } else { "" };
        let Pattern { id, name, calls, paths, says, in_common, fix, .. } = pattern;
        match pattern.sign {
            Some(_) => {
                let before = said.insert(id, fix);
                let new = if before.is_some() { says.strip_suffix(in_common.as_str()).unwrap_or(says) } else { says };
                let _ = writeln!(
                    text,
                    "  {:>width$}  {id}: {new}{dim}{}{end}{bold}{first}{end}",
                    Cost::of(pattern).text(),
                    beside(pattern)
                );
                if let Some(place) = place_of_a_hazard(explained, pattern) {
                    let _ = writeln!(text, "  {:>width$}  {dim}{place}{end}", "");
                }
                if before.is_none_or(|before| before != fix) {
                    let _ = writeln!(text, "  {:>width$}  {bold}{fix}{end}", "");
                }
            }
            None => {
                let (calls, at) = (numbered(calls), located(paths, name));
                let beside = beside(pattern);
                let _ = writeln!(
                    text,
                    "  {:>width$}  {id}: {at}, {calls}{dim}{beside}{end}{bold}{first}{end}",
                    Cost::of(pattern).text()
                );
                // With each of the calls it stands as well.
                if !first.is_empty() {
                    let _ = writeln!(text, "  {:>width$}  {bold}{fix}{end}", "");
                }
            }
        }
    }
    if otherwise > 0 {
        let did_otherwise = |call: &&ExplainedCall| call.unpredicted.is_none() && !call.is_predicted();
        let calls: Vec<usize> = explained.calls.iter().filter(did_otherwise).map(|call| call.number).collect();
        let count = counted(otherwise, "call");
        let _ = writeln!(text, "{bad}{count} did otherwise than the model says: {}{end}", numbered(&calls));
    }
    if let Some(says) = unended(explained) {
        let _ = writeln!(text, "{bad}{says}{end}");
    }
    if unpredicted > 0 {
        let _ = writeln!(text, "{dim}{} can't be predicted{end}", counted(unpredicted, "call"));
        for (why, calls) in unpredictable(explained) {
            let _ = writeln!(text, "  {dim}{}: {why}{end}", numbered(&calls));
        }
    }
    if let Some(says) = compiled_beside(explained) {
        let _ = writeln!(text, "{dim}{says}{end}");
    }
    text
}

/// How many calls aren't among those that are explained.
pub(super) fn unended(explained: &Explained) -> Option<String> {
    let count = explained.unended;
    let which = if count == 1 { "is" } else { "are" };
    (count > 0).then(|| format!("{} more {which} not recorded to the end", counted(count, "call")))
}

/// How much was compiled beside the calls, and where most of it.
pub(super) fn compiled_beside(explained: &Explained) -> Option<String> {
    let all: usize = explained.beside.iter().map(|line| line.compiles).sum();
    let lines = explained.beside.iter().map(|Beside { from, compiles, names }| {
        // What compiles once at a line does so whatever is mended.
        let again = names.iter().filter(|(_, count)| **count > 1);
        let mut again: Vec<_> = again.collect();
        again.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let again: Vec<_> = again.into_iter().map(|(name, count)| format!("{name} {count} times")).collect();
        let of = if again.is_empty() { String::new() } else { format!(" ({})", listed(&again, SHOWN)) };
        format!("{compiles} at {}{of}", from.as_deref().unwrap_or("an unknown line"))
    });
    let lines: Vec<_> = lines.collect();
    let what = counted(all, "compile");
    // A program's own function is run backwards once its call has ended.
    let transformed: IndexSet<&str> =
        explained.calls.iter().filter(|call| call.transformed.is_some()).map(|call| &*call.name).collect();
    let is_backward =
        explained.beside.iter().flat_map(|line| line.names.keys()).any(|name| transformed.contains(&**name));
    let backward = if is_backward { ", and of gradients" } else { "" };
    (all > 0).then(|| {
        format!(
            "{what} beside the calls, of what jax and libraries jit themselves{backward}: {}",
            listed(&lines, SHOWN)
        )
    })
}

/// Why calls can't be predicted, and which.
fn unpredictable(explained: &Explained) -> IndexMap<&str, Vec<usize>> {
    let mut reasons: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for call in &explained.calls {
        if let Some(why) = &call.unpredicted {
            reasons.entry(why).or_default().push(call.number);
        }
    }
    reasons
}

/// What something cost: compiles, or calls that missed less than that, and how long it took.
pub(super) struct Cost {
    pub count: usize,
    pub unit: &'static str,
    pub took: Option<String>,
}

impl Cost {
    pub(super) fn of(pattern: &Pattern) -> Self {
        let (count, unit) = match pattern.compiles.max(pattern.saves) {
            0 => (pattern.calls.len(), "call"),
            compiles => (compiles, "compile"),
        };
        let took = if pattern.saves > pattern.compiles { pattern.saves_seconds } else { pattern.seconds };
        Self { count, unit, took: took.map(duration) }
    }

    fn text(&self) -> String {
        let took = self.took.iter().map(|took| format!(", {took}"));
        std::iter::once(counted(self.count, self.unit)).chain(took).collect()
    }
}

/// Of compiles that have other causes, too, how many are saved if this one alone is mended; and of those that are, how many are of
/// later calls.
pub(super) fn beside(pattern: &Pattern) -> String {
    match (pattern.saves, pattern.compiles) {
        (saves, compiles) if saves == compiles => String::new(),
        (0, _) => " (none saved by this alone)".to_owned(),
        (saves, compiles) if saves == compiles + 1 => " (a later call hits with it mended, too)".to_owned(),
        (saves, compiles) if saves > compiles => {
            format!(" ({} later calls hit with it mended, too)", saves - compiles)
        }
        (saves, compiles) => format!(" ({saves} of {compiles} without other causes)"),
    }
}

/// How many calls did what.
pub(super) struct Totals {
    pub calls: usize,
    /// The first of their functions.
    pub first: usize,
    /// Not the first, and missed something.
    pub again: usize,
    /// Of these, those that compiled.
    pub recompiled: usize,
    /// Predicted, and did something else.
    pub otherwise: usize,
    pub unpredicted: usize,
}

impl Totals {
    pub fn of(explained: &Explained) -> Self {
        let count = |is: &dyn Fn(&&ExplainedCall) -> bool| explained.calls.iter().filter(is).count();
        Self {
            calls: explained.calls.len(),
            first: count(&|call| call.first),
            again: count(&|call| call.is_again()),
            recompiled: count(&|call| call.is_again() && call.compiles()),
            otherwise: count(&|call| call.unpredicted.is_none() && !call.is_predicted()),
            unpredicted: count(&|call| call.unpredicted.is_some()),
        }
    }
}

/// How long jax took for what compiled again, if the recording says so.
pub(super) fn took(explained: &Explained) -> Option<String> {
    let again = explained.calls.iter().filter(|call| call.is_again() && call.compiles());
    seconds(again).map(duration)
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..0.1 => format!("{:.0} ms", seconds * 1e3),
        ..10.0 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}
