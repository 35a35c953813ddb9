//! Profiles: how one implementation builds and compares its keys.
//!
//! The words of a profile are a closed vocabulary that [`crate::model`] implements once; a profile only chooses among
//! them. A new implementation, or a new version of one, is a new file under `spec/profiles/`.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::table::{CallComponent, Table};
use super::{Edit, FlagEffect, Python, Requirement, SourceRef, Version};
use crate::case::{Dtype, Effect, Name, Value, Via};

/// What else the jaxpr of a jitted or checkpointed function is found by, where that is called inside of another.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Inside {
    /// The names of the arguments of what `jax.jit` wraps, as its jaxpr is found by them.
    #[serde(default)]
    pub jit: Option<CallComponent>,
    /// The same of what `jax.checkpoint` wraps.
    #[serde(default)]
    pub checkpoint: Option<CallComponent>,
    /// Whether each `jax.jit` finds the signatures that it has met, whatever the arguments are called; without `jit` it makes no
    /// difference.
    #[serde(default)]
    pub signatures: bool,
}

/// How one implementation builds its keys, at some versions.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The implementation's name, such as `jax.jit`.
    pub profile: String,
    /// The implementation that this one is built on. What isn't said here is as in each of its profiles, versions included;
    /// and what a rule says of it holds here as well, unless the rule names this implementation. A profile of the name `lax.*`
    /// is none of an implementation, but what those that follow it have in common.
    #[serde(default)]
    pub follows: Option<String>,
    /// The versions that the profile holds for.
    pub versions: Requirement,
    /// What is different before a version, as edits of what stands here. It holds for all older versions, too, with what is
    /// different before them.
    #[serde(default)]
    pub before: BTreeMap<Version, Vec<Edit>>,
    /// What is worth knowing about it.
    pub about: String,
    /// How arguments become trees and statics.
    pub arguments: ArgumentStyle,
    /// What the tables have for the function under test.
    #[serde(default)]
    pub keyed_by: KeyedBy,
    /// Whether an `nnx.Module` among the arguments is a tree of its Variables; the model doesn't know what it is elsewhere.
    #[serde(default)]
    pub takes_nnx_modules: bool,
    /// The positions that a pair can be planted in.
    pub positions: Vec<String>,
    /// What each kind of leaf is; the first rule that names the kind decides.
    pub leaves: Vec<LeafRule>,
    /// The exception for a dict whose keys can't be sorted.
    pub unsortable_dict: String,
    /// The same for a `collections.defaultdict`.
    pub unsortable_default_dict: String,
    /// The exception for None as a key of an OrderedDict or defaultdict, where there is one.
    #[serde(default)]
    pub none_key: Option<String>,
    /// The exception that an unhashable static argument (`TypeError` from `hash`) becomes; other errors stay as they are.
    pub unhashable: String,
    /// What counts for functions that are called inside of another.
    #[serde(default)]
    pub inside: Inside,
    /// Whether nothing but the fast path hashes static arguments, so that a call which it isn't asked for takes those that can't
    /// be hashed.
    #[serde(default)]
    pub fast_path_alone_hashes: bool,
    /// Which of two errors comes first.
    pub errors: Vec<ErrorStage>,
    /// Whether the fast path overlooks negative `static_argnums`, so that it takes those arguments for dynamic.
    #[serde(default)]
    pub fast_path_overlooks_negative_argnums: bool,
    /// Whether negative `static_argnums` count from the end of the call's arguments, not of the signature.
    #[serde(default)]
    pub negative_argnums_count_from_call: bool,
    /// Whether `donate_argnums` are sorted, without repetition, and counted among the dynamic arguments once the function is
    /// wrapped (`rebase_donate_argnums`); a number that is static as well raises there.
    #[serde(default)]
    pub rebases_donation: bool,
    /// Whether `static_argnums` are taken in the order in which they are written, so that others than ascending ones change
    /// places.
    #[serde(default)]
    pub statics_as_written: bool,
    /// Whether a body's `**kwargs` has the statics in the order in which the first call wrote them, which is in no key.
    #[serde(default)]
    pub static_keywords_as_written: bool,
    /// Whether arguments that the body doesn't use have to be on the devices of the others.
    #[serde(default)]
    pub unused_arguments_have_devices: bool,
    /// What transformations make of the arguments of a wrapper.
    #[serde(default)]
    pub transformations: Transformations,
    /// Whether `jax.eval_shape` asks the wrapper for shapes instead of calling it.
    #[serde(default)]
    pub evaluates_shapes_itself: bool,
    /// Whether a call runs operations of its own beside the program.
    #[serde(default)]
    pub runs_operations: bool,
    /// Whether an argument that is committed elsewhere is moved to the devices of its `in_shardings`.
    #[serde(default)]
    pub in_shardings_move: bool,
    /// The exception for an array whose size is no multiple of the devices that it is split over.
    #[serde(default = "value_error")]
    pub indivisible_sharding: String,
    /// Whether `device` and `backend` of a wrapper are refused beside `jax.set_mesh` (`ValueError`).
    #[serde(default)]
    pub device_excludes_mesh: bool,
    /// Whether `jax.jit` is given shardings whatever the options are, so that it refuses `device` and `backend`.
    #[serde(default)]
    pub always_gives_shardings: bool,
    /// Whether what is returned has to be on all devices of a mesh whose axes are all explicit (`ValueError`).
    #[serde(default)]
    pub explicit_outputs_fill_their_mesh: bool,
    /// The memory kind that an array has on the CPU if it is asked for none, where there is a word for it.
    #[serde(default)]
    pub default_memory: Option<String>,
    /// Whether a compiled object takes arguments that are committed to other devices than it was compiled for.
    #[serde(default)]
    pub compiled_overlooks_devices: bool,
    /// What is raised of a returned dict that can't be sorted, where that isn't what an argument raises.
    #[serde(default)]
    pub unsortable_returned: Option<String>,
    /// The exception for such an argument of what is done ahead of time, if it is another than that of a call.
    #[serde(default)]
    pub unsortable_ahead: Option<String>,
    /// What is raised instead of the `TypeError` for a third or fourth output of no valid type, where the message takes parts of
    /// the debug info for the outputs' names.
    #[serde(default)]
    pub misreported_returns: Option<String>,
    /// Whether a scan takes whatever has two children for the pair that its body returns.
    #[serde(default)]
    pub pairs_are_of_any_class: bool,
    /// The least number of steps that `unroll` may put together; 0 stands for all.
    #[serde(default)]
    pub least_unroll: u8,
    /// What the fast path raises for an array that was donated, where it doesn't see that it is deleted.
    #[serde(default)]
    pub donated_again: Option<String>,
    /// The exception that an error of XLA becomes where Python runs the program.
    #[serde(default = "runtime_error")]
    pub runtime_error: String,
    /// How a `PartitionSpec` compares with a tuple of the same axes.
    #[serde(default)]
    pub partition_specs: PartitionSpecs,
    /// What the hash of an `equinox.Module` is made of.
    #[serde(default)]
    pub modules_hash: ModuleHash,
    /// Whether the axes that are named around a call count in the order in which they were: a tuple, before jax 0.10 made it a dict.
    #[serde(default)]
    pub axes_in_order: bool,
    /// Whether the fast path is not used under them: since jax 0.5 it asks that nothing is named or traced around the call.
    #[serde(default)]
    pub axes_never_fast: bool,
    /// Whether XLA metadata of which the value is None are metadata: since jax 0.6 they are left out, which may leave a dict of nothing.
    #[serde(default)]
    pub none_is_metadata: bool,
    /// Whether a flag that a context manager sets to the value that it has anyway is another key to the fast path: before jax 0.5 it
    /// had what was set in the thread beside what was set for all.
    #[serde(default)]
    pub local_flags_count: bool,
    /// Whether an abstract mesh without axes is the same as none: since jax 0.11.2.
    #[serde(default)]
    pub empty_mesh_is_none: bool,
    /// Whether a wrapper takes no `compiler_options` (`TypeError`).
    #[serde(default)]
    pub without_compiler_options: bool,
    /// Whether a table is asked for a function by `==`, the same one too, so that what its `__eq__` raises is raised once it was
    /// traced (`WeakKeyDictionary`).
    #[serde(default)]
    pub compares_functions_with_themselves: bool,
    /// What a compiled object raises for a `jax.ShapeDtypeStruct`, which has no value.
    #[serde(default = "invalid_input")]
    pub compiled_without_value: String,
    /// Whether `in_shardings` or `out_shardings` of nothing but None are none at all.
    #[serde(default)]
    pub null_shardings_are_none: bool,
    /// Names that no argument can be passed by, since Python's part of the call has them (`TypeError`).
    #[serde(default)]
    pub reserved_names: Vec<Name>,
    /// Whether what `jax.pure_callback` returns keeps a program off the fast path, as an effect does.
    #[serde(default)]
    pub pure_callbacks_are_slow: bool,
    /// What tracing raises where a `**kwargs` takes the name of a positional-only parameter, if it raises anything.
    #[serde(default)]
    pub name_passed_twice: Option<String>,
    /// What a loop raises for what it maps over where a leaf of that has no shape, before it looks at any leaf; that of the leaf
    /// if not given.
    #[serde(default)]
    pub mapped_without_shape: Option<String>,
    /// What a scan raises whose stated length isn't that of its arrays; `ValueError` if not given.
    #[serde(default)]
    pub contradicted_length: Option<String>,
    /// Dtypes that the compiler below refuses: no pair is made of them, and the model doesn't predict them.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub uncompilable: Vec<Dtype>,
    /// Whether what a body returns as it was given is no argument of the compiled program.
    #[serde(default)]
    pub forwards_unchanged: bool,
    /// Whether `jax.clear_caches()` gives wrappers that are made after it a fast path of their own, apart from that of the
    /// wrappers made before.
    #[serde(default)]
    pub clearing_detaches_wrappers: bool,
    /// Whether programs that call back to Python are kept in the files of the persistent cache.
    #[serde(default)]
    pub callbacks_have_files: bool,
    /// Whether what is traced after a failed attempt with the same key is not kept in the table of jaxprs.
    #[serde(default)]
    pub failed_trace_blocks_key: bool,
    /// Whether the functions of a loop are traced as `jax.jit` traces, so that what keeps that from tracing keeps them from it.
    #[serde(default)]
    pub functions_traced_as_jit: bool,
    /// The tables, in the order in which a call consults them.
    pub tables: Vec<Table>,
    /// Where this was read or measured.
    pub sources: Vec<SourceRef>,
    /// What config flags do at these versions, from `flags.yaml`.
    #[serde(skip)]
    pub flags: IndexMap<String, FlagEffect>,
    /// The values that they have as jax is imported.
    #[serde(skip)]
    pub flag_defaults: IndexMap<String, Value>,
    /// What the Python decides that it runs on.
    #[serde(skip)]
    pub python: Arc<Python>,
    /// The profile as it is written.
    #[serde(skip)]
    pub(super) tree: serde_yaml::Value,
}

/// What transformations make of the arguments of a wrapper.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Transformations {
    /// The exception of `jax.vmap` for what is no array.
    pub other_under_vmap: String,
    /// The exception of `jax.vjp` for what is no array.
    pub other_under_grad: String,
    /// The exception of `jax.vjp` for a `jax.ShapeDtypeStruct`, if it is one.
    pub struct_under_grad: Option<String>,
    /// Under which uses a Python int that doesn't fit overflows, since its type is asked before anything else of it.
    pub overflows_under: Vec<Via>,
    /// Whether a tracer can be hashed, and so be a static argument, which is another one each time.
    pub tracers_are_hashable: bool,
    /// Whether `jax.vjp` makes objects of jax's own of numbers that have no tangent: of an int one of a subclass, of what is
    /// NumPy's one that has no hash.
    pub makes_literals: bool,
    /// What is lowered where nothing among the arguments has a tangent.
    pub without_tangents: WithoutTangents,
    /// The exception of `jax.vmap` for a body with a `jax.pure_callback`, if it is one.
    pub pure_callback_under_vmap: Option<String>,
    /// Under which uses a wrapper with `compiler_options` is no outermost one, which is refused once it was traced
    /// (`ValueError`).
    pub refuse_compiler_options: Vec<Via>,
}

impl Default for Transformations {
    fn default() -> Self {
        let type_error = || "TypeError".to_owned();
        Self {
            other_under_vmap: type_error(),
            other_under_grad: type_error(),
            struct_under_grad: None,
            overflows_under: Vec::new(),
            tracers_are_hashable: false,
            makes_literals: false,
            without_tangents: WithoutTangents::default(),
            pure_callback_under_vmap: None,
            refuse_compiler_options: Vec::new(),
        }
    }
}

/// What is lowered under `jax.vjp` where nothing among the arguments has a tangent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WithoutTangents {
    /// The function itself.
    #[default]
    Plain,
    /// Nothing that the call without the transformation hasn't: it is served by the fast path, too.
    Called,
    /// Something else than without the transformation.
    Apart,
    /// The model doesn't know.
    Unknown,
}

fn value_error() -> String {
    "ValueError".to_owned()
}

fn invalid_input() -> String {
    "InvalidInputException".to_owned()
}

fn runtime_error() -> String {
    "JaxRuntimeError".to_owned()
}

/// How arguments become trees and statics.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArgumentStyle {
    /// `jax.jit`: as written; `static_argnums` and `static_argnames` choose the statics; each other argument is a tree.
    AsWritten,
    /// `equinox.filter_jit`: bound to the signature first; the function, the first argument and the rest are three trees
    /// whose leaves are dynamic or static each by its kind, and the statics with the treedefs are one static argument.
    Partition,
    /// A loop or a conditional of `jax.lax` that runs eagerly: what each argument is, in order. The jaxprs of the functions
    /// come first, then the fast path of a primitive that has them as parameters.
    ControlFlow(Vec<Parameter>),
}

/// What the tables have for the function under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeyedBy {
    /// The function itself.
    #[default]
    Function,
    /// An object that each wrapper of it makes anew, so that two wrappers of one function share nothing.
    Wrapper,
}

/// What an argument of a loop or a conditional is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// A function of the carry that says whether to go on.
    Condition,
    /// A function from carry to carry; from carry and slice to carry and slice where something is mapped over, and from
    /// index and carry where there are bounds.
    Body,
    /// A function that is wrapped in a new lambda each time.
    WrappedBody,
    /// A function of the operands.
    Branch,
    /// A sequence of such functions.
    Branches,
    /// The truth value that chooses a branch.
    Predicate,
    /// The number of the branch.
    Index,
    /// The carry.
    Carry,
    /// What is mapped over, by its leading axis.
    Mapped,
    /// How many steps: a parameter of the program.
    Length,
    /// The first index; the number of steps is a parameter of the program, the bounds are not.
    Lower,
    /// The index to stop before.
    Upper,
    /// This argument and all that follow are given to the branches.
    Operands,
}

impl Parameter {
    /// What the `i`-th argument of a function of `jax.lax` with these parameters is called in its signature.
    #[must_use]
    pub fn name(parameters: &[Self], i: usize) -> String {
        let operands = parameters.iter().position(|parameter| *parameter == Self::Operands);
        if let Some(first) = operands.filter(|first| i >= *first) {
            return format!("operands[{}]", i - first);
        }
        let scans = parameters.contains(&Self::Mapped);
        let name = match parameters.get(i) {
            Some(Self::Condition) => "cond_fun",
            Some(Self::Body | Self::WrappedBody) if scans => "f",
            Some(Self::Body | Self::WrappedBody) => "body_fun",
            Some(Self::Branches) => "branches",
            Some(Self::Predicate) => "pred",
            Some(Self::Index) => "index",
            Some(Self::Carry) if scans => "init",
            Some(Self::Carry) => "init_val",
            Some(Self::Mapped) => "xs",
            Some(Self::Length) => "length",
            Some(Self::Lower) => "lower",
            Some(Self::Upper) => "upper",
            Some(Self::Branch) if i > 0 && parameters[i - 1] == Self::Branch => "false_fun",
            Some(Self::Branch) => "true_fun",
            Some(Self::Operands) | None => return format!("args[{i}]"),
        };
        name.to_owned()
    }
}

/// What a kind of leaf is.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LeafRule {
    /// The kinds.
    pub kind: Vec<LeafKind>,
    /// The dtypes that it speaks of, where it is not of all.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub dtypes: Vec<Dtype>,
    /// What they are.
    pub role: Role,
    /// The exception of an invalid leaf.
    #[serde(default)]
    pub error: Option<String>,
    /// The exception that comes when the value becomes an argument of the program, so only if the body uses it.
    #[serde(default)]
    pub error_when_used: Option<String>,
    /// The exception that comes once the jaxpr is there: a call that runs looks at every argument, and lowering alone at
    /// those that the body uses.
    #[serde(default)]
    pub error_when_lowered: Option<String>,
    /// The exception that comes only if the fast path is missed, which does not look closely.
    #[serde(default)]
    pub error_when_missed: Option<String>,
    /// The exception that comes, if the fast path is missed, where one object is two leaves of a call.
    #[serde(default)]
    pub error_when_twice: Option<String>,
    /// Whether a call with such a leaf never takes the fast path, which can't describe it.
    #[serde(default)]
    pub never_fast: bool,
    /// Whether the layers below the fast path take it for strongly typed, although the fast path takes it for weak.
    #[serde(default)]
    pub strong_when_missed: bool,
    /// Whether it is committed to where it is, though what it was made of is not.
    #[serde(default)]
    pub commits: bool,
}

impl Profile {
    /// Whether a program with that effect is kept off the fast path.
    #[must_use]
    pub fn is_slow(&self, effect: Effect) -> bool {
        effect != Effect::Pure || self.pure_callbacks_are_slow
    }
}

/// How a `PartitionSpec` compares with a tuple of the same axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PartitionSpecs {
    /// It is another thing.
    #[default]
    Apart,
    /// It is equal, and hashes otherwise.
    EqualTuples,
    /// It is a tuple.
    Tuples,
}

/// What the hash of an `equinox.Module` is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModuleHash {
    /// Its fields.
    #[default]
    Fields,
    /// The leaves of its tree.
    Leaves,
}

impl LeafRule {
    /// Whether it speaks of leaves of that kind and dtype.
    #[must_use]
    pub fn is_of(&self, kind: LeafKind, dtype: Option<Dtype>) -> bool {
        let is_of_dtype = self.dtypes.is_empty() || dtype.is_some_and(|dtype| self.dtypes.contains(&dtype));
        self.kind.contains(&kind) && is_of_dtype
    }
}

/// What a leaf is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Traced: its aval is in the key.
    Dynamic,
    /// Its value is in the key.
    Static,
    /// It raises.
    Invalid,
}

/// A kind of leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeafKind {
    /// A `jax.Array`.
    JaxArray,
    /// A `jax.Array` of a dtype of less than a byte that is committed to its device.
    CommittedSubByteArray,
    /// A typed PRNG key array.
    PrngKey,
    /// A `numpy.ndarray` or a subclass, in native byte order.
    NumpyArray,
    /// A `numpy.ndarray` in the other byte order.
    SwappedArray,
    /// A `numpy.ma.MaskedArray`.
    MaskedArray,
    /// An object with `__jax_array__`, which returns an array.
    Converted,
    /// A `numpy.ndarray` of `float0`, the dtype of tangents of integers.
    Float0Array,
    /// A `numpy.ndarray` of a dtype that jax doesn't have.
    ForeignArray,
    /// A NumPy scalar.
    NumpyScalar,
    /// A NumPy scalar of a dtype that jax doesn't have.
    ForeignScalar,
    /// `bool`
    PythonBool,
    /// `int`, `float`, `complex`
    PythonNumber,
    /// An int that the default integer dtype can't hold.
    BigInt,
    /// An instance of a subclass of `int` or `float`, an `IntEnum` among them.
    NumberSubclass,
    /// A `jax.ShapeDtypeStruct`.
    ShapeDtypeStruct,
    /// A reference to an array, `jax.new_ref`.
    ArrayRef,
    /// Anything else.
    Other,
}

/// A stage at which a call can fail before a key is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorStage {
    /// A tree can't be flattened.
    Flatten,
    /// A leaf is invalid; the first in flatten order.
    Leaf,
    /// A static can't be hashed.
    Hash,
}
