//! Values: what a case passes to a function.
//!
//! Python scalars and lists are themselves; a bare string is an array ([`super::array`]) and nothing else; everything
//! else is a map with exactly one entry, whose key is the form's name. NaN and the infinities are written
//! `{float: nan}`, so that YAML and JSON agree; integers beyond 64 bits `{int: "…"}`.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Array, Dtype, Name, Param, Parsed};
#[cfg(feature = "schema")]
use super::{ParsedClass, value_text::ArrayTextForm};

/// A value, as a recipe: it is built anew each time it is met, but for [`Form::Ref`] and [`Form::Global`].
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// A Python int.
    Int(Integer),
    /// A Python float; each NaN is a new object.
    Float(f64),
    /// An array.
    Array(Arc<Array>),
    /// A list.
    List(Vec<Value>),
    /// Everything that is written as a map.
    Form(Box<Form>),
}

/// A Python int, as far as cases have them: aligned as a pointer is, so that no value is larger for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(Rust, packed(8))]
pub struct Integer(i128);

impl Integer {
    /// The number.
    #[must_use]
    pub fn get(self) -> i128 {
        self.0
    }
}

impl<N: Into<i128>> From<N> for Integer {
    fn from(number: N) -> Self {
        Self(number.into())
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl From<Form> for Value {
    fn from(form: Form) -> Self {
        Self::Form(Box::new(form))
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Self::Array(Arc::new(array))
    }
}

/// The values that are written as a map with one entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
pub enum Form {
    /// A Python str.
    Str(String),
    /// A Python bytes object, from ASCII text.
    Bytes(String),
    /// A bytearray, from ASCII text.
    Bytearray(String),
    /// A Python complex number: real and imaginary part.
    Complex([Real; 2]),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A set.
    Set(Vec<Value>),
    /// A frozenset, inserted in this order.
    Frozenset(Vec<Value>),
    /// `range(…)`: one to three numbers.
    Range(Vec<i64>),
    /// `slice(…)`: one to three values.
    Slice(Vec<Value>),
    /// A dict, in this insertion order.
    Dict(DictItems),
    /// A `collections.OrderedDict`.
    OrderedDict(DictItems),
    /// A `collections.defaultdict`.
    DefaultDict(DefaultDictForm),
    /// A `types.MappingProxyType` around a dict.
    MappingProxy(DictItems),
    /// A value in many containers, one in the other.
    Nest(NestForm),
    /// A container of many values that are alike, each made anew.
    Repeat(RepeatForm),
    /// `...`
    Ellipsis {},
    /// A new `object()`.
    Object {
        /// What it is called where it is shown; it doesn't count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        called: Option<String>,
        /// The parameters of one that can be called, in a recording, as of a `def`; `*args, **kwargs` if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        params: Option<Vec<Param>>,
        /// What it returns then instead of what it is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        returns: Option<Value>,
    },
    /// A NumPy scalar: dtype and number.
    NumpyScalar(Dtype, Real),
    /// A value of a class of the standard library, and how the class writes it: `[decimal.Decimal, "0.10"]`.
    Parsed(#[cfg_attr(feature = "schema", schemars(with = "(ParsedClass, String)"))] Parsed),
    /// `numpy.dtype(…)`
    Dtype(Dtype),
    /// The scalar type itself, `numpy.float32`.
    ScalarType(Dtype),
    /// `jax.ShapeDtypeStruct` of that aval.
    ShapeDtypeStruct(#[cfg_attr(feature = "schema", schemars(with = "ArrayTextForm"))] ArrayText),
    /// `jax.new_ref` of that array: a reference, through which a function changes it.
    ArrayRef(#[cfg_attr(feature = "schema", schemars(with = "ArrayTextForm"))] ArrayText),
    /// `jax.sharding.PartitionSpec`: for each dimension an axis name or null.
    PartitionSpec(Vec<Option<Name>>),
    /// The `PyTreeDef` of a value.
    Treedef(Value),
    /// A class of the case, itself.
    Class(Name),
    /// An instance of a class of the case.
    New(NewForm),
    /// An object of the case, by name: the same object each time.
    Ref(Name),
    /// In a step that fills caches: this number and the number of calls before, as a Python int.
    Nth(i64),
    /// A leaf or subtree of what an earlier call returned.
    Output(OutputForm),
    /// A new lambda.
    Lambda(LambdaForm),
    /// A `def` executed anew.
    Def(DefForm),
    /// A `def` executed anew, that closes over a value.
    Closure(ClosureForm),
    /// A function found by its dotted name in a library: the same object each time.
    Global(String),
    /// A new `functools.partial`.
    Partial(PartialForm),
    /// A new `jax.tree_util.Partial`: a pytree node.
    TreePartial(PartialForm),
    /// A bound method, made anew by attribute access.
    Method(MethodForm),
    /// A new wrapper around a function.
    Wrap(WrapForm),
    /// What a library's function returns, called with these arguments.
    Make(MakeForm),
}

/// A float inside another form, written as a float is: `1.5`, `{float: nan}`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Real(pub f64);

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::Float(self.0).fmt(f)
    }
}

/// An [`Array`] where no other value can stand, in the short notation if that can say it.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayText(pub Array);

/// A `collections.defaultdict`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DefaultDictForm {
    /// The `default_factory`, None if not given.
    #[serde(default = "none", skip_serializing_if = "is_none")]
    pub factory: Value,
    /// The items.
    #[serde(default)]
    pub items: DictItems,
}

/// A value in many containers of one element, one in the other: what text can't nest so deep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NestForm {
    /// How many containers, at most 1000.
    pub levels: u16,
    /// What they are.
    #[serde(rename = "in")]
    pub container: NestContainer,
    /// The innermost value.
    pub value: Value,
}

/// A container of many values that are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RepeatForm {
    /// How many.
    pub times: u16,
    /// What they are in.
    #[serde(rename = "in")]
    pub container: NestContainer,
    /// The value that is made so often.
    pub value: Value,
}

/// A container of one element, or of many that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NestContainer {
    /// A tuple.
    Tuple,
    /// A list.
    List,
}

fn none() -> Value {
    Value::None
}

fn is_none(value: &Value) -> bool {
    *value == Value::None
}

/// An instance of a class of the case: which parts it has depends on the kind of class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "an instance, such as {class: C}")]
pub struct NewForm {
    /// The class.
    pub class: Name,
    /// Of a namedtuple: its elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<Value>>,
    /// Of a dataclass or Module: its fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<IndexMap<Name, Value>>,
    /// Of a registered node: its children.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<Value>>,
    /// Of a registered node: what paths call its children (`.weight`, `['a']`), as it says who registers the class with
    /// `register_pytree_with_keys`. No part of a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<String>>,
    /// Of a registered node: its aux data, None if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aux: Option<Value>,
    /// Of a plain class: what `==` and hash may look at. Of a subclass of a builtin: the builtin's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Of a plain class with `hash: chosen`: the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<i64>,
    /// Of an enum: the member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Name>,
}

impl NewForm {
    /// An instance of `class` with no parts.
    #[must_use]
    pub fn of(class: Name) -> Self {
        Self {
            class,
            args: None,
            fields: None,
            children: None,
            keys: None,
            aux: None,
            value: None,
            hash: None,
            member: None,
        }
    }

    /// The values of the parts.
    pub fn parts(&self) -> impl Iterator<Item = &Value> {
        let Self { class: _, args, fields, children, keys: _, aux, value, hash: _, member: _ } = self;
        args.iter()
            .flatten()
            .chain(fields.iter().flat_map(IndexMap::values))
            .chain(children.iter().flatten())
            .chain(aux)
            .chain(value)
    }
}

/// What an earlier call returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OutputForm {
    /// The number of the call, counted from 1.
    pub call: usize,
    /// The way from the output's root, by position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<usize>,
}

/// A new lambda.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LambdaForm {}

/// A `def`: its body returns the array leaves that it uses.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DefForm {
    /// What it is called where it is shown; it doesn't count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The parameters; `*args, **kwargs` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<Param>>,
    /// The parameters that the body uses; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<Vec<Name>>,
    /// What the body returns instead of what it is given: built once, when the function is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
    /// What the body does besides: a call with it is never fast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Python source that defines `f` instead: a real program. It is run with `jax`, `jnp`, `eqx` and `optax` in scope,
    /// and the case's objects by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// A word for what the source computes: sources are lowered to the same text if they have the same word, and to another
    /// if theirs is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computes: Option<String>,
}

/// An effect of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// `jax.debug.print(…, ordered=True)`
    Ordered,
    /// `jax.experimental.io_callback(…)`
    Unordered,
    /// `jax.pure_callback(…)`, whose result is used.
    Pure,
}

/// A `def` that closes over a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClosureForm {
    /// The value closed over.
    pub over: Value,
}

/// A partial application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PartialForm {
    /// The function.
    pub func: Value,
    /// Positional arguments bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Value>,
    /// Keyword arguments bound.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub kwargs: IndexMap<Name, Value>,
}

/// A bound method, `of.method`: of a Module it is a Module itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MethodForm {
    /// The instance, or the class. Every class of a case has the methods `method`, `class_method` and `static_method`.
    pub of: Value,
    /// Which of them it is.
    #[serde(default, skip_serializing_if = "MethodKind::is_usual")]
    pub kind: MethodKind,
    /// The name of the method of a class that no case made, in a recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The parameters of that method, as of a `def`; `*args, **kwargs` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<Param>>,
    /// What that method returns instead of what it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Value>,
}

/// What a method is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MethodKind {
    /// The instance.
    #[default]
    Instance,
    /// The class (`@classmethod`), whether it is taken from the class or from an instance.
    Class,
    /// Nothing (`@staticmethod`): a plain function, the same one each time and for a class that inherits it.
    Static,
}

impl MethodKind {
    fn is_usual(&self) -> bool {
        *self == Self::Instance
    }

    /// The name of that method in every class of a case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Instance => "method",
            Self::Class => "class_method",
            Self::Static => "static_method",
        }
    }
}

/// A wrapper around a function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WrapForm {
    /// What wraps it.
    pub by: Wrapper,
    /// The function.
    pub func: Value,
    /// The positions of static arguments, of a `jax.jit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub static_argnums: Vec<i32>,
    /// Their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub static_argnames: Vec<Name>,
}

impl WrapForm {
    /// The function, wrapped with no options.
    #[must_use]
    pub const fn of(by: Wrapper, func: Value) -> Self {
        Self { by, func, static_argnums: Vec::new(), static_argnames: Vec::new() }
    }

    /// The options as keyword arguments of what wraps it: `, static_argnums=(1,)`.
    #[must_use]
    pub fn keywords(&self) -> String {
        let tuple = |items: &[String]| format!("({},)", items.join(", "));
        let numbers: Vec<_> = self.static_argnums.iter().map(ToString::to_string).collect();
        let names: Vec<_> = self.static_argnames.iter().map(|name| format!("'{name}'")).collect();
        let options = [("static_argnums", numbers), ("static_argnames", names)];
        let given = options.iter().filter(|(_, items)| !items.is_empty());
        given.map(|(name, items)| format!(", {name}={}", tuple(items))).collect()
    }
}

/// A function transformation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Wrapper {
    /// `jax.jit`
    Jit,
    /// `jax.vmap`
    Vmap,
    /// `jax.grad`
    Grad,
    /// `jax.checkpoint`
    Checkpoint,
    /// `jax.custom_jvp`
    CustomJvp,
    /// `equinox.filter_jit`: a Module, so a pytree whose leaf is the function.
    FilterJit,
    /// `equinox.filter_grad`: likewise.
    FilterGrad,
    /// `equinox.filter_vmap`: likewise.
    FilterVmap,
}

impl std::fmt::Display for Wrapper {
    /// As Python calls it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Jit => "jax.jit",
            Self::Vmap => "jax.vmap",
            Self::Grad => "jax.grad",
            Self::Checkpoint => "jax.checkpoint",
            Self::CustomJvp => "jax.custom_jvp",
            Self::FilterJit => "eqx.filter_jit",
            Self::FilterGrad => "eqx.filter_grad",
            Self::FilterVmap => "eqx.filter_vmap",
        })
    }
}

/// What a library's function returns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MakeForm {
    /// Its dotted name, as in `optax.adam`, or `optimizer.init` of an object of the case.
    pub call: String,
    /// Positional arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Value>,
    /// Keyword arguments.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub kwargs: IndexMap<Name, Value>,
    /// What it returns, in the words of a case. A model reads this; a target checks that the real thing has the same
    /// leaves and fails the case if it doesn't.
    #[serde(rename = "as")]
    pub as_: Value,
}

/// The items of a dict in insertion order: a map if all keys are strings, a list of pairs otherwise.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DictItems(pub Vec<(Value, Value)>);
