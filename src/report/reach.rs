//! What generated pairs reach, as text.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use super::text::{Style, grouped};
use crate::generate::Reach;

/// The statistics, most frequent first where the order is not the numbers' own. `rules` is how many there are to reach.
#[must_use]
pub fn text(reach: &Reach, rules: usize, style: Style) -> String {
    let mut text = String::new();
    let fewest = reach.rules.values().min().copied().unwrap_or(0);
    let reached = reach.rules.len();
    let (colour, silent) = if reached < rules { (style.bad, rules - reached) } else { (style.good, 0) };
    let _ = writeln!(
        text,
        "  {} cases; {colour}{reached} of {rules} rules{}, the rarest in {}, and {silent} in none",
        grouped(reach.cases()),
        style.end,
        grouped(fewest)
    );
    frequent(&mut text, "family", &reach.families);
    frequent(&mut text, "position", &reach.positions);
    frequent(&mut text, "kind of value", &reach.kinds);
    ordered(&mut text, "containers around the deepest leaf", &reach.depths);
    ordered(&mut text, "pairs in one case", &reach.planted);
    frequent(&mut text, "refused", &reach.discarded);
    text
}

fn frequent<K: Display + Ord>(text: &mut String, title: &str, counts: &BTreeMap<K, u64>) {
    let mut all: Vec<_> = counts.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    section(text, title, &all);
}

fn ordered<K: Display>(text: &mut String, title: &str, counts: &BTreeMap<K, u64>) {
    section(text, title, &counts.iter().collect::<Vec<_>>());
}

fn section<K: Display>(text: &mut String, title: &str, counts: &[(&K, &u64)]) {
    let sum: u64 = counts.iter().map(|(_, count)| **count).sum();
    if sum == 0 {
        return;
    }
    let _ = writeln!(text, "  {title}");
    for (key, count) in counts {
        let share = **count as f64 * 100.0 / sum as f64;
        let _ = writeln!(text, "    {:<44} {:>9}  {share:>5.1}%", key.to_string(), grouped(**count));
    }
}
