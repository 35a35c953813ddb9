//! `jitkey record`

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use super::{CliError, End};
use crate::report::quoted;
use crate::spec::Spec;
use crate::target::TargetError;
use crate::target::environment;

/// What the Python package exits with where there is no jax.
const NO_JAX: i32 = 3;

/// Run a Python program and record its jitted calls.
///
/// The program is run by its own Python, which needs jax and nothing of jitkey; nothing of it is changed. What was recorded
/// is explained by `jitkey explain`.
#[derive(Debug, Args)]
pub(super) struct Record {
    /// Where the recording goes.
    #[arg(short, long, value_name = "FILE", default_value = "recording.jsonl")]
    output: PathBuf,
    /// The program: a Python, and what it is given (`python train.py --epochs 3`, `python -m train`).
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Record {
    pub(super) fn run(&self, _spec: &Spec) -> Result<End, CliError> {
        let package = environment::package().map_err(TargetError::from)?;
        let (python, program) = self.command.split_first().expect("clap asks for a word");
        if program.is_empty() {
            return Err(CliError::Usage("say what is run: jitkey record -- python train.py".to_owned()));
        }
        let path = std::env::var_os("PYTHONPATH").filter(|value| !value.is_empty());
        let path = std::env::join_paths(std::iter::once(package).chain(path.iter().flat_map(std::env::split_paths)))
            .map_err(|error| CliError::Usage(error.to_string()))?;
        // What stands before the script or `-m` is Python's own: `python -u train.py`.
        let is_option = |word: &&String| word.starts_with('-') && *word != "-m";
        let (options, program) = program.split_at(program.iter().take_while(is_option).count());
        let status = Command::new(python)
            .args(options)
            .args(["-m", "jitkey", "record", "-o"])
            .arg(&self.output)
            .args(program)
            .env("PYTHONPATH", path)
            .status()
            .map_err(|error| CliError::Usage(format!("{python} can't be run: {error}")))?;
        // Stdout is the program's own.
        if status.code() == Some(NO_JAX) {
            return Ok(End::Findings);
        }
        eprintln!("jitkey: why they missed: jitkey explain {}", quoted(&self.output.to_string_lossy()));
        Ok(if status.success() { End::Well } else { End::Findings })
    }
}
