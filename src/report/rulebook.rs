//! The spec for people: a page for each family, rule by rule.

use std::fmt::Write;

use super::law;
use crate::spec::{Expectation, Profile, Rule, Spec};

/// What the profiles are.
pub const PROFILES: &str = "How each implementation builds its keys: the tables that a call consults, in their order, \
                            and what each compares.";

/// What the whole document says of itself.
#[must_use]
pub fn lead(spec: &Spec) -> String {
    let stale =
        |rule: &&Rule| rule.expect.values().any(|said| said.by_version().any(|(_, outcome)| outcome.is_stale()));
    format!(
        "{} laws of what is in the cache key of a jitted function, {} of them hazards: hits that are stale. A verdict \
         says how deep a call had to go: `hit`, `dispatch` (the fast path missed, nothing was rebuilt), `compile`, \
         `lower`, `trace` (the Python body ran again and all below followed), or an error.",
        spec.rules.len(),
        spec.rules.values().filter(stale).count()
    )
}

/// The page of a family; `None` if there is no such family.
#[must_use]
pub fn family(spec: &Spec, name: &str) -> Option<String> {
    let family = spec.families.iter().find(|family| family.name == name)?;
    let mut page = format!("{}\n{}\n\n{}\n", family.name, "=".repeat(family.name.len()), wrapped(&family.about, ""));
    for rule in spec.rules.values().filter(|rule| rule.family() == name) {
        page.push('\n');
        page.push_str(&self::rule(spec, rule));
    }
    Some(page)
}

/// A rule in full.
#[must_use]
pub fn rule(spec: &Spec, rule: &Rule) -> String {
    let mut page = format!("{}\n{}\n", rule.id, wrapped(&rule.says, "  "));
    for line in law::statement(rule) {
        let line = if line.starts_with("for all") { wrapped(&line, "    ") } else { format!("    {line}") };
        page.push_str(&line);
        page.push('\n');
    }
    let places = law::places(rule);
    if !places.is_empty() {
        let _ = writeln!(page, "  in {places}");
    }
    // Loops of which the same is said share a line, and so do those that follow an implementation with it.
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for (implementation, expectation) in &rule.expect {
        let statements = statements(spec, implementation, expectation);
        let profile = spec.profiles.iter().find(|profile| profile.profile == *implementation);
        let followed = profile.and_then(|profile| profile.follows.as_deref());
        let shared = |names: &String| names.starts_with("lax.") || followed == Some(names);
        match said.iter_mut().find(|(names, same)| *same == statements && shared(names)) {
            Some((names, _)) => {
                names.push_str(", ");
                names.push_str(implementation);
            }
            _ => said.push((implementation.clone(), statements)),
        }
    }
    for (names, statements) in said {
        for statement in statements {
            let _ = writeln!(page, "  {names}{statement}");
        }
    }
    for (label, text) in [("hazard", &rule.hazard), ("fix", &rule.fix), ("note", &rule.note)] {
        if let Some(text) = text {
            page.push_str(&wrapped(&format!("{label}: {text}"), "  "));
            page.push('\n');
        }
    }
    for source in &rule.sources {
        let _ = writeln!(page, "  source: {source}");
    }
    page
}

/// What is expected of an implementation, version by version.
fn statements(spec: &Spec, implementation: &str, expectation: &Expectation) -> Vec<String> {
    let mut statements = Vec::new();
    for (requirement, outcome) in expectation.by_version() {
        let versions = requirement.to_string();
        let at = if versions == "*" { String::new() } else { format!(" {versions}") };
        statements.push(format!("{at}: {outcome}"));
    }
    let unsaid = unsaid(spec, implementation, |version| expectation.at(version).is_some());
    if !unsaid.is_empty() {
        statements.push(format!(" {}: not said", unsaid.join(", ")));
    }
    statements
}

/// The versions that can be set up, at which a rule says nothing.
fn unsaid(spec: &Spec, implementation: &str, says: impl Fn(&crate::spec::Version) -> bool) -> Vec<&'static str> {
    crate::target::environment::versions()
        .into_iter()
        .filter(|text| {
            text.parse().is_ok_and(|version| spec.profile(implementation, &version).is_some() && !says(&version))
        })
        .collect()
}

/// A profile, as its file says it.
#[must_use]
pub fn profile(profile: &Profile) -> String {
    let mut page = format!("{} {}\n{}\n", profile.profile, profile.versions, wrapped(&profile.about, "  "));
    if let Some(followed) = &profile.follows {
        let _ = writeln!(page, "  follows: {followed}, whose rules hold here as well where they don't name it");
    }
    let _ = writeln!(page, "  positions: {}", profile.positions.join(", "));
    for table in &profile.tables {
        let _ = writeln!(page, "  table {:?}", table.table);
    }
    for source in &profile.sources {
        let _ = writeln!(page, "  source: {source}");
    }
    page
}

/// `text` in lines of at most 100 characters.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a line");
        if last.chars().count() + word.chars().count() >= 100 {
            lines.push(format!("{indent}{word}"));
        } else {
            if last.len() > indent.len() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines.join("\n")
}
