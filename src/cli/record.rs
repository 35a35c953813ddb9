//! `jitkey record`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use clap::Args;

use super::{CliError, End};
use crate::report::quoted;
use crate::spec::Spec;
use crate::target::TargetError;
use crate::target::environment;

/// Run a Python program and record its jitted calls.
///
/// The program is run by its own Python, which needs jax and nothing of jitkey; nothing of it is changed. What was recorded
/// is explained by `jitkey explain`. The exit code is the program's own.
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
        let Words { before, options, program } = words(&self.command)?;
        let path = std::env::var_os("PYTHONPATH").filter(|value| !value.is_empty());
        let path = std::env::join_paths(std::iter::once(package).chain(path.iter().flat_map(std::env::split_paths)))
            .map_err(|error| CliError::Usage(error.to_string()))?;
        // What stands there isn't of this run.
        if let Err(error) = fs::remove_file(&self.output)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(CliError::Usage(format!("{} can't be written: {error}", self.output.display())));
        }
        let (first, rest) = before.split_first().expect("it ends with a Python");
        let status = Command::new(first)
            .args(rest)
            .args(options)
            .args(["-m", "jitkey", "record", "-o"])
            .arg(&self.output)
            .args(program)
            .env("PYTHONPATH", path)
            .status()
            .map_err(|error| CliError::Usage(format!("{first} can't be run: {error}")))?;
        if fs::metadata(&self.output).is_ok_and(|file| file.len() > 0) {
            // Stdout is the program's own.
            super::tell(format_args!(
                "jitkey: why they missed: jitkey explain {}",
                quoted(&self.output.to_string_lossy())
            ));
        }
        Ok(End::Program(exit_code(status)))
    }
}

/// That of the program, or what a shell makes of the signal that ended it.
fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(1);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// The parts of a command: `uv run python -u train.py --epochs 3`.
#[derive(Debug, PartialEq, Eq)]
struct Words<'c> {
    /// What comes before, and the Python.
    before: &'c [String],
    /// Python's own.
    options: &'c [String],
    /// The script or `-m` and a module, and what it is given.
    program: &'c [String],
}

fn words(command: &[String]) -> Result<Words<'_>, CliError> {
    let usage = |why: &str| CliError::Usage(format!("{why}: jitkey record -- python train.py"));
    let names_python = |word: &String| {
        let name = Path::new(word).file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| {
            ["python", "pypy"].iter().any(|python| name.starts_with(python)) && !name.ends_with(".py")
        })
    };
    let at = command.iter().position(names_python).ok_or_else(|| usage("say which Python runs the program"))?;
    let (before, after) = command.split_at(at + 1);
    let mut count = 0;
    while let Some(word) = after.get(count).filter(|word| word.starts_with('-') && *word != "-m") {
        // Options stand in one word, up to one that has a value.
        let letters = if word.starts_with("--") { "" } else { word.split(['W', 'X']).next().unwrap_or_default() };
        if letters.contains('c') {
            return Err(usage("what is to be recorded has to be in a file"));
        }
        if letters.contains('m') {
            return Err(usage("write -m and the module apart from other options"));
        }
        if letters.contains(['I', 'E']) {
            return Err(usage("-I and -E keep Python from finding jitkey"));
        }
        // These have their value as another word.
        count += if ["-W", "-X", "--check-hash-based-pycs"].contains(&word.as_str()) { 2 } else { 1 };
    }
    match after.split_at_checked(count) {
        Some((options, program)) if !program.is_empty() => Ok(Words { before, options, program }),
        _ => Err(usage("say what is run")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn split(command: &str) -> Result<[String; 3], String> {
        let command: Vec<_> = command.split(' ').map(str::to_owned).collect();
        let words = words(&command).map_err(|error| error.to_string())?;
        Ok([words.before, words.options, words.program].map(|part| part.join(" ")))
    }

    #[rstest]
    #[case("python train.py -x", ["python", "", "train.py -x"])]
    #[case("/venv/bin/python3.12 -u -X dev -Wignore -m train --lr 1", ["/venv/bin/python3.12", "-u -X dev -Wignore", "-m train --lr 1"])]
    #[case("uv run --quiet python train.py", ["uv run --quiet python", "", "train.py"])]
    fn a_command_has_three_parts(#[case] command: &str, #[case] parts: [&str; 3]) {
        assert_eq!(split(command).unwrap(), parts.map(str::to_owned));
    }

    #[rstest]
    #[case("pytest tests", "which Python")]
    #[case("./python_things.py", "which Python")]
    #[case("python", "what is run")]
    #[case("python -X dev", "what is run")]
    #[case("python -c pass", "in a file")]
    #[case("python -uc pass", "in a file")]
    #[case("python -um train", "-m and the module apart")]
    #[case("python -mtrain", "-m and the module apart")]
    #[case("python -I train.py", "finding jitkey")]
    fn what_can_t_be_recorded_is_refused(#[case] command: &str, #[case] reason: &str) {
        assert!(split(command).unwrap_err().contains(reason));
    }
}
