//! What a document says of a rule: its verdicts by version, its simplest pair, and its sources with links.

use super::text::{definitions, steps};
use crate::generate::{Generator, Plan, Source};
use crate::spec::{Outcome, Planting, Rule, SourceRef, Spec, Version};
use crate::target::environment;

/// The repositories that sources name, each at the tag whose files the links show. Paths are those of that tag.
const REPOSITORIES: [(&str, &str, &str); 5] = [
    ("jax", "https://github.com/jax-ml/jax", "jax-v0.11.0"),
    ("equinox", "https://github.com/patrick-kidger/equinox", "v0.13.8"),
    ("optax", "https://github.com/google-deepmind/optax", "v0.2.8"),
    ("numpy", "https://github.com/numpy/numpy", "v2.4.0"),
    ("cpython", "https://github.com/python/cpython", "v3.13.0"),
];

/// Versions in a row at which a rule says the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span<'s> {
    /// The oldest.
    pub from: &'static str,
    /// The newest.
    pub to: &'static str,
    /// What the rule says; `None` if it says nothing.
    pub outcome: Option<&'s Outcome>,
}

impl Span<'_> {
    /// `0.6.2`, or `0.4.30 – 0.6.2`.
    #[must_use]
    pub fn versions(&self) -> String {
        if self.from == self.to { self.from.to_owned() } else { format!("{} – {}", self.from, self.to) }
    }
}

/// What `rule` says of `implementation` at the versions that can be set up, the oldest first.
#[must_use]
pub fn spans<'s>(spec: &Spec, rule: &'s Rule, implementation: &str) -> Vec<Span<'s>> {
    let mut spans: Vec<Span<'s>> = Vec::new();
    for text in environment::versions().into_iter().rev() {
        let Some(version) = text.parse().ok().filter(|version| spec.profile(implementation, version).is_some()) else {
            continue;
        };
        let outcome = rule.expect.get(implementation).and_then(|expectation| expectation.at(&version));
        match spans.last_mut() {
            Some(last) if last.outcome == outcome => last.to = text,
            _ => spans.push(Span { from: text, to: text, outcome }),
        }
    }
    spans
}

/// The simplest case that a rule makes, for one implementation.
#[derive(Debug, Clone)]
pub struct Example {
    /// What stands before the steps.
    pub definitions: Vec<String>,
    /// The steps; a call with the verdict that the rule states for it.
    pub steps: Vec<(String, Option<String>)>,
}

impl Example {
    /// The example of `rule` for `implementation` at `version`; `None` if it says nothing there.
    #[must_use]
    pub fn of(spec: &Spec, rule: &Rule, implementation: &str, version: &Version) -> Option<Self> {
        let profile = spec.profile(implementation, version)?;
        let generator = Generator::new(spec, &profile.profile, version, |other| other.id == rule.id)?;
        let plan = Plan { rules: generator.rules().collect() };
        if plan.rules.is_empty() {
            return None;
        }
        let pair = generator.pair(&plan, &mut Source::playback(Vec::new())).ok()?;
        let verdict = |call: Option<usize>| pair.expected.calls.get(call?).map(ToString::to_string);
        let steps = steps(&pair.case).into_iter().map(|(line, call)| (line, verdict(call))).collect();
        Some(Self { definitions: definitions(&pair.case), steps })
    }

    /// The example for the first implementation that the rule speaks of, at the newest version that has one, and which
    /// implementation and version that is.
    #[must_use]
    pub fn any(spec: &Spec, rule: &Rule) -> Option<(String, Self)> {
        let at =
            |name: &str, text: &str| Some((format!("{name} {text}"), Self::of(spec, rule, name, &text.parse().ok()?)?));
        rule.expect.keys().find_map(|name| environment::versions().into_iter().find_map(|text| at(name, text)))
    }

    /// As text, one line a step, the verdicts in a column of their own.
    #[must_use]
    pub fn text(&self) -> String {
        let width = self.steps.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0).min(72);
        let step = |(line, verdict): &(String, Option<String>)| match verdict {
            Some(verdict) => format!("{line:width$}    {verdict}"),
            None => line.clone(),
        };
        let lines: Vec<_> = self.definitions.iter().cloned().chain(self.steps.iter().map(step)).collect();
        lines.join("\n")
    }
}

/// The law itself, in the words of its file: the metavariables, the classes and objects, and the patterns.
#[must_use]
pub fn statement(rule: &Rule) -> Vec<String> {
    let variables = rule.forall.iter().map(|(name, variable)| format!("for all {name}: {variable}"));
    let classes =
        rule.classes.iter().map(|(name, class)| format!("class {name}: {}", crate::case::text::to_json(class)));
    let objects = rule.objects.iter().map(|(name, pattern)| format!("object {name}: {pattern}"));
    let patterns = rule.pair.iter().flatten().chain(&rule.case).map(ToString::to_string);
    let sequence = rule.sequence.iter().map(|steps| format!("a random program of {steps} steps"));
    variables.chain(classes).chain(objects).chain(patterns).chain(sequence).collect()
}

/// The positions that the pair may be planted in, in words; empty for the rule of a whole case.
#[must_use]
pub fn places(rule: &Rule) -> String {
    let mut places: Vec<&str> = Vec::new();
    for place in rule.places.names() {
        if !places.contains(&place.as_str()) {
            places.push(place);
        }
    }
    let whole = if rule.planting == Planting::WholeArgument { ", the whole argument" } else { "" };
    if places.is_empty() { String::new() } else { format!("{}{whole}", places.join(", ")) }
}

/// Where a source can be read, if its project is known.
#[must_use]
pub fn link(source: &SourceRef) -> Option<String> {
    let (_, repository, tag) = REPOSITORIES.iter().find(|(project, ..)| *project == source.project)?;
    match (&source.file, source.thread) {
        (Some(file), _) => Some(format!("{repository}/blob/{tag}/{file}")),
        (None, Some(thread)) => Some(format!("{repository}/issues/{thread}")),
        (None, None) => None,
    }
}
