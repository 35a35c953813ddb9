//! Runs scripts in forks of processes that have imported jax and the libraries, which takes longer than most of them.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde::Deserialize;

/// How a script ended.
#[derive(Debug, Deserialize)]
pub struct Ended {
    pub code: i64,
    pub output: String,
    pub errors: String,
}

/// A process of which scripts are forks. It ends with its input.
pub struct Forks {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Forks {
    /// With the libraries of that Python, and these variables of the environment.
    pub fn of(python: &str, variables: &[(&str, &str)]) -> Self {
        let runner = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets/scripts.py");
        let mut command = Command::new(python);
        command.arg(runner).envs(variables.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    pub fn run(&mut self, script: &Path) -> Ended {
        writeln!(self.child.stdin.as_mut().unwrap(), "{}", script.display()).unwrap();
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{}: {error}: {line:?}", script.display()))
    }
}

impl Drop for Forks {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
