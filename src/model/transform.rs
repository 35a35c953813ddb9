//! Transformations of a wrapper: what they make of its arguments before it is called.
//!
//! `jax.vmap`, `jax.vjp`, `jax.jvp` and `jax.make_jaxpr` know nothing of static arguments: they flatten what they are given,
//! and call the wrapper with tracers in place of the leaves. A static argument without leaves stays what it is.
//!
//! Sources: `jax/_src/api.py` (`vmap`, `vjp`, `jvp`, `make_jaxpr`, `eval_shape`), `jax/_src/interpreters/ad.py` (`linearize`,
//! which leaves alone what has no tangent).

use std::rc::Rc;
use std::sync::Arc;

use super::arguments::{Arguments, Invocation, statics};
use super::flatten::{Flattening, flatten};
use super::leaf::{Aval, Leaf};
use super::object::{ClassObject, Kind, Obj, Raised, Ways};
use super::predict::ModelError;
use super::treedef::Root;
use super::view::{aval, leaf_kind};
use crate::case::{Array, Class, Library, Name, Placement, Via};
use crate::spec::{ArgumentStyle, LeafKind, Profile, Role, WithoutTangents};

/// The arguments that a wrapper is called with.
pub type Passed = (Vec<Obj>, Vec<(Name, Obj)>);

/// What the wrapper is called with where `call` goes through a transformation.
pub fn passed(profile: &Profile, via: Via, call: &Invocation<'_>) -> Result<Passed, Raised> {
    passed_on(profile, via, call, &(Vec::new(), Vec::new()))
}

/// What the function inside of a `jax.jit` is called with: what is static to the wrapper around it, too, is what it was.
pub fn passed_inside(profile: &Profile, call: &Invocation<'_>, outer: &Invocation<'_>) -> Result<Passed, Raised> {
    passed_on(profile, Via::MakeJaxpr, call, &statics(profile, outer)?)
}

/// The same where those of the static arguments that are among `kept`, by position and by name, are passed on as they are.
fn passed_on(
    profile: &Profile,
    via: Via,
    call: &Invocation<'_>,
    kept: &(Vec<usize>, Vec<Name>),
) -> Result<Passed, Raised> {
    let (mut args, mut kwargs) = (call.args.to_vec(), call.kwargs.to_vec());
    let differentiates = matches!(via, Via::Grad | Via::Jvp);
    if differentiates && !kwargs.is_empty() {
        return Err(Raised::new("TypeError"));
    }
    let (positions, names) = statics(profile, call)?;
    let positional = args.iter_mut().enumerate();
    let positional = positional.map(|(i, value)| (positions.contains(&i), kept.0.contains(&i), value));
    let named = kwargs.iter_mut();
    let named = named.map(|(name, value)| (names.contains(name), kept.1.contains(name), value));
    let mut is_too_small = false;
    for (is_static, is_kept, value) in positional.chain(named) {
        if is_static && is_kept {
            continue;
        }
        let tracers = traced(profile, via, value, call, &mut is_too_small)?;
        if is_static {
            *value = tracers;
        }
    }
    // That each leaf can be traced is looked at before.
    if is_too_small { Err(Raised::new("ValueError")) } else { Ok((args, kwargs)) }
}

/// What a transformation of equinox raises before it calls the function: `filter_vmap` takes no keywords and maps every array
/// over its first dimension, `filter_vjp` has keywords of its own.
pub fn filtered(profile: &Profile, via: Via, call: &Invocation<'_>) -> Result<Option<Raised>, ModelError> {
    let refused = |class: &str| Ok(Some(Raised::new(class)));
    if !call.kwargs.is_empty() {
        return refused(if via == Via::Vmap { "RuntimeError" } else { "TypeError" });
    }
    if via != Via::Vmap {
        return Ok(None);
    }
    // Where nothing can be mapped the function is called as it is.
    let mut sizes = Vec::new();
    for value in call.args {
        let Ok(flat) = flatten(Root::Called("mapped".into()), value, &Flattening::of(profile)) else {
            return Ok(None);
        };
        sizes.extend(flat.leaves.iter().filter_map(|(_, leaf)| match &**leaf {
            Kind::Array(array) => Some(array.shape.first().copied()),
            Kind::NumpyScalar(..) => Some(None),
            _ => None,
        }));
    }
    match sizes.first() {
        None => Ok(None),
        Some(first) if first.is_none() || sizes.iter().any(|size| size != first) => refused("ValueError"),
        Some(_) => Ok(None),
    }
}

/// An argument with tracers for its leaves, as what is static looks at it; notes whether a leaf has no dimension to be mapped.
fn traced(
    profile: &Profile,
    via: Via,
    value: &Obj,
    call: &Invocation<'_>,
    is_too_small: &mut bool,
) -> Result<Obj, Raised> {
    let (words, x64) = (&profile.transformations, call.views.x64);
    let (mut has_tracer, mut has_literal_array) = (false, false);
    for (_, leaf) in flatten(Root::Called("static".into()), value, &Flattening::of(profile))?.leaves {
        let kind = leaf_kind(&leaf, x64);
        let aval = aval(&leaf, x64).filter(|_| !matches!(kind, LeafKind::Other | LeafKind::ForeignArray));
        if kind == LeafKind::BigInt && words.overflows_under.contains(&via) {
            return Err(Raised::new("OverflowError"));
        }
        if let (Via::Grad, LeafKind::ShapeDtypeStruct, Some(class)) = (via, kind, &words.struct_under_grad) {
            return Err(Raised::new(class));
        }
        // Up to 0.7 an object with `__jax_array__` was asked for the array only when it was called with.
        let is_object =
            kind == LeafKind::Converted && call.views.rule_of(&leaf).is_some_and(|rule| rule.role == Role::Dynamic);
        has_tracer |= match (via, aval) {
            (Via::Jvp, Some(_)) if is_object => return Err(Raised::new("TypeError")),
            (Via::Vmap, Some(_)) if is_object => {
                *is_too_small = true;
                true
            }
            (_, None) if kind == LeafKind::ForeignArray => return Err(Raised::new("TypeError")),
            (Via::Vmap, _) if kind == LeafKind::ForeignScalar => return Err(Raised::new(&words.other_under_vmap)),
            (Via::Vmap, None) => return Err(Raised::new(&words.other_under_vmap)),
            (Via::Grad, None) => return Err(Raised::new(&words.other_under_grad)),
            (_, None) => return Err(Raised::new("TypeError")),
            (Via::Vmap, Some(aval)) => {
                *is_too_small |= aval.shape.is_empty();
                true
            }
            (Via::Grad, Some(aval)) => {
                let is_numpy = matches!(kind, LeafKind::NumpyArray | LeafKind::NumpyScalar);
                has_literal_array |= words.makes_literals && is_numpy && !has_tangent(&aval);
                has_tangent(&aval)
            }
            (Via::Jvp, Some(aval)) if !has_tangent(&aval) && !aval.dtype.is_float0() => {
                return Err(Raised::new("TypeError"));
            }
            (_, Some(_)) => true,
        };
    }
    let is_literal = via == Via::Grad && words.makes_literals;
    Ok(match (has_tracer, words.tracers_are_hashable) {
        _ if has_literal_array => Rc::new(Kind::List(Vec::new().into())),
        (false, _) if is_literal && matches!(**value, Kind::Int(_)) => {
            Rc::new(Kind::Derived { class: typed_int(), base: Rc::clone(value) })
        }
        (false, _) => Rc::clone(value),
        // A tracer is new each time, and nothing but itself; what holds it may still be unhashable.
        (true, true) if !matches!(**value, Kind::List(_) | Kind::Set(_) | Kind::Dict(_)) => {
            Rc::new(Kind::Tracer(Rc::clone(value)))
        }
        (true, _) => Rc::new(Kind::List(Vec::new().into())),
    })
}

/// The class of the ints that jax makes of ints (`jax/_src/literals.py`).
fn typed_int() -> Rc<ClassObject> {
    thread_local! {
        static TYPED_INT: Rc<ClassObject> = {
            let name = |name: &str| Name::new(name.to_owned()).expect("the name of a class");
            let class = Class::Subclass { of: name("int"), repr: false };
            Rc::new(ClassObject { name: name("TypedInt"), class, base: None, ways: Ways::default() })
        };
    }
    TYPED_INT.with(Rc::clone)
}

/// Whether there is a derivative by it.
pub fn leaf_has_tangent(leaf: Leaf<'_>) -> bool {
    has_tangent(&leaf.aval)
}

fn has_tangent(aval: &Aval) -> bool {
    (aval.dtype.is_float() || aval.dtype.is_complex()) && aval.prng.is_none()
}

/// Whether `jax.grad` refuses the first argument, by which it differentiates: it takes floating-point and complex numbers
/// alone (`jax/_src/api.py`, `_check_input_dtype_grad`).
pub fn has_no_gradient(profile: &Profile, call: &Invocation<'_>) -> bool {
    let flat = |first| flatten(Root::Argument(0), first, &Flattening::of(profile));
    let Some(Ok(flat)) = call.args.first().map(flat) else { return false };
    flat.leaves.iter().any(|(_, leaf)| !aval(leaf, call.views.x64).is_some_and(|aval| has_tangent(&aval)))
}

/// The positional arguments as a `jax.jit` inside of a `filter_jit` takes them: numbers are arrays, and what is neither is none.
pub fn with_literals(call: &Invocation<'_>) -> Result<Vec<Obj>, Raised> {
    let literal = |value: &Obj| -> Result<Obj, Raised> {
        match (&**value, aval(value, call.views.x64)) {
            (Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) | Kind::Complex(..), Some(aval)) => {
                let library = Library::Jax { weak: aval.weak, placement: Placement::default() };
                let array = Array { library, dtype: aval.dtype, shape: Vec::new(), fill: None };
                Ok(Rc::new(Kind::Array(Arc::new(array))))
            }
            (Kind::Str(_) | Kind::Bytes(_) | Kind::Parsed(_) | Kind::Object { .. }, _) => Err(Raised::new("TypeError")),
            _ => Ok(Rc::clone(value)),
        }
    };
    call.args.iter().map(literal).collect()
}

/// What differentiation makes of the arguments that are not static.
pub fn differentiated(
    profile: &Profile,
    via: Via,
    mut arguments: Arguments,
) -> Result<Result<Arguments, Raised>, ModelError> {
    // Such arrays are their own tangents, as a case has it.
    let is_its_own = |leaf: Leaf<'_>| leaf_has_tangent(leaf) || leaf.aval.dtype.is_float0();
    if via == Via::Jvp && !arguments.leaves.iter().all(is_its_own) {
        return Ok(Err(Raised::new("TypeError")));
    }
    // To `equinox.is_inexact_array` what NumPy has through `ml_dtypes` is no number.
    let is_unknown = |leaf: Leaf<'_>| {
        let is_numpy = leaf.aval.placement.is_none() && leaf.aval.dtype.is_extension();
        is_numpy && profile.arguments == ArgumentStyle::Partition
    };
    if !arguments.leaves.iter().any(|leaf| leaf_has_tangent(leaf) && !is_unknown(leaf)) {
        match profile.transformations.without_tangents {
            WithoutTangents::Plain | WithoutTangents::Called => arguments.without_tangents = true,
            WithoutTangents::Apart => arguments.without_tangents = via == Via::Jvp,
            WithoutTangents::Unknown => {
                return Err(ModelError::Unsupported("the derivative of what has no tangent".to_owned()));
            }
        }
    }
    Ok(Ok(arguments))
}
