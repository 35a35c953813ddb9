//! `jitkey matrix`

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use indexmap::IndexMap;

use super::campaign::{INTERRUPTED, Pairs, stopped_by_the_user, wanted};
use super::{CliError, End, input, print, write};
use crate::check::Shard;
use crate::report::json::Report;
use crate::report::matrix::{Column, Matrix, sort};
use crate::report::merge::merge;
use crate::report::text::{self, Style};
use crate::report::{html, markdown};
use crate::spec::{Rule, Spec};
use crate::target::{TargetName, environment};

/// Run the rules over implementations and versions, and write what holds where as a table.
///
/// Without a file for it, the table goes to stdout as Markdown.
#[derive(Debug, Args)]
pub(super) struct MatrixOf {
    /// The targets, as for `check`; every known implementation at every known version if not given.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Reports that `check --report json=FILE` or `merge` wrote, instead of running anything (or beside it).
    #[arg(long, value_name = "REPORT", num_args = 1..)]
    from: Vec<PathBuf>,
    /// Write the table as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write it as one HTML page that needs no other file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write it as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    pairs: Pairs,
}

impl MatrixOf {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        let asked_for = wanted(&self.pairs.rules)?;
        let wanted = |rule: &Rule| asked_for(&rule.id);
        let mut columns: Vec<Column> = self.saved(spec)?.into_iter().map(Column::of).collect();
        let names: Vec<TargetName> = match (&self.targets[..], &self.from[..], &self.pairs.running.python) {
            ([], [], None) => {
                TargetName::known(spec).into_iter().filter(|name| spoken_of(spec, name, &wanted)).collect()
            }
            // A Python that is named has one version of each.
            ([], [], Some(_)) => {
                environment::implementations().iter().map(|name| name.parse()).collect::<Result<_, _>>()?
            }
            (targets, ..) => targets.iter().map(|target| target.parse()).collect::<Result<_, _>>()?,
        };
        let known: Vec<_> = columns.iter().map(|column| column.name.clone()).collect();
        let asked: Vec<_> = known.into_iter().chain(names.iter().map(ToString::to_string)).collect();
        if let Some(twice) = asked.iter().enumerate().find_map(|(i, name)| asked[..i].contains(name).then_some(name)) {
            return Err(CliError::Usage(format!("{twice} is given twice")));
        }
        let seed = self.pairs.seed();
        let stop = stopped_by_the_user();
        for (i, name) in names.iter().enumerate() {
            super::tell(format_args!("\n{name} ({} of {})", i + 1, names.len()));
            let column = self.column(spec, name, seed, &stop);
            if stop.load(Ordering::Relaxed) {
                super::tell(format_args!("stopped: what comes is without {name} and all after it"));
                break;
            }
            columns.push(column);
        }
        sort(&mut columns);
        let matrix = Matrix::new(spec, &columns, wanted);
        let written = [
            (&self.markdown, markdown::matrix as fn(&Spec, &Matrix<'_>) -> String),
            (&self.html, html::matrix),
            (&self.json, |_, matrix| matrix.to_json()),
        ];
        for (file, page) in written {
            if let Some(file) = file {
                write(file, &page(spec, &matrix))?;
            }
        }
        if self.markdown.is_none() && self.html.is_none() && self.json.is_none() {
            print(&markdown::matrix(spec, &matrix));
        } else {
            print(&matrix.lead());
        }
        let reports = columns.iter().filter_map(|column| column.run.as_ref().ok());
        let worst = reports.map(|report| End::of(&report.summary)).max().unwrap_or(End::Well);
        let all_ran = columns.iter().all(|column| column.run.is_ok());
        Ok(match all_ran {
            _ if stop.load(Ordering::Relaxed) => End::Program(INTERRUPTED),
            true => worst,
            false => End::NotRun,
        })
    }

    /// The saved reports, those of one target merged.
    fn saved(&self, spec: &Spec) -> Result<Vec<Report>, CliError> {
        let mut targets: IndexMap<String, Vec<(String, Report)>> = IndexMap::new();
        for file in &self.from {
            let (name, report) = input::report(file)?;
            if report.spec != spec.fingerprint {
                return Err(CliError::Usage(format!(
                    "{name} was made with another spec (its fingerprint is {}, and that of this one {}): run it again, or \
                     name its spec with --spec",
                    report.spec, spec.fingerprint
                )));
            }
            targets.entry(report.name.clone()).or_default().push((name, report));
        }
        let merged = targets.into_values().map(|reports| Ok(merge(reports)?.expect("there is a report")));
        merged.collect()
    }

    /// Runs a target. What keeps it from running is the column's content, so that the others are run all the same.
    fn column(&self, spec: &Spec, name: &TargetName, seed: u64, stop: &Arc<AtomicBool>) -> Column {
        let whole = Shard { number: 1, of: 1 };
        let outcome = self.pairs.run(spec, name, seed, whole, stop, |about, part| {
            super::tell(text::header(about, &format!("seed {}", part.seed), Style::PLAIN));
        });
        match outcome {
            Ok((report, seconds)) => {
                super::tell(text::summary(&report.summary, Some(seconds), Style::PLAIN).trim_end());
                Column::of(report)
            }
            Err(error) => {
                super::tell(format_args!("not run: {error}"));
                let (implementation, version) = name.parts();
                let newest = || implementation.and_then(environment::newest);
                let version = version.map(str::to_owned).or_else(newest).unwrap_or_default();
                let name = name.at(&version).to_string();
                let group = name.strip_suffix(&format!("@{version}")).unwrap_or(&name).to_owned();
                Column {
                    group,
                    implementation: implementation.unwrap_or_default().to_owned(),
                    version,
                    run: Err(error.to_string()),
                    name,
                }
            }
        }
    }
}

/// Whether one of the rules that are wanted says something of the target.
fn spoken_of(spec: &Spec, name: &TargetName, wanted: &impl Fn(&Rule) -> bool) -> bool {
    let (Some(implementation), Some(Ok(version))) = (name.parts().0, name.parts().1.map(str::parse)) else {
        return true;
    };
    let says = |rule: &Rule| rule.expect.get(implementation).is_some_and(|said| said.at(&version).is_some());
    spec.rules.values().any(|rule| wanted(rule) && says(rule))
}
