//! The report for a terminal: a table, then the findings.

use std::fmt::Write;

use indexmap::IndexSet;

use crate::case::{Behaviour, Case, ClearScope, Step};
use crate::check::{Alone, Finding, Summary};
use crate::target::About;

/// The look of a piece of text; the caller decides whether it becomes colour.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Before what is well.
    pub good: &'static str,
    /// Before what is wrong.
    pub bad: &'static str,
    /// Before what is less important.
    pub dim: &'static str,
    /// Before what is most important.
    pub bold: &'static str,
    /// After each of them.
    pub end: &'static str,
}

impl Style {
    /// No colours.
    pub const PLAIN: Self = Self { good: "", bad: "", dim: "", bold: "", end: "" };
    /// ANSI colours.
    pub const ANSI: Self =
        Self { good: "\x1b[32m", bad: "\x1b[1;31m", dim: "\x1b[2m", bold: "\x1b[1m", end: "\x1b[0m" };
}

/// The lines that say what is checked, and by which `campaign`.
#[must_use]
pub fn header(about: &About, campaign: &str, style: Style) -> String {
    let mut line = format!("{}{} {}{}", style.bold, about.implementation, about.version, style.end);
    for (name, value) in &about.about {
        // The implementation's own version stands there already.
        if let Some(value) = value
            && !(about.implementation.starts_with(name.as_str()) && *value == about.version)
        {
            let _ = write!(line, ", {name} {value}");
        }
    }
    let _ = write!(line, "\n  spec {}    sees {}    {campaign}", env!("CARGO_PKG_VERSION"), about.layers);
    line
}

/// The table of families, what was left out, and the sum, with the `seconds` it took if they are known.
#[must_use]
pub fn summary(summary: &Summary, seconds: Option<f64>, style: Style) -> String {
    let mut text = String::new();
    let width = summary.families.keys().map(String::len).max().unwrap_or(6).max(6);
    let _ = writeln!(
        text,
        "  {}{:width$}    rules      pairs    rule = model    model = target{}",
        style.dim, "family", style.end
    );
    for (name, family) in &summary.families {
        let cell = |agreed: u64, width: usize| {
            let differ = family.pairs - agreed;
            match (family.pairs, differ) {
                (0, _) => format!("{}{:>width$}{}", style.dim, "-", style.end),
                (_, 0) => format!("{}{:>width$}{}", style.good, "ok", style.end),
                (_, differ) => format!("{}{:>width$}{}", style.bad, format!("{} differ", grouped(differ)), style.end),
            }
        };
        let hazards = match family.hazards {
            0 => String::new(),
            1 => "    1 hazard".to_owned(),
            n => format!("    {n} hazards"),
        };
        let _ = writeln!(
            text,
            "  {name:width$}    {:>5}    {:>7}    {}    {}{}{hazards}{}",
            family.rules,
            grouped(family.pairs),
            cell(family.rule_model, 12),
            cell(family.model_target, 14),
            style.dim,
            style.end
        );
    }
    for (what, count) in &summary.unsupported {
        let _ = writeln!(text, "  left out {}: the target does not support {what}", grouped(*count));
    }
    if summary.unbuildable > 0 {
        let _ = writeln!(text, "  left out {}: Python can't build the values", grouped(summary.unbuildable));
    }
    if summary.restarts > 0 {
        let times = if summary.restarts == 1 { "time" } else { "times" };
        let _ = writeln!(
            text,
            "  {}the target was started again {} {times}{}",
            style.bad,
            grouped(summary.restarts),
            style.end
        );
    }
    if summary.not_run > 0 {
        let _ = writeln!(text, "  {}stopped: {} pairs were not run{}", style.bad, grouped(summary.not_run), style.end);
    }
    let rules: usize = summary.families.values().map(|family| family.rules).sum();
    let silent = summary.rules.values().filter(|count| count.pairs == 0).count();
    if silent > 0 {
        let _ = writeln!(text, "  {}{} of {rules} rules had no pair{}", style.bad, silent, style.end);
    }
    let verdict = if summary.conforms() {
        let hold = if rules - silent == 1 { "rule holds" } else { "rules hold" };
        let pairs = if summary.pairs() == 1 { "pair" } else { "pairs" };
        format!("{}{} {hold} on {} {pairs}{}", style.good, rules - silent, grouped(summary.pairs()), style.end)
    } else {
        let findings = summary.findings.len();
        let mut parts = Vec::new();
        if findings > 0 {
            let more = if summary.more_findings > 0 {
                format!(" (and {} pairs more)", grouped(summary.more_findings as u64))
            } else {
                String::new()
            };
            parts.push(format!("{findings} finding{}{more}", if findings == 1 { "" } else { "s" }));
        }
        if !summary.failures.is_empty() {
            parts.push(format!("{} cases could not be run", summary.failures.len()));
        }
        format!("{}{} in {} pairs{}", style.bad, parts.join(", "), grouped(summary.pairs()), style.end)
    };
    let time = seconds.map(|seconds| format!("    {seconds:.0} s")).unwrap_or_default();
    let composed = grouped(summary.composed);
    let _ = writeln!(text, "  {verdict}{}, {composed} of them composed{time}{}", style.dim, style.end);
    text
}

/// 10240 as `10 240`.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A finding: who stands alone, the smallest pair, where the keys differ, and how to see it again.
#[must_use]
pub fn finding(number: usize, finding: &Finding, replay: Option<&str>, style: Style) -> String {
    let mut text = String::new();
    let call = finding.testimony.last_difference();
    let word = |calls: &[Behaviour]| calls.get(call).map_or_else(|| "nothing".to_owned(), Behaviour::to_string);
    let testimony = &finding.testimony;
    let _ = writeln!(
        text,
        "{}finding {number}{}    {}    call {}: rule {}, model {}, target {}; {}{}{}",
        style.bold,
        style.end,
        finding.rules.join(" + "),
        call + 1,
        word(&testimony.rule),
        word(&testimony.model),
        word(&testimony.target),
        style.bad,
        finding.alone.words(),
        style.end
    );
    for says in &finding.says {
        let _ = writeln!(text, "  {says}");
    }
    for line in definitions(&finding.case) {
        let _ = writeln!(text, "    {line}");
    }
    let lines: Vec<(String, bool)> =
        steps(&finding.case).into_iter().map(|(line, of)| (format!("    {line}"), of == Some(call))).collect();
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
    let differences: IndexSet<_> = finding.differences.iter().map(where_and_what).collect();
    let differences: Vec<_> = differences.into_iter().collect();
    for (line, differs) in lines {
        if differs && !differences.is_empty() {
            let pad = width - line.chars().count();
            let _ = writeln!(text, "{line}{:pad$}    {}{}{}", "", style.bold, differences.join("; "), style.end);
        } else {
            let _ = writeln!(text, "{line}");
        }
    }
    if let Some(detail) = &finding.detail {
        let _ = writeln!(
            text,
            "  {}the target says: {}{}",
            style.dim,
            detail.lines().next().unwrap_or_default(),
            style.end
        );
    }
    let levels = match finding.depth {
        0 => "with nothing around it".to_owned(),
        1 => "with one level around it".to_owned(),
        n => format!("with {n} levels around it; no shallower one that was tried shows it"),
    };
    let seen = match finding.count {
        1 => format!("Seen once, in pair {}.", finding.pair),
        count => format!("Seen in {count} pairs; this was pair {}.", finding.pair),
    };
    let size = if finding.reproduced {
        format!("Smallest pair found, {levels}.")
    } else {
        "The target did otherwise when it was asked again: what it does depends on what it ran before.".to_owned()
    };
    let _ = writeln!(text, "  {size} {seen}");
    if let Some(replay) = replay {
        let _ = writeln!(text, "  replay: {replay}");
    }
    if finding.alone == Alone::Model {
        let _ = writeln!(text, "  Please report it: rule and target agree, so the model is wrong.");
    }
    text
}

/// What stands before the steps of a case: the options of the wrapper, what surrounds all calls, and the objects.
pub(super) fn definitions(case: &Case) -> Vec<String> {
    let options = case.options.to_string();
    let function = if options.is_empty() { None } else { Some(format!("f = jit(f, {options})")) };
    let objects = case.objects.iter().map(|(name, value)| format!("{name} = {value}"));
    let context = (!case.context.is_empty()).then(|| format!("under {}", case.context));
    function.into_iter().chain(context).chain(objects).collect()
}

/// The steps of a case, each with the number of its call (from 0) if it is one.
pub(super) fn steps(case: &Case) -> Vec<(String, Option<usize>)> {
    let mut calls = 0..;
    let line = |step: &Step| match step {
        Step::Call(call) => {
            let number = calls.next().unwrap_or_default();
            (format!("call {}    {call}", number + 1), Some(number))
        }
        Step::Drop(name) => (format!("del {name}"), None),
        Step::Delete(name) => (format!("{name}.delete()"), None),
        Step::Donate(name) => (format!("{name} is donated"), None),
        Step::Mutate(mutation) => (format!("{} is changed", mutation.object), None),
        Step::Fill(fill) => (format!("{} × {}", fill.calls, fill.call), None),
        Step::Clear(ClearScope::Wrapper(name)) => (format!("{name}.clear_cache()"), None),
        Step::Clear(scope) => (format!("clear {scope:?}").to_lowercase(), None),
    };
    case.steps.iter().map(line).collect()
}

fn where_and_what(difference: &crate::model::Difference) -> String {
    if difference.path.is_empty() {
        difference.component.clone()
    } else {
        format!("{} at {}", difference.component, difference.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        assert_eq!([7, 240, 10_240, 1_000_000].map(grouped), ["7", "240", "10 240", "1 000 000"]);
    }
}
