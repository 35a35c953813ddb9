//! The matrix and the rulebook as Markdown.

use std::fmt::Write;

use super::law::{self, Example, spans};
use super::matrix::{Cell, Column, Matrix, Row, State};
use super::profile;
use super::rulebook;
use super::text::{self, Style, grouped};
use crate::spec::{Outcome, Profile, Rule, SourceRef, Spec};

/// The matrix: targets, changes, findings, a table for each family, and the evidence rule by rule.
#[must_use]
pub fn matrix(spec: &Spec, matrix: &Matrix<'_>) -> String {
    let mut page = format!("# jitkey matrix\n\n{}\n\n", matrix.lead());
    let legend: Vec<_> = State::ALL.iter().map(|state| format!("`{}` {}", state.sign(), state.words())).collect();
    let _ = writeln!(
        page,
        "A cell has the verdict that the rule states and what came of it: {}. ▸ marks a verdict that is not that of \
         the version before, ⚠ a stale hit, † one that goes deeper as soon as anything beside the pair misses.\n",
        legend.join(", ")
    );
    targets(&mut page, matrix.columns);
    changes(&mut page, matrix);
    findings(&mut page, matrix);
    for name in matrix.families() {
        let _ = writeln!(page, "## {name}\n");
        if let Some(family) = spec.families.iter().find(|family| family.name == name) {
            let _ = writeln!(page, "{}\n", inline(family.about.trim()));
        }
        let names = matrix.columns.iter().map(|column| column.name.replace('@', " "));
        row(&mut page, std::iter::once("rule".to_owned()).chain(names));
        row(&mut page, std::iter::repeat_n("---".to_owned(), matrix.columns.len() + 1));
        for line in matrix.rows.iter().filter(|row| row.rule.family() == name) {
            let id = format!("[{}](#{})", line.id, anchor(line.id));
            row(&mut page, std::iter::once(id).chain(line.cells.iter().map(cell)));
        }
        page.push('\n');
    }
    page.push_str("## Evidence\n\n");
    matrix.rows.iter().for_each(|row| evidence(&mut page, spec, matrix, row));
    page
}

fn targets(page: &mut String, columns: &[Column]) {
    page.push_str("## Targets\n\n");
    row(page, ["target", "runs on", "pairs", "campaign", "outcome"].map(str::to_owned));
    row(page, std::iter::repeat_n("---".to_owned(), 5));
    for column in columns {
        let cells = match &column.run {
            Ok(report) => {
                let about = report.target.about.iter();
                let about = about.filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
                [
                    code(&column.name),
                    about.collect::<Vec<_>>().join(", "),
                    grouped(report.pairs),
                    report.seeds(),
                    if report.conforms { "conforms" } else { "findings" }.to_owned(),
                ]
            }
            Err(reason) => {
                [code(&column.name), String::new(), String::new(), String::new(), format!("not run: {reason}")]
            }
        };
        row(page, cells);
    }
    page.push('\n');
}

fn changes(page: &mut String, matrix: &Matrix<'_>) {
    page.push_str("## What changed when\n\n");
    if matrix.changes.is_empty() {
        page.push_str("Nothing, between the versions of this table.\n\n");
    }
    for group in matrix.changes.chunk_by(|one, other| one.after.0 == other.after.0) {
        let [before, after] = [group[0].before.0, group[0].after.0].map(|i| &matrix.columns[i]);
        let _ = writeln!(page, "### {} {} → {}\n", after.group, before.version, after.version);
        row(page, ["rule".to_owned(), before.version.clone(), after.version.clone()]);
        row(page, std::iter::repeat_n("---".to_owned(), 3));
        for change in group {
            let id = format!("[{}](#{})", change.rule, anchor(change.rule));
            row(page, [id, said(change.before.1), said(change.after.1)]);
        }
        page.push('\n');
    }
}

fn findings(page: &mut String, matrix: &Matrix<'_>) {
    let mut findings = matrix.findings().enumerate().peekable();
    if findings.peek().is_some() {
        page.push_str("## Findings\n\n");
    }
    for (i, (column, finding)) in findings {
        let _ = writeln!(page, "On {}:\n", code(&column.name));
        fenced(page, &text::finding(i + 1, finding, None, Style::PLAIN));
    }
}

fn cell(cell: &Cell<'_>) -> String {
    let changed = if cell.changed { "▸ " } else { "" };
    let Some(outcome) = cell.expected else { return format!("{changed}{}", cell.state.sign()) };
    let stale = if outcome.is_stale() { " ⚠" } else { "" };
    let deeper = if outcome.when_missed.is_some() { "†" } else { "" };
    let calls: Vec<_> = outcome.calls.iter().map(|call| call.verdict.to_string()).collect();
    format!("{changed}{}{deeper}{stale} {}", calls.join(" › "), cell.state.sign())
}

fn evidence(page: &mut String, spec: &Spec, matrix: &Matrix<'_>, line: &Row<'_>) {
    let _ = writeln!(page, "### {}\n\n{}\n", line.id, inline(line.says));
    if let Some((of, example)) = matrix.example(spec, line) {
        let _ = writeln!(page, "The simplest case, on {of}:\n");
        fenced(page, &example.text());
    }
    row(page, ["target", "expected", "observed"].map(str::to_owned));
    row(page, std::iter::repeat_n("---".to_owned(), 3));
    for (cell, column) in line.cells.iter().zip(matrix.columns).filter(|(cell, _)| cell.expected.is_some()) {
        let observed = format!("{} {}", cell.state.sign(), cell.evidence(line.rule));
        row(page, [code(&column.name), said(cell.expected), observed]);
    }
    if let Some(command) = line.cells.iter().rev().find_map(|cell| cell.command.as_deref()) {
        let _ = writeln!(page, "\nAgain, here for the last of them: {}", code(command));
    }
    page.push('\n');
    advice(page, line.rule);
}

/// The rulebook: contents, a section for each family with its rules, and the profiles.
#[must_use]
pub fn rulebook(spec: &Spec) -> String {
    let mut page = format!("# The rulebook\n\n{}\n\n", rulebook::lead(spec));
    for family in &spec.families {
        let rules = spec.rules.values().filter(|rule| rule.family() == family.name).count();
        let _ = writeln!(page, "- [{}](#{}) ({rules} rules)", family.name, anchor(&family.name));
    }
    page.push_str("- [Profiles](#profiles)\n\n");
    for family in &spec.families {
        let _ = writeln!(page, "## {}\n\n{}\n", family.name, inline(family.about.trim()));
        spec.rules.values().filter(|rule| rule.family() == family.name).for_each(|rule| law(&mut page, spec, rule));
    }
    let _ = writeln!(page, "## Profiles\n\n{}\n", rulebook::PROFILES);
    spec.profiles.iter().for_each(|profile| built(&mut page, profile));
    page
}

fn law(page: &mut String, spec: &Spec, rule: &Rule) {
    let _ = writeln!(page, "### {}\n\n{}\n", rule.id, inline(&rule.says));
    row(page, ["implementation", "versions", "verdict"].map(str::to_owned));
    row(page, std::iter::repeat_n("---".to_owned(), 3));
    for implementation in rule.expect.keys() {
        for span in spans(spec, rule, implementation) {
            row(page, [implementation.clone(), span.versions(), said(span.outcome)]);
        }
    }
    page.push('\n');
    if let Some((of, example)) = Example::any(spec, rule) {
        let _ = writeln!(page, "For example, on {of}:\n");
        fenced(page, &example.text());
    }
    page.push_str("The law:\n\n");
    let places = law::places(rule);
    let places = if places.is_empty() { String::new() } else { format!("\nin {places}") };
    fenced(page, &format!("{}{places}", law::statement(rule).join("\n")));
    advice(page, rule);
    let sources: Vec<_> = rule.sources.iter().map(source).collect();
    let _ = writeln!(page, "Sources: {}\n", sources.join("; "));
}

fn built(page: &mut String, profile: &Profile) {
    let _ = writeln!(page, "### {} {}\n\n{}\n", profile.profile, profile.versions, inline(profile.about.trim()));
    row(page, ["table", "compares"].map(str::to_owned));
    row(page, std::iter::repeat_n("---".to_owned(), 2));
    for table in &profile.tables {
        let parts = profile::compared(table);
        let parts: Vec<_> = parts.iter().map(|(part, how)| format!("**{part}** {how}")).collect();
        row(page, [profile::word(&table.table), parts.join("<br>")]);
    }
    page.push('\n');
    row(page, ["leaves", "are"].map(str::to_owned));
    row(page, std::iter::repeat_n("---".to_owned(), 2));
    profile::leaves(profile).into_iter().for_each(|(kinds, role)| row(page, [kinds, role]));
    let sources: Vec<_> = profile.sources.iter().map(source).collect();
    let _ = writeln!(page, "\nSources: {}\n", sources.join("; "));
}

fn advice(page: &mut String, rule: &Rule) {
    for (label, text) in [("Hazard", &rule.hazard), ("Fix", &rule.fix), ("Note", &rule.note)] {
        if let Some(text) = text {
            let _ = writeln!(page, "**{label}.** {}\n", inline(text.trim()));
        }
    }
}

fn source(source: &SourceRef) -> String {
    let words = inline(&source.to_string());
    law::link(source).map_or_else(|| words.clone(), |link| format!("[{words}]({link})"))
}

fn said(outcome: Option<&Outcome>) -> String {
    outcome.map_or_else(|| "not said".to_owned(), ToString::to_string)
}

/// One line of a table.
pub(super) fn row(page: &mut String, cells: impl IntoIterator<Item = String>) {
    for cell in cells {
        let _ = write!(page, "| {} ", cell.replace('|', "\\|").replace('\n', " "));
    }
    page.push_str("|\n");
}

fn fenced(page: &mut String, content: &str) {
    let _ = writeln!(page, "```text\n{}\n```\n", content.trim_end());
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Prose: what Markdown would take for mark-up outside of code stays text.
pub(super) fn inline(text: &str) -> String {
    let mut inside_code = false;
    let mut escaped = String::new();
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        inside_code ^= c == '`';
        if !inside_code && "*_<>[]".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The anchor that GitHub and others make of a heading.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c))
        .collect::<String>()
        .replace(' ', "-")
}
