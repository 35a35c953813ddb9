//! `jitkey check`

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{CliError, End, Running, print, style};
use crate::case::text;
use crate::check::{Campaign, Shard, Summary};
use crate::generate::Generator;
use crate::report::json::Report;
use crate::report::text as page;
use crate::spec::{Spec, Version, glob};
use crate::target::environment::Progress;
use crate::target::{About, TargetName, open};

/// Check targets against the spec on generated pairs of calls.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// What to check: `jax.jit`, `jax.jit@0.6.2`, `equinox.filter_jit`, `reference`, `cmd:PROGRAM ARGUMENTS`.
    #[arg(required = true, value_name = "TARGET")]
    targets: Vec<String>,
    /// Only rules whose id matches: `weak-type`, `static-hashing/nested-*`.
    #[arg(long, value_name = "GLOB")]
    rules: Vec<String>,
    /// How many pairs.
    #[arg(long, value_name = "N", default_value_t = 10_240, value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
    /// The seed: the same one makes the same pairs. Random if not given, and always printed.
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,
    /// How many processes of the target; as many as there are cores if not given.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Only the K-th of N parts, for campaigns over several machines.
    #[arg(long, value_name = "K/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Trace the functions and never run them: many times as fast, and blind to every layer but `trace`.
    #[arg(long)]
    trace_only: bool,
    /// Another report beside the text on the terminal: `json=FILE`.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report)]
    report: Vec<PathBuf>,
    /// Where the findings go, one case file each.
    #[arg(long, value_name = "FOLDER", default_value = "findings")]
    findings: PathBuf,
    #[command(flatten)]
    running: Running,
}

fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "a seed is a number such as 42 or 0x5eed1".to_owned())
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
        let mut end = End::Well;
        for (i, name) in names.iter().enumerate() {
            let summary = self.target(spec, name, self.report.get(i))?;
            end = match (end, summary.conforms(), summary.failures.is_empty()) {
                (End::Well, true, _) => End::Well,
                (End::NotRun, ..) | (_, false, false) => End::NotRun,
                _ => End::Findings,
            };
            if summary.pairs() == 0 {
                end = End::NotRun;
            }
        }
        Ok(end)
    }

    fn target(&self, spec: &Spec, name: &TargetName, report: Option<&PathBuf>) -> Result<Summary, CliError> {
        let open_one = |quiet: bool| {
            let mut watch = Watch { spinner: if quiet { ProgressBar::hidden() } else { spinner() }, quiet };
            let target = open(spec, name, self.running.python.as_ref(), self.running.limits(), &mut watch);
            watch.spinner.finish_and_clear();
            target
        };
        let first = open_one(false)?;
        let about = first.about().clone();
        let seed = self.seed.unwrap_or_else(random_seed);
        print(&page::header(&about, seed, style()));
        let campaign = self.campaign(spec, &about, seed)?;
        let started = Instant::now();
        let bar = bar(self.pairs);
        let summary = campaign.run(first, &|| open_one(true), &|done| bar.inc(done));
        bar.finish_and_clear();
        let summary = summary?;
        self.show(&summary, &about, name, seed, started.elapsed().as_secs_f64(), report)?;
        Ok(summary)
    }

    fn campaign<'s>(&self, spec: &'s Spec, about: &About, seed: u64) -> Result<Campaign<'s>, CliError> {
        let version: Version =
            about.version.parse().map_err(|_| CliError::Usage(format!("`{}` is no version", about.version)))?;
        let globs: Vec<_> = self
            .rules
            .iter()
            .map(|pattern| {
                glob(pattern).ok_or_else(|| CliError::Usage(format!("`{pattern}` is no pattern of rule ids")))
            })
            .collect::<Result<_, _>>()?;
        let profile =
            spec.profile(&about.implementation, &version).expect("opening a target checks that it has a profile");
        let wanted = |rule: &crate::spec::Rule| globs.is_empty() || globs.iter().any(|glob| glob.is_match(&rule.id));
        let generator = Generator::new(spec, &profile.profile, &version, wanted).expect("there is a profile");
        let (generator, unknown_flags) = generator.with_flags(&about.flags);
        let generator = if self.trace_only { generator.tracing_only() } else { generator };
        if generator.rules().len() == 0 {
            return Err(CliError::Usage(format!(
                "no rule about {} {} matches; `jitkey list rules` shows them",
                about.implementation, about.version
            )));
        }
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok(Campaign {
            spec,
            generator,
            unknown_flags: if globs.is_empty() { unknown_flags } else { Vec::new() },
            profile,
            version: about.version.clone(),
            visible: about.layers,
            seed,
            pairs: self.pairs,
            shard: self.shard.unwrap_or(Shard { number: 1, of: 1 }),
            jobs: self.jobs.map_or(cores, usize::from),
        })
    }

    fn show(
        &self,
        summary: &Summary,
        about: &About,
        name: &TargetName,
        seed: u64,
        seconds: f64,
        report: Option<&PathBuf>,
    ) -> Result<(), CliError> {
        print(&page::summary(summary, seconds, style()));
        let mut written = Ok(());
        for (i, finding) in summary.findings.iter().enumerate() {
            let file = self.findings.join(finding.file_name(i + 1));
            // A finding is shown even if it can't be written.
            written = written.and(write(&file, &text::to_yaml(&finding.case_file())));
            let python =
                self.running.python.as_ref().map_or(String::new(), |path| format!(" --python {}", path.display()));
            let replay = format!("jitkey replay {} --target '{name}'{python}", file.display());
            print(&format!("\n{}", page::finding(i + 1, finding, Some(&replay), style())));
        }
        for failure in summary.failures.iter().take(5) {
            print(&format!("\ncould not be run: {}\n{}", failure.rules, failure.reason));
        }
        if let Some(file) = report {
            write(file, &Report::new(about, seed, summary).to_text())?;
        }
        written
    }
}

pub(super) fn write(file: &Path, content: &str) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::Usage(format!("{} can't be written: {error}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(file, content).map_err(failed)
}

fn random_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    // Short, because people copy it.
    let low = (now / 1000) as u64;
    low & 0xff_ffff
}

/// Shows the set-up of an environment: what matters on a line of its own, the rest on a line that is overwritten.
struct Watch {
    spinner: ProgressBar,
    quiet: bool,
}

impl Progress for Watch {
    fn say(&mut self, line: &str) {
        if !self.quiet {
            self.spinner.suspend(|| eprintln!("{line}"));
        }
    }

    fn detail(&mut self, line: &str) {
        self.spinner.set_message(line.to_owned());
        self.spinner.tick();
    }
}

fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    spinner.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("a literal template"));
    spinner
}

/// A bar on a terminal; elsewhere nothing, since the table follows.
fn bar(pairs: u64) -> ProgressBar {
    let bar = ProgressBar::new(pairs);
    if std::io::stderr().is_terminal() {
        let template = "  {bar:40} {human_pos} of {human_len} pairs  {eta} to go";
        bar.set_style(ProgressStyle::with_template(template).expect("a literal template"));
    } else {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}
