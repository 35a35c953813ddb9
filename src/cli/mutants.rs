//! `jitkey mutants`

use std::time::Instant;

use clap::Args;

use super::campaign::{seed, spinner, wanted};
use super::{CliError, End, print, style};
use crate::check::{Fate, Hunt, hunt};
use crate::report::mutants::text;
use crate::spec::{Mutant, Spec, Version};

/// Hunt the mutants of the spec: models with a defect, each of which pairs that the rules make have to find.
#[derive(Debug, Args)]
pub(super) struct MutantsOf {
    /// Only mutants whose id matches: `weak-type/*`.
    #[arg(value_name = "GLOB")]
    ids: Vec<String>,
    /// Instead of the named mutants, those that each lack one entry of this implementation's profile: of the newest one, or of that
    /// at a version (`jax.jit@0.6.2`).
    #[arg(long, value_name = "IMPLEMENTATION")]
    entries: Option<String>,
    /// How many pairs a mutant is given to survive.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
    /// The seed: the same one makes the same pairs.
    #[arg(long, value_name = "S", default_value = "0x5eed", value_parser = seed)]
    seed: u64,
}

/// How many pairs show that the unmutated model gives no finding.
const CONTROL: u64 = 10_240;

impl MutantsOf {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        let wanted = wanted(&self.ids)?;
        let entries = self.entries.as_deref().map(|of| entries(spec, of)).transpose()?;
        let (version, mutants) =
            entries.as_ref().map_or((None, &spec.mutants), |(version, mutants)| (version.as_ref(), mutants));
        let mutants = mutants.iter();
        let mutants: Vec<_> = mutants.filter(|mutant| wanted(&mutant.id)).collect();
        if mutants.is_empty() {
            let ids = if entries.is_some() { "without patterns all are tried" } else { "spec/mutants.yaml has them" };
            return Err(CliError::Usage(format!("no mutant matches; {ids}")));
        }
        let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let started = Instant::now();
        let watch = spinner();
        watch.set_message(format!("hunting {} mutants", mutants.len()));
        watch.enable_steady_tick(std::time::Duration::from_millis(100));
        let fates = hunt(spec, &mutants, Hunt { version, seed: self.seed, most: self.pairs, control: CONTROL, jobs });
        watch.finish_and_clear();
        let fates = fates.map_err(CliError::Usage)?;
        print(&text(&fates, Some(started.elapsed().as_secs_f64()), style()));
        let well = fates.fates.iter().all(Fate::is_settled) && fates.control_differs.is_empty();
        Ok(if well { End::Well } else { End::Findings })
    }
}

/// The mutants that each lack one entry of a profile, and its version if `of` names one: `jax.jit@0.6.2`.
fn entries(spec: &Spec, of: &str) -> Result<(Option<Version>, Vec<Mutant>), CliError> {
    let (implementation, version) = of.split_once('@').map_or((of, None), |(name, version)| (name, Some(version)));
    let version = version.map(str::parse::<Version>).transpose().map_err(|error| CliError::Usage(error.to_string()))?;
    let profile = spec.profile_or_newest(implementation, version.as_ref());
    let profile = profile.ok_or_else(|| {
        let known = match spec.versions_of(implementation) {
            versions if !versions.is_empty() => versions,
            _ => spec.implementations().join(", "),
        };
        CliError::Usage(format!("there is no profile of `{of}`; there are those of {known}"))
    })?;
    Ok((version, Mutant::of_entries(profile).map_err(CliError::Usage)?))
}
