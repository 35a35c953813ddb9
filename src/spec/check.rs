//! What a rule must keep beyond its types: its parts fit each other, its metavariables are declared and used, and its
//! patterns give values when they are filled in.

use super::read::{key, suggestion, with_suggestion};
use super::spans::Step;
use super::{Bindings, Expectation, Metavariable, Outcome, Pattern, Places, Rule, Tree};
use crate::case::{Call, Case, Context, Name, Value};

/// Whether the parts of a rule fit each other.
pub(super) fn check_shape(rule: &Rule, report: &mut impl FnMut(&[Step], String, Option<String>)) {
    if rule.sequence.is_some() {
        let is_predicted = rule.expect.values().flat_map(Expectation::by_version).all(|(_, it)| it.is_predicted());
        if rule.pair.is_some() || rule.case.is_some() || rule.places != Places::None || !is_predicted {
            let reason = "a `sequence` stands alone, and its verdicts are `predicted`";
            report(&[key("sequence")], reason.into(), None);
        }
        return;
    }
    match (&rule.pair, &rule.case, &rule.places) {
        (Some(_), Some(_), _) => {
            report(&[key("case")], "a rule has either a `pair` or a `case`, not both".into(), None)
        }
        (None, None, _) => {
            report(&[], "a rule has a `pair` of patterns, or the pattern of a whole `case`".into(), None)
        }
        (Some(_), None, Places::None) => report(
            &[key("pair")],
            "the rule doesn't say where its pair may be planted".into(),
            Some("add `in:` with positions of contexts.yaml, such as `in: dynamic`".into()),
        ),
        (None, Some(_), Places::All(_) | Places::By(_)) => {
            report(&[key("in")], "a whole `case` is planted nowhere: `in` belongs to a `pair`".into(), None);
        }
        _ => {}
    }
    for (implementation, expectation) in &rule.expect {
        for (_, outcome) in expectation.by_version() {
            if rule.pair.is_some() && outcome.calls.len() > 2 {
                report(
                    &[key("expect"), key(implementation)],
                    "a pair has two calls, and here are more verdicts".into(),
                    None,
                );
            }
            let speaks_of_neighbours = outcome.when_missed.is_some() && rule.pair.is_none();
            if speaks_of_neighbours {
                report(
                    &[key("expect"), key(implementation)],
                    "`when_missed` speaks of what stands beside a pair, and a case has nothing beside it".into(),
                    None,
                );
            }
        }
    }
}

/// Every metavariable is declared, and used; and each pattern gives a value when filled in, or a context.
pub(super) fn check_variables(rule: &Rule, is_ambient: bool, report: &mut impl FnMut(&[Step], String, Option<String>)) {
    let used: Vec<&Name> = rule.patterns().flat_map(Pattern::variables).collect();
    let declared: Vec<String> = rule.forall.keys().map(Name::to_string).collect();
    let place = if rule.pair.is_some() { "pair" } else { "case" };
    for name in &used {
        if !rule.forall.contains_key(*name) {
            report(
                &[key(place)],
                format!("metavariable `{name}` is not declared under `forall`"),
                suggestion(name.as_str(), &declared),
            );
            return;
        }
    }
    for name in rule.forall.keys() {
        let asked = rule.forall.values().any(|other| other.not.0.contains(name));
        if !used.contains(&name) && !asked {
            report(
                &[key("forall"), key(name.as_str())],
                format!("metavariable `{name}` is declared and never used"),
                Some(format!("use it in a pattern as `${{{name}}}`, or take it out")),
            );
        }
    }
    for (which, bindings) in specimens(rule) {
        let wrong = wrong_if_filled(rule, is_ambient, &bindings);
        let is_wrong = !wrong.is_empty();
        for (path, reason) in wrong {
            let (reason, help) = with_suggestion(reason);
            report(&path, format!("{which}{reason}"), help);
        }
        if is_wrong {
            return;
        }
    }
}

/// Values for all metavariables: a specimen of each; then, one metavariable after the other, each other value of those that
/// are listed, and in words which that is.
fn specimens(rule: &Rule) -> impl Iterator<Item = (String, Bindings)> {
    let first: Bindings = rule.forall.iter().map(|(name, variable)| (name.clone(), variable.specimen())).collect();
    let others = first.clone();
    let others = rule.forall.iter().enumerate().flat_map(move |(i, (name, variable))| {
        let others = others.clone();
        variable.one_of.iter().flatten().skip(1).filter_map(move |value| {
            let mut bindings = others.clone();
            bindings[i].1 = value.clone();
            let shown = Pattern::parse(value).map_or(String::new(), |pattern| format!(" = {pattern}"));
            are_distinct(rule, &bindings).then(|| (format!("with {name}{shown}: "), bindings))
        })
    });
    std::iter::once((String::new(), first)).chain(others)
}

/// Whether those differ that must.
fn are_distinct(rule: &Rule, bindings: &Bindings) -> bool {
    rule.forall.iter().zip(bindings).all(|((_, variable), (_, value))| {
        bindings.iter().all(|(name, other)| !variable.not.0.contains(name) || other != value)
    })
}

/// Which patterns of a rule, filled in so, are no values or contexts, or no case with as many calls as there are verdicts.
fn wrong_if_filled(rule: &Rule, is_ambient: bool, bindings: &Bindings) -> Vec<(Vec<Step>, String)> {
    let mut wrong = Vec::new();
    let objects = rule.objects.iter().map(|(name, pattern)| (vec![key("objects"), key(name.as_str())], pattern));
    let sides = rule.pair.iter().flatten().enumerate();
    let sides = sides.map(|(i, pattern)| (vec![key("pair"), Step::Index(i)], pattern));
    for (path, pattern) in objects.chain(sides) {
        let filled = if is_ambient && path[0] == key("pair") {
            pattern.fill::<Context>(bindings).map(|_| Value::None)
        } else {
            pattern.fill::<Value>(bindings)
        };
        let outcome = filled.map_err(|error| error.to_string());
        let outcome = outcome.and_then(|value| in_a_case(rule, value).validate().map_err(|error| error.to_string()));
        wrong.extend(outcome.err().map(|reason| (path, reason)));
    }
    let Some(pattern) = &rule.case else { return wrong };
    let case = pattern.fill::<Case>(bindings).map_err(|error| error.to_string());
    match case.and_then(|case| case.validate().map(|()| case).map_err(|error| error.to_string())) {
        Err(reason) => wrong.push((vec![key("case")], reason)),
        Ok(case) => {
            let calls = case.calls().count();
            let fits = |outcome: &Outcome| outcome.is_predicted() || outcome.calls.len() == calls;
            let other = rule.expect.iter().filter(|(_, it)| !it.by_version().all(|(_, outcome)| fits(outcome)));
            wrong.extend(other.map(|(implementation, _)| {
                let path = vec![key("expect"), key(implementation)];
                (path, format!("the case has {calls} calls: give a list of {calls} verdicts"))
            }));
        }
    }
    wrong
}

/// A case that does nothing but mention `value`, with the classes and the names of the objects of `rule`.
fn in_a_case(rule: &Rule, value: Value) -> Case {
    let call = Call { args: vec![value], ..Call::default() };
    Case {
        classes: rule.classes.clone(),
        objects: rule.objects.keys().map(|name| (name.clone(), Value::None)).collect(),
        // Whether there are enough devices is seen when a case is generated.
        devices: u32::MAX,
        steps: vec![crate::case::Step::Call(call)],
        ..Case::default()
    }
}

impl Metavariable {
    /// The domains that are given.
    fn domains(&self) -> usize {
        let Self { dtype, shape, int, float, name, one_of, tree, siblings, items, flag, not: _ } = self;
        [
            dtype.is_some(),
            shape.is_some(),
            int.is_some(),
            float.is_some(),
            name.is_some(),
            one_of.is_some(),
            tree.is_some(),
            siblings.is_some(),
            items.is_some(),
            flag.is_some(),
        ]
        .into_iter()
        .filter(|given| *given)
        .count()
    }

    /// Whether it ranges over exactly one thing.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.domains() {
            1 if self.one_of.as_ref().is_some_and(Vec::is_empty) => Err("`one_of` has no values".into()),
            1 => Ok(()),
            0 => Err(
                "a metavariable says what it ranges over: `dtype`, `shape`, `int`, `float`, `name`, `one_of`, `tree` or `flag`"
                    .into(),
            ),
            _ => Err("a metavariable ranges over one thing, and here are several".into()),
        }
    }

    /// A value that it can stand for, to try a pattern with.
    fn specimen(&self) -> Tree {
        let text = |text: &str| Tree::from(text);
        if self.dtype.is_some() {
            text("f32")
        } else if self.shape.is_some() {
            text("2,3")
        } else if let Some(range) = self.int {
            range.min.into()
        } else if self.float.is_some() {
            0.5.into()
        } else if self.name.is_some() {
            text("a")
        } else if let Some(values) = &self.one_of {
            values.first().cloned().unwrap_or(Tree::Null)
        } else if self.tree.is_some() {
            text("f32[]")
        } else if let Some(range) = self.siblings {
            Tree::sequence((0..range.min).map(|_| text("f32[]")))
        } else if let Some(range) = self.items {
            let item = |i| Tree::sequence([Tree::from(i), text("f32[]")]);
            Tree::sequence((0..range.min).map(item))
        } else if self.flag.is_some() {
            Tree::mapping([(text("jax_some_flag"), Tree::Bool(true))])
        } else {
            Tree::Null
        }
    }
}
