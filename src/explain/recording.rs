//! Recordings: the lines that `jitkey record` writes.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::case::{Call, Case, Class, ClearScope, Name, Step, Value, text};
use crate::spec::Version;
use crate::target::CallObservation;

/// The format of recordings that this program reads.
const FORMAT: u32 = 1;

/// Why a recording can't be explained.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A line is none of a recording.
    #[error("line {line}: {reason}")]
    Line {
        /// Its number, from one.
        line: usize,
        /// Why.
        reason: String,
    },
    /// The first line doesn't say what was run.
    #[error("{0}")]
    About(String),
    /// A cause in the spec can't be used.
    #[error("spec/causes.yaml: {0}")]
    Cause(String),
}

/// The first line.
#[derive(Debug, Deserialize)]
struct Header {
    recording: u32,
    about: IndexMap<String, Option<String>>,
}

/// Every other line.
#[derive(Debug)]
enum Line {
    Clear(ClearScope),
    Call(Box<CallLine>),
}

impl Line {
    fn read(line: &str) -> Result<Self, serde_json::Error> {
        let mut tree: serde_json::Value = serde_json::from_str(line)?;
        match tree.get_mut("clear").map(serde_json::Value::take) {
            Some(scope) => serde_json::from_value(scope).map(Self::Clear),
            None => serde_json::from_value(tree).map(Self::Call),
        }
    }
}

/// A call, and what was not said before it.
#[derive(Debug, Deserialize)]
struct CallLine {
    #[serde(default)]
    classes: IndexMap<Name, Class>,
    #[serde(default)]
    objects: IndexMap<Name, Value>,
    #[serde(default)]
    dropped: Vec<Name>,
    #[serde(flatten)]
    recorded: Recorded,
}

/// A recorded call.
#[derive(Debug, Deserialize)]
pub struct Recorded {
    /// What was called.
    pub api: String,
    /// The function's name.
    pub name: String,
    /// Where it is written: file and line.
    #[serde(default)]
    pub at: Option<String>,
    /// Where it is called.
    #[serde(default)]
    pub from: Option<String>,
    /// What it was given.
    #[serde(default)]
    pub call: Option<Call>,
    /// The number of the earlier call, from one, that was given the same.
    #[serde(default)]
    pub again: Option<usize>,
    /// Why a case has no words for that.
    #[serde(default)]
    pub unrecorded: Option<String>,
    /// What it did.
    #[serde(flatten)]
    pub observed: CallObservation,
}

/// What a program did.
#[derive(Debug)]
pub struct Recording {
    /// The versions of everything that can change a verdict, by library.
    pub about: IndexMap<String, Option<String>>,
    lines: Vec<Line>,
}

impl Recording {
    /// Reads what `jitkey record` wrote. A last line that was cut off is left out: the program may have been killed.
    ///
    /// # Errors
    /// If a line is none of a recording.
    pub fn read(content: &str) -> Result<Self, RecordingError> {
        let mut lines = content.lines().enumerate().map(|(i, line)| (i + 1, line));
        let wrong =
            |line: usize, error: &dyn std::fmt::Display| RecordingError::Line { line, reason: error.to_string() };
        let (_, first) = lines.next().ok_or_else(|| RecordingError::About("the recording is empty".to_owned()))?;
        let header: Header = text::from_json(first).map_err(|error| wrong(1, &error))?;
        if header.recording != FORMAT {
            let reason = format!("this is a recording of format {}, and format {FORMAT} is known", header.recording);
            return Err(RecordingError::About(reason));
        }
        let mut read = Vec::new();
        for (number, line) in lines {
            match Line::read(line) {
                Ok(line) => read.push(line),
                Err(_) if !content.ends_with('\n') && number == content.lines().count() => {}
                Err(error) => return Err(wrong(number, &error)),
            }
        }
        Ok(Self { about: header.about, lines: read })
    }

    /// The version of jax that was run.
    pub(super) fn jax(&self) -> Result<Version, RecordingError> {
        let version = self.about.get("jax").and_then(Option::as_deref);
        let version =
            version.ok_or_else(|| RecordingError::About("the recording doesn't say which jax was run".to_owned()))?;
        version.parse().map_err(|_| RecordingError::About(format!("`{version}` is no version of jax")))
    }

    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Recorded> {
        self.lines.iter().filter_map(|line| match line {
            Line::Call(line) => Some(&line.recorded),
            Line::Clear(_) => None,
        })
    }

    /// What was called.
    pub(super) fn apis(&self) -> Vec<String> {
        let mut apis: Vec<String> = self.calls().map(|recorded| recorded.api.clone()).collect();
        apis.sort();
        apis.dedup();
        apis
    }

    /// The calls of `api` as a case, and their numbers in the recording, from one.
    pub(super) fn case(&self, api: &str) -> (Case, Vec<usize>) {
        let mut case = Case::default();
        let (mut numbers, mut number) = (Vec::new(), 0);
        for line in &self.lines {
            let line = match line {
                Line::Clear(scope) => {
                    case.steps.push(Step::Clear(*scope));
                    continue;
                }
                Line::Call(line) => line,
            };
            number += 1;
            case.classes.extend(line.classes.clone());
            case.objects.extend(line.objects.clone());
            case.steps.extend(line.dropped.iter().cloned().map(Step::Drop));
            if line.recorded.api != api {
                continue;
            }
            let again = line.recorded.again.and_then(|again| self.calls().nth(again.checked_sub(1)?)?.call.as_ref());
            let Some(call) = line.recorded.call.as_ref().or(again) else { continue };
            let mut call = call.clone();
            call.raises = line.recorded.observed.error.as_ref().map(|error| error.class.clone());
            case.steps.push(Step::Call(call));
            numbers.push(number);
        }
        (case, numbers)
    }
}
