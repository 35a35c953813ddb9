//! Generated pairs: a rule's metavariables are drawn, the pair is planted in a random context, and several planted pairs
//! make one case of two calls.
//!
//! Everything is drawn from a [`Source`] of choices, so a pair is its list of choices: a seed reproduces it, and shrinking
//! works on the choices, not on the values ([`shrink`]); then on what every pair is given ([`reduce`]). `jitkey check`, the
//! strategies for proptest (`strategy`, with the feature `proptest`) and the fuzzers (`arbitrary::Arbitrary for Source`)
//! draw from the same.

mod descent;
mod draw;
mod pair;
mod plant;
mod reach;
mod reduce;
mod sequence;
mod shrink;
mod source;
#[cfg(feature = "proptest")]
pub mod strategy;
mod value;

pub use pair::{Discard, Expected, Generator, Pair, Plan};
pub use reach::Reach;
pub use reduce::{Reduction, reduce, reductions};
pub use shrink::shrink;
pub use source::Source;
pub use value::near;
