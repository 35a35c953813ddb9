//! `jitkey merge`

use std::path::PathBuf;

use clap::Args;

use super::{CliError, End, input, print, style, write};
use crate::report::merge::merge;
use crate::report::text as page;

/// Merge reports about one target: the shards of a campaign, or campaigns with different seeds.
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// Reports that `check --report json=FILE` or `merge` wrote.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the merged report goes.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Merge {
    pub(super) fn run(&self) -> Result<End, CliError> {
        let reports = self.files.iter().map(|file| input::report(file)).collect::<Result<Vec<_>, _>>()?;
        let whole = merge(reports)?.expect("there is a file");
        print(&page::header(&whole.target, &whole.seeds(), style()));
        print(&page::summary(&whole.summary, None, style()));
        for part in &whole.campaigns {
            let missing: Vec<_> = part.missing().iter().map(|number| format!("{number}/{}", part.of)).collect();
            if !missing.is_empty() {
                print(&format!("  missing of seed {}: shard {}", part.seed, missing.join(", ")));
            }
        }
        for (i, finding) in whole.summary.findings.iter().enumerate() {
            print(&format!("\n{}", page::finding(i + 1, finding, None, style())));
        }
        if let Some(file) = &self.output {
            write(file, &whole.to_text())?;
        }
        Ok(End::of(&whole.summary))
    }
}
