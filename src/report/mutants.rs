//! The kill matrix as text.

use std::fmt::Write as _;

use super::text::{Style, definitions, grouped, steps};
use crate::check::{Fate, Fates};

/// So many rules are named that the control differs from.
const NAMED: usize = 5;

/// What came of each mutant: the rules that found it, after how many pairs, and the smallest case; and the sum of it.
#[must_use]
pub fn text(fates: &Fates<'_>, seconds: Option<f64>, style: Style) -> String {
    let mut text = String::new();
    for fate in &fates.fates {
        mutant(&mut text, fate, style);
    }
    let all = fates.fates.len();
    let mut pairs: Vec<u64> = fates.fates.iter().filter_map(|fate| Some(fate.kill.as_ref()?.pairs)).collect();
    pairs.sort_unstable();
    let found = fates.fates.iter().filter(|fate| fate.is_found()).count();
    let alive = fates.fates.iter().filter(|fate| !fate.is_settled()).count();
    let (colour, verdict) = match alive {
        0 if found < all => (style.good, format!("{found} of {all} die, and nothing can show the others")),
        0 => (style.good, format!("{all} of {all} die")),
        _ => (style.bad, format!("{alive} of {all} survive")),
    };
    let _ = write!(text, "  mutants: {colour}{verdict}{}", style.end);
    if let (Some(most), true) = (pairs.last(), all > 1) {
        let half = grouped(pairs[(pairs.len() - 1) / 2]);
        let _ = write!(text, ", half of them within {half} pairs, the last after {}", grouped(*most));
    }
    if let Some(seconds) = seconds {
        let _ = write!(text, "    {seconds:.0} s");
    }
    text.push('\n');
    let differs = fates.control_differs.len();
    let (colour, verdict) = if differs == 0 {
        (style.good, "no finding".to_owned())
    } else {
        let mut rules = fates.control_differs.clone();
        rules.dedup();
        let more = rules.len().saturating_sub(NAMED);
        rules.truncate(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (style.bad, format!("{differs} findings: {}{more}", rules.join(", ")))
    };
    let _ = writeln!(
        text,
        "  control: the unmutated models on {} pairs: {colour}{verdict}{}",
        grouped(fates.control),
        style.end
    );
    text
}

fn mutant(text: &mut String, fate: &Fate<'_>, style: Style) {
    let Style { bold, bad, dim, end, .. } = style;
    let id = &fate.mutant.id;
    match &fate.kill {
        None if fate.case.is_some() => {
            let case = fate.case.unwrap_or_default();
            let _ = writeln!(text, "  {bold}{id:<46}{end}    case  {case}\n      {}", fate.mutant.says);
        }
        None if fate.unseen.is_some() => {
            let _ = writeln!(text, "  {bold}{id:<46}{end}  {dim}not seen: {}{end}", fate.unseen.unwrap_or_default());
        }
        None => {
            let _ = writeln!(text, "  {bold}{id:<46}{end}  {bad}survives{end}\n      {}", fate.mutant.says);
        }
        Some(kill) => {
            let pairs = grouped(kill.pairs);
            let _ = writeln!(text, "  {bold}{id:<46}{end} {pairs:>7}  {}", kill.finding.rules.join(" + "));
            let case = &kill.smallest;
            let lines: Vec<_> =
                definitions(case).into_iter().chain(steps(case).into_iter().map(|(line, _)| line)).collect();
            let _ = writeln!(text, "      {}\n      {dim}{}{end}", fate.mutant.says, lines.join("; "));
        }
    }
}
