//! Compiled objects: what `f.lower(…).compile()` returned, called again.
//!
//! No table is looked up. The arguments have to fit the program: for `jax.jit` their trees, for `equinox.filter_jit` only
//! which of the leaves are arrays; then shapes and dtypes, and the devices of what is committed. Static arguments are not
//! compared at all: `jax.jit` doesn't take them, `filter_jit` overlooks them.
//!
//! Sources: `jax/_src/stages.py` (`Compiled.call`), `jax/_src/interpreters/pxla.py` (`check_arg_avals_for_call`,
//! `check_array_xla_sharding_layout_match`), `equinox/_jit.py` (`_preprocess`).

use std::rc::Rc;

use super::arguments::{Arguments, Item};
use super::leaf::Leaf;
use super::object::Raised;
use super::predict::ModelError;
use super::table::Program;
use super::wrapper::Options;
use crate::case::{JitOptions, Placement, Value};
use crate::spec::{ArgumentStyle, Equality, Profile};

/// A compiled object that a case made.
#[derive(Debug)]
pub struct Compiled {
    /// The form of its function; the case's own if there is none.
    pub function: Option<Value>,
    /// Whether the function lived on after the call that compiled it.
    pub kept: bool,
    pub options: Options,
    pub program: Program,
    arguments: Arguments,
}

impl Compiled {
    /// What a call with these arguments compiled.
    pub fn of(function: Option<Value>, kept: bool, options: &Options, program: Program, arguments: &Arguments) -> Self {
        let mut arguments = arguments.clone();
        // Nothing keeps the statics alive.
        let trees = arguments.items.iter().filter(|item| matches!(item, Item::Tree(_)));
        arguments.items = Rc::new(trees.cloned().collect());
        Self { function, kept, options: options.clone(), program, arguments }
    }

    /// What its calls are wrapped with: static arguments are not passed again.
    pub fn call_options(&self) -> Options {
        if self.sees_everything() {
            return self.options.clone();
        }
        let asked = JitOptions::clone(&self.options);
        Options::of(&JitOptions { static_argnums: Vec::new(), static_argnames: Vec::new(), ..asked })
    }

    /// Whether `call` has everything that a body could see: no argument is left out.
    pub fn sees_everything(&self) -> bool {
        self.options.static_argnums.is_empty() && self.options.static_argnames.is_empty()
    }

    /// Whether the program takes these arguments; otherwise what is raised.
    pub fn takes(&self, call: &Arguments, profile: &Profile) -> Result<Result<(), Raised>, ModelError> {
        let unknown = |what: &str| Err(ModelError::Unsupported(format!("{what} of a compiled object")));
        let raises = |leaf: Leaf<'_>| {
            let errors = leaf.errors.as_ref();
            errors
                .is_some_and(|errors| [&errors.missed, &errors.kept, &errors.lowered].into_iter().any(Option::is_some))
        };
        let odd = |leaf: Leaf<'_>| leaf.never_fast || raises(leaf);
        if self.options.in_shardings.is_some() || self.options.out_shardings.is_some() {
            return unknown("shardings");
        }
        if call.leaves.iter().any(odd) {
            return unknown("arguments that have no value, or that the fast path takes for others,");
        }
        if !self.arguments.form.donated.0.is_empty() || self.options.donate.is_some() {
            return unknown("donated arguments");
        }
        let elsewhere = |at: &Placement| at.sharding.is_some() || at.layout.is_some() || at.memory_kind.is_some();
        let leaves = || self.arguments.leaves.iter().chain(call.leaves.iter());
        if leaves().any(|leaf: Leaf<'_>| leaf.aval.placement.as_ref().is_some_and(elsewhere)) {
            return unknown("shardings, layouts and memory kinds");
        }
        if !self.same_structure(call, profile)? {
            return Ok(Err(Raised::new("TypeError")));
        }
        let pairs = || self.arguments.leaves.iter().zip(call.leaves.iter());
        let same_aval = |(ours, theirs): (Leaf<'_>, Leaf<'_>)| {
            let (ours, theirs) = (&ours.aval, &theirs.aval);
            (&ours.shape, ours.dtype, ours.prng) == (&theirs.shape, theirs.dtype, theirs.prng)
        };
        if !pairs().all(same_aval) {
            return Ok(Err(Raised::new("TypeError")));
        }
        let committed = |leaf: Leaf<'_>| leaf.aval.placement.clone().filter(Placement::is_committed);
        let kept = || pairs().filter(|(ours, _)| ours.kept);
        let device = kept().find_map(|(ours, _)| committed(ours)).map_or(0, |at| at.device);
        let here = kept().filter_map(|(_, theirs)| committed(theirs)).all(|at| at.device == device);
        Ok(if here || profile.compiled_overlooks_devices { Ok(()) } else { Err(Raised::new("ValueError")) })
    }

    fn same_structure(&self, call: &Arguments, profile: &Profile) -> Result<bool, ModelError> {
        let ours = &self.arguments;
        if profile.arguments == ArgumentStyle::Partition {
            return Ok((&ours.form.mask, &ours.roots) == (&call.form.mask, &call.roots));
        }
        if ours.form.keywords != call.form.keywords {
            return Ok(false);
        }
        let by = profile.tables.iter().find_map(|table| table.tree).unwrap_or_default();
        let by = Equality { identity: true, equal: true, ..by };
        let trees = |arguments: &Arguments| {
            let trees = arguments.items.iter().filter_map(|item| match item {
                Item::Tree(tree) => Some(tree.clone()),
                Item::Static { .. } => None,
            });
            trees.collect::<Vec<_>>()
        };
        let (ours, theirs) = (trees(ours), trees(call));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            match ours.same(theirs, by) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(_) => {
                    return Err(ModelError::Unsupported("a comparison that raises, of a compiled object".to_owned()));
                }
            }
        }
        Ok(ours.len() == theirs.len())
    }
}
