//! What the files of a spec must keep between them: every position, implementation and case that one names is there.

use std::collections::BTreeSet;

use super::check::{check_shape, check_variables};
use super::load::Loader;
use super::read::{Origin, key, suggestion};
use super::spans::Step;
use super::{CaseFile, Contexts, Profile, Rule, follow, group};

impl Loader {
    /// Checks what can be seen only when everything has been read.
    pub(super) fn check(&mut self, contexts: &Contexts) {
        let known: Vec<&Profile> = self.profiles.iter().map(|(profile, _)| profile).collect();
        for (rule, _) in self.rules.values_mut() {
            group::expand(rule, &known);
            follow::expand(rule, &known);
        }
        let positions: Vec<String> = contexts.positions.keys().cloned().collect();
        for (profile, origin) in self.profiles.clone() {
            for position in profile.positions.iter().filter(|position| !positions.contains(position)) {
                self.errors.at_origin(
                    &origin,
                    &[key("positions")],
                    &profile.profile,
                    format!("there is no position `{position}`"),
                    suggestion(position, &positions),
                );
            }
        }
        for (rule, origin) in self.rules.values().chain(&self.duplicates).cloned().collect::<Vec<_>>() {
            self.check_rule(&rule, &origin, contexts, &positions);
        }
        for (case, origin) in self.cases.values().cloned().collect::<Vec<_>>() {
            self.check_case(&case, &origin);
        }
    }

    fn check_rule(&mut self, rule: &Rule, origin: &Origin, contexts: &Contexts, positions: &[String]) {
        let mut report = |inside: &[Step], reason: String, help: Option<String>| {
            self.errors.at_origin(origin, inside, &rule.id, reason, help);
        };
        for implementation in rule.expect.keys().filter(|name| !self.implementations.contains(name)) {
            report(
                &[key("expect"), key(implementation)],
                format!("there is no implementation `{implementation}`: no profile names it"),
                suggestion(implementation, &self.implementations),
            );
        }
        if rule.expect.is_empty() {
            report(&[key("expect")], "the rule says nothing about any implementation".into(), None);
        }
        for position in rule.places.names().filter(|position| !positions.contains(position)) {
            report(&[key("in")], format!("there is no position `{position}`"), suggestion(position, positions));
        }
        for implementation in rule.expect.keys().filter(|_| rule.pair.is_some()) {
            let of_it = self.profiles.iter().filter(|(profile, _)| profile.profile == *implementation);
            let offered: BTreeSet<&str> =
                of_it.clone().flat_map(|(profile, _)| &profile.positions).map(String::as_str).collect();
            let is_read = of_it.count() > 0;
            if is_read && !rule.places.of(implementation).iter().any(|place| offered.contains(place.as_str())) {
                let offered = offered.into_iter().collect::<Vec<_>>().join(", ");
                report(
                    &[key("in")],
                    format!("none of these positions exists for {implementation}, so the rule says nothing about it"),
                    Some(format!("positions of {implementation}: {offered}")),
                );
            }
        }
        check_shape(rule, &mut report);
        let ambient = |place: &String| contexts.positions.get(place).is_some_and(|spec| spec.ambient);
        check_variables(rule, rule.places.names().any(ambient), &mut report);
        for (name, variable) in &rule.forall {
            if let Err(reason) = variable.check() {
                report(&[key("forall"), key(name.as_str())], reason, None);
            }
        }
    }

    fn check_case(&mut self, case: &CaseFile, origin: &Origin) {
        if !self.implementations.contains(&case.api) {
            self.errors.at_origin(
                origin,
                &[key("api")],
                &case.id,
                format!("there is no implementation `{}`", case.api),
                suggestion(&case.api, &self.implementations),
            );
        }
        if let Some(broken) = case.repairs.as_ref().filter(|broken| !self.cases.contains_key(*broken)) {
            let known: Vec<_> = self.cases.keys().cloned().collect();
            self.errors.at_origin(
                origin,
                &[key("repairs")],
                &case.id,
                format!("there is no case `{broken}`"),
                suggestion(broken, &known),
            );
        }
    }
}
