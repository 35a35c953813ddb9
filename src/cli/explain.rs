//! `jitkey explain`

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::{CliError, End, print, style};
use crate::case::text;
use crate::explain::{Explained, Recording};
use crate::report::explain as page;
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
}

impl Explain {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        let name = self.recording.display().to_string();
        let wrong = |error: &dyn std::fmt::Display| CliError::Usage(format!("{name}: {error}"));
        let content = fs::read_to_string(&self.recording).map_err(|error| wrong(&error))?;
        let explained = Recording::read(&content).and_then(|recording| Explained::of(recording, spec));
        let explained = explained.map_err(|error| wrong(&error))?;
        print(&if self.json { text::to_json(&explained) } else { page::text(&explained, style()) });
        Ok(End::Well)
    }
}
