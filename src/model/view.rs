//! What values are as leaves: their kind, what a profile says of it, and their aval.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::leaf::Aval;
use super::object::{Kind, Obj};
use crate::case::{Array, Class, Dtype, Library, Subclass};
use crate::spec::{LeafKind, LeafRule, Profile, Role};

/// What a value is as a leaf.
#[derive(Debug)]
pub struct View {
    pub kind: LeafKind,
    /// The number of the profile's rule for it.
    pub rule: Option<usize>,
    /// That of a dynamic leaf.
    pub aval: Option<Rc<Aval>>,
}

impl View {
    fn of(kind: LeafKind, dtype: Option<Dtype>, aval: impl FnOnce() -> Option<Aval>, profile: &Profile) -> Self {
        let rule = profile.leaves.iter().position(|rule| rule.is_of(kind, dtype));
        let dynamic = rule.map(|i| &profile.leaves[i]).filter(|rule| rule.role == Role::Dynamic);
        let aval = dynamic.and_then(|rule| {
            let mut aval = aval()?;
            aval.strong_when_missed = rule.strong_when_missed;
            aval.placement.iter_mut().for_each(|at| at.committed |= rule.commits);
            if let Some(at) = &mut aval.placement
                && at.memory_kind.is_some()
                && at.memory_kind == profile.default_memory
            {
                (at.committed, at.memory_kind) = (true, None);
            }
            Some(Rc::new(aval))
        });
        Self { kind, rule, aval }
    }
}

/// What the arrays of all calls are as leaves: arrays of one description share what they are.
#[derive(Debug)]
pub struct Views<'p> {
    profile: &'p Profile,
    /// Whether `jax_enable_x64` is on.
    pub x64: bool,
    known: RefCell<Known>,
}

#[derive(Debug, Default)]
struct Known {
    views: Vec<Rc<View>>,
    /// The arrays that were met first, with their numbers. All are kept, so that no other comes to have the address of one.
    few: Vec<(Arc<Array>, usize)>,
    /// The others, by their addresses.
    many: FxHashMap<*const Array, (Arc<Array>, usize)>,
    /// The numbers of the others, by what they are: of many arrays most are alike.
    alike: FxHashMap<Arc<Array>, usize>,
}

/// So many arrays are looked for one after the other, and are not worth a look at what they are.
pub(super) const FEW: usize = 24;

impl<'p> Views<'p> {
    pub fn of(profile: &'p Profile, x64: bool) -> Self {
        Self { profile, x64, known: RefCell::default() }
    }

    /// What `value` is; [`Self::of_array`] says it of arrays, too.
    pub fn of_value(&self, value: &Obj) -> View {
        let dtype = if let Kind::NumpyScalar(dtype, _) = &**value { Some(*dtype) } else { None };
        View::of(leaf_kind(value, self.x64), dtype, || aval(value, self.x64), self.profile)
    }

    /// Whether `value` is traced, static or refused.
    pub fn role(&self, value: &Obj) -> Option<Role> {
        self.rule_of(value).map(|rule| rule.role)
    }

    /// What the profile says of `value` as a leaf.
    pub fn rule_of(&self, value: &Obj) -> Option<&'p LeafRule> {
        let rule = match &**value {
            Kind::Array(array) => self.of_array(array).1.rule,
            _ => self.of_value(value).rule,
        };
        let profile: &'p Profile = self.profile;
        rule.map(|i| &profile.leaves[i])
    }

    /// The number of what `array` is, and what it is.
    pub fn of_array(&self, array: &Arc<Array>) -> (usize, Rc<View>) {
        let Known { views, few, many, alike } = &mut *self.known.borrow_mut();
        let known = many.get(&Arc::as_ptr(array));
        let among_few = || few.iter().find(|(known, _)| Arc::ptr_eq(known, array));
        if let Some((_, number)) = known.or_else(among_few) {
            return (*number, Rc::clone(&views[*number]));
        }
        let mut made = || {
            let (kind, dtype) = (array_kind(array), Some(array.dtype));
            views.push(Rc::new(View::of(kind, dtype, || Some(array_aval(array, self.x64)), self.profile)));
            views.len() - 1
        };
        let number = if few.len() < FEW {
            let number = made();
            few.reserve(FEW - few.len());
            few.push((Arc::clone(array), number));
            number
        } else {
            let number = *alike.entry(Arc::clone(array)).or_insert_with(made);
            many.insert(Arc::as_ptr(array), (Arc::clone(array), number));
            number
        };
        (number, Rc::clone(&views[number]))
    }
}

/// The kind of leaf that a value is.
pub(super) fn leaf_kind(value: &Obj, x64: bool) -> LeafKind {
    match &**value {
        Kind::Array(array) => array_kind(array),
        Kind::Tracer(value) => leaf_kind(value, x64),
        Kind::ShapeDtypeStruct(_) => LeafKind::ShapeDtypeStruct,
        Kind::ArrayRef(_) => LeafKind::ArrayRef,
        Kind::NumpyScalar(dtype, _) if dtype.is_foreign() => LeafKind::ForeignScalar,
        Kind::NumpyScalar(..) => LeafKind::NumpyScalar,
        Kind::Int(value) if !fits(value.get(), x64) => LeafKind::BigInt,
        Kind::Bool(_) => LeafKind::PythonBool,
        Kind::Int(_) | Kind::Float(_) | Kind::Complex(..) => LeafKind::PythonNumber,
        Kind::Derived { base, .. } if leaf_kind(base, x64) == LeafKind::BigInt => LeafKind::BigInt,
        Kind::Derived { base, .. } if matches!(**base, Kind::Int(_) | Kind::Float(_)) => LeafKind::NumberSubclass,
        Kind::Member { class, .. } if matches!(class.class, Class::IntEnum(_)) => LeafKind::NumberSubclass,
        _ => LeafKind::Other,
    }
}

fn array_kind(array: &Array) -> LeafKind {
    match &array.library {
        Library::Jax { placement, .. }
            if placement.committed && matches!(array.dtype.name(), "i2" | "i4" | "u2" | "u4") =>
        {
            LeafKind::CommittedSubByteArray
        }
        Library::Jax { .. } => LeafKind::JaxArray,
        Library::Key { .. } => LeafKind::PrngKey,
        Library::Numpy { subclass: Subclass::Converted, .. } => LeafKind::Converted,
        Library::Numpy { .. } if array.dtype.is_foreign() => LeafKind::ForeignArray,
        Library::Numpy { .. } if array.dtype.is_float0() => LeafKind::Float0Array,
        Library::Numpy { subclass: Subclass::Masked, .. } => LeafKind::MaskedArray,
        Library::Numpy { big_endian: true, .. } if !array.dtype.is_one_byte() => LeafKind::SwappedArray,
        Library::Numpy { .. } => LeafKind::NumpyArray,
    }
}

fn fits(value: i128, x64: bool) -> bool {
    if x64 { i64::try_from(value).is_ok() } else { i32::try_from(value).is_ok() }
}

/// The aval of a value, if it has one.
pub(super) fn aval(value: &Obj, x64: bool) -> Option<Aval> {
    let plain = |dtype: &str, weak: bool| {
        Some(Aval {
            shape: SmallVec::new(),
            dtype: Dtype::named(dtype)?.canonical(x64),
            prng: None,
            is_ref: false,
            weak,
            strong_when_missed: false,
            placement: None,
            has_no_layout: false,
        })
    };
    match &**value {
        Kind::Tracer(value) => aval(value, x64),
        Kind::ShapeDtypeStruct(array) => {
            let dtype = array.dtype.canonical(x64);
            Some(Aval { dtype, has_no_layout: true, ..array_aval(array, x64) })
        }
        Kind::ArrayRef(array) => {
            let mut aval = array_aval(array, x64);
            aval.is_ref = true;
            Some(aval)
        }
        Kind::Array(array) => Some(array_aval(array, x64)),
        Kind::NumpyScalar(dtype, _) => plain(dtype.name(), false),
        Kind::Bool(_) => plain("bool", true),
        Kind::Int(_) | Kind::Member { .. } => plain("i64", true),
        Kind::Float(_) => plain("f64", true),
        Kind::Complex(..) => plain("c128", true),
        Kind::Derived { base, .. } => aval(base, x64),
        _ => None,
    }
}

fn array_aval(array: &Array, x64: bool) -> Aval {
    Aval {
        shape: SmallVec::from_slice(&array.shape),
        // A jax.Array that was made under x64 keeps its dtype without it.
        dtype: match array.library {
            Library::Numpy { .. } => array.dtype.canonical(x64),
            Library::Jax { .. } | Library::Key { .. } => array.dtype,
        },
        prng: array.prng(),
        is_ref: false,
        weak: matches!(array.library, Library::Jax { weak: true, .. }),
        strong_when_missed: false,
        placement: match &array.library {
            Library::Jax { placement, .. } | Library::Key { placement, .. } => Some(placement.clone()),
            Library::Numpy { .. } => None,
        },
        has_no_layout: false,
    }
}
