//! Python's numbers, which are equal and hash alike across their types.
//!
//! Sources: CPython's `Python/pyhash.c`, `Lib/fractions.py`, `Lib/_pydecimal.py`.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::object::Kind;
use crate::case::{Class, Content};

/// A number, as `==` and `hash` see it.
#[derive(Clone, Copy)]
pub enum Number {
    Int(i128),
    Float(f64),
    Complex(f64, f64),
    /// Numerator and denominator of what is no int.
    Ratio(i128, i128),
}

impl Number {
    /// The number that an object is.
    pub fn of(kind: &Kind) -> Option<Self> {
        match kind {
            Kind::Bool(value) => Some(Self::Int((*value).into())),
            Kind::Int(value) => Some(Self::Int(value.get())),
            Kind::Float(value) => Some(Self::Float(*value)),
            Kind::Complex(re, im) => Some(Self::Complex(*re, *im)),
            Kind::NumpyScalar(dtype, value) if dtype.is_integer() || dtype.name() == "bool" => {
                Some(Self::Int(*value as i128))
            }
            Kind::NumpyScalar(dtype, value) if dtype.is_complex() => Some(Self::Complex(*value, 0.0)),
            Kind::NumpyScalar(dtype, value) if !dtype.is_foreign() || dtype.name().ends_with("longdouble") => {
                Some(Self::Float(*value))
            }
            Kind::Member { class, number } if matches!(class.class, Class::IntEnum(_)) => {
                Some(Self::Int((*number).into()))
            }
            Kind::Derived { base, .. } => Self::of(base),
            Kind::Parsed(parsed) => match *parsed.content() {
                Content::Ratio(number, 1) => Some(Self::Int(number)),
                Content::Ratio(above, below) => Some(Self::Ratio(above, below)),
                Content::Infinity { negative } => {
                    Some(Self::Float(if negative { -f64::INFINITY } else { f64::INFINITY }))
                }
                Content::Nan => Some(Self::Float(f64::NAN)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `a == b`
    pub fn equal(self, other: Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Int(i), Self::Float(f)) | (Self::Float(f), Self::Int(i)) => exact_int(f) == Some(i),
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Ratio(a, b), Self::Ratio(c, d)) => (a, b) == (c, d),
            (Self::Ratio(above, below), Self::Float(f)) | (Self::Float(f), Self::Ratio(above, below)) => {
                dyadic(f, below) == Some(above)
            }
            (Self::Ratio(..), Self::Int(_)) | (Self::Int(_), Self::Ratio(..)) => false,
            (Self::Complex(re, im), Self::Complex(re2, im2)) => re == re2 && im == im2,
            (Self::Complex(re, im), other) | (other, Self::Complex(re, im)) => {
                im == 0.0 && Self::Float(re).equal(other)
            }
        }
    }

    /// Its hash: equal numbers hash alike, whatever their types; a NaN hashes as `identity` (since Python 3.10).
    pub fn hash(self, identity: usize) -> u64 {
        let mut hasher = FxHasher::default();
        match self {
            Self::Int(value) => int_hash(value).hash(&mut hasher),
            Self::Float(value) => match exact_int(value) {
                Some(value) => int_hash(value).hash(&mut hasher),
                None if value.is_nan() => identity.hash(&mut hasher),
                None => value.to_bits().hash(&mut hasher),
            },
            // As the float that is equal to it, if there is one.
            Self::Ratio(above, below) => match above as f64 / below as f64 {
                float if dyadic(float, below) == Some(above) => return Self::Float(float).hash(identity),
                _ => (above, below).hash(&mut hasher),
            },
            Self::Complex(re, 0.0) => return Self::Float(re).hash(identity),
            // Both zeros are one.
            Self::Complex(re, im) => [re + 0.0, im].map(f64::to_bits).hash(&mut hasher),
        }
        hasher.finish()
    }

    /// `a < b`; complex numbers have no order.
    pub fn less(self, other: Self) -> Option<bool> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a < b),
            (a, b) => Some(a.float()? < b.float()?),
        }
    }

    fn float(self) -> Option<f64> {
        match self {
            Self::Int(i) => Some(i as f64),
            Self::Float(f) => Some(f),
            Self::Ratio(above, below) => Some(above as f64 / below as f64),
            Self::Complex(..) => None,
        }
    }
}

/// CPython's hash of an int, which that of others can be: modulo a prime, and -1 is kept for errors.
fn int_hash(value: i128) -> i128 {
    match value % ((1 << 61) - 1) {
        -1 => -2,
        hash => hash,
    }
}

fn exact_int(f: f64) -> Option<i128> {
    let i = f as i128;
    let back = i as f64;
    (f.is_finite() && back == f).then_some(i)
}

/// The numerator that the float has over that denominator. Only powers of two have one, and by these it is exact.
fn dyadic(f: f64, denominator: i128) -> Option<i128> {
    (denominator.count_ones() == 1).then(|| exact_int(f * denominator as f64)).flatten()
}
