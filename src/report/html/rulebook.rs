//! The page of the rulebook.

use maud::{Markup, html};

use super::{Page, advice, example, filter, full, prose, shell, slug, sources, statement};
use crate::report::law::{Example, spans};
use crate::report::{profile, rulebook};
use crate::spec::{Profile, Rule, Spec};

/// The page.
#[must_use]
pub fn page(spec: &Spec) -> String {
    let rules = |family: &str| spec.rules.values().filter(move |rule| rule.family() == family).collect::<Vec<_>>();
    let body = html! {
        header.top {
            p.brand { "jitkey " (env!("CARGO_PKG_VERSION")) }
            h1 { "The rulebook" }
            p.lead { (prose(&rulebook::lead(spec))) }
        }
        div.book {
            nav.contents aria-label="Contents" {
                (filter(&html! {}))
                ol {
                    @for family in &spec.families {
                        li {
                            a href={ "#family:" (family.name) } { (family.name) } " "
                            span.dim { (rules(&family.name).len()) }
                        }
                    }
                    li { a href="#profiles" { "profiles" } " " span.dim { (spec.profiles.len()) } }
                }
            }
            main {
                @for family in &spec.families {
                    section.family id={ "family:" (family.name) } {
                        h2 { (family.name) }
                        p.about { (prose(&family.about)) }
                        @for rule in rules(&family.name) { (law(spec, rule)) }
                    }
                }
                section #profiles {
                    h2 { "profiles" }
                    p.about { (rulebook::PROFILES) }
                    @for profile in &spec.profiles { (built(profile)) }
                }
            }
        }
    };
    shell(&Page::of_rules("jitkey rulebook", "rulebook"), &body)
}

fn law(spec: &Spec, rule: &Rule) -> Markup {
    let id = slug(&rule.id);
    html! {
        article.rule id=(id) {
            h3 { a.self href={ "#" (id) } { (rule.id) } }
            p.says { (prose(&rule.says)) }
            dl.verdicts {
                @for name in rule.expect.keys() {
                    dt { (name) }
                    dd {
                        @for span in spans(spec, rule, name) {
                            span.span { span.versions { (span.versions()) } " " (full(span.outcome)) }
                        }
                    }
                }
            }
            @if let Some((of, case)) = Example::any(spec, rule) { (example(&case, &of)) }
            (advice(rule))
            (statement(rule))
        }
    }
}

fn built(built: &Profile) -> Markup {
    html! {
        article.profile id={ "profile:" (slug(&format!("{}@{}", built.profile, built.versions))) } {
            h3 { (built.profile) " " span.version { (built.versions) } }
            p { (prose(&built.about)) }
            dl.tables {
                @for table in &built.tables {
                    dt { (profile::word(&table.table)) }
                    dd { @for (part, how) in profile::compared(table) { p { b { (part) } " " (how) } } }
                }
            }
            details {
                summary { "Leaves" }
                dl.tables { @for (kinds, role) in profile::leaves(built) { dt { (kinds) } dd { p { (role) } } } }
            }
            (sources(&built.sources))
        }
    }
}
