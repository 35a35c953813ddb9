//! `jitkey rulebook`

use std::path::PathBuf;

use clap::Args;

use super::{CliError, End, print, write};
use crate::report::{html, markdown};
use crate::spec::Spec;

/// Write the spec as a document for people: every law with its verdicts, an example and its sources.
///
/// Without a file for it, it goes to stdout as Markdown.
#[derive(Debug, Args)]
pub(super) struct RulebookOf {
    /// Write it as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write it as one HTML page that needs no other file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl RulebookOf {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        if let Some(file) = &self.markdown {
            write(file, &markdown::rulebook(spec))?;
        }
        if let Some(file) = &self.html {
            write(file, &html::rulebook(spec))?;
        }
        if self.markdown.is_none() && self.html.is_none() {
            print(&markdown::rulebook(spec));
        }
        Ok(End::Well)
    }
}
