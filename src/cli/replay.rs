//! `jitkey replay`

use std::path::PathBuf;

use clap::Args;

use super::predict::profile;
use super::{CliError, End, Running, input, print, refused, style};
use crate::case::Behaviour;
use crate::check::{Judgement, judge};
use crate::model::{Prediction, predict};
use crate::spec::{CaseFile, Spec};
use crate::target::{CallObservation, Limits, Observation, Target, TargetName, open};

/// Run cases on a target again, and compare with what is expected and predicted.
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// Files or folders of cases, findings among them.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The target, as for `check`.
    #[arg(long, value_name = "TARGET")]
    target: String,
    #[command(flatten)]
    running: Running,
}

impl Replay {
    pub(super) fn run(&self, spec: &Spec) -> Result<End, CliError> {
        let name: TargetName = self.target.parse()?;
        // Each case is somebody's own: one that ends the process says nothing of the next.
        let limits = Limits { crashes: None, ..self.running.limits() };
        let mut say = |line: &str| super::tell(line);
        let mut target = open(spec, &name, self.running.python.as_ref(), limits, &mut say)?;
        let (mut end, mut is_run) = (End::Well, false);
        let api = target.about().implementation.clone();
        for file in &self.files {
            for case in input::cases(file, Some(&api))? {
                is_run |= case.as_ref().is_ok_and(|case| case.api == api);
                end = end.max(match case {
                    Ok(case) => self.case(spec, &case, target.as_mut())?,
                    Err(error) => refused(&error),
                });
            }
        }
        // That nothing differs is no news where nothing was run.
        match end {
            End::Well if !is_run => Err(CliError::Usage(format!("there is no case about {api} in that"))),
            end => Ok(end),
        }
    }

    fn case(&self, spec: &Spec, file: &CaseFile, target: &mut (dyn Target + '_)) -> Result<End, CliError> {
        let about = target.about().clone();
        if file.api != about.implementation {
            print(&format!(
                "{}: skipped, it is about {} and the target is {}",
                file.id, file.api, about.implementation
            ));
            return Ok(End::Well);
        }
        let (version, profile) = profile(spec, &about.implementation, &about.version, about.runs())?;
        let expected = file.expect.as_ref().and_then(|expect| expect.at(&version));
        let predicted = predict(&file.case, profile);
        let observation = target.observe(std::slice::from_ref(&file.case))?.remove(0);
        let predictions: Vec<Behaviour> = predicted.iter().flatten().map(Prediction::behaviour).collect();
        let rule = expected.map_or_else(|| predictions.clone(), |outcome| outcome.completed(&predictions));
        let judgement = judge(&file.case, &rule, profile, about.layers, &observation);
        let words = |calls: &[Behaviour]| calls.iter().map(Behaviour::to_string).collect::<Vec<_>>().join(", ");
        let style = style();
        let (verdict, end) = match &judgement {
            Judgement::Holds(_) => (format!("{}holds{}", style.good, style.end), End::Well),
            Judgement::Differs(alone, _) => (format!("{}{}{}", style.bad, alone.words(), style.end), End::Findings),
            Judgement::Unsupported(what) => (format!("not run: the target does not support {what}"), End::NotRun),
            Judgement::Unbuildable => ("not run: Python can't build the values".to_owned(), End::NotRun),
            Judgement::Failed(why) | Judgement::Unpredictable(why) => (format!("not run: {why}"), End::NotRun),
        };
        print(&format!("{}{}{}: {verdict}", style.bold, file.id, style.end));
        for (i, call) in file.case.calls().enumerate() {
            print(&format!("    call {}    {call}", i + 1));
        }
        if let Some(expected) = expected {
            print(&format!("  expected   {}", words(&expected.calls)));
        }
        print(&format!(
            "  predicted  {}",
            predicted.as_ref().map_or_else(ToString::to_string, |_| words(&predictions))
        ));
        if let Observation::Calls(calls) = &observation {
            print(&format!(
                "  observed   {}",
                words(&calls.iter().map(CallObservation::behaviour).collect::<Vec<_>>())
            ));
            for error in calls.iter().filter_map(|call| call.error.as_ref()) {
                print(&format!(
                    "  {}{}: {}{}",
                    style.dim,
                    error.class,
                    error.message.lines().next().unwrap_or_default(),
                    style.end
                ));
            }
        }
        if let Some(how) = observation.silence() {
            print(&format!("  observed   {how}"));
        }
        Ok(end)
    }
}
