//! Causes: what a difference between two keys means to the author of a program, and how it is mended; and what several calls
//! show together. Declared in `spec/causes.yaml`.

use serde::{Deserialize, Serialize};

use crate::case::Layer;

/// The causes: `spec/causes.yaml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Causes {
    /// What is worth knowing about them.
    pub about: String,
    /// The causes, the particular before the general: of those that fit a difference the first is stated.
    pub causes: Vec<Cause>,
    /// What the calls of one function show together.
    #[serde(default)]
    pub patterns: Vec<Habit>,
}

/// Why calls of a program have different keys.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The stable id.
    pub id: String,
    /// Which differences it explains.
    pub when: When,
    /// What is the matter, in a sentence. `{path}`, `{before}` and `{after}` are those of the difference.
    pub says: String,
    /// What to do, in the terms of the program.
    pub fix: String,
    /// The same, where a function that was made anew reads objects from outside that were made anew as well; `{outside}` is what it
    /// calls them.
    #[serde(default)]
    pub fix_beside: Option<String>,
    /// The same as `fix`, where an object that such a function reads from outside is built otherwise, another optimizer say;
    /// `{otherwise}` is what it calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_otherwise: Option<String>,
    /// What to do besides, where a number that such a function reads from outside is another; `{numbers}` is what it calls them.
    #[serde(default)]
    pub fix_numbers: Option<String>,
    /// The same, where a number without a fraction, a bool or a text is another, which can decide what is traced; `{choices}` is what it
    /// calls them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_choices: Option<String>,
    /// The same, where an array that it reads has another shape or dtype; `{arrays}` is what it calls them.
    #[serde(default)]
    pub fix_arrays: Option<String>,
    /// The same as `fix`, of a function that read the same from outside as an earlier one than the last, of the call `{alike}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_alike: Option<String>,
    /// The rule that says so.
    pub rule: String,
}

/// Which differences a cause explains. In each text `*` stands for any characters; one that isn't given fits all.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The implementation that is called.
    #[serde(default)]
    pub api: Vec<String>,
    /// The component of the key, in the words of `jitkey predict`.
    pub component: Vec<String>,
    /// The path of the leaf, node or static.
    #[serde(default)]
    pub path: Vec<String>,
    /// What stands in the earlier key.
    #[serde(default)]
    pub before: Vec<String>,
    /// What stands in the later key.
    #[serde(default)]
    pub after: Vec<String>,
    /// Whether both are one dtype, in two forms.
    #[serde(default)]
    pub one_dtype: bool,
    /// What differs at the path, this difference among it, as `dtype: u32 was i32`: each of these.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Where the call is made, `train.py:12`; a library's line says whose it is, `numpyro/util.py:316 (from train.py:12)`.
    #[serde(default)]
    pub from: Vec<String>,
    /// The layers that the call missed, all of them.
    #[serde(default)]
    pub missed: Vec<Layer>,
    /// Whether a later call is given an object that the nearest one was given, and this one not, so that both are in use.
    #[serde(default)]
    pub comes_again: bool,
}

/// What several calls of one function show together.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Habit {
    /// The stable id.
    pub id: String,
    /// What is seen in the calls.
    pub sign: Sign,
    /// The causes for which the calls miss: any of them.
    #[serde(default)]
    pub causes: Vec<String>,
    /// What is the matter, in a sentence. `{where}` is the paths and the function, `{function}` the function alone, `{calls}`
    /// the calls in which it is seen, `{count}` how many these are, `{of}` how many calls the function has, `{what}` the first
    /// difference.
    pub says: String,
    /// What to do; what the cause says if not given.
    #[serde(default)]
    pub fix: Option<String>,
    /// The rule that says so; that of the cause if not given.
    #[serde(default)]
    pub rule: Option<String>,
}

/// What is seen in the calls of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// At least two calls miss for such a cause.
    Repeats,
    /// At least three functions that are still there were made alike, and compile each for a call that is given the same.
    MadeAlike,
    /// At least two calls, and half of those after the first, miss for such a cause at one path, nine in ten with a new value.
    NewEachTime,
    /// From the second on calls miss for such a cause, each compared with the call before it, until one doesn't and none
    /// after it compiles.
    Settles,
    /// Every call but the first, of at least three, misses for such a cause, compared with the call before it.
    NeverSettles,
    /// Calls hit programs that were traced from something else.
    Stale,
    /// Calls hit programs that were traced when something that their bodies read was something else.
    Changed,
    /// Calls were traced, and took over the trace of a jitted function inside that was made when it read something else.
    ChangedInside,
    /// Calls hit programs that were traced under other flags, which matters where a body looks at them.
    PerhapsStale,
    /// Calls hit programs that were traced from an equal number of the other library, Python's or NumPy's, which matters where a
    /// body computes with it in a narrower dtype.
    PerhapsPromoted,
    /// Calls hit programs, and would raise if their caches were empty.
    RaisesAlone,
}

impl Sign {
    /// Whether results are wrong.
    #[must_use]
    pub fn is_wrong(self) -> bool {
        matches!(self, Self::Stale | Self::Changed | Self::ChangedInside | Self::RaisesAlone)
    }
}
