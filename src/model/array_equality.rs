//! `==` of NumPy's and jax's arrays, as far as it has a truth.

use super::number::Number;
use super::object::{Kind, Obj, Raised};
use super::python::range;
use crate::case::Library;

/// `bool(a == b)` where one is an array: elementwise, and only a single element has a truth.
pub fn arrays_equal(a: &Obj, b: &Obj) -> Result<bool, Raised> {
    let arraylike =
        |obj: &Obj| matches!(**obj, Kind::Array(_)) || (Number::of(obj).is_some() && !matches!(**obj, Kind::Parsed(_)));
    if (is_of_jax(a) || is_of_jax(b)) && !(arraylike(a) && arraylike(b)) {
        // A jax.Array leaves the comparison with what it doesn't know to the other side.
        return if [a, b].into_iter().any(is_rejected) { Err(Raised::new("TypeError")) } else { Ok(false) };
    }
    let prng = |obj: &Obj| match &**obj {
        Kind::Array(array) => array.prng(),
        _ => None,
    };
    if prng(a) != prng(b) {
        // Keys are equal to no numbers, and not to keys of other implementations: the operation doesn't take both.
        return Err(Raised::new("TypeError"));
    }
    let (a_shape, b_shape) = (array_shape(a)?, array_shape(b)?);
    if broadcast(&a_shape, &b_shape).map(|shape| shape.iter().product::<u64>()) != Some(1) {
        return Err(Raised::new("ValueError"));
    }
    Ok(match (first_number(a), first_number(b)) {
        (Some(a), Some(b)) => a.equal(b),
        _ => false,
    })
}

/// Whether it is a `jax.Array`.
pub fn is_of_jax(obj: &Obj) -> bool {
    matches!(&**obj, Kind::Array(array) if !matches!(array.library, Library::Numpy { .. }))
}

/// Whether it is a container that a `jax.Array` refuses: one of exactly these types. A mappingproxy compares as its dict does.
fn is_rejected(obj: &Obj) -> bool {
    matches!(**obj, Kind::Tuple(_) | Kind::List(_) | Kind::Set(_) | Kind::Dict(_) | Kind::MappingProxy(_))
}

/// The items of what NumPy takes for a sequence.
fn items(obj: &Obj) -> Option<&[Obj]> {
    match &**obj {
        Kind::Tuple(items) | Kind::Namedtuple(_, items) => Some(items),
        Kind::List(items) => Some(items),
        _ => None,
    }
}

/// The shape of the array that NumPy makes of a value; sequences that don't fit together are none.
fn array_shape(obj: &Obj) -> Result<Vec<u64>, Raised> {
    let Some(items) = items(obj) else {
        return Ok(match &**obj {
            Kind::Array(array) => array.shape.clone(),
            Kind::Range(..) => vec![range(obj).map_or(0, |(len, ..)| len.unsigned_abs())],
            _ => Vec::new(),
        });
    };
    let shapes = items.iter().map(array_shape).collect::<Result<Vec<_>, _>>()?;
    match shapes.first() {
        Some(first) if shapes.iter().any(|shape| shape != first) => Err(Raised::new("ValueError")),
        first => Ok(std::iter::once(items.len() as u64).chain(first.into_iter().flatten().copied()).collect()),
    }
}

/// The first element of the array that NumPy makes of a value, if it is a number.
fn first_number(obj: &Obj) -> Option<Number> {
    match (items(obj), &**obj) {
        (Some(items), _) => items.first().and_then(first_number),
        (None, Kind::Array(array)) => Some(Number::Int(array.fill.unwrap_or(1).into())),
        (None, Kind::Range(start, ..)) => Some(Number::Int((*start).into())),
        (None, other) => Number::of(other),
    }
}

/// The shape of an operation on two arrays, if they fit.
fn broadcast(a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
    let rank = a.len().max(b.len());
    let dim = |shape: &[u64], i: usize| (i + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
    (0..rank)
        .map(|i| match (dim(a, i), dim(b, i)) {
            (a, b) if a == b => Some(a),
            (1, other) | (other, 1) => Some(other),
            _ => None,
        })
        .collect()
}
