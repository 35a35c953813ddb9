//! A campaign on one target, with its progress: what `check` and `matrix` run.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{CliError, Running};
use crate::check::{Campaign, Hazards, Shard};
use crate::generate::Generator;
use crate::report::json::{Part, Report};
use crate::spec::{Spec, glob};
use crate::target::environment::Progress;
use crate::target::{About, TargetName, open};

/// Which pairs, and how they are run.
#[derive(Debug, Args)]
pub(super) struct Pairs {
    /// Only rules whose id matches: `weak-type`, `static-hashing/nested-*`.
    #[arg(long, value_name = "GLOB")]
    pub rules: Vec<String>,
    /// How many pairs for each target.
    #[arg(long, value_name = "N", default_value_t = 10_240, value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
    /// The seed: the same one makes the same pairs. Random if not given, and always printed.
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,
    /// How many processes of the target; as many as there are cores if not given.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Trace the functions and never run them: many times as fast, and blind to every layer but `trace`.
    #[arg(long)]
    trace_only: bool,
    #[command(flatten)]
    pub running: Running,
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "a seed is a number such as 42 or 0x5eed1".to_owned())
}

/// Whether an id is one of those asked for: all, if none is.
pub(super) fn wanted(patterns: &[String]) -> Result<impl Fn(&str) -> bool + use<>, CliError> {
    let of =
        |pattern: &String| glob(pattern).ok_or_else(|| CliError::Usage(format!("`{pattern}` is no pattern of ids")));
    let globs: Vec<_> = patterns.iter().map(of).collect::<Result<_, _>>()?;
    Ok(move |id: &str| globs.is_empty() || globs.iter().any(|glob| glob.is_match(id)))
}

/// What a shell makes of a command that was interrupted.
pub(super) const INTERRUPTED: u8 = 130;

/// Is true once the user asked for the end, with what there is by then; asked again, all ends at once.
pub(super) fn stopped_by_the_user() -> Arc<AtomicBool> {
    let stop = Arc::<AtomicBool>::default();
    let asked = Arc::clone(&stop);
    // Where there can be no handler, the first time ends all.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    });
    stop
}

impl Pairs {
    /// The seed that was given, or one made of the time.
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(random_seed)
    }

    /// Runs a campaign, or a shard of it, on the target. `begun` hears what the target is before the first pair; `stop` ends it
    /// before the last. The report, and how many seconds it took.
    pub(super) fn run(
        &self,
        spec: &Spec,
        name: &TargetName,
        seed: u64,
        shard: Shard,
        stop: &Arc<AtomicBool>,
        begun: impl FnOnce(&About, &Part),
    ) -> Result<(Report, f64), CliError> {
        let open_one = |quiet: bool| {
            let mut watch = Watch { spinner: if quiet { ProgressBar::hidden() } else { spinner() }, quiet };
            let target = open(spec, name, self.running.python.as_ref(), self.running.limits(), &mut watch);
            watch.spinner.finish_and_clear();
            target
        };
        let first = open_one(false)?;
        let about = first.about().clone();
        let part = Part { trace_only: self.trace_only, ..Part::new(seed, self.pairs, self.rules.clone(), shard) };
        begun(&about, &part);
        let campaign = Campaign { stop: Arc::clone(stop), ..self.campaign(spec, &about, seed, shard)? };
        let started = Instant::now();
        let bar = bar(self.pairs);
        let summary = campaign.run(first, &|| open_one(true), &|done| bar.inc(done));
        bar.finish_and_clear();
        let asked = name.at(&about.version).to_string();
        Ok((Report::new(asked, about, &spec.fingerprint, part, summary?), started.elapsed().as_secs_f64()))
    }

    fn campaign<'s>(&self, spec: &'s Spec, about: &About, seed: u64, shard: Shard) -> Result<Campaign<'s>, CliError> {
        let no_version = || CliError::Usage(format!("`{}` is no version", about.version));
        let version = about.runs().ok_or_else(no_version)?;
        let profile =
            spec.profile(&about.implementation, &version).expect("opening a target checks that it has a profile");
        let wanted = wanted(&self.rules)?;
        let generator = Generator::new(spec, &profile.profile, &version, |rule| wanted(&rule.id));
        let generator = generator.expect("there is a profile");
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
            unknown_flags: if self.rules.is_empty() { unknown_flags } else { Vec::new() },
            hazards: Hazards::default(),
            profile,
            version: version.to_string(),
            visible: about.layers,
            seed,
            pairs: self.pairs,
            shard,
            jobs: self.jobs.map_or(cores, usize::from),
            stop: Arc::default(),
        })
    }
}

fn random_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    // Short, because people copy it.
    let low = (now / 1000) as u64;
    low & 0xff_ffff
}

/// Shows the set-up of an environment: what matters on a line of its own, the rest on a line that is overwritten.
pub(super) struct Watch {
    pub spinner: ProgressBar,
    pub quiet: bool,
}

impl Progress for Watch {
    fn say(&mut self, line: &str) {
        if !self.quiet {
            self.spinner.suspend(|| super::tell(line));
        }
    }

    fn detail(&mut self, line: &str) {
        self.spinner.set_message(line.to_owned());
        self.spinner.tick();
    }
}

/// Where a line is overwritten.
pub(super) fn spinner() -> ProgressBar {
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
