//! `jitkey show`

use clap::Args;

use super::{CliError, End, print};
use crate::case::text;
use crate::report::rulebook;
use crate::spec::Spec;

/// Show a rule, a family, a profile or a written case.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The id of a rule or case, or the name of a family or implementation.
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
        } else if spec.implementations().contains(&self.id.as_str()) {
            for profile in spec.profiles.iter().filter(|profile| profile.profile == self.id) {
                print(&rulebook::profile(profile));
            }
        } else {
            let names = spec
                .rules
                .keys()
                .map(String::as_str)
                .chain(spec.families.iter().map(|family| family.name.as_str()))
                .chain(spec.cases.keys().map(String::as_str));
            let near =
                names.max_by(|a, b| strsim::jaro_winkler(&self.id, a).total_cmp(&strsim::jaro_winkler(&self.id, b)));
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(CliError::Usage(format!("there is no rule, family, case or profile `{}`{hint}", self.id)));
        }
        Ok(End::Well)
    }
}
