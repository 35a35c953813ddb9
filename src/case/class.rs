//! Classes that a case defines. Each case makes them anew, so that no two cases share one.

use serde::{Deserialize, Serialize};

use super::Name;

/// A class of a case. Those whose names differ by the number at their end alone, `Config` and `Config1`, have one name in Python: as
/// a class has that is defined again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Class {
    /// `collections.namedtuple` with these fields: a pytree node, and a tuple by `==`.
    Namedtuple(Vec<Name>),
    /// A class registered with `jax.tree_util.register_pytree_node`: an instance has `children` and `aux`.
    Node {},
    /// A dataclass registered with `jax.tree_util.register_dataclass`.
    Dataclass {
        /// Fields whose values are children.
        #[serde(default)]
        data: Vec<Name>,
        /// Fields whose values are aux data.
        #[serde(default)]
        meta: Vec<Name>,
    },
    /// An `equinox.Module`.
    Module {
        /// Fields whose values are children.
        #[serde(default)]
        fields: Vec<Name>,
        /// Fields declared with `eqx.field(static=True)`: aux data.
        #[serde(default, rename = "static")]
        static_: Vec<Name>,
    },
    /// A `flax.nnx.Module`.
    NnxModule {
        /// Attributes that are an `nnx.Param` each; an instance is given their arrays.
        #[serde(default)]
        params: Vec<Name>,
        /// Attributes that are no arrays, and so a part of the graphdef.
        #[serde(default, rename = "static")]
        static_: Vec<Name>,
    },
    /// An ordinary class, unknown to pytrees, whose instances hold one `value`.
    Plain {
        /// What `__eq__` does.
        #[serde(default)]
        eq: EqPolicy,
        /// What `__hash__` does.
        #[serde(default)]
        hash: HashPolicy,
        /// Whether an instance can be called (and then be the function under test).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        callable: bool,
    },
    /// A `dataclasses.dataclass`, unknown to pytrees.
    PlainDataclass {
        /// The fields, in order.
        fields: Vec<Name>,
        /// `frozen=True`, which makes it hashable.
        #[serde(default)]
        frozen: bool,
    },
    /// An `enum.Enum` whose members are numbered from 1.
    Enum(Vec<Name>),
    /// An `enum.IntEnum` whose members are numbered from 1.
    IntEnum(Vec<Name>),
    /// A subclass that adds nothing else, of `str`, `int`, `float`, `tuple`, `list`, `dict` or of another class of the case.
    Subclass {
        /// The base class.
        of: Name,
        /// Whether it has a `__repr__` that names it, as the members of an `enum.StrEnum` have.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repr: bool,
    },
}

/// What `__eq__` of a [`Class::Plain`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EqPolicy {
    /// `object.__eq__`: the same object.
    #[default]
    Identity,
    /// Instances of the class (or a subclass) with equal `value`.
    Value,
    /// Every instance of the class.
    Always,
    /// Nothing, not even itself.
    Never,
    /// Raises `RuntimeError`.
    Raises,
    /// Returns an array of two elements, whose truth is ambiguous (`ValueError`).
    Array,
    /// Like `value`, but returns a non-empty or an empty string instead of a bool.
    Truthy,
}

/// What `__hash__` of a [`Class::Plain`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HashPolicy {
    /// `object.__hash__`: by identity.
    #[default]
    Identity,
    /// The hash of `value`.
    Value,
    /// The same number for every instance.
    Constant,
    /// The instance's own `hash` number, so that equal instances can differ in it.
    Chosen,
    /// `__hash__ = None`: unhashable.
    None,
    /// Raises `RuntimeError`.
    Raises,
}
