//! The page of a recording: what to mend, when which call missed what, and why.
//!
//! What can be said once stands in the page as text; the calls are data that its script draws and looks up, since there can be
//! many thousands.

use std::collections::HashSet;

use maud::{Markup, PreEscaped, html};

use super::calls::{Calls, state};
use super::{Page, prose, shell};
use crate::explain::{Explained, ExplainedCall, Pattern};
use crate::report::explain::{Cost, Totals, beside, compiled_beside, took, unended};
use crate::report::text::grouped;
use crate::report::{counted, plural};

/// How many things to mend are shown at once, and how many calls of each.
const SHOWN: usize = 12;

const PAGE: Page = Page {
    title: "jitkey explain",
    class: "recording",
    style: include_str!("recording.css"),
    script: include_str!("recording.js"),
};

/// The page.
#[must_use]
pub fn page(explained: &Explained) -> String {
    let to_mend = explained.to_mend();
    let body = html! {
        header.top {
            p.brand { "jitkey " (env!("CARGO_PKG_VERSION")) }
            h1 { "Why it recompiled" }
            p.lead { (lead(explained)) }
            @if let Some(says) = compiled_beside(explained) { p.dim { (says) "." } }
            p.dim { (about(explained)) }
            nav aria-label="On this page" {
                a href="#mend" { "What to mend" }
                a href="#calls" { "Calls" }
                a href="#functions" { "Functions" }
            }
        }
        main {
            section #mend { h2 { "What to mend" } (mend(&to_mend)) }
            section #calls { h2 { "Calls" } (calls(explained)) }
            section #functions { h2 { "Functions" } (functions(explained)) }
        }
        script #data type="application/json" { (PreEscaped(embedded(&Calls::of(explained)))) }
    };
    shell(&PAGE, &body)
}

/// JSON that a script element can hold: nothing in it ends the element or a line.
fn embedded(calls: &Calls) -> String {
    let text = crate::case::text::to_json(calls);
    text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn lead(explained: &Explained) -> Markup {
    let totals = Totals::of(explained);
    let functions = explained.calls.iter().map(|call| call.function).collect::<HashSet<_>>().len();
    let less = totals.again - totals.recompiled;
    html! {
        (shown(totals.calls)) @if totals.calls == 1 { " call of " } @else { " calls of " } (counted(functions, "function")) ". "
        strong.{ @if totals.recompiled > 0 { "bad" } @else { "well" } } {
            @if totals.recompiled == 0 { "None compiled again" } @else { (shown(totals.recompiled)) " compiled again" }
        }
        @if let Some(took) = took(explained) { " in " (took) }
        @if less > 0 { ", " (less) " missed something less" }
        "."
        @if totals.otherwise > 0 { " " (counted(totals.otherwise, "call")) " did otherwise than the model says." }
        @if let Some(says) = unended(explained) { " " (says) "." }
        @if totals.unpredicted > 0 { " " (counted(totals.unpredicted, "call")) " can't be predicted." }
    }
}

fn about(explained: &Explained) -> String {
    let said = explained.about.iter().filter_map(|(name, version)| Some(format!("{name} {}", version.as_ref()?)));
    said.collect::<Vec<_>>().join(", ")
}

fn mend(to_mend: &[Pattern]) -> Markup {
    html! {
        @if to_mend.is_empty() { p { "Nothing: no call missed what an earlier one left." } }
        @else {
            ol.mend { @for pattern in to_mend.iter().take(SHOWN) { (to_be_mended(pattern)) } }
            @if to_mend.len() > SHOWN {
                details {
                    summary { (to_mend.len() - SHOWN) " more" }
                    ol.mend { @for pattern in to_mend.iter().skip(SHOWN) { (to_be_mended(pattern)) } }
                }
            }
        }
    }
}

fn to_be_mended(pattern: &Pattern) -> Markup {
    let Cost { count, unit, took } = Cost::of(pattern);
    html! {
        li {
            p.cost {
                b { (count) } " " (plural(count, unit))
                @if let Some(took) = took { ", " (took.replace(' ', "\u{a0}")) }
                (beside(pattern))
            }
            div {
                h3 { (pattern.id) " " span.version { (pattern.name) @if let Some(at) = &pattern.at { ", " (at) } } }
                p { (prose(&pattern.says)) }
                p.fix { (prose(&pattern.fix)) }
                p.where {
                    @for path in pattern.paths.iter().take(SHOWN) { code { (path) } " " }
                    @if pattern.paths.len() > SHOWN { "and " (pattern.paths.len() - SHOWN) " more" }
                }
                p.numbers {
                    span.dim { @if pattern.calls.len() == 1 { "call " } @else { "calls " } }
                    @for number in pattern.calls.iter().take(SHOWN) {
                        button.call type="button" data-call=(number) disabled { (number) } " "
                    }
                    @if pattern.calls.len() > SHOWN { span.dim { "and " (pattern.calls.len() - SHOWN) " more" } }
                    span.rule { (pattern.rule) }
                }
            }
        }
    }
}

/// The states that a call can be in, and what they mean.
const STATES: [(&str, &str); 6] = [
    ("hit", "served at once"),
    ("dispatch", "missed the fast path, nothing was rebuilt"),
    ("compile", "compiled"),
    ("lower", "lowered and compiled"),
    ("trace", "the Python body ran"),
    ("error", "raised"),
];

type Test = fn(&ExplainedCall) -> bool;

/// What is marked of a call beside its state.
const MARKS: [(&str, &str, Test); 3] = [
    ("first", "first of its function", |call| call.first),
    ("doubt", "not predicted, or not so", |call| !call.is_predicted()),
    ("wrong", "a stale hit", |call| call.stale().is_some()),
];

fn calls(explained: &Explained) -> Markup {
    let count = |is: &dyn Fn(&ExplainedCall) -> bool| explained.calls.iter().filter(|call| is(call)).count();
    html! {
        noscript { p { "What each call did is drawn by a script." } }
        div.calls hidden {
            ul.legend aria-label="Legend" {
                @for (i, (word, says)) in STATES.into_iter().enumerate() {
                    @let count = count(&|call| state(call) == word);
                    @if count > 0 {
                        li { button.key type="button" data-state=(i) aria-pressed="false" title=(says) {
                            i.cell.(word) {} (word) " " span.dim { (shown(count)) }
                        } }
                    } @else { li hidden { i.cell.(word) {} } }
                }
                @for (word, says, is) in MARKS {
                    @let count = count(&is);
                    @if count > 0 { li { i.cell.(word) {} (says) " " span.dim { (shown(count)) } } }
                }
            }
            div.timeline {
                canvas tabindex="0" role="slider" aria-label="Calls, in order" aria-valuemin="1"
                    aria-valuemax=(explained.calls.len()) aria-describedby="keys" {}
            }
            form.go {
                button type="button" name="back" { "← miss" }
                button type="button" name="on" { "miss →" }
                label { "call " input type="number" name="number" min="1" max=(explained.calls.len()); }
                output {}
            }
            p #keys .dim { "Arrow keys go from call to call, Page Up and Page Down from miss to miss." }
            article.call aria-label="The call" {}
        }
    }
}

fn functions(explained: &Explained) -> Markup {
    html! {
        div.scroll {
            table.functions {
                thead { tr {
                    th scope="col" { "Function" }
                    @for word in ["calls", "hit", "compiled first", "compiled again", "missed less", "raised"] {
                        th scope="col" { (word) }
                    }
                } }
                tbody {
                    @for (i, calls) in by_function(explained).iter().enumerate() {
                        @let count = |is: &dyn Fn(&ExplainedCall) -> bool| calls.iter().filter(|call| is(call)).count();
                        @let (compiled, raised) = (|call: &ExplainedCall| !["hit", "dispatch", "error"].contains(&state(call)), |call: &ExplainedCall| state(call) == "error");
                        @let again = count(&|call| call.is_again() && compiled(call));
                        tr {
                            th scope="row" {
                                button.function type="button" data-function=(i) aria-pressed="false" disabled { (calls[0].name) }
                                span.says { (calls[0].called) @if let Some(at) = &calls[0].at { ", " (at) } }
                            }
                            (number("calls", calls.len(), ""))
                            (number("hit", count(&|call| state(call) == "hit"), ""))
                            (number("compiled first", count(&|call| call.first && compiled(call)), ""))
                            (number("compiled again", again, "bad"))
                            (number("missed less", count(&|call| state(call) == "dispatch"), ""))
                            (number("raised", count(&raised), "bad"))
                        }
                    }
                }
            }
        }
    }
}

fn shown(count: usize) -> String {
    grouped(count as u64)
}

fn number(of: &str, count: usize, class: &str) -> Markup {
    html! { td data-of=(of) { @if count == 0 { span.dim { "0" } } @else { span class=(class) { (shown(count)) } } } }
}

fn by_function(explained: &Explained) -> Vec<Vec<&ExplainedCall>> {
    let mut functions = indexmap::IndexMap::<_, Vec<_>>::new();
    for call in &explained.calls {
        functions.entry(call.function).or_default().push(call);
    }
    functions.into_values().collect()
}
