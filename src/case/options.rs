//! The options of a wrapper.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Name, Placement, Value};

/// What the function is wrapped with (`jax.jit`'s keyword arguments).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JitOptions {
    /// Positions of static arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub static_argnums: Vec<i32>,
    /// Names of static arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub static_argnames: Vec<Name>,
    /// Positions of donated arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub donate_argnums: Vec<i32>,
    /// Names of donated arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub donate_argnames: Vec<Name>,
    /// `filter_jit`'s donation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub donate: Option<Donate>,
    /// Whether arguments that the body doesn't use stay in the program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_unused: bool,
    /// `inline=True`
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inline: bool,
    /// XLA's options; an empty map is passed on as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_options: Option<IndexMap<String, Value>>,
    /// Where arguments have to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_shardings: Option<InShardings>,
    /// Where what is returned has to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_shardings: Option<Shardings>,
    /// `device=`, deprecated: the device of that number, which arguments are moved to from wherever they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    /// `backend=`, deprecated: likewise, the first device of the platform of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
}

/// `in_shardings`: a sharding is written as the placement of an array that has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a sharding, or a list with one or null for each argument")]
pub enum InShardings {
    /// One for each dynamic positional argument, or null where it may be anywhere.
    Each(Vec<Option<Shardings>>),
    /// One for all.
    All(Placement),
}

/// The shardings of what is in a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a sharding, or `leaves` with one or null for each")]
pub enum Shardings {
    /// A tree of shardings, of the same structure.
    Tree(ShardingTree),
    /// One for all leaves.
    All(Placement),
}

/// A tree of shardings by its leaves. As `in_shardings` a target gives it as a list, which fits an argument that is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardingTree {
    /// One for each leaf, or null where it may be anywhere.
    pub leaves: Vec<Option<Placement>>,
}

impl Shardings {
    /// The shardings in it.
    pub fn iter(&self) -> impl Iterator<Item = &Placement> {
        let (all, leaves) = match self {
            Self::Tree(tree) => (None, &*tree.leaves),
            Self::All(place) => (Some(place), &[][..]),
        };
        all.into_iter().chain(leaves.iter().flatten())
    }

    /// What leaf `i` has.
    #[must_use]
    pub fn of_leaf(&self, i: usize) -> Option<&Placement> {
        match self {
            Self::Tree(tree) => tree.leaves.get(i)?.as_ref(),
            Self::All(place) => Some(place),
        }
    }
}

impl InShardings {
    /// The shardings in it.
    pub fn iter(&self) -> impl Iterator<Item = &Placement> {
        match self {
            Self::Each(places) => places.iter().flatten().flat_map(Shardings::iter).collect::<Vec<_>>(),
            Self::All(place) => vec![place],
        }
        .into_iter()
    }
}

impl JitOptions {
    /// Whether `device` or `backend` say where everything is.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.device.is_some() || self.backend.is_some()
    }

    /// Whether several of them say where everything is, which `jax.jit` refuses.
    #[must_use]
    pub fn contradict(&self) -> bool {
        let has_shardings = self.in_shardings.is_some() || self.out_shardings.is_some();
        self.moves() && has_shardings || self.device.is_some() && self.backend.is_some()
    }

    /// The options, where `device` or `backend` are `in_shardings` and `out_shardings`, too.
    #[must_use]
    pub fn resolved(&self) -> Cow<'_, Self> {
        if !self.moves() {
            return Cow::Borrowed(self);
        }
        // No sharding that is written says `committed`: what is moved there has the layout of none of its arguments.
        let place = || Placement { device: self.device.unwrap_or(0), committed: true, ..Placement::default() };
        Cow::Owned(Self {
            in_shardings: Some(InShardings::All(place())),
            out_shardings: Some(Shardings::All(place())),
            ..self.clone()
        })
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { static_argnums, static_argnames, donate_argnums, donate_argnames, donate, .. } = self;
        let Self { keep_unused, inline, compiler_options, in_shardings, out_shardings, .. } = self;
        let has_statics = !static_argnums.is_empty() || !static_argnames.is_empty();
        let donates = !donate_argnums.is_empty() || !donate_argnames.is_empty() || donate.is_some();
        let has_shardings = in_shardings.is_some() || out_shardings.is_some();
        !(has_statics
            || donates
            || has_shardings
            || self.moves()
            || *keep_unused
            || *inline
            || compiler_options.is_some())
    }
}

/// `filter_jit(donate=…)`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Donate {
    /// Every array.
    All,
    /// Every array but those of the first argument.
    AllExceptFirst,
    /// Every array, and a warning where a buffer can't be used.
    Warn,
    /// Likewise, but for the first argument.
    WarnExceptFirst,
    /// A word that `filter_jit` doesn't have.
    Bogus,
}
