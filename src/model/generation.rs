//! Generations of wrappers: which tables a `jax.jit(f)` came to have, by what was cleared before it was made.
//!
//! Sources: `jax/_src/pjit.py` (`_cpp_pjit`, `_cpp_pjit_evict_fn`), `equinox/_jit.py` (`_filter_jit_cache`); measured with
//! sequences of calls, clearings and new wrappers.

use std::rc::{Rc, Weak};

use super::object::{Kind, Obj};
use super::wrapper::Options;
use crate::case::{Call, Form, Name, Value};

/// The wrappers that a case keeps.
#[derive(Debug, Default)]
pub struct Generations {
    known: Vec<Wrapper>,
    /// How often the tables of wrappers to come were parted from those of the present ones.
    generation: u64,
}

#[derive(Debug)]
struct Wrapper {
    of: Weak<Kind>,
    options: Options,
    name: Option<Name>,
    generation: u64,
}

impl Generations {
    /// That of a wrapper that is made now.
    pub fn now(&self) -> u64 {
        self.generation
    }

    /// From now on, new wrappers have tables of their own.
    pub fn part(&mut self) {
        self.generation += 1;
    }

    /// The generation of a wrapper that was made before.
    pub fn of(&self, name: Option<&Name>, function: &Obj, options: &Options) -> Option<u64> {
        let is_it = |known: &&Wrapper| {
            known.name.as_ref() == name
                && known.options == *options
                && known.of.upgrade().is_some_and(|of| Rc::ptr_eq(&of, function))
        };
        self.known.iter().find(is_it).map(|known| known.generation)
    }

    /// The generation of the wrapper that is called, which is made now if it wasn't before.
    pub fn generation(&mut self, call: &Call, function: &Obj, options: &Options) -> u64 {
        if let Some(known) = self.of(call.wrapper.as_ref(), function, options) {
            return known;
        }
        if is_kept(call) {
            let (name, of) = (call.wrapper.clone(), Rc::downgrade(function));
            self.known.push(Wrapper { of, options: options.clone(), name, generation: self.generation });
        }
        self.generation
    }
}

/// Whether the function of the call, and so its wrapper, lives on after it.
pub fn is_kept(call: &Call) -> bool {
    match &call.function {
        None => true,
        Some(Value::Form(form)) => matches!(**form, Form::Ref(_)),
        Some(_) => false,
    }
}
