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
        self.donated.extend(arguments.leaves.iter().filter(|leaf| is_given(leaf)).map(|leaf| leaf.object.clone()));
    }

    /// What it means for a call that some of its arguments are gone.
    pub fn mark(&self, arguments: &mut Arguments, profile: &Profile) {
        if self.deleted.is_empty() && self.donated.is_empty() {
            return;
        }
        for leaf in Rc::make_mut(&mut arguments.leaves) {
            let among = |objects: &[Obj]| objects.iter().any(|object| Rc::ptr_eq(object, &leaf.object));
            let (deleted, donated) = (among(&self.deleted), among(&self.donated));
            if deleted || donated {
                let errors = leaf.errors.get_or_insert_default();
                errors.kept = leaf.kept.then(|| Raised::new("RuntimeError"));
                match &profile.donated_again {
                    Some(class) if !deleted => errors.fast = leaf.kept.then(|| Raised::new(class)),
                    _ => leaf.never_fast = true,
                }
            }
        }
    }
}

/// Whether a call gives a buffer away that it also uses as another argument.
pub fn uses_a_donated_one(arguments: &Arguments) -> bool {
    let leaves = &arguments.leaves;
    leaves.iter().enumerate().any(|(i, leaf)| {
        is_given(leaf)
            && leaves
                .iter()
                .enumerate()
                .any(|(j, other)| i != j && other.kept && Rc::ptr_eq(&leaf.object, &other.object))
    })
}

/// Whether the leaf has a buffer that is donated: an argument that the program doesn't have is not.
pub fn is_given(leaf: &Leaf) -> bool {
    let on_a_device = matches!(&*leaf.object, Kind::Array(array) if matches!(array.library, Library::Jax { .. } | Library::Key { .. }));
    leaf.donated && leaf.kept && on_a_device
}
