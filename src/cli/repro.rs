//! `jitkey repro`

use std::path::PathBuf;

use clap::Args;

use super::predict::{profile, version_of};
use super::{CliError, End, input, print, write};
use crate::case::{Behaviour, Verdict};
use crate::model::behaviour;
use crate::report::script::{Claim, ScriptError, script};
use crate::spec::{CaseFile, Spec};
use crate::target::TargetName;

/// Write a finding as a Python script that needs no jitkey, to be run and put into a bug report.
///
/// The script says for each call what it took, and exits with 1 as long as the library does something else than is
/// expected.
#[derive(Debug, Args)]
pub(super) struct Repro {
    /// A finding, or any other file of cases; `-` for stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The implementation, with a version if you like (`jax.jit@0.6.2`), instead of the one that the finding is about.
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// The file to write, or for several cases the folder; stdout if not given.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

impl Repro {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        let target: Option<TargetName> = self.target.as_deref().map(str::parse).transpose()?;
        let api = target.as_ref().and_then(|target| target.parts().0);
        let cases = input::cases(&self.file, api)?.into_iter().collect::<Result<Vec<_>, _>>()?;
        if let ([case], output) = (&cases[..], &self.output) {
            let text = self.script(spec, case, target.as_ref())?.map_err(|error| wrong(case, &error))?;
            match output {
                Some(file) => write(file, &text)?,
                None => print(&text),
            }
            return Ok(End::Well);
        }
        let Some(folder) = &self.output else {
            return Err(CliError::Usage(format!(
                "{}: {} cases; name with -o the folder for their scripts",
                self.file.display(),
                cases.len()
            )));
        };
        let mut end = End::Well;
        for case in &cases {
            match self.script(spec, case, target.as_ref())? {
                Ok(text) => write(&folder.join(file_name(&case.id)), &text)?,
                Err(error) => {
                    super::tell(super::shown(&wrong(case, &error)));
                    end = End::NotRun;
                }
            }
        }
        Ok(end)
    }

    fn script(
        &self,
        spec: &Spec,
        file: &CaseFile,
        target: Option<&TargetName>,
    ) -> Result<Result<String, ScriptError>, CliError> {
        let (implementation, version) = match target {
            Some(
                TargetName::Python { implementation, version } | TargetName::Reference { implementation, version },
            ) => (implementation.clone(), version.clone()),
            Some(TargetName::Command(_)) => {
                return Err(CliError::Usage("a script calls a library, so `--target` has to name one".to_owned()));
            }
            None => (file.api.clone(), None),
        };
        let is_own = implementation == file.api;
        let version = version.unwrap_or_else(|| version_of(None, file, spec));
        let (parsed, profile) = profile(spec, &implementation, &version, None)?;
        let outcome = file.expect.as_ref().filter(|_| is_own).and_then(|expect| expect.at(&parsed));
        if outcome.is_none() && target.is_none() && file.expect.is_some() {
            return Ok(Err(ScriptError::new(format!(
                "{implementation} {version}, of which nothing is expected; name another version with --target"
            ))));
        }
        // A planted pair's single verdict is that of its second call.
        let predicted = || behaviour(&file.case, profile).ok();
        let expected = match outcome.map(|outcome| &outcome.calls[..]) {
            Some([second]) if file.case.calls().count() == 2 => vec![Verdict::TRACE.into(), second.clone()],
            Some(calls) => calls.to_vec(),
            None => predicted().unwrap_or_default(),
        };
        // What another version did says nothing of this one.
        let is_observed = is_own && file.version.as_ref().is_none_or(|own| *own == version);
        let observed = file.observed.as_deref().filter(|_| is_observed);
        let stale = expected.iter().chain(observed.unwrap_or_default()).any(|call| call.stale);
        Ok(script(&Claim {
            id: &file.id,
            says: &file.says,
            implementation: &implementation,
            version: &version,
            case: &file.case,
            expected: verdicts(&expected),
            observed: observed.map(verdicts),
            stale,
        }))
    }
}

fn verdicts(calls: &[Behaviour]) -> Vec<Verdict> {
    calls.iter().map(|call| call.verdict.clone()).collect()
}

fn wrong(file: &CaseFile, error: &ScriptError) -> CliError {
    CliError::Usage(format!("{}: {error}", file.id))
}

fn file_name(id: &str) -> String {
    let name: String = id.chars().map(|c| if c.is_alphanumeric() || "._+-".contains(c) { c } else { '-' }).collect();
    format!("{name}.py")
}
