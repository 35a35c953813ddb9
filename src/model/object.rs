//! Python objects, as far as a cache key can see them.
//!
//! An object is reference counted as in CPython, so that "the function was dropped" needs no bookkeeping: a table that
//! holds weakly holds a [`std::rc::Weak`].

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::treedef::{Label, Treedef};
use super::wrapper::Options;
use crate::case::{Array, Class, Dtype, Effect, Integer, JitOptions, Name, Param, Parsed, Wrapper};
use crate::spec::{Equality, ModuleHash, PartitionSpecs, Profile};

/// A reference to an object; two are `is`-identical if they point to the same.
pub type Obj = Rc<Kind>;

/// What a function is called that `filter_jit` has among its arguments: hashed by what it is, and compared part by part.
pub const PARTITIONED: &str = "partitioned";

/// An exception, by class name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised(pub String);

impl Raised {
    /// An exception of that class.
    pub fn new(class: &str) -> Self {
        Self(class.to_owned())
    }
}

/// A class object of a case.
#[derive(Debug)]
pub struct ClassObject {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub class: Class,
    /// The class of the case that it is a subclass of.
    pub base: Option<Rc<ClassObject>>,
    /// How its instances compare and hash.
    pub ways: Ways,
}

/// How objects of libraries compare and hash, at the versions of a profile.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ways {
    pub treedefs: Equality,
    pub specs: PartitionSpecs,
    pub modules: ModuleHash,
    pub slices_hash: bool,
    pub dataclasses_compare_tuples: bool,
}

impl Ways {
    pub fn of(profile: &Profile) -> Self {
        let treedefs = profile.tables.iter().find_map(|table| table.tree).unwrap_or_default();
        Self {
            treedefs,
            specs: profile.partition_specs,
            modules: profile.modules_hash,
            slices_hash: profile.python.slices_hash,
            dataclasses_compare_tuples: profile.python.dataclasses_compare_tuples,
        }
    }
}

impl ClassObject {
    /// The definition that decides how instances behave: that of the outermost base in the case.
    pub fn root(&self) -> &Class {
        self.base.as_ref().map_or(&self.class, |base| base.root())
    }

    /// The outermost base in the case, or itself.
    pub fn defining(&self) -> &Self {
        self.base.as_ref().map_or(self, |base| base.defining())
    }

    /// Whether it, or what it is a subclass of, has a `__repr__` that names its class.
    pub fn shows_itself(&self) -> bool {
        matches!(self.class, Class::Subclass { repr: true, .. })
            || self.base.as_ref().is_some_and(|base| base.shows_itself())
    }

    /// Whether it is `other` or a subclass.
    pub fn derives_from(self: &Rc<Self>, other: &Rc<Self>) -> bool {
        Rc::ptr_eq(self, other) || self.base.as_ref().is_some_and(|base| base.derives_from(other))
    }
}

/// What a container holds, which a step may replace. What it held before is there until it is gone itself, so that whoever looks
/// at it may go on doing so.
#[derive(Debug)]
pub struct Contents<T> {
    items: Vec<T>,
    replaced_by: OnceCell<Box<Self>>,
}

impl<T> Contents<T> {
    fn now(&self) -> &Self {
        self.replaced_by.get().map_or(self, |newer| newer.now())
    }

    /// Holds these from now on.
    pub fn replace(&self, items: Vec<T>) {
        // What is there now was replaced by nothing yet.
        let _ = self.now().replaced_by.set(Box::new(items.into()));
    }
}

impl<T> From<Vec<T>> for Contents<T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, replaced_by: OnceCell::new() }
    }
}

impl<T> Deref for Contents<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.now().items
    }
}

/// What an object is.
#[derive(Debug)]
pub enum Kind {
    None,
    Ellipsis,
    Bool(bool),
    Int(Integer),
    Float(f64),
    Complex(f64, f64),
    Str(String),
    Bytes(String),
    Bytearray(String),
    Tuple(Vec<Obj>),
    List(Contents<Obj>),
    Set(Contents<Obj>),
    Frozenset(Contents<Obj>),
    Range(i64, i64, i64),
    /// Start, stop and step, and whether it hashes.
    Slice([Obj; 3], bool),
    Dict(Contents<(Obj, Obj)>),
    OrderedDict(Contents<(Obj, Obj)>),
    DefaultDict(Obj, Contents<(Obj, Obj)>),
    MappingProxy(Contents<(Obj, Obj)>),
    /// A `jax.Array` or `numpy.ndarray`.
    Array(Arc<Array>),
    NumpyScalar(Dtype, f64),
    /// A value of a class of the standard library.
    Parsed(Parsed),
    Dtype(Dtype),
    ScalarType(Dtype),
    /// `jnp.float32` and its like: objects of jax that compare and hash as the scalar type.
    JaxScalarType(Dtype),
    ShapeDtypeStruct(Arc<Array>),
    /// A reference to an array, which is compared by its identity.
    ArrayRef(Arc<Array>),
    /// With how it compares with tuples.
    PartitionSpec(Vec<Option<Name>>, PartitionSpecs),
    Treedef(Treedef),
    Class(Rc<ClassObject>),
    /// An instance of a namedtuple class: also a tuple.
    Namedtuple(Rc<ClassObject>, Vec<Obj>),
    /// An instance of a registered node class.
    Node {
        class: Rc<ClassObject>,
        children: Vec<Obj>,
        /// What paths call them, if not by their places.
        keys: Rc<[Label]>,
        aux: Obj,
    },
    /// An instance of a registered dataclass, of a Module or of a plain dataclass: its fields in declared order.
    Record {
        class: Rc<ClassObject>,
        fields: Vec<(Name, Obj)>,
    },
    /// An instance of a plain class.
    Instance {
        class: Rc<ClassObject>,
        value: RefCell<Obj>,
        hash: Cell<i64>,
    },
    /// An instance of a subclass of a builtin.
    Derived {
        class: Rc<ClassObject>,
        base: Obj,
    },
    /// A member of an enum, with its number.
    Member {
        class: Rc<ClassObject>,
        number: u32,
    },
    /// A function, by identity; with the signature and use of its parameters where it is the one under test.
    Function(Box<Function>),
    /// Found by its name in a library: the same object each time.
    Global(String),
    /// A `functools.partial`.
    Partial {
        func: Obj,
        args: Vec<Obj>,
        kwargs: Vec<(Name, Obj)>,
    },
    /// A `jax.tree_util.Partial`.
    TreePartial {
        func: Obj,
        args: Vec<Obj>,
        kwargs: Vec<(Name, Obj)>,
    },
    /// A bound method, with its name if that isn't `method`.
    Method {
        of: Obj,
        name: Option<String>,
        params: Option<Vec<Param>>,
    },
    /// The `BoundMethod` of an `equinox.Module`: itself a Module.
    ModuleMethod(Obj),
    /// A wrapper of equinox (`filter_jit(f)`): a Module whose only leaf is the function. With how it hashes.
    ModuleWrapper(&'static str, Obj, ModuleHash),
    /// A `jax.jit(f)` with its options: its body is the look-up of `f`.
    Jitted(Obj, Rc<JitOptions>),
    /// The wrapper of the function under test with its options, where that is what is traced.
    Wrapper(Obj, Options),
    /// A `jax.vmap(f)`: `f` has each argument without its first axis.
    Mapped(Obj),
    /// A `jax.checkpoint(f)`: it has a table of its own for the jaxpr of `f`.
    Checkpointed(Obj),
    /// An `object()`, what it is called, and the parameters of one that can be called.
    Object {
        called: Option<String>,
        params: Option<Vec<Param>>,
    },
    /// A tracer in place of a value, where tracers can be hashed.
    Tracer(Obj),
    /// A `jax.grad(f)` or `jax.custom_jvp(f)`: a wrapper with default equality, which keeps alive what it wraps.
    Opaque(Obj, Wrapper),
}

impl Kind {
    /// Whether it is an array or a number: a leaf wherever it stands.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Array(_) | Self::NumpyScalar(..) | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Complex(..)
        )
    }
}

impl Drop for Kind {
    /// One object after the other, so that the depth of a tree is no depth of calls.
    fn drop(&mut self) {
        let items = |kind: &mut Self| match kind {
            Self::Tuple(items) => std::mem::take(items),
            Self::List(contents) => std::mem::take(&mut contents.items),
            _ => Vec::new(),
        };
        let mut doomed = items(self);
        while let Some(object) = doomed.pop() {
            if let Some(mut kind) = Rc::into_inner(object) {
                doomed.append(&mut items(&mut kind));
            }
        }
    }
}

/// A function, as far as calling it matters.
#[derive(Debug, Default)]
pub struct Function {
    /// What it is called where it is shown.
    pub name: Option<String>,
    /// Where it is defined: functions of the same definition share it.
    pub definition: Rc<str>,
    /// Its parameters; `*args, **kwargs` if not given.
    pub params: Option<Vec<Param>>,
    /// The defaults at the moment, by parameter.
    pub defaults: RefCell<Vec<(Name, Obj)>>,
    /// The parameters that the body uses; all if not given.
    pub uses: Option<Vec<Name>>,
    /// Whether the body has an effect.
    pub effect: Option<Effect>,
    /// Whether the case gives the body as source, so that nobody knows what it computes.
    pub is_source: bool,
    /// A word for what the source computes, where the case has one.
    pub computes: Option<String>,
    /// What the body returns, where the case says so.
    pub returns: Option<Obj>,
}
