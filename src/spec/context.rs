//! Contexts: what may stand around a planted pair. Declared in `spec/contexts.yaml`, so that a new kind of container is
//! a few lines of YAML.

use indexmap::IndexMap;
use serde::Deserialize;

use super::{Metavariable, Numbers, Pattern, Tree};
use crate::case::{Class, Name};

/// The contexts of all positions.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contexts {
    /// The positions, by name.
    pub positions: IndexMap<String, PositionSpec>,
    /// Stages of wrapping, by name.
    pub wrappers: IndexMap<String, WrapperSpec>,
    /// Values that may stand beside a planted pair in a pytree, the plainest first.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub leaves: Vec<Tree>,
    /// Keys that may stand beside a planted key, the plainest first.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub keys: Vec<Tree>,
    /// How many further arguments a call has.
    pub arguments: Numbers,
    /// How a call is written where it isn't one of the function under test, by implementation.
    #[serde(default)]
    pub calls: IndexMap<String, CallSpec>,
}

/// How a call of an implementation is written.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CallSpec {
    /// Objects that both calls share.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "IndexMap<Name, serde_json::Value>"))]
    pub objects: IndexMap<Name, Tree>,
    /// Objects that stand in their places where it doesn't matter what the program computes: it then computes nothing.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "IndexMap<Name, serde_json::Value>"))]
    pub idle: IndexMap<Name, Tree>,
    /// The parts of the call that are positions of their own, each with what stands there where no pair is planted.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "IndexMap<Name, serde_json::Value>"))]
    pub parts: IndexMap<Name, Tree>,
    /// The arguments, with the parts as `${part}`, and `${operand}` for a tree of all that is planted elsewhere.
    pub args: Vec<Pattern>,
}

/// Where a pair stands.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PositionSpec {
    /// What the position is.
    pub about: String,
    /// The stages of wrapping that the pair goes through, the innermost first.
    #[serde(default)]
    pub through: Vec<String>,
    /// Whether the argument is declared static (`static_argnums`, `static_argnames`).
    #[serde(default, rename = "static")]
    pub is_static: bool,
    /// How the argument is passed.
    #[serde(default)]
    pub by: Passing,
    /// Whether the pair is no argument but surrounds the calls: two contexts.
    #[serde(default)]
    pub ambient: bool,
}

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    /// By position or by keyword.
    #[default]
    Any,
    /// By position.
    Position,
    /// By keyword.
    Keyword,
}

/// A stage of wrapping: containers around a hole, some levels deep.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WrapperSpec {
    /// How many levels.
    pub depth: Numbers,
    /// The containers, the plainest first.
    pub kinds: Vec<WrapperKind>,
}

/// A container around a hole.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WrapperKind {
    /// How often it is drawn, relative to the others.
    #[serde(default = "one")]
    pub weight: u32,
    /// The implementations that it needs; every one if not given.
    #[serde(default)]
    pub only: Vec<String>,
    /// Classes that it uses.
    #[serde(default)]
    pub classes: IndexMap<Name, Class>,
    /// Its metavariables, besides `hole`.
    #[serde(default)]
    pub forall: IndexMap<Name, Metavariable>,
    /// The value, with `${hole}` in it.
    pub value: Pattern,
}

fn one() -> u32 {
    1
}
