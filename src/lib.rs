//! An executable specification of JIT compile-cache keys, and the suite that checks implementations against it.

#![forbid(unsafe_code)]

pub mod case;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod explain;
pub mod generate;
pub mod model;
pub mod property;
pub mod report;
pub mod spec;
pub mod target;
