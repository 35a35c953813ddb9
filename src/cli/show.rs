//! `jitkey show`

use clap::Args;

use super::{CliError, End, print};
use crate::case::text;
use crate::report::rulebook;
use crate::spec::{Profile, Spec, nearest};

/// Show a rule, a family, a profile or a written case.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The id of a rule or case, or the name of a family or implementation, with a version if you like (`jax.jit@0.6.2`).
    id: String,
}

impl Show {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        if let Some(rule) = spec.rules.get(&self.id) {
            print(&rulebook::rule(spec, rule));
        } else if let Some(page) = rulebook::family(spec, &self.id) {
            print(&page);
        } else if let Some(case) = spec.cases.get(&self.id) {
            print(&text::to_yaml(case));
        } else if let Some(profiles) = self.profiles(spec) {
            profiles.iter().for_each(|profile| print(&rulebook::profile(profile)));
        } else {
            let names = spec
                .rules
                .keys()
                .map(String::as_str)
                .chain(spec.families.iter().map(|family| family.name.as_str()))
                .chain(spec.cases.keys().map(String::as_str))
                .chain(spec.implementations());
            let near = nearest(&self.id, names);
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(CliError::Usage(format!("there is no rule, family, case or profile `{}`{hint}", self.id)));
        }
        Ok(End::Well)
    }

    /// Those of an implementation, or the one of a version of it, as a target is asked for: `jax.jit@0.6.2`.
    fn profiles<'s>(&self, spec: &'s Spec) -> Option<Vec<&'s Profile>> {
        let Some((name, version)) = self.id.split_once('@') else {
            let found: Vec<_> = spec.profiles.iter().filter(|profile| profile.profile == self.id).collect();
            return Some(found).filter(|found| !found.is_empty());
        };
        Some(vec![spec.profile(name, &version.parse().ok()?)?])
    }
}
