//! Config flags: which key each is part of, and what else it does to a call. Declared in `spec/flags.yaml`.

use indexmap::IndexMap;
use serde::Deserialize;

use super::{LeafKind, Requirement, SourceRef, Version};
use crate::case::Value;

/// The flags, in groups that are alike.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flags {
    /// What is worth knowing about them.
    pub about: String,
    /// The values that flags have as jax is imported. A flag that isn't here has another one than any that a case gives it.
    #[serde(default)]
    pub defaults: Vec<FlagDefault>,
    /// The groups. A flag that changed between versions is in several, whose versions exclude each other.
    pub groups: Vec<FlagGroup>,
    /// Where this was read or measured.
    pub sources: Vec<SourceRef>,
}

/// Flags that are alike.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlagGroup {
    /// What holds for them, in a sentence.
    pub says: String,
    /// The versions at which it holds.
    #[serde(default = "Requirement::every")]
    pub versions: Requirement,
    /// What they do to a call.
    #[serde(default, rename = "does")]
    pub effect: FlagEffect,
    /// Their names in `jax.config`.
    pub flags: Vec<String>,
}

/// Flags that have the same value as jax is imported.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlagDefault {
    /// The value.
    pub value: Value,
    /// The versions at which they have it.
    #[serde(default = "Requirement::every")]
    pub versions: Requirement,
    /// Their names in `jax.config`.
    pub flags: Vec<String>,
}

/// A field of a context that some flags are another name for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextField {
    /// `x64`.
    X64,
    /// `transfer_guard`.
    TransferGuard,
}

/// What a flag does to a call that is made under another value than the default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlagEffect {
    /// The field of a context that it is another name for; then it does what that does.
    #[serde(default)]
    pub stands_for: Option<ContextField>,
    /// The keys that it is part of.
    #[serde(default, rename = "in")]
    pub keys: Vec<FlagKey>,
    /// Whether tracing can see it, so that a program that was made under another value is a stale one.
    #[serde(default)]
    pub seen: bool,
    /// Whether what is called under it is never taken up by the fast path.
    #[serde(default)]
    pub never_fast: bool,
    /// Whether that is so of what has a PRNG key among its arguments or outputs. What was called before without the flag is as
    /// fast as ever, so that a pair whose second call alone has it is like others.
    #[serde(default)]
    pub never_fast_with_keys: bool,
    /// Whether a call runs the body as it stands and looks at no cache.
    #[serde(default)]
    pub bypasses: bool,
    /// The exception of a call that would trace.
    #[serde(default)]
    pub trace_raises: Option<String>,
    /// The exception of a call that the fast path doesn't find, or isn't asked for because of a transformation.
    #[serde(default)]
    pub miss_raises: Option<String>,
    /// The exception of a call that would run.
    #[serde(default)]
    pub run_raises: Option<String>,
    /// The exception of a compiled object that is called under it.
    #[serde(default)]
    pub compiled_raises: Option<String>,
    /// Whether the program of an eager loop is made anew in each call.
    #[serde(default)]
    pub makes_loops_anew: bool,
    /// Kinds of leaves that are traced under it, although they are refused otherwise; lowering refuses them then.
    #[serde(default)]
    pub traces: Vec<LeafKind>,
    /// Whatever a program may not return: `FloatingPointError`.
    #[serde(default)]
    pub returns_no: Vec<NonFinite>,
}

impl FlagEffect {
    /// Whether it does anything but being part of keys and being seen.
    pub(super) fn does_more(&self) -> bool {
        let Self { stands_for, keys: _, seen: _, never_fast, bypasses, makes_loops_anew, traces, returns_no, .. } =
            self;
        let raises = [&self.trace_raises, &self.miss_raises, &self.run_raises].into_iter().any(Option::is_some);
        let bends = *never_fast || *bypasses || *makes_loops_anew;
        stands_for.is_some() || bends || raises || !traces.is_empty() || !returns_no.is_empty()
    }
}

/// A number that isn't finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NonFinite {
    /// Not a number.
    Nan,
    /// Positive or negative infinity.
    Inf,
}

/// A key that a flag can be part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FlagKey {
    /// That of the fast path (jax's `include_in_jit_key`).
    Dispatch,
    /// The trace context, in the keys of the tables of Python objects (`include_in_trace_context`).
    Trace,
    /// The name of a program's file in the persistent cache, of which the compile options are a part.
    Persistent,
}

impl Flags {
    /// The values at `version` as jax is imported, by flag.
    #[must_use]
    pub fn defaults_at(&self, version: &Version) -> IndexMap<String, Value> {
        let defaults = self.defaults.iter().filter(|default| default.versions.matches(version));
        defaults.flat_map(|of| of.flags.iter().map(|flag| (flag.clone(), of.value.clone()))).collect()
    }

    /// The effects at `version`, by flag.
    #[must_use]
    pub fn at(&self, version: &Version) -> IndexMap<String, FlagEffect> {
        self.groups
            .iter()
            .filter(|group| group.versions.matches(version))
            .flat_map(|group| group.flags.iter().map(|flag| (flag.clone(), group.effect.clone())))
            .collect()
    }
}
