//! Why a program recompiled, for a terminal.

use std::fmt::Write;

use super::text::Style;
use crate::case::{Layer, Verdict};
use crate::explain::{Advice, Explained, ExplainedCall};
use crate::model::Difference;

/// The calls that missed something an earlier call of the function might have left, those that are alike together; then
/// what it all cost, and what to mend first.
#[must_use]
pub fn text(explained: &Explained, style: Style) -> String {
    let mut text = String::new();
    for group in groups(explained) {
        describe(&mut text, &group, style);
    }
    summarise(&mut text, explained, style);
    text
}

/// Calls of one function that missed in the same way.
struct Group<'e>(Vec<&'e ExplainedCall>);

impl<'e> Group<'e> {
    fn first(&self) -> &'e ExplainedCall {
        self.0[0]
    }
}

fn groups(explained: &Explained) -> Vec<Group<'_>> {
    let alike = |a: &ExplainedCall, b: &ExplainedCall| {
        let places = |call: &ExplainedCall| -> Vec<_> {
            let differences = call.differences().iter();
            differences.map(|difference| (difference.path.clone(), difference.component.clone())).collect()
        };
        (&a.api, &a.name, &a.at, &a.observed) == (&b.api, &b.name, &b.at, &b.observed)
            && (&a.predicted, &a.unpredicted) == (&b.predicted, &b.unpredicted)
            && places(a) == places(b)
            && a.advice == b.advice
    };
    let mut groups: Vec<Group<'_>> = Vec::new();
    for call in explained.calls.iter().filter(|call| call.is_again()) {
        match groups.iter_mut().find(|group| alike(group.first(), call)) {
            Some(group) => group.0.push(call),
            None => groups.push(Group(vec![call])),
        }
    }
    groups
}

fn describe(text: &mut String, group: &Group<'_>, style: Style) {
    let Style { bad, dim, bold, end, .. } = style;
    let call = group.first();
    let numbers: Vec<_> = group.0.iter().map(|call| call.number).collect();
    let place = call.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
    let from = call.from.as_ref().map(|from| format!(", called at {from}")).unwrap_or_default();
    let _ = write!(text, "{bold}{}{end}{place}{from}\n  {} ", call.name, shown(&numbers));
    let _ = writeln!(text, "{bad}{}{end}", what(&call.observed));
    if let Some(nearest) = call.explanation().map(|explanation| explanation.nearest) {
        let nearest = if group.0.len() > 1 { format!("call {nearest} or the like") } else { format!("call {nearest}") };
        let _ = writeln!(text, "  {dim}The key nearest to it is that of {nearest}:{end}");
    }
    let rows: Vec<_> = call.differences().iter().map(row).collect();
    let width = |column: fn(&(String, String, String)) -> &String| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or_default()
    };
    let (paths, components) = (width(|row| &row.0), width(|row| &row.1));
    for (path, component, change) in &rows {
        let _ = writeln!(text, "    {bold}{path:paths$}{end}  {component:components$}  {change}");
    }
    let mut stated: Vec<&Advice> = Vec::new();
    for advice in call.advice.iter().flatten().filter(|advice| advice.cause != "program") {
        // Two paths of one cause are mended by one change.
        if !stated.iter().any(|known| known.cause == advice.cause) {
            stated.push(advice);
        }
    }
    for advice in stated {
        let _ = writeln!(text, "  {}  {dim}{}{end}", advice.says, advice.rule);
        let _ = writeln!(text, "  {bold}{}{end}", advice.fix);
    }
    if call.is_predicted() && call.explanation().is_none() {
        let _ = writeln!(
            text,
            "  {dim}No earlier key of it is left: its caches were cleared, or its calls have failed.{end}"
        );
    }
    match (&call.predicted, &call.unpredicted) {
        (_, Some(why)) => drop(writeln!(text, "  {dim}Not predicted: {why}.{end}")),
        (Some(predicted), None) if predicted != &call.observed => {
            let _ = writeln!(text, "  {bad}The model says that it {}, so this is not explained.{end}", what(predicted));
        }
        _ => {}
    }
    text.push('\n');
}

/// `calls 2, 3, 4 and 96 more`
fn shown(numbers: &[usize]) -> String {
    const MOST: usize = 6;
    let listed: Vec<_> = numbers.iter().take(MOST).map(ToString::to_string).collect();
    match numbers {
        [only] => format!("call {only}"),
        _ if numbers.len() <= MOST => {
            let (last, rest) = listed.split_last().expect("there are several");
            format!("calls {} and {last}", rest.join(", "))
        }
        _ => format!("calls {} and {} more", listed.join(", "), numbers.len() - MOST),
    }
}

/// What a call did, as a verb.
fn what(verdict: &Verdict) -> String {
    let missed = match verdict {
        Verdict::Missed(missed) => missed,
        Verdict::Error(class) => return format!("raised {class}"),
    };
    let words = [(Layer::Trace, "traced"), (Layer::Lower, "lowered"), (Layer::Compile, "compiled")];
    let again: Vec<_> = words.iter().filter(|(layer, _)| missed.contains(*layer)).map(|(_, word)| *word).collect();
    match again[..] {
        [] if missed.is_empty() => "hit".to_owned(),
        [] => "missed the fast path".to_owned(),
        _ => format!("{} again", again.join(", ")),
    }
}

fn row(difference: &Difference) -> (String, String, String) {
    let Difference { path, component, before, after } = difference;
    let change = match after.strip_prefix("another ") {
        Some(text) if text == before => format!("another {before}"),
        _ => format!("now {after}, before {before}"),
    };
    (path.clone(), component.clone(), change)
}

fn summarise(text: &mut String, explained: &Explained, style: Style) {
    let Style { good, bad, dim, bold, end } = style;
    let calls = &explained.calls;
    let count = |is: &dyn Fn(&&ExplainedCall) -> bool| calls.iter().filter(is).count();
    let compiles =
        |call: &&ExplainedCall| matches!(&call.observed, Verdict::Missed(missed) if missed.contains(Layer::Compile));
    let (first, again) = (count(&|call| call.first), count(&|call| call.is_again()));
    let recompiled = count(&|call| call.is_again() && compiles(call));
    let colour = if recompiled == 0 { good } else { bad };
    let _ = writeln!(
        text,
        "{bold}{}{end}: {} first of {}, {colour}{} compiled again{end}{dim}, {} missed something less{end}",
        counted(calls.len(), "call"),
        first,
        if first == 1 { "its function" } else { "their functions" },
        recompiled,
        again - recompiled,
    );
    let mut causes: Vec<(&str, &str, usize, &ExplainedCall)> = Vec::new();
    for call in calls.iter().filter(|call| call.is_again()) {
        let mut seen: Vec<&str> = Vec::new();
        for advice in call.advice.iter().flatten().filter(|advice| advice.cause != "program") {
            if seen.contains(&advice.cause.as_str()) {
                continue;
            }
            seen.push(&advice.cause);
            match causes.iter_mut().find(|(cause, ..)| *cause == advice.cause) {
                Some((_, _, count, _)) => *count += 1,
                None => causes.push((&advice.cause, &advice.fix, 1, call)),
            }
        }
    }
    causes.sort_by_key(|(_, _, count, _)| std::cmp::Reverse(*count));
    for (i, (cause, _, count, call)) in causes.iter().enumerate() {
        let first = if i == 0 { "  mend this first" } else { "" };
        let _ =
            writeln!(text, "  {count:>4}  {cause}, first in call {} of {}{bold}{first}{end}", call.number, call.name);
    }
    let unpredicted = count(&|call| call.unpredicted.is_some());
    let otherwise = count(&|call| call.unpredicted.is_none() && !call.is_predicted());
    if otherwise > 0 {
        let _ = writeln!(text, "{bad}{} did otherwise than the model says{end}", counted(otherwise, "call"));
    }
    if unpredicted > 0 {
        let _ = writeln!(text, "{dim}{} can't be predicted{end}", counted(unpredicted, "call"));
    }
}

fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
