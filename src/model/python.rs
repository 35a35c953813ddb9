//! Python's `==`, `hash`, `<`, `is` and `type`, exactly for the values that cases can hold.
//!
//! Sources: CPython's `Objects/object.c` (`PyObject_RichCompareBool` tests identity before `==`), `Objects/longobject.c`
//! and `Python/pyhash.c` (numbers that are equal hash alike), `Objects/tupleobject.c`, `Objects/setobject.c`,
//! `Objects/classobject.c` (bound methods compare `__self__` by identity since 3.8).

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::rc::Rc;

use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::array_equality::arrays_equal;
use super::build::rounded;
use super::flatten::{Flat, Flattening, flatten};
use super::number::Number;
use super::object::{Kind, Obj, PARTITIONED, Raised};
use super::treedef::Root;
use crate::case::{Array, Class, Content, Dtype, EqPolicy, HashPolicy, Library, Name, Parsed, ParsedClass, Subclass};
use crate::spec::{ModuleHash, PartitionSpecs};

pub use super::repr::{description, printed, repr};

/// `a is b`
pub fn is(a: &Obj, b: &Obj) -> bool {
    if Rc::ptr_eq(a, b) {
        return true;
    }
    match (&**a, &**b) {
        // Singletons, classes, enum members and what a library holds are one object however they were reached.
        (Kind::None, Kind::None) | (Kind::Ellipsis, Kind::Ellipsis) => true,
        (Kind::Bool(a), Kind::Bool(b)) => a == b,
        (Kind::Class(a), Kind::Class(b)) => Rc::ptr_eq(a, b),
        (Kind::Global(a), Kind::Global(b)) => a == b,
        (Kind::ScalarType(a), Kind::ScalarType(b))
        | (Kind::JaxScalarType(a), Kind::JaxScalarType(b))
        | (Kind::Dtype(a), Kind::Dtype(b)) => a == b,
        (Kind::Member { class: a, number: i }, Kind::Member { class: b, number: j }) => Rc::ptr_eq(a, b) && i == j,
        // `re.compile` keeps what it compiled (`Lib/re/__init__.py`, `_cache`).
        (Kind::Parsed(a), Kind::Parsed(b)) => a.class() == ParsedClass::Pattern && a == b,
        _ => false,
    }
}

/// `a is b or a == b`, as containers and most of C compare (`PyObject_RichCompareBool`).
pub fn same_or_equal(a: &Obj, b: &Obj) -> Result<bool, Raised> {
    if is(a, b) { Ok(true) } else { equal(a, b) }
}

/// Whether it is a value that can't be called, which `jax.jit` refuses (`jax/_src/api_util.py`, `check_callable`).
pub fn is_data(object: &Obj) -> bool {
    if let Kind::Instance { class, .. } = &**object {
        return matches!(class.root(), Class::Plain { callable: false, .. });
    }
    matches!(
        **object,
        Kind::None
            | Kind::Ellipsis
            | Kind::Bool(_)
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Complex(..)
            | Kind::Str(_)
            | Kind::Bytes(_)
            | Kind::Bytearray(_)
            | Kind::Tuple(_)
            | Kind::List(_)
            | Kind::Set(_)
            | Kind::Frozenset(_)
            | Kind::Range(..)
            | Kind::Slice(..)
            | Kind::Dict(_)
            | Kind::OrderedDict(_)
            | Kind::DefaultDict(..)
            | Kind::Array(_)
            | Kind::NumpyScalar(..)
            | Kind::Parsed(_)
            | Kind::Dtype(_)
    )
}

/// `type(a) is type(b)`
pub fn same_type(a: &Obj, b: &Obj) -> bool {
    match (&**a, &**b) {
        (Kind::NumpyScalar(a, _), Kind::NumpyScalar(b, _)) => a == b,
        (Kind::Array(a), Kind::Array(b)) => match (&a.library, &b.library) {
            (Library::Numpy { subclass: a, .. }, Library::Numpy { subclass: b, .. }) => a == b,
            (Library::Numpy { .. }, _) | (_, Library::Numpy { .. }) => false,
            _ => true,
        },
        // `numpy.dtype` has a class for each dtype.
        (Kind::Dtype(a), Kind::Dtype(b)) => a == b,
        (Kind::Parsed(a), Kind::Parsed(b)) => a.class() == b.class(),
        (a, b) => match (class_of(a), class_of(b)) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => discriminant(a) == discriminant(b),
            _ => false,
        },
    }
}

/// The class of the case that it is an instance of.
pub fn class_of(kind: &Kind) -> Option<&Rc<super::object::ClassObject>> {
    match kind {
        Kind::Namedtuple(class, _)
        | Kind::Node { class, .. }
        | Kind::Record { class, .. }
        | Kind::Instance { class, .. }
        | Kind::Derived { class, .. }
        | Kind::Member { class, .. } => Some(class),
        _ => None,
    }
}

/// `bool(a == b)`
pub fn equal(a: &Obj, b: &Obj) -> Result<bool, Raised> {
    // An operand with an `__eq__` of its own decides; one with default equality leaves it to the other.
    for (this, other) in [(a, b), (b, a)] {
        if let Kind::Instance { class, value, .. } = &**this {
            let policy = match class.root() {
                Class::Plain { eq, .. } => *eq,
                _ => EqPolicy::Identity,
            };
            let value = value.borrow().clone();
            if let Some(answer) = instance_equal(policy, class, &value, other)? {
                return Ok(answer);
            }
        }
    }
    if let (Kind::Parsed(decimal), Kind::NumpyScalar(dtype, _)) = (&**a, &**b)
        && decimal.class() == ParsedClass::Decimal
        && dtype.is_integer()
    {
        // It takes NumPy's integers for fractions, and their numerators for ints (`Modules/_decimal/_decimal.c`,
        // `numerator_as_decimal`).
        return Err(Raised::new("TypeError"));
    }
    if let (Some(x), Some(y)) = (Number::of(a), Number::of(b)) {
        return Ok(as_beside(a, b).unwrap_or(x).equal(as_beside(b, a).unwrap_or(y)));
    }
    match (&**a, &**b) {
        (Kind::Array(object), _) | (_, Kind::Array(object)) if is_converted(object) => Ok(is(a, b)),
        // NumPy makes an array of a sequence that it is compared with.
        (Kind::Array(_), _)
        | (_, Kind::Array(_))
        | (Kind::NumpyScalar(..), Kind::Tuple(_) | Kind::Namedtuple(..) | Kind::List(_) | Kind::Range(..))
        | (Kind::Tuple(_) | Kind::Namedtuple(..) | Kind::List(_) | Kind::Range(..), Kind::NumpyScalar(..)) => {
            arrays_equal(a, b)
        }
        // Dates and the like, which are no numbers.
        (Kind::NumpyScalar(a, x), Kind::NumpyScalar(b, y)) => Ok(a == b && x == y),
        (Kind::Derived { base, .. }, _) => equal(base, b),
        (_, Kind::Derived { base, .. }) => equal(a, base),
        (Kind::Str(a), Kind::Str(b)) => Ok(a == b),
        (Kind::Parsed(a), Kind::Parsed(b)) => Ok(a.content() == b.content()),
        (Kind::Bytes(a) | Kind::Bytearray(a), Kind::Bytes(b) | Kind::Bytearray(b)) => Ok(a == b),
        (Kind::Tuple(a) | Kind::Namedtuple(_, a), Kind::Tuple(b) | Kind::Namedtuple(_, b)) => sequences_equal(a, b),
        (Kind::List(a), Kind::List(b)) => sequences_equal(a, b),
        (Kind::Set(a) | Kind::Frozenset(a), Kind::Set(b) | Kind::Frozenset(b)) => {
            Ok(a.len() == b.len() && subset(a, b)?)
        }
        (Kind::Range(..), Kind::Range(..)) => Ok(range(a) == range(b)),
        // They compare as tuples do (`Objects/sliceobject.c`).
        (Kind::Slice(a, _), Kind::Slice(b, _)) => sequences_equal(a, b),
        (Kind::OrderedDict(a), Kind::OrderedDict(b)) => {
            let (a_keys, a_values): (Vec<_>, Vec<_>) = a.iter().cloned().unzip();
            let (b_keys, b_values): (Vec<_>, Vec<_>) = b.iter().cloned().unzip();
            Ok(sequences_equal(&a_keys, &b_keys)? && sequences_equal(&a_values, &b_values)?)
        }
        (
            Kind::Dict(a) | Kind::OrderedDict(a) | Kind::DefaultDict(_, a) | Kind::MappingProxy(a),
            Kind::Dict(b) | Kind::OrderedDict(b) | Kind::DefaultDict(_, b) | Kind::MappingProxy(b),
        ) => dicts_equal(a, b),
        // `numpy.dtype(numpy.float32) == numpy.float32`: a dtype compares with whatever can become one.
        (
            Kind::Dtype(a) | Kind::ScalarType(a) | Kind::JaxScalarType(a),
            Kind::Dtype(b) | Kind::ScalarType(b) | Kind::JaxScalarType(b),
        ) => Ok(a == b),
        // Also with its names, with Python's types of numbers, and with None, which is that of `numpy.dtype(None)`.
        (Kind::Dtype(dtype), Kind::Str(name) | Kind::Bytes(name))
        | (Kind::Str(name) | Kind::Bytes(name), Kind::Dtype(dtype)) => Ok(dtype_named(name) == Some(*dtype)),
        (Kind::Dtype(dtype), Kind::Global(name)) | (Kind::Global(name), Kind::Dtype(dtype)) => {
            let builtin =
                name.strip_prefix("builtins.").filter(|name| ["bool", "int", "float", "complex"].contains(name));
            Ok(builtin.and_then(dtype_named) == Some(*dtype))
        }
        (Kind::Dtype(dtype), Kind::None) | (Kind::None, Kind::Dtype(dtype)) => Ok(dtype.name() == "f64"),
        (Kind::ShapeDtypeStruct(a), Kind::ShapeDtypeStruct(b)) => Ok(a == b),
        (Kind::PartitionSpec(a, _), Kind::PartitionSpec(b, _)) => Ok(a == b),
        (Kind::PartitionSpec(axes, by), Kind::Tuple(items) | Kind::Namedtuple(_, items))
        | (Kind::Tuple(items) | Kind::Namedtuple(_, items), Kind::PartitionSpec(axes, by))
            if *by != PartitionSpecs::Apart =>
        {
            sequences_equal(&as_items(axes), items)
        }
        (Kind::Treedef(a), Kind::Treedef(b)) => a.equal(b),
        (Kind::Treedef(treedef), _) | (_, Kind::Treedef(treedef)) if !treedef.by.treedef_equals_others => {
            Err(Raised::new("TypeError"))
        }
        // Even then its `__eq__` takes no None.
        (Kind::Treedef(_), Kind::None) | (Kind::None, Kind::Treedef(_)) => Err(Raised::new("TypeError")),
        (Kind::Method { of: a, name: one, .. }, Kind::Method { of: b, name: other, .. }) => {
            Ok(is(a, b) && one == other)
        }
        (Kind::ModuleMethod(a), Kind::ModuleMethod(b)) => equal(a, b),
        (Kind::ModuleWrapper(a, f, _), Kind::ModuleWrapper(b, g, _)) => Ok(a == b && same_or_equal(f, g)?),
        (Kind::Record { class, .. }, _) if matches!(class.root(), Class::NnxModule { .. }) => Ok(is(a, b)),
        (Kind::Record { class: one, fields: f }, Kind::Record { class: other, fields: g }) => {
            if !Rc::ptr_eq(one, other) {
                return Ok(false);
            }
            if let Class::Module { .. } = one.root() {
                return trees_equal(a, b);
            }
            all_equal(f.iter().zip(g).map(|((_, a), (_, b))| (a, b)), one.ways.dataclasses_compare_tuples)
        }
        _ => Ok(is(a, b)),
    }
}

/// What a number of Python's is taken for where it is compared with a scalar of NumPy's: since NumPy 2 one of that dtype (NEP 50). Its
/// hash is that of the number, so that this shows only where hashes aren't compared first.
fn as_beside(number: &Obj, other: &Obj) -> Option<Number> {
    let Kind::NumpyScalar(dtype, _) = **other else { return None };
    let narrow = |value: f64| match dtype.name() {
        "f32" | "c64" => f64::from(value as f32),
        "f16" if value.abs() >= 65520.0 => f64::INFINITY.copysign(value),
        // The distance of what is subnormal.
        "f16" if value.abs() < 2_f64.powi(-14) => (value * 2_f64.powi(24)).round_ties_even() / 2_f64.powi(24),
        "f16" => rounded(dtype, value),
        _ => value,
    };
    match **number {
        _ if !matches!(dtype.name(), "f16" | "f32" | "c64") => None,
        Kind::Float(value) => Some(Number::Float(narrow(value))),
        Kind::Int(value) => Some(Number::Float(narrow(value.get() as f64))),
        Kind::Complex(re, im) => Some(Number::Complex(narrow(re), narrow(im))),
        _ => None,
    }
}

/// What `this.__eq__(other)` says: `None` stands for `NotImplemented`.
fn instance_equal(
    policy: EqPolicy,
    class: &Rc<super::object::ClassObject>,
    value: &Obj,
    other: &Obj,
) -> Result<Option<bool>, Raised> {
    let related = match &**other {
        Kind::Instance { class: theirs, value, .. } if class.derives_from(theirs) || theirs.derives_from(class) => {
            Some(value.borrow().clone())
        }
        _ => None,
    };
    match policy {
        EqPolicy::Identity => Ok(None),
        EqPolicy::Never => Ok(Some(false)),
        EqPolicy::Raises => Err(Raised::new("RuntimeError")),
        // The truth of an array of two elements is ambiguous.
        EqPolicy::Array => Err(Raised::new("ValueError")),
        EqPolicy::Always => Ok(related.map(|_| true)),
        EqPolicy::Value | EqPolicy::Truthy => related.map(|theirs| equal(value, &theirs)).transpose(),
    }
}

fn sequences_equal(a: &[Obj], b: &[Obj]) -> Result<bool, Raised> {
    Ok(all_equal(a.iter().zip(b), true)? && a.len() == b.len())
}

/// Whether all are equal, one after the other; `is_enough` says whether what is the same object isn't asked.
fn all_equal<'o>(pairs: impl Iterator<Item = (&'o Obj, &'o Obj)>, is_enough: bool) -> Result<bool, Raised> {
    for (a, b) in pairs {
        let same = (is_enough && is(a, b)) || equal(a, b)?;
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Looks `key` up as a dict or set does: among those with its hash, by identity or `==`.
fn find<'k>(key: &Obj, mut keys: impl Iterator<Item = &'k Obj>) -> Result<Option<usize>, Raised> {
    let wanted = hash(key)?;
    let mut i = 0;
    keys.try_fold(None, |found: Option<usize>, candidate| {
        let here = i;
        i += 1;
        if found.is_some() || hash(candidate)? != wanted || !same_or_equal(key, candidate)? {
            return Ok(found);
        }
        Ok(Some(here))
    })
}

fn subset(a: &[Obj], b: &[Obj]) -> Result<bool, Raised> {
    for item in a {
        if find(item, b.iter())?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn dicts_equal(a: &[(Obj, Obj)], b: &[(Obj, Obj)]) -> Result<bool, Raised> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, value) in a {
        match find(key, b.iter().map(|(key, _)| key))? {
            Some(i) if same_or_equal(value, &b[i].1)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The insertion of items into a dict or set: a later equal key keeps the first key and takes the last value.
pub fn collapse<V>(items: Vec<(Obj, V)>) -> Result<Vec<(Obj, V)>, Raised> {
    let mut kept: Vec<(Obj, V)> = Vec::with_capacity(items.len());
    let mut hashes: SmallVec<[u64; 8]> = SmallVec::new();
    'items: for (key, value) in items {
        let hash = hash(&key)?;
        for (known, (kept_key, kept_value)) in hashes.iter().zip(&mut kept) {
            if *known == hash && same_or_equal(&key, kept_key)? {
                *kept_value = value;
                continue 'items;
            }
        }
        hashes.push(hash);
        kept.push((key, value));
    }
    Ok(kept)
}

/// `equinox.tree_equal`: arrays are equal if they are all of the same, and that raises nothing.
fn trees_equal(a: &Obj, b: &Obj) -> Result<bool, Raised> {
    let (mine, others) = (leaves(a)?, leaves(b)?);
    if !mine.treedef.equal(&others.treedef)? {
        return Ok(false);
    }
    for ((_, a), (_, b)) in mine.leaves.iter().zip(&others.leaves) {
        let is_same = match (&**a, &**b) {
            (Kind::Array(a), Kind::Array(b)) => {
                let same_numbers = a.fill.unwrap_or(1) == b.fill.unwrap_or(1);
                a.shape == b.shape && a.dtype == b.dtype && a.prng() == b.prng() && same_numbers
            }
            (Kind::NumpyScalar(a, x), Kind::NumpyScalar(b, y)) => a == b && x == y,
            (Kind::Array(_), Kind::NumpyScalar(..)) | (Kind::NumpyScalar(..), Kind::Array(_)) => arrays_equal(a, b)?,
            (Kind::Array(_) | Kind::NumpyScalar(..), _) | (_, Kind::Array(_) | Kind::NumpyScalar(..)) => false,
            _ => equal(a, b)?,
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether there are arrays among the leaves of a tree.
pub fn has_arrays(tree: &Obj) -> bool {
    leaves(tree).is_ok_and(|flat| flat.leaves.iter().any(|(_, leaf)| matches!(**leaf, Kind::Array(_))))
}

/// The leaves of a tree, and its structure.
fn leaves(tree: &Obj) -> Result<Flat, Raised> {
    let errors = Flattening::raising("ValueError", "TypeError");
    flatten(Root::Called("tree".into()), tree, &errors)
}

/// Whether it is no array, but an object that is asked for one.
fn is_converted(object: &Array) -> bool {
    matches!(object.library, Library::Numpy { subclass: Subclass::Converted, .. })
}

/// The axes of a PartitionSpec as a tuple has them.
fn as_items(axes: &[Option<Name>]) -> Vec<Obj> {
    let item = |axis: &Option<Name>| axis.as_ref().map_or(Kind::None, |name| Kind::Str(name.to_string()));
    axes.iter().map(|axis| Rc::new(item(axis))).collect()
}

/// The numbers of a range, by which ranges compare: length, first and step as far as they matter.
pub(super) fn range(obj: &Obj) -> Option<(i64, Option<i64>, Option<i64>)> {
    let Kind::Range(start, stop, step) = **obj else { return None };
    let span = if step > 0 { stop - start } else { start - stop };
    let len = if span <= 0 { 0 } else { (span - 1) / step.abs() + 1 };
    Some((len, (len > 0).then_some(start), (len > 1).then_some(step)))
}

/// `hash(obj)`: equal where Python's is, and different where Python's is, but for chance.
pub fn hash(obj: &Obj) -> Result<u64, Raised> {
    let kind = &**obj;
    if let Some(number) = Number::of(kind) {
        return Ok(number.hash(identity_hash(obj)));
    }
    let mut hasher = FxHasher::default();
    let items_hash = |hasher: &mut FxHasher, items: &[Obj]| -> Result<(), Raised> {
        for item in items {
            hash(item)?.hash(hasher);
        }
        Ok(())
    };
    match kind {
        // A tuple and a namedtuple of equal elements are equal, so they hash alike.
        Kind::Tuple(items) | Kind::Namedtuple(_, items) => {
            "tuple".hash(&mut hasher);
            items_hash(&mut hasher, items)?;
        }
        Kind::Frozenset(items) => {
            "frozenset".hash(&mut hasher);
            items.iter().map(hash).try_fold(0_u64, |all, one| Ok(all.wrapping_add(one?)))?.hash(&mut hasher);
        }
        Kind::Str(text) => ("str", text).hash(&mut hasher),
        Kind::Bytes(text) => ("bytes", text).hash(&mut hasher),
        Kind::Parsed(parsed) => parsed.content().hash(&mut hasher),
        Kind::Range(..) => ("range", range(obj)).hash(&mut hasher),
        Kind::Slice(parts, true) => {
            "slice".hash(&mut hasher);
            items_hash(&mut hasher, parts)?;
        }
        Kind::Slice(_, false) => return Err(Raised::new("TypeError")),
        // The hash of a dtype is not that of the scalar type, although they are equal.
        Kind::Dtype(dtype) => ("dtype", dtype).hash(&mut hasher),
        Kind::ScalarType(dtype) | Kind::JaxScalarType(dtype) => ("type", dtype).hash(&mut hasher),
        Kind::ShapeDtypeStruct(array) => ("struct", array).hash(&mut hasher),
        Kind::PartitionSpec(axes, PartitionSpecs::Tuples) => return hash(&Rc::new(Kind::Tuple(as_items(axes)))),
        Kind::PartitionSpec(axes, _) => ("spec", axes).hash(&mut hasher),
        Kind::Treedef(treedef) => treedef.structure_hash().hash(&mut hasher),
        Kind::Array(object) if is_converted(object) => identity_hash(obj).hash(&mut hasher),
        Kind::List(_)
        | Kind::Set(_)
        | Kind::Dict(_)
        | Kind::OrderedDict(_)
        | Kind::DefaultDict(..)
        | Kind::Bytearray(_)
        | Kind::Array(_) => return Err(Raised::new("TypeError")),
        // Hashable since Python 3.12, by the dict inside, which is not.
        Kind::MappingProxy(_) => return Err(Raised::new("TypeError")),
        Kind::Derived { base, .. } => return hash(base),
        Kind::Instance { class, value, hash: chosen } => {
            let policy = match class.root() {
                Class::Plain { hash, .. } => *hash,
                _ => HashPolicy::Identity,
            };
            match policy {
                HashPolicy::Identity => identity_hash(obj).hash(&mut hasher),
                HashPolicy::Value => return hash(&value.borrow()),
                HashPolicy::Constant => return hash(&Rc::new(Kind::Int(7.into()))),
                // As it is, unless it is too long for a machine word (`Objects/typeobject.c`, `slot_tp_hash`); -1 is kept for errors.
                HashPolicy::Chosen => match chosen.get() {
                    -1 => i128::from(-2_i64).hash(&mut hasher),
                    chosen => i128::from(chosen).hash(&mut hasher),
                },
                HashPolicy::None => return Err(Raised::new("TypeError")),
                HashPolicy::Raises => return Err(Raised::new("RuntimeError")),
            }
        }
        Kind::Record { class, fields } => match class.root() {
            Class::Module { .. } if class.ways.modules == ModuleHash::Leaves => {
                "record".hash(&mut hasher);
                for (_, leaf) in leaves(obj)?.leaves {
                    hash(&leaf)?.hash(&mut hasher);
                }
            }
            Class::PlainDataclass { frozen: true, .. } | Class::Module { .. } => {
                "record".hash(&mut hasher);
                for (_, value) in fields {
                    hash(value)?.hash(&mut hasher);
                }
            }
            Class::NnxModule { .. } => identity_hash(obj).hash(&mut hasher),
            // `eq=True` without `frozen=True` sets `__hash__` to None.
            _ => return Err(Raised::new("TypeError")),
        },
        Kind::Method { of, name, .. } => ("method", identity_hash(of), name).hash(&mut hasher),
        Kind::ModuleMethod(of) => ("module method", hash(of)?).hash(&mut hasher),
        // The hash of a Module is that of its leaves; some of these wrappers' leaves are dicts.
        Kind::ModuleWrapper(PARTITIONED, ..) => PARTITIONED.hash(&mut hasher),
        Kind::ModuleWrapper(_, func, _) if has_arrays(func) => return Err(Raised::new("TypeError")),
        Kind::ModuleWrapper(by, func, ModuleHash::Leaves) => (by, hash(func)?).hash(&mut hasher),
        Kind::ModuleWrapper("filter_jit", ..) => "filter_jit".hash(&mut hasher),
        Kind::ModuleWrapper(..) => return Err(Raised::new("TypeError")),
        Kind::None | Kind::Ellipsis => discriminant(kind).hash(&mut hasher),
        Kind::Class(class) => Rc::as_ptr(class).hash(&mut hasher),
        Kind::Member { class, number } => (Rc::as_ptr(class), number).hash(&mut hasher),
        Kind::Global(name) => ("global", name).hash(&mut hasher),
        Kind::Node { .. }
        | Kind::Function(_)
        | Kind::Partial { .. }
        | Kind::TreePartial { .. }
        | Kind::Jitted(..)
        | Kind::Wrapper(..)
        | Kind::Checkpointed(_)
        | Kind::Mapped(_)
        | Kind::Object { .. }
        | Kind::Tracer(_)
        | Kind::ArrayRef(_)
        | Kind::Opaque(..) => identity_hash(obj).hash(&mut hasher),
        Kind::NumpyScalar(dtype, value) => (dtype, value.to_bits()).hash(&mut hasher),
        Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) | Kind::Complex(..) => unreachable!("numbers were hashed above"),
    }
    Ok(hasher.finish())
}

fn identity_hash(obj: &Obj) -> usize {
    Rc::as_ptr(obj) as usize
}

/// `a < b`, for sorting dict keys; `TypeError` where Python has no order.
pub fn less(a: &Obj, b: &Obj) -> Result<bool, Raised> {
    let unordered = || Err(Raised::new("TypeError"));
    if let (Some(a), Some(b)) = (Number::of(a), Number::of(b)) {
        return a.less(b).map_or_else(unordered, Ok);
    }
    match (&**a, &**b) {
        (Kind::Derived { base, .. }, _) => less(base, b),
        (_, Kind::Derived { base, .. }) => less(a, base),
        (Kind::Str(a), Kind::Str(b)) => Ok(a < b),
        (Kind::Bytes(a), Kind::Bytes(b)) => Ok(a < b),
        (Kind::Parsed(a), Kind::Parsed(b)) => parsed_less(a, b),
        (Kind::Tuple(a) | Kind::Namedtuple(_, a), Kind::Tuple(b) | Kind::Namedtuple(_, b)) => sequence_less(a, b),
        (Kind::Slice(a, _), Kind::Slice(b, _)) => sequence_less(a, b),
        // `<` of sets is "is a proper subset": a partial order, which sorting can't use but doesn't refuse.
        (Kind::Frozenset(a), Kind::Frozenset(b)) => Ok(a.len() < b.len() && subset(a, b)?),
        _ => unordered(),
    }
}

fn parsed_less(a: &Parsed, b: &Parsed) -> Result<bool, Raised> {
    match (a.content(), b.content()) {
        (Content::Day(a), Content::Day(b))
        | (Content::Naive(a), Content::Naive(b))
        | (Content::Moment(a), Content::Moment(b))
        | (Content::Span(a), Content::Span(b)) => Ok(a < b),
        // Part by part.
        (Content::Path(a), Content::Path(b)) => Ok(a.split('/').lt(b.split('/'))),
        (Content::Uuid(a), Content::Uuid(b)) => Ok(a < b),
        _ => Err(Raised::new("TypeError")),
    }
}

fn sequence_less(a: &[Obj], b: &[Obj]) -> Result<bool, Raised> {
    for (a, b) in a.iter().zip(b) {
        if !same_or_equal(a, b)? {
            return less(a, b);
        }
    }
    Ok(a.len() < b.len())
}

/// The dtype that `numpy.dtype` makes of a text: its name, its kind and its bytes, the code of a C type or the name of one, where an
/// `int` has 32 bits and a `long` 64.
fn dtype_named(text: &str) -> Option<Dtype> {
    const ONE_BYTE: [&str; 6] = ["?", "b", "B", "b1", "i1", "u1"];
    const CODES: [(&str, &str); 14] = [
        ("bool", "? b1"),
        ("i8", "b i1 byte"),
        ("u8", "B u1 ubyte"),
        ("i16", "h i2 short"),
        ("u16", "H u2 ushort"),
        ("i32", "i i4 intc"),
        ("u32", "I u4 uintc"),
        ("i64", "l q p i8 long longlong int intp int_"),
        ("u64", "L Q P u8 ulong ulonglong uint uintp"),
        ("f16", "e f2 half"),
        ("f32", "f f4 single"),
        ("f64", "d f8 double float"),
        ("c64", "F c8 csingle"),
        ("c128", "D c16 cdouble complex"),
    ];
    // An order of bytes can stand before a code, and is that of all for a single byte.
    let code =
        text.strip_prefix(['<', '=', '|']).or_else(|| text.strip_prefix('>').filter(|code| ONE_BYTE.contains(code)));
    let is_code = |code: &str| code.len() < 3 || code == "c16";
    let is_listed = |codes: &str| codes.split(' ').any(|known| known == code.filter(|it| is_code(it)).unwrap_or(text));
    let short = CODES.iter().find(|(_, codes)| is_listed(codes));
    short.and_then(|(short, _)| Dtype::named(short)).or_else(|| dtype_called(text))
}

/// The dtype that NumPy calls so, as in `float32`.
pub fn dtype_called(long: &str) -> Option<Dtype> {
    let short = match long {
        "bool" | "bool_" => "bool".to_owned(),
        "bfloat16" => "bf16".to_owned(),
        _ => [("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")]
            .iter()
            .find_map(|(long_prefix, prefix)| long.strip_prefix(long_prefix).map(|bits| format!("{prefix}{bits}")))?,
    };
    Dtype::named(&short)
}

/// `sorted(items, key=…)` as CPython sorts up to 64 items: by binary insertion, which is stable and shows a partial order.
pub fn sort_by_key<V>(items: Vec<(Obj, V)>) -> Result<Vec<(Obj, V)>, Raised> {
    let mut sorted: Vec<(Obj, V)> = Vec::with_capacity(items.len());
    for (key, value) in items {
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if less(&key, &sorted[middle].0)? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        sorted.insert(low, (key, value));
    }
    Ok(sorted)
}
