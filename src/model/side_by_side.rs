//! Keys whose parts stand in the same places, as those of calls that are built and passed alike do: each part is compared with the
//! other's, without a look for its counterpart, and where they differ is known before anything is said of it.

use std::rc::Rc;

use super::difference::{Difference, Piece, leaf_apart, leaves_apart, pieces, surrounding};
use super::key::{CONTEXT, static_difference};
use super::leaf::Aval;
use super::parts::{PROGRAM, Part};
use super::treedef::{Path, Tree, Treedef};
use crate::spec::{LeafComponent, Table};

/// A place in which two keys differ.
pub(super) enum Met {
    /// That part.
    Part(usize),
    /// A component of a leaf, the second number of that part.
    Leaf { part: usize, leaf: usize, component: LeafComponent, path: Path, before: Rc<Aval>, after: Rc<Aval> },
}

impl Met {
    /// Whether it is in the same place as another one, of the same key and another earlier one.
    fn is_at(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Part(one), Self::Part(two)) => one == two,
            (
                Self::Leaf { part, leaf, component, .. },
                Self::Leaf { part: its_part, leaf: its_leaf, component: its, .. },
            ) => (part, leaf, component) == (its_part, its_leaf, its),
            _ => false,
        }
    }
}

/// Whether a key that differs from a third one at `these` places differs from it at least as much as one that does at `those`, where
/// each says as much as any other: at all of them, and in no other part than leaves.
pub(super) fn are_no_less(these: &[Met], those: &[Met]) -> bool {
    let parts = |met: &[Met]| met.iter().filter(|met| matches!(met, Met::Part(_))).count();
    let mut rest = these.iter();
    // What else follows from a part can depend on whether there is a leaf beside it.
    let is_of_leaves = those.len() > parts(those);
    parts(these) == parts(those)
        && (is_of_leaves || these.len() == those.len())
        && those.iter().all(|one| rest.any(|other| one.is_at(other)))
}

/// Whether the program above and leaves are all that differs.
pub(super) fn is_of_leaves(met: &[Met], parts: &[Part<'_>]) -> bool {
    met.iter().all(|met| match met {
        Met::Part(part) => matches!(parts[*part], Part::Plain(PROGRAM, _)),
        Met::Leaf { .. } => true,
    })
}

/// Where they differ. `None` if their parts don't stand in the same places, or it can't be seen at once.
pub(super) fn side_by_side(before: &[Part<'_>], after: &[Part<'_>], table: &Table) -> Option<Vec<Met>> {
    let mut met = Vec::new();
    let mut known: Option<[*const Tree; 2]> = None;
    let mut is_same_place = |before: &Path, after: &Path| {
        let ((old, i), (new, j)) = (before.place(), after.place());
        let pair = [Rc::as_ptr(old), Rc::as_ptr(new)];
        let is_same = i == j && (known == Some(pair) || old.reads_as(new));
        known = is_same.then_some(pair);
        is_same
    };
    let is_built_alike = |before: &Treedef, after: &Treedef, by| {
        after.tree.reads_as(&before.tree) && after.same(before, by).is_ok_and(|is_same| is_same)
    };
    for (part, (before, after)) in before.iter().zip(after).enumerate() {
        let is_same = match (before, after) {
            (Part::Plain(then, before), Part::Plain(now, after)) if then == now => before == after,
            (Part::Leaves(before), Part::Leaves(after)) => {
                let (mut before, mut after) = (before.iter(), after.iter());
                for leaf in 0.. {
                    match (before.next(), after.next()) {
                        (None, None) => break,
                        (Some((then, before)), Some((path, after))) if is_same_place(&then, &path) => {
                            if before != after {
                                met.extend(leaves_apart(&before, &after, table).map(|component| {
                                    let (path, before, after) = (path.clone(), Rc::clone(&before), Rc::clone(&after));
                                    Met::Leaf { part, leaf, component, path, before, after }
                                }));
                            }
                        }
                        _ => return None,
                    }
                }
                true
            }
            (Part::Static(then, before, by), Part::Static(now, after, _)) if is_same_place(then, now) => {
                static_difference(before, after, *by).is_none()
            }
            (Part::Context(then, before), Part::Context(now, after)) if then == now => {
                static_difference(&surrounding(*before), &surrounding(*after), CONTEXT).is_none()
            }
            (Part::Tree(before, _), Part::Tree(after, by)) if is_built_alike(before, after, *by) => true,
            _ => return None,
        };
        if !is_same {
            met.push(Met::Part(part));
        }
    }
    (before.len() == after.len()).then_some(met)
}

/// How the parts differ there.
pub(super) fn said(met: &[Met], before: &[Part<'_>], after: &[Part<'_>], table: &Table) -> Vec<Difference> {
    let mut found = Vec::with_capacity(met.len());
    for met in met {
        let part = match met {
            Met::Leaf { component, path, before, after, .. } => {
                found.push(leaf_apart(path, *component, before, after, table));
                continue;
            }
            Met::Part(part) => *part,
        };
        let (path, before, after) = match (&before[part], &after[part]) {
            (Part::Plain(then, before), Part::Plain(now, after)) => {
                (String::new(), Piece::Plain(then, before), Piece::Plain(now, after))
            }
            (Part::Static(_, before, by), Part::Static(path, after, _)) => {
                (path.to_string(), Piece::Static(Rc::clone(before), *by), Piece::Static(Rc::clone(after), *by))
            }
            (Part::Context(_, before), Part::Context(name, after)) => {
                let [before, after] = [before, after].map(|value| Piece::Static(surrounding(*value), CONTEXT));
                ((*name).to_owned(), before, after)
            }
            _ => continue,
        };
        pieces(&path, Some(&before), &after, table, &mut found);
    }
    found
}
