//! Generated pairs: a rule's metavariables are drawn, the pair is planted in a random context, and several planted pairs
//! make one case of two calls.
//!
//! Everything is drawn from a [`Source`] of choices, so a pair is its list of choices: a seed reproduces it, and shrinking
//! works on the choices, not on the values ([`shrink`]).

mod draw;
mod pair;
mod plant;
mod reduce;
mod shrink;
mod source;

pub use pair::{Discard, Expected, Generator, Pair, Plan};
pub use reduce::{Reduction, reduce, reductions};
pub use shrink::shrink;
pub use source::Source;
