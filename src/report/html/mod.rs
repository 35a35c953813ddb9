//! The matrix, the rulebook and recordings as HTML: each page is one file that needs no other, and no network.

mod calls;
mod matrix;
mod recording;
mod rulebook;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::law::{self, Example};
use crate::case::{LayerSet, Verdict};
use crate::spec::{Outcome, Rule, SourceRef};

pub use matrix::page as matrix;
pub use recording::page as recording;
pub use rulebook::page as rulebook;

/// What the pages differ in, but for their bodies.
struct Page {
    title: &'static str,
    class: &'static str,
    /// Beside what all pages have.
    style: &'static str,
    script: &'static str,
}

impl Page {
    /// A page of rules, which can be filtered.
    const fn of_rules(title: &'static str, class: &'static str) -> Self {
        Self { title, class, style: "", script: include_str!("page.js") }
    }
}

/// A whole page.
fn shell(page: &Page, body: &Markup) -> String {
    let Page { title, class, style, script } = page;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) (PreEscaped(style)) }
            }
            body class=(class) {
                (body)
                script { (PreEscaped(script)) }
            }
        }
    };
    page.into_string()
}

/// The field that filters rules by their id and text, hidden where no script runs. `more` stands beside it.
fn filter(more: &Markup) -> Markup {
    html! {
        form.filter role="search" hidden {
            label {
                span.hidden { "Filter rules" }
                input type="search" name="words" placeholder="Filter rules  ( / )" autocomplete="off";
            }
            (more)
            output aria-live="polite" {}
        }
    }
}

/// A verdict: a word with the colour of its depth.
fn verdict(verdict: &Verdict) -> Markup {
    let (class, words) = match verdict {
        Verdict::Error(class) => ("error", class.clone()),
        Verdict::Missed(LayerSet::NONE) => ("hit", "hit".to_owned()),
        Verdict::Missed(missed) => match Verdict::WORDS.iter().find(|(_, known)| known == verdict) {
            Some((word, _)) => (*word, (*word).to_owned()),
            None => ("partly", missed.to_string()),
        },
    };
    html! { span class={ "v " (class) } { (words) } }
}

/// A verdict for each call, short: one word, or a letter for each of several calls.
fn short(outcome: &Outcome) -> Markup {
    html! {
        @if let [only] = &outcome.calls[..] {
            (verdict(&only.verdict))
        } @else {
            span.sequence {
                @for call in &outcome.calls { (verdict(&call.verdict)) " " }
            }
        }
        @if outcome.when_missed.is_some() { span.mark title="deeper beside a miss" { "†" } }
        @if outcome.is_stale() { span.mark.stale title="the hit is stale" { "⚠" } }
    }
}

/// What a rule says, in full.
fn full(outcome: Option<&Outcome>) -> Markup {
    html! {
        @match outcome {
            None => span.dim { "not said" },
            Some(outcome) => {
                @for (i, call) in outcome.calls.iter().enumerate() {
                    @if i > 0 { span.dim { " › " } }
                    (verdict(&call.verdict))
                }
                @if let Some(deeper) = &outcome.when_missed { span.dim { ", beside a miss " } (verdict(deeper)) }
                @if outcome.is_stale() { span.stale { " ⚠ stale" } }
            }
        }
    }
}

/// Prose, in which back-quotes mark code.
fn prose(text: &str) -> Markup {
    html! {
        @for (i, part) in text.trim().split('`').enumerate() {
            @if i % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The hazard, the repair and the note of a rule.
fn advice(rule: &Rule) -> Markup {
    html! {
        dl.advice {
            @for (label, class, text) in
                [("Hazard", "hazard", &rule.hazard), ("Fix", "fix", &rule.fix), ("Note", "note", &rule.note)]
            {
                @if let Some(text) = text { dt class=(class) { (label) } dd { (prose(text)) } }
            }
        }
    }
}

/// The simplest case of a rule, and of what it is the case.
fn example(example: &Example, of: &str) -> Markup {
    html! { figure { pre { code { (example.text()) } } figcaption { (of) } } }
}

/// The law in the words of its file, and its sources.
fn statement(rule: &Rule) -> Markup {
    let places = law::places(rule);
    html! {
        details {
            summary { "The law" }
            pre { code { (law::statement(rule).join("\n")) @if !places.is_empty() { "\nin " (places) } } }
        }
        (sources(&rule.sources))
    }
}

fn sources(sources: &[SourceRef]) -> Markup {
    html! {
        ul.sources aria-label="Sources" {
            @for source in sources {
                li {
                    @match law::link(source) {
                        Some(link) => a href=(link) { (source) },
                        None => (source),
                    }
                }
            }
        }
    }
}

/// A text as a part of an id: what would need escaping in a link is a `-`.
fn slug(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "._@:/-".contains(c) { c } else { '-' }).collect()
}
