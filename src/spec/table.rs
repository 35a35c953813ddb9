//! Tables of the cache: what a profile says of each one's keys.

use serde::{Deserialize, Serialize};

/// A table of the cache.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Which one.
    pub table: TableName,
    /// How the function is compared. Not given: the table is shared by all functions.
    #[serde(default)]
    pub function: Option<FunctionKey>,
    /// The parts of a dynamic leaf that are in the key.
    #[serde(default)]
    pub leaf: Vec<LeafComponent>,
    /// How statics are compared.
    #[serde(default)]
    pub statics: Option<StaticEquality>,
    /// How treedefs with their aux data and dict keys are compared; the treedef is in the key if given.
    #[serde(default)]
    pub tree: Option<Equality>,
    /// The parts of the call's form that are in the key.
    #[serde(default)]
    pub call: Vec<CallComponent>,
    /// The parts of the context that are in the key.
    #[serde(default)]
    pub context: Vec<ContextComponent>,
    /// Whether statics and treedefs are compared before weak types and what surrounds the call, which then are not in the hash
    /// of a key either: what their comparison raises is raised although these differ.
    #[serde(default)]
    pub compares_arguments_first: bool,
    /// The exception that an error in a comparison becomes.
    #[serde(default)]
    pub comparison_raises: ComparisonErrors,
    /// How many entries it has at most, those of all functions together; the least recently used goes first. Not given: any
    /// number.
    #[serde(default)]
    pub size: Option<usize>,
}

/// The exceptions that errors in `__eq__` become; as they are if not given.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ComparisonErrors {
    /// In the comparison of statics.
    #[serde(default)]
    pub statics: Option<String>,
    /// In the comparison of aux data, and of the keys of what is registered, as an OrderedDict is.
    #[serde(default)]
    pub tree: Option<String>,
    /// In the comparison of the keys of a dict.
    #[serde(default)]
    pub dict: Option<String>,
}

/// The name of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TableName {
    /// The C++ fast path.
    Dispatch,
    /// `_infer_params_cached`: answers for `trace` where it hits; no verdict names it.
    Infer,
    /// `_process_in_axis_resources`: looked at before a trace; that it hits changes nothing, but its comparisons can raise.
    Resources,
    /// The jaxpr.
    Trace,
    /// The lowered module, by the jaxpr and what else its key has.
    Lower,
    /// The executable, by the lowered module and what else its key has.
    Compile,
    /// The executable's file in the persistent cache, by the text of the module: what is loaded from there is not compiled.
    Persistent,
}

/// How the function under test is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FunctionKey {
    /// By identity or by `==`.
    pub by: FunctionBy,
    /// How the table holds it.
    pub held: Held,
}

/// The equality of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FunctionBy {
    /// The same object.
    Identity,
    /// `==`; entries are filed under the first equal function that is alive.
    Equal,
}

/// How a table holds a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// The entries go when the function does.
    Weakly,
    /// The table keeps the function alive.
    Strongly,
}

/// A part of a dynamic leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeafComponent {
    /// The shape.
    Shape,
    /// The dtype after `canonicalize_dtype`, the PRNG implementation with it.
    CanonicalDtype,
    /// `weak_type`
    WeakType,
    /// The sharding, which NumPy arrays and Python scalars have none of.
    Sharding,
    /// The same, where a spec that has a tuple of one axis is another one than that of the axis.
    WrittenSharding,
    /// The mesh of a named sharding without its devices, and how the array is split over the explicit ones of its axes: what is
    /// part of the aval.
    Mesh,
    /// The memory space of the aval: the host's, or the device's, which `unpinned_host` counts to.
    MemoryKind,
    /// The memory kind, by its name.
    Memory,
    /// The layout.
    Layout,
    /// Whether it is committed to its device.
    Committed,
    /// Whether lowering knows its layout: that of what is committed, and of what `in_shardings` take from the host.
    KnownLayout,
    /// The devices that it is committed to.
    Device,
    /// Into how many parts each dimension is split, on how many devices, and which has which; whatever the mesh is called.
    Partition,
}

/// How statics are compared.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StaticEquality {
    /// Those passed by position (for `partition`: all).
    pub positional: Equality,
    /// Those passed by keyword.
    pub keyword: Equality,
}

impl StaticEquality {
    /// That of a static that is passed by keyword, or by position.
    #[must_use]
    pub fn of(&self, keyword: bool) -> Equality {
        if keyword { self.keyword } else { self.positional }
    }
}

/// An equality: which of these tests are made, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Equality {
    /// `type(a) is type(b)`
    pub same_type: bool,
    /// `hash(a) == hash(b)`
    pub hash: bool,
    /// `a is b` is enough.
    pub identity: bool,
    /// `a == b`
    pub equal: bool,
    /// A PyTreeDef that is itself aux data or a dict key counts as equal to whatever is no PyTreeDef and not None; otherwise
    /// that comparison raises `TypeError`. (Treedefs compare with `!=`, which PyTreeDef answers with False.)
    pub treedef_equals_others: bool,
    /// The `==` of treedefs doesn't look at the class of a registered dataclass, which only their hash then tells apart.
    pub any_dataclass: bool,
}

impl<'de> Deserialize<'de> for Equality {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut equality = Self::default();
        for word in Vec::<EqualityWord>::deserialize(deserializer)? {
            match word {
                EqualityWord::SameType => equality.same_type = true,
                EqualityWord::Hash => equality.hash = true,
                EqualityWord::Identity => equality.identity = true,
                EqualityWord::Equal => equality.equal = true,
                EqualityWord::TreedefEqualsOthers => equality.treedef_equals_others = true,
                EqualityWord::AnyDataclass => equality.any_dataclass = true,
            }
        }
        Ok(equality)
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum EqualityWord {
    /// `type(a) is type(b)` is needed.
    SameType,
    /// `hash(a) == hash(b)` is needed.
    Hash,
    /// `a is b` is enough.
    Identity,
    /// `a == b` is needed.
    Equal,
    /// A PyTreeDef among aux data counts as equal to what is no PyTreeDef.
    TreedefEqualsOthers,
    /// The class of a registered dataclass is not compared.
    AnyDataclass,
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Equality {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Equality".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let word = generator.subschema_for::<EqualityWord>();
        schemars::json_schema!({ "description": "Which tests are made.", "type": "array", "items": word })
    }
}

/// A part of the call's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CallComponent {
    /// How many arguments are passed by position.
    PositionalCount,
    /// The names of those passed by keyword.
    KeywordNames,
    /// Which positions are static.
    StaticPositions,
    /// Whether there are names of static arguments, as the wrapper completed them.
    ChoosesByName,
    /// Where the function is defined: its name, its lines and its parameters (`DebugInfo`).
    Definition,
    /// The names of all argument leaves, in which dict keys are printed (`repr`): the `arg_names` of a `DebugInfo`.
    ArgumentNames,
    /// The same, where the keys of a defaultdict are printed in the order of insertion, although its values are sorted.
    ArgumentNamesAsInserted,
    /// `donate_argnums` and `donate_argnames`, completed from the signature, in the order in which they are written.
    Donation,
    /// `donate_argnums` alone.
    DonatedPositions,
    /// Which leaves are donated.
    DonatedLeaves,
    /// Which arguments of the lowered module are donated.
    DonatedArguments,
    /// The name of the lowered module, which is that of the function.
    ModuleName,
    /// `keep_unused`
    KeepUnused,
    /// `compiler_options`
    CompilerOptions,
    /// `in_shardings` and `out_shardings`, as objects.
    Shardings,
    /// The wrapper, if it has any of the two.
    WrapperWithShardings,
    /// The wrapper, which other wrappers of the same function share nothing with here.
    Wrapper,
    /// Into how many parts `out_shardings` split what is returned, on how many devices.
    OutPartition,
    /// The mesh of `out_shardings`.
    OutMesh,
    /// The devices of `out_shardings`.
    OutDevices,
    /// Whether it is compiled ahead of time, outside of what a call enters by itself.
    Ahead,
    /// All options of the wrapper.
    Options,
}

/// A part of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextComponent {
    /// `jax_enable_x64`
    X64,
    /// The default device.
    DefaultDevice,
    /// The mesh around the call.
    Mesh,
    /// The mesh of `jax.set_mesh`, or of `use_abstract_mesh` inside of it: with devices in the fast path, without them above the
    /// executable, which has those alone.
    SetMesh,
    /// What `set_xla_metadata` set.
    XlaMetadata,
    /// `compute_on`
    ComputeOn,
    /// The axes that are named around the call, with their sizes.
    NamedAxes,
    /// How many contexts were made, by the user or by a module that was imported.
    ContextsMade,
    /// The value of a context that the user made.
    User,
    /// Every other flag that a case sets.
    Flags,
}
