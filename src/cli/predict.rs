//! `jitkey predict`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::{CliError, End, input, print, refused};
use crate::case::{Behaviour, text};
use crate::model::{Difference, ModelError, Simulation};
use crate::spec::{CaseFile, Profile, Spec, Version};
use crate::target::newest;

/// Predict the verdicts of cases, as JSON lines.
#[derive(Debug, Args)]
pub(super) struct Predict {
    /// Files or folders of cases; `-` for stdin.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The implementation, instead of the one that the case names.
    #[arg(long, value_name = "IMPLEMENTATION")]
    api: Option<String>,
    /// The version; the one that the case names, or the newest that is known, if not given.
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
}

#[derive(Serialize)]
struct Line<'l> {
    case: &'l str,
    api: &'l str,
    version: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdicts: Option<Vec<Behaviour>>,
    /// For each call that missed the fast path: how its key differs from the one filed there last.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<Vec<Difference>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_expected: Option<bool>,
}

impl Predict {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        let (mut end, mut count) = (End::Well, 0);
        for file in &self.files {
            for case in input::cases(file, self.api.as_deref())? {
                count += 1;
                end = end.max(match case {
                    Ok(mut case) => {
                        if let Some(api) = self.api.as_ref().filter(|api| **api != case.api) {
                            // What is expected of the other says nothing here.
                            (case.api, case.expect) = (api.clone(), None);
                        }
                        let (line, well) = self.line(spec, &case)?;
                        print(&line);
                        if well { End::Well } else { End::Findings }
                    }
                    Err(error) => refused(&error),
                });
            }
        }
        if count == 0 { Err(CliError::Usage("there is no case in that".to_owned())) } else { Ok(end) }
    }

    /// The line of a case, and whether it is as expected, if anything is.
    fn line(&self, spec: &Spec, file: &CaseFile) -> Result<(String, bool), CliError> {
        let version = version_of(self.version.as_deref(), file, spec);
        let (parsed, profile) = profile(spec, &file.api, &version, None)?;
        let expected = file.expect.as_ref().and_then(|expect| expect.at(&parsed));
        let mut line = Line {
            case: &file.id,
            api: &file.api,
            version: &version,
            verdicts: None,
            differences: None,
            error: None,
            as_expected: None,
        };
        match simulate(file, profile) {
            Ok((verdicts, differences)) => {
                line.as_expected = expected.map(|expected| expected.completed(&verdicts) == verdicts);
                line.verdicts = Some(verdicts);
                line.differences = Some(differences);
            }
            Err(error) => {
                line.as_expected = expected.map(|_| false);
                line.error = Some(error.to_string());
            }
        }
        let well = line.as_expected.unwrap_or(line.error.is_none());
        Ok((text::to_json(&line), well))
    }
}

fn simulate(file: &CaseFile, profile: &Profile) -> Result<(Vec<Behaviour>, Vec<Vec<Difference>>), ModelError> {
    let mut simulation = Simulation::explaining(&file.case, profile)?;
    let mut predictions = (Vec::new(), Vec::new());
    for step in &file.case.steps {
        if let Some(prediction) = simulation.step(step)? {
            predictions.0.push(prediction.behaviour());
            predictions.1.push(prediction.differences().to_vec());
        }
    }
    Ok(predictions)
}

/// The version asked for, the case's own, or the newest.
pub(super) fn version_of(asked: Option<&str>, file: &CaseFile, spec: &Spec) -> String {
    let newest = || newest(&file.api, spec).unwrap_or_default();
    asked.map(str::to_owned).or_else(|| file.version.clone()).unwrap_or_else(newest)
}

/// The profile of `api` at `version`, or at what is known to run if that is more than its text says.
pub(super) fn profile<'s>(
    spec: &'s Spec,
    api: &str,
    version: &str,
    runs: Option<Version>,
) -> Result<(Version, &'s Profile), CliError> {
    if !spec.implementations().contains(&api) {
        let known = spec.implementations().join(", ");
        return Err(CliError::Usage(format!("there is no implementation `{api}`; there are profiles of {known}")));
    }
    let parsed = runs.or_else(|| version.parse().ok());
    let parsed = parsed.ok_or_else(|| CliError::Usage(format!("`{version}` is no version of {api}")))?;
    match spec.profile(api, &parsed) {
        Some(profile) => Ok((parsed, profile)),
        None => Err(CliError::Usage(format!(
            "there is no profile of {api} {version}; there are those of {}",
            spec.versions_of(api)
        ))),
    }
}
