//! `jitkey generate`

use clap::Args;

use super::campaign::{seed, wanted};
use super::predict::{profile, version_of};
use super::{CliError, End, print, style};
use crate::case::{Case, text};
use crate::generate::{Generator, Reach, Source};
use crate::report::reach;
use crate::spec::{CaseFile, Outcome, Spec};

/// Print generated pairs as a file of cases, or what a number of them reaches.
#[derive(Debug, Args)]
pub(super) struct Generate {
    /// The implementation, with a version if you like: `jax.jit@0.6.2`.
    #[arg(value_name = "IMPLEMENTATION", default_value = "jax.jit")]
    of: String,
    /// How many.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pairs: usize,
    /// Only rules whose id matches: `weak-type/*`.
    #[arg(long, value_name = "GLOB")]
    rules: Vec<String>,
    /// The seed: the same one makes the same pairs.
    #[arg(long, value_name = "S", default_value = "0x5eed", value_parser = seed)]
    seed: u64,
    /// Print what they reach instead: rules, positions, kinds of values, depths, and what was refused.
    #[arg(long)]
    statistics: bool,
}

impl Generate {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        let (api, version) = match self.of.split_once('@') {
            Some((api, version)) => (api, version.to_owned()),
            None => (self.of.as_str(), version_of(None, &CaseFile::bare(&self.of, Case::default()), spec)),
        };
        let (version, profile) = profile(spec, api, &version, None)?;
        let wanted = wanted(&self.rules)?;
        let generator = Generator::new(spec, &profile.profile, &version, |rule| wanted(&rule.id));
        let generator = generator.expect("there is a profile");
        if generator.rules().len() == 0 {
            return Err(CliError::Usage(format!("no rule about {api} matches; `jitkey list rules` shows them")));
        }
        let mut source = Source::random(self.seed);
        let (mut reached, mut files) = (Reach::default(), Vec::new());
        for index in 0..self.pairs {
            let plan = generator.plan(index, &mut source);
            let drawn = generator.pair(&plan, &mut source);
            reached.count(&plan, &drawn);
            if let (Ok(pair), false) = (drawn, self.statistics) {
                let outcome = Outcome { calls: pair.expected.calls, when_missed: None };
                files.push(CaseFile {
                    id: format!("{}#{}", plan.name(), index + 1),
                    says: plan.rules.iter().map(|rule| rule.says.as_str()).collect::<Vec<_>>().join(" "),
                    version: Some(version.to_string()),
                    expect: (!outcome.calls.is_empty()).then(|| outcome.into()),
                    ..CaseFile::bare(api, pair.case)
                });
            }
        }
        if self.statistics {
            print(&reach::text(&reached, generator.rules().len(), style()));
        } else {
            print(&text::to_yaml(&files));
        }
        Ok(End::Well)
    }
}
