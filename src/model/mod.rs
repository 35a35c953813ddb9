//! The reference model: case and profile in, keys and verdicts out.
//!
//! One algorithm for every implementation; what differs stands in the [`crate::spec::Profile`]. The model never reads the
//! rules, and the rules never mention the model: they are independent witnesses.
//!
//! A call goes the way of the data. `build` makes Python objects of the case's values; `arguments` sorts them into trees and
//! statics, `partition` as `filter_jit` does (`leaf` says what is at the end of a tree, `view` what a value is there);
//! `flatten` makes leaves and treedefs (`treedef`); `key` makes each table's key of them (`facet`, `parts`), and `table`
//! looks it up (`difference` says why it isn't there). `walk` asks the tables from the top, for each `call` among the steps
//! of `predict` (`eager` for loops outside of `jit`, `compiled` for what was compiled ahead of time, `inside` for what a
//! traced function calls). `running` says what the program then raises and returns, `persistent` whether it is loaded from a
//! file. Python's own `==`, `hash` and `is` are in `python`.

mod ambient;
mod apart;
mod arguments;
mod array_equality;
mod buffers;
mod build;
mod call;
mod called;
mod compiled;
mod difference;
mod digest;
mod distance;
mod eager;
mod events;
mod facet;
mod flatten;
mod generation;
mod inside;
mod key;
mod leaf;
mod library;
mod looked_up;
mod loop_arguments;
mod nearest;
mod number;
mod object;
mod partition;
mod parts;
mod persistent;
mod predict;
mod python;
mod repr;
mod running;
mod side_by_side;
mod signature;
mod table;
mod transform;
mod tree_difference;
mod treedef;
mod view;
mod walk;
mod wrapper;

pub(crate) use apart::stem;
pub use difference::{Difference, Explanation};
pub use digest::{CHANGED, Written};
pub use key::Key;
pub use object::Raised;
pub use parts::X64;
pub use predict::{ModelError, Objects, Prediction, Simulation, behaviour, predict};
pub use python::dtype_called;
pub use treedef::Path;

#[cfg(test)]
mod tests;
