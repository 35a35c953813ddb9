//! Recordings: the lines that `jitkey record` writes.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::Deserialize;

use super::{Transformation, Transformed};
use crate::case::{Call, Class, ClearScope, Effect, Layer, LayerSet, Name, Value, Via, text};
use crate::spec::Version;
use crate::target::{CallObservation, RaisedError};

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
pub(super) enum Line {
    /// After the call of that number had begun.
    Clear(ClearScope, Option<usize>),
    Aside(Box<AsideLine>),
    Beside(BesideLine),
    Call(Box<CallLine>),
}

/// A compile outside of the recorded calls.
#[derive(Debug, Deserialize)]
pub(super) struct BesideLine {
    beside: Beside,
    after: usize,
}

/// What was compiled outside of the recorded calls: an operation of jax's, or a function that a library jits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
pub(super) struct Beside {
    /// What it is called, if jax says that.
    #[serde(default)]
    pub name: Option<String>,
    /// The line of the program that ran.
    #[serde(default)]
    pub from: Option<String>,
}

/// A call of which nothing was observed, and which leaves something in the caches: one inside of a trace, or what `compile()`
/// of a lowered function does.
#[derive(Debug, Deserialize)]
pub(super) struct AsideLine {
    /// Nothing if it can't be read.
    pub aside: Option<Aside>,
    /// How many calls had begun before it.
    pub after: usize,
    /// The wrappers that are there as the program ends.
    #[serde(default)]
    pub kept: Vec<Name>,
    #[serde(flatten)]
    pub news: News,
}

/// What was not said before a line.
#[derive(Debug, Default, Deserialize)]
pub(super) struct News {
    #[serde(default)]
    pub classes: IndexMap<Name, Class>,
    #[serde(default)]
    pub objects: IndexMap<Name, Value>,
    /// What functions among the objects read from outside, in words, by its name.
    #[serde(default)]
    pub outside: IndexMap<Name, IndexMap<String, String>>,
    #[serde(default)]
    pub dropped: Vec<Name>,
    /// The arrays that have no buffers any more.
    #[serde(default)]
    pub deleted: Vec<Name>,
    /// Those of them that a call was given for good.
    #[serde(default)]
    pub donated: Vec<Name>,
}

/// What it was given: that itself, or the number of the call that was given the same.
#[derive(Debug, Deserialize)]
pub(super) struct Aside {
    pub api: String,
    #[serde(default)]
    pub wrapper: Option<Name>,
    #[serde(default)]
    pub call: Option<Call>,
    #[serde(default)]
    pub again: Option<usize>,
    #[serde(default)]
    pub via: Option<Via>,
    /// The number of the call inside of whose trace it was made.
    #[serde(default)]
    pub inside: Option<usize>,
}

impl Line {
    /// A call whose values are none that a case has is a call of which nothing more is known.
    fn read(line: &str) -> Result<Self, serde_json::Error> {
        let whole = || {
            let mut tree: serde_json::Value = serde_json::from_str(line)?;
            let after = tree.get("after").and_then(serde_json::Value::as_u64).and_then(|after| after.try_into().ok());
            match tree.get_mut("clear").map(serde_json::Value::take) {
                Some(scope) => serde_json::from_value(scope).map(|scope| Self::Clear(scope, after)),
                None if tree.get("beside").is_some() => serde_json::from_value(tree).map(Self::Beside),
                None if after.is_some() => serde_json::from_value(tree).map(Self::Aside),
                None => serde_json::from_value(tree).map(Self::Call),
            }
        };
        let aside =
            || serde_json::from_str(line).map(|outline: AsideOutline| Self::Aside(Box::new(outline.aside(line))));
        whole().or_else(|error: serde_json::Error| match serde_json::from_str::<Outline>(line) {
            Ok(outline) => Ok(Self::Call(Box::new(outline.call(line, &error)))),
            Err(_) => aside().map_err(|_| error),
        })
    }

    /// When it began; lines stand in the order of their ends, which is another one where there are threads.
    fn began(&self) -> Option<(usize, bool)> {
        match self {
            Self::Clear(_, after) => after.map(|after| (after, true)),
            Self::Aside(line) => Some((line.after, true)),
            Self::Beside(line) => Some((line.after, true)),
            Self::Call(line) => line.number.map(|number| (number, false)),
        }
    }
}

/// What can be read of a call's line whatever its values are: these are skipped.
#[derive(Deserialize)]
struct Outline {
    api: String,
    name: String,
    missed: LayerSet,
    number: Option<usize>,
    error: Option<RaisedClass>,
    wrapper: Option<Name>,
    #[serde(default)]
    dropped: Vec<Name>,
    #[serde(default)]
    ended: Vec<Name>,
}

/// The same of an aside's line.
#[derive(Deserialize)]
struct AsideOutline {
    after: usize,
    #[serde(default)]
    dropped: Vec<Name>,
}

impl AsideOutline {
    fn aside(self, line: &str) -> AsideLine {
        AsideLine { aside: None, after: self.after, kept: Vec::new(), news: News::beside(line, self.dropped) }
    }
}

#[derive(Deserialize)]
struct RaisedClass {
    class: String,
}

/// The paths of files, which can hold what is no text.
#[derive(Default, Deserialize)]
struct Places {
    at: Option<String>,
    from: Option<String>,
    called: Option<String>,
}

impl Outline {
    fn call(self, line: &str, error: &serde_json::Error) -> CallLine {
        let Self { api, name, missed, number, error: raised, wrapper, dropped, ended } = self;
        let Places { at, from, called } = serde_json::from_str(line).unwrap_or_default();
        let error_of = |RaisedClass { class }| RaisedError { class, message: String::new() };
        let observed = CallObservation { missed, error: raised.map(error_of), served: None };
        let unrecorded = Some(format!("its line can't be read: {error}"));
        let recorded = Recorded {
            api,
            called,
            name,
            at,
            wrapper,
            from,
            call: None,
            again: None,
            unrecorded,
            seconds: None,
            transformed: None,
            under: Vec::new(),
            any_jaxpr: false,
            traced: false,
            observed,
        };
        CallLine {
            news: News::beside(line, dropped),
            ended,
            effect: None,
            unused: Vec::new(),
            loaded: false,
            number,
            recorded,
        }
    }
}

impl News {
    /// What can be read of it in a line of which something can't be read.
    fn beside(line: &str, dropped: Vec<Name>) -> Self {
        let Objects { classes, objects, outside, deleted, donated } = serde_json::from_str(line).unwrap_or_default();
        Self { classes, objects, outside, dropped, deleted, donated }
    }
}

/// They are read apart from all that stands in the same line, which is skipped.
#[derive(Default, Deserialize)]
struct Objects {
    #[serde(default)]
    classes: IndexMap<Name, Class>,
    #[serde(default)]
    objects: IndexMap<Name, Value>,
    #[serde(default)]
    outside: IndexMap<Name, IndexMap<String, String>>,
    #[serde(default)]
    deleted: Vec<Name>,
    #[serde(default)]
    donated: Vec<Name>,
}

/// A call, and what was not said before it.
#[derive(Debug, Deserialize)]
pub(super) struct CallLine {
    #[serde(flatten)]
    pub news: News,
    /// The wrappers that are gone.
    #[serde(default)]
    pub ended: Vec<Name>,
    /// What the body does besides, if that kept the call off the fast path.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// Which of its leaves its program doesn't have, if it missed the fast path.
    #[serde(default)]
    pub unused: Vec<usize>,
    /// Whether its program came from a file of the persistent cache.
    #[serde(default)]
    pub loaded: bool,
    /// How many calls had begun with it, by which later ones call it.
    #[serde(default)]
    pub number: Option<usize>,
    #[serde(flatten)]
    pub recorded: Recorded,
}

/// What is raised for a NaN where `jax_debug_nans` looks for it.
const A_NAN: &str = "FloatingPointError";

/// A recorded call.
#[derive(Debug, Deserialize)]
pub struct Recorded {
    /// What was called.
    pub api: String,
    /// What the program called, if that calls the api in its turn: `flax.nnx.jit`, as which `jax.jit` is called.
    #[serde(default)]
    pub called: Option<String>,
    /// The function's name.
    pub name: String,
    /// Where it is written: file and line.
    #[serde(default)]
    pub at: Option<String>,
    /// Which wrapper of a function it is.
    #[serde(default)]
    pub wrapper: Option<Name>,
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
    /// Seconds that jax says it took to trace, lower and compile it.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// What became of what a transformation around it makes of it, of which the model says nothing.
    #[serde(default)]
    pub transformed: Option<Transformed>,
    /// The transformations around it, from the outermost.
    #[serde(default)]
    pub under: Vec<Transformation>,
    /// Whether what says that it was traced is any jaxpr that was made.
    #[serde(default)]
    pub any_jaxpr: bool,
    /// Whether its function was traced, where the call raised.
    #[serde(default)]
    pub traced: bool,
    /// What it did.
    #[serde(flatten)]
    pub observed: CallObservation,
}

impl Recorded {
    /// Whether the program was found or made, and raised as it ran: a check in it, a callback of it, a NaN that is looked for.
    pub(super) fn raised_as_it_ran(&self) -> bool {
        let missed = &self.observed.missed;
        let has_run =
            missed.contains(Layer::Compile) || !missed.contains(Layer::Trace) && !missed.contains(Layer::Lower);
        let is_of_the_run = |RaisedError { class, message }: &RaisedError| {
            // XLA's, jax's and equinox's; Python's own is what jax raises before, but where the fast path hands on what XLA
            // says as a ValueError.
            class.ends_with("RuntimeError") && class != "RuntimeError"
                || message.starts_with("INTERNAL: ")
                || class == A_NAN
        };
        has_run && self.observed.error.as_ref().is_some_and(is_of_the_run)
    }

    /// Whether a call that should have missed these layers did: one that ran into a NaN is run again operation by operation, to
    /// find where it came from.
    pub(super) fn ran_into_an_error(&self, missed: &LayerSet) -> bool {
        let is_run_again = self.observed.error.as_ref().is_some_and(|error| error.class == A_NAN);
        let others = |layer: &Layer| !self.observed.missed.contains(*layer);
        self.raised_as_it_ran()
            && if is_run_again { !missed.iter().any(|layer| others(&layer)) } else { *missed == self.observed.missed }
    }

    /// The layer at which nothing could be made of what was traced.
    pub(super) fn fails_at(&self) -> Option<Layer> {
        let is_lowered = self.observed.missed.contains(Layer::Lower);
        self.traced.then_some(if is_lowered { Layer::Compile } else { Layer::Lower })
    }

    /// The class of the error that kept the call from being looked up, traced, lowered or compiled.
    pub(super) fn raised_before_it_ran(&self) -> Option<String> {
        let class = self.observed.error.as_ref().map(|error| error.class.clone());
        class.filter(|_| !self.raised_as_it_ran())
    }
}

/// What a program did.
#[derive(Debug)]
pub struct Recording {
    /// The versions of everything that can change a verdict, by library.
    pub about: IndexMap<String, Option<String>>,
    pub(super) lines: Vec<Line>,
    /// For each call the place of the one that says what it was given, or why none does.
    pub(super) given: Vec<Result<usize, String>>,
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
        let cut_off = if content.ends_with('\n') { None } else { Some(content.lines().count()) };
        let mut read = Vec::new();
        for (number, line) in lines {
            match Line::read(line) {
                Ok(line) => read.push(line),
                Err(_) if Some(number) == cut_off => {}
                Err(_) if text::from_json::<Header>(line).is_ok() => {
                    return Err(wrong(number, &"another recording begins here; explain each by itself"));
                }
                Err(error) => return Err(wrong(number, &error)),
            }
        }
        if read.iter().all(|line| line.began().is_some()) {
            read.sort_by_key(Line::began);
        }
        let given = given(&read);
        Ok(Self { about: header.about, lines: read, given })
    }

    /// The version of jax that was run, and on which Python.
    pub(super) fn jax(&self) -> Result<Version, RecordingError> {
        let version = self.about.get("jax").and_then(Option::as_deref);
        let version =
            version.ok_or_else(|| RecordingError::About("the recording doesn't say which jax was run".to_owned()))?;
        Version::told(version, &self.about)
            .map_err(|_| RecordingError::About(format!("`{version}` is no version of jax")))
    }

    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Recorded> {
        self.lines.iter().filter_map(|line| match line {
            Line::Call(line) => Some(&line.recorded),
            Line::Clear(..) | Line::Aside(_) | Line::Beside(_) => None,
        })
    }

    /// How many calls have begun that have no line.
    pub(super) fn unended(&self) -> usize {
        let begun = self.lines.iter().filter_map(Line::began).map(|(number, _)| number).max();
        begun.unwrap_or_default().saturating_sub(self.calls().count())
    }

    /// What was said before each line, in order.
    pub(super) fn news(&self) -> impl Iterator<Item = &News> {
        self.lines.iter().filter_map(|line| match line {
            Line::Call(line) => Some(&line.news),
            Line::Aside(line) => Some(&line.news),
            Line::Clear(..) | Line::Beside(_) => None,
        })
    }

    /// What was compiled beside them, in order.
    pub(super) fn beside(&self) -> impl Iterator<Item = &Beside> {
        self.lines.iter().filter_map(|line| match line {
            Line::Beside(line) => Some(&line.beside),
            Line::Clear(..) | Line::Aside(_) | Line::Call(_) => None,
        })
    }

    /// What the call of that place among the `calls` was given, if that is known.
    pub(super) fn described<'r>(&self, calls: &[&'r Recorded], place: usize) -> Option<&'r Call> {
        calls[*self.given.get(place)?.as_ref().ok()?].call.as_ref()
    }

    /// The place among the calls of the one that has that number.
    pub(super) fn place(&self, number: usize) -> Option<usize> {
        let mut calls = self.lines.iter().filter_map(|line| match line {
            Line::Call(line) => Some(line.number),
            Line::Clear(..) | Line::Aside(_) | Line::Beside(_) => None,
        });
        calls.position(|known| known == Some(number))
    }

    /// What was called, if only inside of a trace.
    pub(super) fn apis(&self) -> Vec<String> {
        let called = self.lines.iter().filter_map(|line| match line {
            Line::Call(line) => Some(&line.recorded.api),
            Line::Aside(line) => Some(&line.aside.as_ref()?.api),
            Line::Clear(..) | Line::Beside(_) => None,
        });
        let mut apis: Vec<String> = called.cloned().collect();
        apis.sort();
        apis.dedup();
        apis
    }
}

fn given(lines: &[Line]) -> Vec<Result<usize, String>> {
    let mut given: Vec<Result<usize, String>> = Vec::new();
    // By the numbers that they have, their places.
    let mut calls: HashMap<usize, (usize, &str)> = HashMap::new();
    for line in lines {
        let Line::Call(line) = line else { continue };
        let Recorded { api, call, again, unrecorded, .. } = &line.recorded;
        let earlier = |again: usize| {
            let place = calls.get(&again).filter(|(_, earlier)| earlier == api).map(|(place, _)| *place);
            let place = place
                .ok_or_else(|| format!("it repeats call {again}, and there is no such call of {api} before it"))?;
            given[place].clone().map_err(|why| format!("it repeats call {again}, of which nothing is known: {why}"))
        };
        given.push(match (call, unrecorded, again) {
            (Some(_), ..) => Ok(given.len()),
            (None, Some(why), _) => Err(why.clone()),
            (None, None, Some(again)) => earlier(*again),
            (None, None, None) => Err("its line doesn't say what it was given".to_owned()),
        });
        calls.insert(line.number.unwrap_or(given.len()), (given.len() - 1, api));
    }
    given
}
