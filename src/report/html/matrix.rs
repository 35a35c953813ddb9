//! The page of the matrix.
//!
//! Each cell is a link to its evidence. The evidence of a rule is a panel that the browser shows while the link's target
//! is inside it, so that it opens without a script and has an address of its own.

use maud::{Markup, html};

use super::{Page, advice, example, filter, full, prose, shell, short, slug, statement};
use crate::report::matrix::{Cell, Column, Matrix, Row, State};
use crate::report::text::{self, Style, grouped};
use crate::spec::Spec;

/// The page.
#[must_use]
pub fn page(spec: &Spec, matrix: &Matrix<'_>) -> String {
    let body = html! {
        header.top {
            p.brand { "jitkey " (matrix.jitkey) }
            h1 { "What holds where" }
            p.lead { (matrix.lead()) }
            nav aria-label="On this page" {
                a href="#targets" { "Targets" }
                a href="#changes" { "What changed when" }
                @if matrix.findings().next().is_some() { a href="#findings" { "Findings" } }
                a href="#matrix" { "Matrix" }
            }
        }
        main {
            section #targets { h2 { "Targets" } (targets(matrix.columns)) }
            section #changes { h2 { "What changed when" } (changes(matrix)) }
            @if matrix.findings().next().is_some() {
                section #findings { h2 { "Findings" } (findings(matrix)) }
            }
            section #matrix {
                h2 { "Matrix" }
                (legend())
                (tools(matrix))
                nav aria-label="Families" {
                    @for name in matrix.families() { a href={ "#family:" (name) } { (name) } }
                }
                div.scroll tabindex="0" role="region" aria-label="Rules by target" { (table(spec, matrix)) }
            }
        }
        @for row in &matrix.rows { (panel(spec, matrix, row)) }
    };
    shell(&Page::of_rules("jitkey matrix", "matrix"), &body)
}

fn targets(columns: &[Column]) -> Markup {
    html! {
        ul.targets {
            @for column in columns {
                li {
                    h3 { (column.group) " " span.version { (column.version) } }
                    @match &column.run {
                        Ok(report) => {
                            p.state {
                                @if report.conforms { span.holds { "✓ conforms" } }
                                @else { span.differs { "✗ findings" } }
                                ", " (grouped(report.pairs)) " pairs"
                            }
                            p.dim { (report.seeds()) @for (name, value) in &report.target.about {
                                @if let Some(value) = value { ", " (name) " " (value) }
                            } }
                        }
                        Err(reason) => { p.state { span.notrun { "○ not run" } } p.dim { (reason) } }
                    }
                    (command(&column.command()))
                }
            }
        }
    }
}

/// A command to copy. A line of it ends between words, not inside an option.
fn command(line: &str) -> Markup {
    html! { pre.command { code { @for word in line.split(' ') { span { (word) } " " } } } }
}

fn changes(matrix: &Matrix<'_>) -> Markup {
    html! {
        @if matrix.changes.is_empty() { p { "Nothing, between the versions of this table." } }
        @for group in matrix.changes.chunk_by(|one, other| one.after.0 == other.after.0) {
            @let (before, after) = (&matrix.columns[group[0].before.0], &matrix.columns[group[0].after.0]);
            details open[matrix.changes.len() <= 60] {
                summary {
                    (after.group) " " (before.version) " → " (after.version) " "
                    span.dim { (group.len()) @if group.len() == 1 { " verdict" } @else { " verdicts" } }
                }
                ul.changes {
                    @for change in group {
                        li {
                            @let stated = change.after.1.is_some();
                            @let evidence = if stated { cell_id(change.rule, after) } else { slug(change.rule) };
                            a href={ "#" (evidence) } { code { (change.rule) } }
                            span.turn { (full(change.before.1)) span.arrow { " → " } (full(change.after.1)) }
                        }
                    }
                }
            }
        }
    }
}

fn findings(matrix: &Matrix<'_>) -> Markup {
    html! {
        @for (i, (column, finding)) in matrix.findings().enumerate() {
            article {
                h3 { (finding.rules.join(" + ")) " on " (column.name) }
                pre { code { (text::finding(i + 1, finding, None, Style::PLAIN)) } }
            }
        }
    }
}

fn legend() -> Markup {
    html! {
        ul.legend aria-label="Legend" {
            @for (word, says) in [
                ("hit", "served at once"),
                ("dispatch", "the fast path missed, nothing was rebuilt"),
                ("compile", "XLA compiled again"),
                ("lower", "lowered and compiled again"),
                ("trace", "the Python body ran again, and all below"),
                ("error", "the call raises it"),
            ] { li { span class={ "v " (word) } { (word) } " " (says) } }
            @for state in State::ALL { li { (sign(state)) " " (state.words()) } }
            li { span.turned { "▸" } " not as at the version before" }
            li { span.mark.stale { "⚠" } " the hit is stale" }
            li { span.mark { "†" } " deeper beside anything that misses" }
        }
    }
}

fn tools(matrix: &Matrix<'_>) -> Markup {
    filter(&html! {
        @for (name, label) in [("changed", "changed"), ("stale", "stale"), ("differs", "not as stated")] {
            label.check { input type="checkbox" name=(name); (label) }
        }
        @if matrix.groups().len() > 1 {
            fieldset {
                legend.hidden { "Implementations" }
                @for (i, (name, _)) in matrix.groups().into_iter().enumerate() {
                    label.check { input type="checkbox" name="group" value={ "g" (i) } checked; (name) }
                }
            }
        }
    })
}

fn table(spec: &Spec, matrix: &Matrix<'_>) -> Markup {
    let groups = matrix.groups();
    let group_of = |i: usize| groups.iter().position(|(_, columns)| columns.contains(&i)).unwrap_or_default();
    html! {
        table {
            thead {
                tr {
                    th.rule rowspan="2" scope="col" { "Rule" }
                    @for (i, (name, columns)) in groups.iter().enumerate() {
                        th class={ "group g" (i) } scope="colgroup" colspan=(columns.len()) { (name) }
                    }
                }
                tr.versions {
                    @for (i, column) in matrix.columns.iter().enumerate() {
                        th class={ "g" (group_of(i)) } scope="col" { (column.version) }
                    }
                }
            }
            @for name in matrix.families() {
                tbody {
                    tr.family #{ "family:" (name) } {
                        th scope="rowgroup" colspan=(matrix.columns.len() + 1) {
                            div {
                                b { (name) }
                                @for family in spec.families.iter().filter(|family| family.name == name) {
                                    p { (prose(&family.about)) }
                                }
                            }
                        }
                    }
                    @for row in matrix.rows.iter().filter(|row| row.rule.family() == name) {
                        (line(matrix, row, group_of))
                    }
                }
            }
        }
    }
}

fn line(matrix: &Matrix<'_>, row: &Row<'_>, group_of: impl Fn(usize) -> usize) -> Markup {
    let has = |test: fn(&Cell<'_>) -> bool| row.cells.iter().any(test);
    html! {
        tr #{ "row:" (slug(row.id)) } .rule
            data-changed[has(|cell| cell.changed)]
            data-stale[has(|cell| cell.expected.is_some_and(|outcome| outcome.is_stale()))]
            data-differs[has(|cell| cell.state == State::Differs)]
        {
            th scope="row" {
                a href={ "#" (slug(row.id)) } { (row.id.split_once('/').map_or(row.id, |(_, name)| name)) }
                span.says { (prose(row.says)) }
            }
            @for (i, (cell, column)) in row.cells.iter().zip(matrix.columns).enumerate() {
                @let begins = (0..i).all(|j| group_of(j) != group_of(i) || row.cells[j].expected.is_none());
                @let first = i == 0 || group_of(i) != group_of(i - 1);
                @let same = !first && !cell.changed;
                td .{ "g" (group_of(i)) } .(class(cell.state)) .first[first] .same[same] .changed[cell.changed]
                    data-of={ @if begins { (column.group) " " } (column.version) }
                {
                    @match cell.expected {
                        None => span.absent { @if cell.changed { "▸ " } (sign(cell.state)) },
                        Some(outcome) => a href={ "#" (cell_id(row.id, column)) } {
                            @if cell.changed { span.turned { "▸" } }
                            (short(outcome))
                            (sign(cell.state))
                        },
                    }
                }
            }
        }
    }
}

fn panel(spec: &Spec, matrix: &Matrix<'_>, row: &Row<'_>) -> Markup {
    let id = slug(row.id);
    let stated: Vec<_> = row.cells.iter().zip(matrix.columns).filter(|(cell, _)| cell.expected.is_some()).collect();
    html! {
        section.panel id=(id) tabindex="-1" aria-labelledby={ "title:" (id) } {
            a.close href={ "#row:" (id) } aria-label="Close" { "×" }
            h2 id={ "title:" (id) } { (row.id) }
            p.lead { (prose(row.says)) }
            @if let Some((of, case)) = matrix.example(spec, row) { (example(&case, &of)) }
            (advice(row.rule))
            h3 { "Evidence" }
            @for (cell, column) in &stated {
                div.run id=(cell_id(row.id, column)) tabindex="-1" {
                    p.head {
                        span.at { (column.group) " " (column.version) }
                        span { (sign(cell.state)) " " (cell.state.words()) }
                    }
                    dl {
                        dt { "expected" } dd { (full(cell.expected)) }
                        dt { "observed" }
                        dd { @match &column.run { Ok(_) => (cell.evidence(row.rule)), Err(reason) => (reason) } }
                        @if let Some(first) = cell.count.and_then(|count| count.first.as_ref()) {
                            dt { "first" }
                            dd { "pair " (first.pair) " of " (first.rules.join(" + ")) ": " (first.alone.words()) }
                        }
                    }
                    @if let Some(line) = &cell.command { (command(line)) }
                    @if let Ok(report) = &column.run {
                        @for number in &cell.findings {
                            @let finding = &report.summary.findings[*number];
                            pre { code { (text::finding(number + 1, finding, None, Style::PLAIN)) } }
                        }
                    }
                }
            }
            (statement(row.rule))
        }
    }
}

/// The sign of a state, which says what it means when it is pointed at.
fn sign(state: State) -> Markup {
    html! { span class={ "sign " (class(state)) } title=(state.words()) { (state.sign()) } }
}

fn cell_id(rule: &str, column: &Column) -> String {
    format!("{}@{}", slug(rule), slug(&column.name))
}

fn class(state: State) -> &'static str {
    match state {
        State::NotStated => "none",
        State::NotRun => "notrun",
        State::NoPair => "nopair",
        State::Holds => "holds",
        State::Differs => "differs",
    }
}
