//! Buffers that are gone: deleted by the user, or donated to a call.
//!
//! Sources: `jaxlib/jax_jit.cc` (the fast path hands a deleted array to Python, `IsDeleted`), `jax/_src/interpreters/pxla.py`
//! (`shard_args`, where Python finds it deleted), XLA's `PjRtClient` (the same buffer twice in one call).

use std::rc::Rc;

use super::ambient::Ambient;
use super::arguments::Arguments;
use super::leaf::Leaf;
use super::object::{Kind, Obj, Raised};
use super::running::{devices, split};
use crate::case::{Library, Placement};
use crate::spec::Profile;

/// The arrays of a case that have lost their buffers.
#[derive(Debug, Default)]
pub struct Gone {
    deleted: Vec<Obj>,
    donated: Vec<Obj>,
}

impl Gone {
    /// `object.delete()`
    pub fn delete(&mut self, object: Option<&Obj>) {
        self.deleted.extend(object.cloned());
    }

    /// `jax.jit(f, donate_argnums=0)(object)`, of a function that the case doesn't have.
    pub fn give_away(&mut self, object: Option<&Obj>) {
        self.donated.extend(object.cloned());
    }

    /// Takes the buffers that a call with these arguments was given for good. A body that a case makes returns what it uses,
    /// so that each of them is of use.
    pub fn donate(&mut self, arguments: &Arguments, ambient: &Ambient) {
        self.donated.extend(given(arguments, ambient).filter_map(|(_, leaf)| leaf.object.cloned()));
    }

    /// What a compiled object raises that is called with any of them: `fast` once it has been called before.
    pub fn refused(&self, arguments: &Arguments, profile: &Profile, fast: bool) -> Option<Raised> {
        let mut kept = arguments.leaves.iter().filter(|leaf| leaf.kept);
        kept.find_map(|leaf| {
            let among = |objects: &[Obj]| objects.iter().any(|object| is_object(&leaf, object));
            match &profile.donated_again {
                Some(class) if fast && among(&self.donated) && !among(&self.deleted) => Some(Raised::new(class)),
                _ => (among(&self.deleted) || among(&self.donated)).then(|| Raised::new("RuntimeError")),
            }
        })
    }

    pub fn is_empty(&self) -> bool {
        self.deleted.is_empty() && self.donated.is_empty()
    }

    /// What it means for a call that some of its arguments are gone.
    pub fn mark(&self, arguments: &mut Arguments, profile: &Profile, ambient: &Ambient) {
        if self.is_empty() {
            return;
        }
        let devices = devices(arguments, ambient);
        let stays = |at: &Placement, asked: Option<&Placement>| {
            asked.map_or_else(|| at.devices() == devices, |asked| at.devices() == asked.devices())
        };
        let leaves = Rc::make_mut(&mut arguments.leaves);
        for i in 0..leaves.len() {
            let among = |objects: &[Obj]| objects.iter().any(|object| is_object(&leaves.get(i), object));
            let (deleted, donated) = (among(&self.deleted), among(&self.donated));
            if deleted || donated {
                leaves.change(i, |leaf| {
                    let asked = leaf.asked.clone();
                    let is_read = leaf.kept && !ambient.reads_no_gone;
                    let errors = leaf.errors.get_or_insert_default();
                    errors.kept = is_read.then(|| Raised::new("RuntimeError"));
                    match &profile.donated_again {
                        Some(class)
                            if !deleted
                                && leaf.aval.placement.as_ref().is_some_and(|at| stays(at, asked.as_deref())) =>
                        {
                            errors.fast = is_read.then(|| Raised::new(class))
                        }
                        _ => leaf.never_fast = true,
                    }
                });
            }
        }
    }
}

/// Whether a call gives a buffer away that it also uses as another argument.
pub fn uses_a_donated_one(arguments: &Arguments, ambient: &Ambient) -> bool {
    given(arguments, ambient).any(|(i, given)| {
        let is_same = |leaf: &Leaf<'_>| given.object.is_some_and(|object| is_object(leaf, object));
        arguments.leaves.iter().enumerate().any(|(j, leaf)| i != j && leaf.kept && is_same(&leaf))
    })
}

/// Whether what lies at `at` is a part of itself where it was asked for: as it is split, or a whole among others.
fn is_as_asked(at: &Placement, asked: &Placement) -> bool {
    let (own, wanted) = (at.devices(), asked.devices());
    split(at) == split(asked) && (own == wanted || own.len() == 1 && wanted.contains(&own[0]))
}

fn is_object(leaf: &Leaf<'_>, object: &Obj) -> bool {
    leaf.object.is_some_and(|known| Rc::ptr_eq(known, object))
}

/// The leaves whose buffers are donated, by number: not those that the program doesn't have, and not those that are elsewhere
/// than the program has them, of which a copy is.
pub fn given<'a>(arguments: &'a Arguments, ambient: &Ambient) -> impl Iterator<Item = (usize, Leaf<'a>)> {
    let any = arguments.leaves.iter().any(|leaf| leaf.donated);
    let devices = if any { devices(arguments, ambient) } else { Vec::new() };
    arguments.leaves.iter().enumerate().filter(move |(_, leaf)| {
        let on_a_device = |object: &Obj| matches!(&**object, Kind::Array(array) if matches!(array.library, Library::Jax { .. } | Library::Key { .. }));
        let is_there = |at: &Placement| match leaf.asked.as_deref() {
            Some(asked) => is_as_asked(at, asked),
            None => at.devices().iter().any(|device| devices.contains(device)),
        };
        leaf.donated
            && leaf.kept
            && leaf.object.is_some_and(on_a_device)
            && leaf.aval.placement.as_ref().is_none_or(is_there)
    })
}
