//! `jitkey explain`

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::{CliError, End, print, style, write};
use crate::case::text;
use crate::explain::{Explained, Recording};
use crate::report::{explain, html};
use crate::spec::Spec;

/// Say why the calls of a recording missed their caches: where their keys differ from the nearest earlier ones, what that
/// means, and what to do.
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// What `jitkey record` wrote.
    #[arg(value_name = "FILE")]
    recording: PathBuf,
    /// Print every call as JSON instead.
    #[arg(long)]
    json: bool,
    /// Write it as one HTML page that needs no other file, and print the summary only.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Print one call that missed as a case of its own, with the nearest one before it, and repaired: for `jitkey replay`,
    /// which runs both on the real library, and `jitkey repro`, which makes scripts of them.
    #[arg(long, value_name = "CALL", conflicts_with_all = ["json", "html"])]
    case: Option<usize>,
}

impl Explain {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        let name = self.recording.display().to_string();
        let wrong = |error: &dyn std::fmt::Display| CliError::Usage(format!("{name}: {error}"));
        let content = fs::read_to_string(&self.recording).map_err(|error| wrong(&error))?;
        let explained = Recording::read(&content).and_then(|recording| Explained::of(recording, spec));
        let explained = explained.map_err(|error| wrong(&error))?;
        if let Some(number) = self.case {
            if number > explained.calls.len() {
                return Err(wrong(&format!("there is no call {number}; the last one is {}", explained.calls.len())));
            }
            let cases = explained.cases(number, spec);
            let cases = cases.map_err(|why| wrong(&format!("call {number} can't be made a case: {why}")))?;
            print(&text::to_yaml(&cases));
            return Ok(End::Well);
        }
        match &self.html {
            Some(file) => {
                write(file, &html::recording(&explained))?;
                print(&explain::summary(&explained, style()));
            }
            None if self.json => print(&explain::json(&explained)),
            None => print(&explain::text(&explained, style())),
        }
        Ok(End::Well)
    }
}
