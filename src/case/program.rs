//! Cases: named objects, then steps.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};

use super::value::{DefForm, Effect};
use super::{Class, Form, Name, Placement, Value};

/// A short program: classes and named objects that have identity, then calls of one cached function and the events
/// between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Classes, made anew for this case, in order.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub classes: IndexMap<Name, Class>,
    /// Objects, made once before the first step, in order, and kept alive until dropped.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub objects: IndexMap<Name, Value>,
    /// The function under test where a call names none: made once, and kept.
    #[serde(default = "default_function", skip_serializing_if = "is_default_function")]
    pub function: Value,
    /// What the function is wrapped with.
    #[serde(default, skip_serializing_if = "JitOptions::is_empty")]
    pub options: JitOptions,
    /// The number of (forced host) devices that the case needs.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub devices: u32,
    /// The ambient context of every step.
    #[serde(default, skip_serializing_if = "Context::is_empty")]
    pub context: Context,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

fn default_function() -> Value {
    Form::Def(DefForm::default()).into()
}

fn is_default_function(function: &Value) -> bool {
    *function == default_function()
}

fn one() -> u32 {
    1
}

fn is_one(n: &u32) -> bool {
    *n == 1
}

impl Default for Case {
    fn default() -> Self {
        Self {
            classes: IndexMap::new(),
            objects: IndexMap::new(),
            function: default_function(),
            options: JitOptions::default(),
            devices: 1,
            context: Context::default(),
            steps: Vec::new(),
        }
    }
}

impl Case {
    /// The calls among the steps, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.steps.iter().filter_map(|step| match step {
            Step::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The arguments of all calls.
    pub fn arguments(&self) -> impl Iterator<Item = &Value> {
        self.calls().flat_map(|call| call.args.iter().chain(call.kwargs.values()))
    }
}

/// One thing that happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The function is called.
    Call(Call),
    /// A named object is dropped: the case holds it no longer.
    Drop(Name),
    /// A named object is changed in place.
    Mutate(Mutation),
    /// A cache is cleared.
    Clear(ClearScope),
    /// The buffers of a named `jax.Array` are deleted (`x.delete()`).
    Delete(Name),
    /// The buffers of a named `jax.Array` are donated to a program that is none of the case's.
    Donate(Name),
    /// Many calls that fill the caches.
    Fill(Fill),
}

/// A call of the cached function.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The function under test of this call, if it is not the case's own. Written in place it lives for this call only;
    /// as `{ref: name}` it lives until dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Value>,
    /// Positional arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Value>,
    /// Keyword arguments, in the order in which they are written.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub kwargs: IndexMap<Name, Value>,
    /// Other options than the case's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<JitOptions>,
    /// Which wrapper of the function is called: another name is another `jax.jit(f)` of the same function. The calls that
    /// name none share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrapper: Option<Name>,
    /// The context of this call, over the case's.
    #[serde(default, skip_serializing_if = "Context::is_empty")]
    pub context: Context,
    /// How the function is used.
    #[serde(default, skip_serializing_if = "is_call")]
    pub via: Via,
    /// What is called instead of a function: the compiled object that the call of this number, counted from 1, returned,
    /// which was made `via: compile`. Its function and options are those of that call; static arguments of `jax.jit` are
    /// not passed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled: Option<usize>,
    /// In which thread the call is made.
    #[serde(default, skip_serializing_if = "is_main")]
    pub thread: Thread,
    /// What the function returned, as a model has to know it for `output` in later calls; a target checks it against the
    /// real output. The body that a case makes by default returns its array leaves, in a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
    /// The class of the exception that the body raises when it is traced with these arguments: one given as source by itself,
    /// any other because of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raises: Option<String>,
    /// What the body does besides with these arguments, in a recording: bodies that a case makes have their effects themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// What the body reads of objects that are compared by identity, in a recording: no key sees that it is another than before.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub reads: IndexMap<String, String>,
}

fn is_call(via: &Via) -> bool {
    *via == Via::Call
}

fn is_main(thread: &Thread) -> bool {
    *thread == Thread::Main
}

/// In which thread a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Thread {
    /// In that of all the other steps.
    #[default]
    Main,
    /// In one of its own, while the main one waits. The context of the call is entered by the main one.
    Other,
}

/// How the function is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// Called.
    #[default]
    Call,
    /// `f.trace(…)`
    Trace,
    /// `f.lower(…)`
    Lower,
    /// `f.lower(…).compile()`
    Compile,
    /// `jax.eval_shape(f, …)`
    EvalShape,
    /// `jax.make_jaxpr(f)(…)`
    MakeJaxpr,
    /// Called under `jax.vmap`.
    Vmap,
    /// Called under `jax.grad`.
    Grad,
    /// Called under `jax.jvp`.
    Jvp,
}

/// Calls of which nothing is asked but that they leave something in the caches: they have no number and no verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// How many.
    pub calls: u16,
    /// What each of them is. `{nth: 0}` in it is the number of those before.
    pub call: Call,
}

/// A change of an object in place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mutation {
    /// The object: an instance of a plain class, a function, or a container.
    pub object: Name,
    /// Of a list, set or dict: what it holds from now on, as another one of its kind. What is in it is older than itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Value>,
    /// Its new `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Its new `hash` number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<i64>,
    /// Of a function, a `def` with `params`: its new `__defaults__`, one for each that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<Vec<Value>>,
}

impl Mutation {
    /// The values in it.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.contents.iter().chain(&self.value).chain(self.defaults.iter().flatten())
    }
}

/// Which caches are cleared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClearScope {
    /// `f.clear_cache()` of the function under test.
    Function,
    /// `f.clear_cache()` of the wrapper that earlier calls went through, in a recording.
    Wrapper(Name),
    /// `jax.clear_caches()`
    Jax,
    /// `equinox.clear_caches()`
    Equinox,
}

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
#[serde(untagged)]
pub enum InShardings {
    /// One for each dynamic positional argument, or null where it may be anywhere.
    Each(Vec<Option<Shardings>>),
    /// One for all.
    All(Placement),
}

/// The shardings of what is in a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Shardings {
    /// A tree of shardings, of the same structure.
    Tree(ShardingTree),
    /// One for all leaves.
    All(Placement),
}

/// A tree of shardings by its leaves.
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

/// What surrounds a call: configuration and context managers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// `jax_enable_x64`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x64: Option<bool>,
    /// Other config flags, by their name in `jax.config`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub flags: IndexMap<String, Value>,
    /// `jax.default_device`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_device: Option<DefaultDevice>,
    /// A mesh that surrounds the call, as a context manager: axis names with their sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<IndexMap<Name, u32>>,
    /// The mesh of `jax.set_mesh`, written likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_mesh: Option<IndexMap<Name, u32>>,
    /// The devices of these meshes, in order; the first ones if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mesh_devices: Vec<u32>,
    /// The axes of these meshes that are `AxisType.Explicit`; the others are `Auto`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mesh_explicit: Vec<Name>,
    /// `jax.experimental.xla_metadata.set_xla_metadata(name=value, …)`
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub xla_metadata: IndexMap<Name, Value>,
    /// `jax.experimental.compute_on.compute_on`: the compute type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_on: Option<String>,
    /// The value of a context that was made with `jax.make_user_context()`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Value>,
    /// `jax.transfer_guard`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_guard: Option<TransferGuard>,
    /// Whether programs are kept in the files of a persistent cache: a folder that is empty as the case begins
    /// (`jax_compilation_cache_dir`). What is loaded from there is not compiled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub persistent_cache: bool,
}

/// `jax.default_device`
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum DefaultDevice {
    /// The device of that number.
    Number(u32),
    /// The first device of the platform of that name.
    Platform(String),
}

impl std::fmt::Display for DefaultDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Platform(name) => f.write_str(name),
        }
    }
}

/// `jax.transfer_guard`: what happens to a value that has to be copied to a device, or between devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TransferGuard {
    /// Nothing.
    Allow,
    /// It is logged, if nobody asked for the copy.
    Log,
    /// It raises, if nobody asked for the copy.
    Disallow,
    /// It is logged.
    LogExplicit,
    /// It raises.
    DisallowExplicit,
}

impl TransferGuard {
    /// Every one.
    const ALL: [Self; 5] = [Self::Allow, Self::Log, Self::Disallow, Self::LogExplicit, Self::DisallowExplicit];

    /// The guard of that word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|guard| guard.word() == word)
    }

    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Log => "log",
            Self::Disallow => "disallow",
            Self::LogExplicit => "log_explicit",
            Self::DisallowExplicit => "disallow_explicit",
        }
    }

    /// Whether what a call has to copy raises. Nobody asks for that copy.
    #[must_use]
    pub fn disallows(self) -> bool {
        matches!(self, Self::Disallow | Self::DisallowExplicit)
    }
}

impl Context {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { x64, flags, default_device, mesh, set_mesh, mesh_devices, mesh_explicit, .. } = self;
        let Self { xla_metadata, compute_on, user, transfer_guard, persistent_cache, .. } = self;
        let is_plain = x64.is_none() && default_device.is_none() && transfer_guard.is_none() && !persistent_cache;
        let has_mesh = mesh.is_some() || set_mesh.is_some() || !mesh_devices.is_empty() || !mesh_explicit.is_empty();
        let has_values = !flags.is_empty() || !xla_metadata.is_empty() || compute_on.is_some() || user.is_some();
        is_plain && !has_mesh && !has_values
    }

    /// The context of a call inside this one: what both set is as the call says.
    #[must_use]
    pub fn around<'c>(&'c self, call: &'c Self) -> Cow<'c, Self> {
        if call.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut flags = self.flags.clone();
        flags.extend(call.flags.clone());
        let mut xla_metadata = self.xla_metadata.clone();
        xla_metadata.extend(call.xla_metadata.clone());
        let devices = if call.mesh_devices.is_empty() { &self.mesh_devices } else { &call.mesh_devices };
        let explicit = if call.mesh_explicit.is_empty() { &self.mesh_explicit } else { &call.mesh_explicit };
        Cow::Owned(Self {
            x64: call.x64.or(self.x64),
            flags,
            default_device: call.default_device.clone().or_else(|| self.default_device.clone()),
            mesh: call.mesh.clone().or_else(|| self.mesh.clone()),
            set_mesh: call.set_mesh.clone().or_else(|| self.set_mesh.clone()),
            mesh_devices: devices.clone(),
            mesh_explicit: explicit.clone(),
            xla_metadata,
            compute_on: call.compute_on.clone().or_else(|| self.compute_on.clone()),
            user: call.user.clone().or_else(|| self.user.clone()),
            transfer_guard: call.transfer_guard.or(self.transfer_guard),
            persistent_cache: call.persistent_cache || self.persistent_cache,
        })
    }
}

/// A parameter: `x`, `*args`, `**kwargs`, or `{name: x, default: 2.0}`; after `*` or `*args` they are keyword-only, before `/`
/// positional-only.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Param {
    /// A parameter without a default, `/`, `*`, `*args` or `**kwargs`.
    Plain(ArgName),
    /// A parameter with a default.
    Default {
        /// The name.
        name: Name,
        /// The default value.
        default: Value,
    },
}

impl<'de> Deserialize<'de> for Param {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct WithDefault {
            name: Name,
            default: Value,
        }
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Param;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a parameter: `x`, `/`, `*`, `*args`, `**kwargs`, or `{name: x, default: 2.0}`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Param, E> {
                ArgName::try_from(text.to_owned()).map(Param::Plain).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Param, A::Error> {
                let read = WithDefault::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Param::Default { name: read.name, default: read.default })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A parameter's name as it stands in a signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub enum ArgName {
    /// `x`
    One(Name),
    /// `/`: those before it are positional-only.
    Slash,
    /// `*args`, or a bare `*` that makes the following keyword-only.
    Positional(Option<Name>),
    /// `**kwargs`
    Keyword(Name),
}

impl TryFrom<String> for ArgName {
    type Error = super::NameError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        if let Some(name) = text.strip_prefix("**") {
            Ok(Self::Keyword(Name::new(name)?))
        } else if text == "/" {
            Ok(Self::Slash)
        } else if text == "*" {
            Ok(Self::Positional(None))
        } else if let Some(name) = text.strip_prefix('*') {
            Ok(Self::Positional(Some(Name::new(name)?)))
        } else {
            Ok(Self::One(Name::new(text)?))
        }
    }
}

impl From<ArgName> for String {
    fn from(name: ArgName) -> Self {
        match name {
            ArgName::One(name) => name.to_string(),
            ArgName::Slash => "/".to_owned(),
            ArgName::Positional(None) => "*".to_owned(),
            ArgName::Positional(Some(name)) => format!("*{name}"),
            ArgName::Keyword(name) => format!("**{name}"),
        }
    }
}
