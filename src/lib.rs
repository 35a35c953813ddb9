//! An executable specification of JIT compile-cache keys, and the suite that checks implementations against it.

#![forbid(unsafe_code)]

pub mod case;
pub mod spec;
pub mod model;
pub mod generate;
pub mod target;
pub mod check;
pub mod report;
#[cfg(feature = "cli")]
pub mod cli;
