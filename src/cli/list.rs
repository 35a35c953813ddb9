//! `jitkey list`

use clap::{Args, ValueEnum};

use super::{CliError, End, print};
use crate::spec::Spec;
use crate::target::TargetName;

/// List what the spec has, or which targets are known.
#[derive(Debug, Args)]
pub(super) struct List {
    /// What to list.
    what: What,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    Rules,
    Profiles,
    Targets,
    Cases,
}

impl List {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        match self.what {
            What::Rules => {
                for family in &spec.families {
                    let rules: Vec<_> = spec.rules.values().filter(|rule| rule.family() == family.name).collect();
                    let count = if rules.len() == 1 { "rule" } else { "rules" };
                    print(&format!("{} ({} {count})", family.name, rules.len()));
                    for rule in rules {
                        print(&format!("  {:<40}  {}", rule.id, rule.says));
                    }
                }
                print(&format!("{} rules", spec.rules.len()));
            }
            What::Profiles => {
                for profile in &spec.profiles {
                    print(&format!("{:<20}  {:<12}  {}", profile.profile, profile.versions.to_string(), profile.about));
                }
            }
            What::Targets => {
                print(&format!(
                    "{:<22}  the reference model; `reference:IMPLEMENTATION@VERSION` for another profile",
                    "reference"
                ));
                TargetName::known(spec).iter().for_each(|name| print(&name.to_string()));
                print(&format!(
                    "{:<22}  a program that speaks the protocol; see `jitkey schema protocol`",
                    "cmd:PROGRAM ARGUMENTS"
                ));
            }
            What::Cases => {
                for case in spec.cases.values() {
                    print(&format!("{:<44}  {}", case.id, case.says));
                }
            }
        }
        Ok(End::Well)
    }
}
