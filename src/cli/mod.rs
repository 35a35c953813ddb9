//! The command line: one file a verb.

mod campaign;
mod check;
mod explain;
mod generate;
mod input;
mod list;
mod matrix;
mod merge;
mod mutants;
mod predict;
mod record;
mod replay;
mod repro;
mod rulebook;
mod schema;
mod show;
mod sweep;

use std::fmt::Display;
use std::fs;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::check::Summary;
use crate::report::merge::MergeError;
use crate::report::text::Style;
use crate::spec::{Diagnostics, Spec, SpecError};
use crate::target::{TargetError, TargetNameError};

/// An executable specification of JIT compile-cache keys, and the suite that checks implementations against it.
///
/// Exit codes: 0 everything agrees, 1 there are findings, 2 the usage or the spec is wrong, 3 a target could not be run, 130 `check`
/// or `matrix` was interrupted.
#[derive(Debug, Parser)]
#[command(name = "jitkey", version, max_term_width = 100)]
struct Cli {
    /// A folder with another spec than the one that is built in.
    #[arg(long, global = true, value_name = "FOLDER")]
    spec: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Check),
    List(list::List),
    Show(show::Show),
    Predict(predict::Predict),
    Replay(replay::Replay),
    Repro(repro::Repro),
    Merge(merge::Merge),
    Matrix(matrix::MatrixOf),
    Rulebook(rulebook::RulebookOf),
    Record(record::Record),
    Explain(explain::Explain),
    Sweep(sweep::SweepOf),
    Mutants(mutants::MutantsOf),
    Generate(generate::Generate),
    Schema(schema::SchemaOf),
}

/// How a target is run.
#[derive(Debug, Args)]
struct Running {
    /// A Python that has the libraries already, instead of a private environment.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Seconds that a target may take to answer, and as many again for each 500 calls of a case that only fill its caches.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
}

impl Running {
    fn limits(&self) -> crate::target::Limits {
        crate::target::Limits { case: std::time::Duration::from_secs(self.timeout), ..Default::default() }
    }
}

/// What went wrong, by exit code.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A case that was given can't be read.
    #[error(transparent)]
    Case(#[from] Diagnostics),
    #[error(transparent)]
    Name(#[from] TargetNameError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// How a verb ended, from good to bad.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Everything agrees.
    Well,
    /// There are findings.
    Findings,
    /// Something could not be run.
    NotRun,
    /// As the program ended that was run.
    Program(u8),
}

impl End {
    fn of(summary: &Summary) -> Self {
        match (summary.conforms(), summary.failures.is_empty()) {
            _ if summary.pairs() == 0 => Self::NotRun,
            (true, _) => Self::Well,
            (false, true) => Self::Findings,
            (false, false) => Self::NotRun,
        }
    }
}

/// Reads the command line and does what it says.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(End::Well) => ExitCode::SUCCESS,
        Ok(End::Findings) => ExitCode::from(1),
        Ok(End::NotRun) => ExitCode::from(3),
        Ok(End::Program(code)) => ExitCode::from(code),
        Err(error) => {
            tell(shown(&error));
            match error {
                CliError::Target(_) => ExitCode::from(3),
                CliError::Usage(_) | CliError::Spec(_) | CliError::Case(_) | CliError::Name(_) | CliError::Merge(_) => {
                    ExitCode::from(2)
                }
            }
        }
    }
}

/// Diagnostics begin with `error:` each; everything else gets it here.
fn shown(error: &CliError) -> String {
    match error {
        CliError::Spec(SpecError::Broken(diagnostics)) => diagnostics.to_string(),
        CliError::Case(Diagnostics(of_one)) => {
            of_one.iter().map(|diagnostic| format!("{diagnostic}\n")).collect::<Vec<_>>().join("\n")
        }
        other => format!("error: {other}"),
    }
}

/// Says of one case among others why it can't be read.
fn refused(error: &CliError) -> End {
    tell(shown(error));
    End::NotRun
}

fn run(cli: &Cli) -> Result<End, CliError> {
    if let Verb::Schema(schema) = &cli.verb {
        return schema.run();
    }
    let spec = match &cli.spec {
        Some(folder) => Spec::from_folder(folder)?,
        None => Spec::embedded(),
    };
    match &cli.verb {
        Verb::Check(check) => check.run(&spec),
        Verb::List(list) => list.run(&spec),
        Verb::Show(show) => show.run(&spec),
        Verb::Predict(predict) => predict.run(&spec),
        Verb::Replay(replay) => replay.run(&spec),
        Verb::Repro(repro) => repro.run(&spec),
        Verb::Merge(merge) => merge.run(),
        Verb::Matrix(matrix) => matrix.run(&spec),
        Verb::Rulebook(rulebook) => rulebook.run(&spec),
        Verb::Record(record) => record.run(&spec),
        Verb::Explain(explain) => explain.run(&spec),
        Verb::Sweep(sweep) => sweep.run(&spec),
        Verb::Mutants(mutants) => mutants.run(&spec),
        Verb::Generate(generate) => generate.run(&spec),
        Verb::Schema(schema) => schema.run(),
    }
}

/// Colours for a terminal, none elsewhere or where `NO_COLOR` is set.
fn style() -> Style {
    let wanted = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted { Style::ANSI } else { Style::PLAIN }
}

/// Prints to stdout; a reader that went away ends the program quietly, as it does other programs.
fn print(text: &str) {
    if let Err(error) = writeln!(std::io::stdout(), "{}", text.trim_end_matches('\n')) {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        tell(shown(&CliError::Usage(format!("stdout can't be written: {error}"))));
        std::process::exit(2);
    }
}

/// Says something on stderr; where nobody can read that, nothing else depends on it.
fn tell(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes a file, and the folders it stands in.
fn write(file: &Path, content: &str) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::Usage(format!("{} can't be written: {error}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(file, content).map_err(failed)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
