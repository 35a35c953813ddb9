//! Buffers that are gone: deleted by the user, or donated to a call.
//!
//! Sources: `jaxlib/jax_jit.cc` (the fast path hands a deleted array to Python, `IsDeleted`), `jax/_src/interpreters/pxla.py`
//! (`shard_args`, where Python finds it deleted), XLA's `PjRtClient` (the same buffer twice in one call).

use std::rc::Rc;

use super::arguments::Arguments;
use super::leaf::Leaf;
use super::object::{Kind, Obj, Raised};
use crate::case::Library;
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

    /// Takes the buffers that a call with these arguments was given for good. A body that a case makes returns what it uses,
    /// so that each of them is of use.
    pub fn donate(&mut self, arguments: &Arguments) {
        self.donated.extend(arguments.leaves.iter().filter(is_given).filter_map(|leaf| leaf.object.cloned()));
    }

    pub fn is_empty(&self) -> bool {
        self.deleted.is_empty() && self.donated.is_empty()
    }

    /// What it means for a call that some of its arguments are gone.
    pub fn mark(&self, arguments: &mut Arguments, profile: &Profile) {
        if self.is_empty() {
            return;
        }
        let leaves = Rc::make_mut(&mut arguments.leaves);
        for i in 0..leaves.len() {
            let among = |objects: &[Obj]| objects.iter().any(|object| is_object(&leaves.get(i), object));
            let (deleted, donated) = (among(&self.deleted), among(&self.donated));
            if deleted || donated {
                leaves.change(i, |leaf| {
                    let errors = leaf.errors.get_or_insert_default();
                    errors.kept = leaf.kept.then(|| Raised::new("RuntimeError"));
                    match &profile.donated_again {
                        Some(class) if !deleted => errors.fast = leaf.kept.then(|| Raised::new(class)),
                        _ => leaf.never_fast = true,
                    }
                });
            }
        }
    }
}

/// Whether a call gives a buffer away that it also uses as another argument.
pub fn uses_a_donated_one(arguments: &Arguments) -> bool {
    let leaves = || arguments.leaves.iter().enumerate();
    leaves().filter(|(_, leaf)| is_given(leaf)).any(|(i, given)| {
        let is_same = |leaf: &Leaf<'_>| given.object.is_some_and(|object| is_object(leaf, object));
        leaves().any(|(j, leaf)| i != j && leaf.kept && is_same(&leaf))
    })
}

fn is_object(leaf: &Leaf<'_>, object: &Obj) -> bool {
    leaf.object.is_some_and(|known| Rc::ptr_eq(known, object))
}

/// Whether the leaf has a buffer that is donated: an argument that the program doesn't have is not.
pub fn is_given(leaf: &Leaf<'_>) -> bool {
    let on_a_device = |object: &Obj| matches!(&**object, Kind::Array(array) if matches!(array.library, Library::Jax { .. } | Library::Key { .. }));
    leaf.donated && leaf.kept && leaf.object.is_some_and(on_a_device)
}
