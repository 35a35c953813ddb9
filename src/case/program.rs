//! Cases: named objects, then steps.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::value::{DefForm, Effect};
use super::{Class, Context, Dtype, Form, JitOptions, Layer, Name, Value};

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
#[serde(deny_unknown_fields, expecting = "a call, such as {args: [1]}")]
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
    /// The dtypes with which the leaves of an eager loop's carry come out, each where it isn't the one that the leaf went in with, in
    /// a recording, which doesn't know what bodies return.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Option<String>>"))]
    pub carried: Vec<Option<Dtype>>,
    /// The numbers of the dynamic leaves, from zero, that its program doesn't have, in a recording, which doesn't know what bodies use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<usize>,
    /// Whether its program came from a file of the persistent cache, in a recording, which doesn't know what is in there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loaded: bool,
    /// Whether its program raised as it ran, in a recording: what does so when it is met first is never fast.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fails_as_it_runs: bool,
    /// Whether its trace is seen by any jaxpr that is made, in a recording, where nothing says whose body runs: in the end it calls a
    /// function of a library, or the program has a profiler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub traced_with_any: bool,
    /// The layer at which nothing could be made of what was traced, and the class of what was raised, in a recording, which doesn't
    /// know what bodies ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_at: Option<(Layer, String)>,
    /// Whether its program read none of those of its arrays that have no buffers, in a recording, which doesn't know what bodies use.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_no_gone: bool,
    /// What the body reads of objects, in a recording, where no key sees that it is another than before: of those that are compared by
    /// identity, or by an `__eq__` that looks at something else.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub reads: IndexMap<String, String>,
    /// The same of each function of an eager loop or conditional, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads_each: Vec<IndexMap<String, String>>,
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
