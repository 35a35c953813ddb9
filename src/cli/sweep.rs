//! `jitkey sweep`

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};

use super::campaign::{Watch, spinner};
use super::{CliError, End, print, style, write};
use crate::case::text;
use crate::check::{Line, Sweep};
use crate::report::sweep as page;
use crate::spec::Spec;
use crate::target::TargetError;
use crate::target::environment::{self, Progress};

/// Feed states back to a jitted step, and say which reach no fixed point, where, and why.
///
/// Everything in the library that has a state is made with parameters and gradients of many kinds and run for four steps.
/// What each call really missed is compared with what the model predicts from the arguments that were recorded.
#[derive(Debug, Args)]
pub(super) struct SweepOf {
    /// The library.
    library: SweepLibrary,
    /// Only what a pattern matches, in whole or after the last dot: `optax.contrib.*`, `adam`.
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
    /// The version of jax below it; the newest that this machine can run if not given.
    #[arg(long, value_name = "VERSION", conflicts_with = "python")]
    jax: Option<String>,
    /// A Python that has the libraries already, instead of a private environment.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Write the table as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write every row as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SweepLibrary {
    /// Every public transformation of optax and optax.contrib.
    Optax,
    /// The layers of equinox.nn that have a state.
    Equinox,
    /// The train state and the optimizers of flax.
    Flax,
}

impl SweepOf {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        let mut watch = Watch { spinner: spinner(), quiet: false };
        let sweep = self.sweep(spec, &mut watch);
        watch.spinner.finish_and_clear();
        let sweep = sweep?;
        if sweep.rows.is_empty() {
            return Err(CliError::Usage(format!("nothing in it matches {}", self.only.join(" or "))));
        }
        if let Some(file) = &self.markdown {
            write(file, &page::page(&sweep))?;
        }
        if let Some(file) = &self.json {
            write(file, &text::to_json(&sweep))?;
        }
        print(&page::text(&sweep, style()));
        Ok(if sweep.agrees() { End::Well } else { End::Findings })
    }

    fn sweep(&self, spec: &Spec, watch: &mut Watch) -> Result<Sweep, CliError> {
        let library = self.library.to_possible_value().expect("every library has a name");
        let (words, env) =
            environment::module("jitkey.sweep", "jax.jit", self.jax.as_deref(), self.python.as_ref(), watch)
                .map_err(TargetError::from)?;
        let command = words.join(" ");
        let start = |error: std::io::Error| TargetError::Start { command: command.clone(), reason: error.to_string() };
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .arg(library.get_name())
            .args(&self.only)
            .envs(env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(start)?;
        let mut sweep = Sweep::default();
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        for line in lines.map_while(Result::ok) {
            let read = text::from_json::<Line>(&line).map_err(|error| error.to_string());
            let added = read.and_then(|line| sweep.add(line, spec));
            added.map_err(|reason| TargetError::Sweep { command: command.clone(), reason })?;
            if let Some(row) = sweep.rows.last() {
                watch.detail(&format!("{}: {}", row.subject, row.input));
            }
        }
        let status = child.wait().map_err(start)?;
        if status.success() {
            Ok(sweep)
        } else {
            Err(TargetError::Sweep { command, reason: status.to_string() }.into())
        }
    }
}
