//! `jitkey check`

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;

use super::campaign::{INTERRUPTED, Pairs, stopped_by_the_user};
use super::{CliError, End, print, style, write};
use crate::case::text;
use crate::check::Shard;
use crate::report::json::Report;
use crate::report::text as page;
use crate::spec::Spec;
use crate::target::TargetName;

/// Check targets against the spec on generated pairs of calls.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// What to check: `jax.jit`, `jax.jit@0.6.2`, `equinox.filter_jit`, `reference`, `cmd:PROGRAM ARGUMENTS`.
    #[arg(required = true, value_name = "TARGET")]
    targets: Vec<String>,
    #[command(flatten)]
    pairs: Pairs,
    /// Only the K-th of N parts, for campaigns over several machines.
    #[arg(long, value_name = "K/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Another report beside the text on the terminal: `json=FILE`.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report)]
    report: Vec<PathBuf>,
    /// Where the findings go, one case file each.
    #[arg(long, value_name = "FOLDER", default_value = "findings")]
    findings: PathBuf,
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((number, of)) if 1 <= number && number <= of => Ok(Shard { number, of }),
        _ => Err("a part is written K/N, from 1/N to N/N".to_owned()),
    }
}

fn report(text: &str) -> Result<PathBuf, String> {
    match text.split_once('=') {
        Some(("json", file)) if !file.is_empty() => Ok(PathBuf::from(file)),
        _ => Err("a report is written FORMAT=FILE, and the format is json".to_owned()),
    }
}

impl Check {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        if self.report.len() > self.targets.len().max(1) {
            return Err(CliError::Usage("there are more reports than targets".to_owned()));
        }
        let names: Vec<TargetName> = self.targets.iter().map(|target| target.parse()).collect::<Result<_, _>>()?;
        let stop = stopped_by_the_user();
        let mut end = End::Well;
        for (i, name) in names.iter().enumerate() {
            let shard = self.shard.unwrap_or(Shard { number: 1, of: 1 });
            let outcome = self.pairs.run(spec, name, self.pairs.seed(), shard, &stop, |about, part| {
                print(&page::header(about, &format!("seed {}", part.seed), style()));
            });
            let (report, seconds) = match outcome {
                // What is told to stop while it is set up says that it failed.
                Err(_) if stop.load(Ordering::Relaxed) => return Ok(End::Program(INTERRUPTED)),
                outcome => outcome?,
            };
            self.show(&report, name, seconds)?;
            if let Some(file) = self.report.get(i) {
                write(file, &report.to_text())?;
            }
            end = end.max(End::of(&report.summary));
            if stop.load(Ordering::Relaxed) {
                return Ok(End::Program(INTERRUPTED));
            }
        }
        Ok(end)
    }

    fn show(&self, report: &Report, name: &TargetName, seconds: f64) -> Result<(), CliError> {
        let summary = &report.summary;
        print(&page::summary(summary, Some(seconds), style()));
        let mut written = Ok(());
        for (i, finding) in summary.findings.iter().enumerate() {
            let file = self.findings.join(finding.file_name(i + 1));
            // A finding is shown even if it can't be written.
            written = written.and(write(&file, &text::to_yaml(&finding.case_file())));
            let python = self.pairs.running.python.as_ref();
            let python = python.map_or(String::new(), |path| format!(" --python {}", path.display()));
            let replay = format!("jitkey replay {} --target '{name}'{python}", file.display());
            print(&format!("\n{}", page::finding(i + 1, finding, Some(&replay), style())));
        }
        for failure in summary.failures.iter().take(5) {
            print(&format!("\ncould not be run: {}\n{}", failure.rules, failure.reason));
        }
        written
    }
}
