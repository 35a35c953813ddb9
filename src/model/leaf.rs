//! Leaves: what each layer sees of what stands at the end of a tree, and what it raises.

use std::cell::OnceCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::object::{Obj, Raised};
use super::treedef::{Path, Tree};
use crate::case::{Dtype, Placement, Prng};
use crate::spec::LeafKind;

/// What tracing sees of a dynamic leaf, and what the layers around it see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aval {
    pub shape: SmallVec<[u64; 4]>,
    pub dtype: Dtype,
    pub prng: Option<Prng>,
    /// Whether it is a reference to such an array.
    pub is_ref: bool,
    pub weak: bool,
    /// Below the fast path the leaf counts as strongly typed.
    pub strong_when_missed: bool,
    /// `None` for what lives on no device yet.
    pub placement: Option<Placement>,
    /// Whether lowering doesn't know its layout: of a placeholder, and of what is where it is because of `in_shardings` alone and
    /// was an array elsewhere before.
    pub has_no_layout: bool,
}

impl fmt::Display for Aval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weak = if self.weak && !self.strong_when_missed { "~" } else { "" };
        let prng = self.prng.map(|prng| prng.tag()).unwrap_or_default();
        let array = format!("{weak}{}{prng}{:?}", self.dtype, self.shape);
        if self.is_ref { write!(f, "Ref{{{array}}}") } else { f.write_str(&array) }
    }
}

/// The dynamic leaves of a call, in order. What many have in common is there once.
#[derive(Debug, Clone, Default)]
pub struct Leaves {
    leaves: SmallVec<[Stored; 4]>,
    traits: SmallVec<[Traits; 2]>,
    /// The objects, for calls where it matters which they are.
    objects: Vec<Obj>,
    /// The hash of the shapes and dtypes of all leaves, and of those that the program has.
    hashes: [OnceCell<u64>; 2],
}

#[derive(Debug, Clone)]
struct Stored {
    node: u32,
    traits: u32,
}

/// What the leaves of one argument that are the same kind of array have in common.
#[derive(Debug, Clone)]
pub struct Traits {
    pub tree: Rc<Tree>,
    pub aval: Rc<Aval>,
    /// The sharding that `in_shardings` has for it.
    pub asked: Option<Rc<Placement>>,
    /// The exceptions that it raises, if it raises any.
    pub errors: Option<Box<LeafErrors>>,
    /// Whether the compiled program has it as an argument.
    pub kept: bool,
    /// Whether its buffer is the call's to keep.
    pub donated: bool,
    /// Whether it keeps the call off the fast path.
    pub never_fast: bool,
}

/// A dynamic leaf.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'l> {
    pub object: Option<&'l Obj>,
    /// Its node in the tree.
    pub node: u32,
    pub traits: &'l Traits,
}

impl Deref for Leaf<'_> {
    type Target = Traits;

    fn deref(&self) -> &Traits {
        self.traits
    }
}

impl Leaf<'_> {
    pub fn path(&self) -> Path {
        Path::new(&self.tree, self.node)
    }
}

impl Leaves {
    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    pub fn get(&self, i: usize) -> Leaf<'_> {
        let Stored { node, traits } = self.leaves[i];
        Leaf { object: self.objects.get(i), node, traits: &self.traits[traits as usize] }
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = Leaf<'_>> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Whether all paths read as those of the others, as far as that is seen at once.
    pub fn are_called_as(&self, other: &Self) -> bool {
        let mut last: Option<[*const Tree; 2]> = None;
        self.len() == other.len()
            && self.iter().zip(other.iter()).all(|(a, b)| {
                let trees = [&a.tree, &b.tree].map(Rc::as_ptr);
                let is_known = last.replace(trees) == Some(trees);
                a.node == b.node && (is_known || a.tree.reads_as(&b.tree))
            })
    }

    /// The numbers of the leaves' traits, and these by their numbers.
    pub fn by_traits(&self) -> (impl Iterator<Item = usize>, &[Traits]) {
        (self.leaves.iter().map(|leaf| leaf.traits as usize), &self.traits)
    }

    /// The hash of the shapes and dtypes: of all leaves, or of those that the program has.
    pub fn hash(&self, kept: bool) -> u64 {
        *self.hashes[usize::from(kept)].get_or_init(|| {
            let hash = |leaf: &Traits| {
                let mut hasher = FxHasher::default();
                (&leaf.aval.shape, leaf.aval.dtype).hash(&mut hasher);
                hasher.finish()
            };
            let counts = |leaf: &&Stored| !kept || self.traits[leaf.traits as usize].kept;
            let hashes: SmallVec<[u64; 16]> = self.traits.iter().map(hash).collect();
            let mut hasher = FxHasher::default();
            let leaves = self.leaves.iter().filter(counts);
            leaves.for_each(|leaf| hasher.write_u64(hashes[leaf.traits as usize]));
            hasher.finish()
        })
    }

    fn forget_hashes(&mut self) {
        self.hashes = <[OnceCell<u64>; 2]>::default();
    }

    /// The number of traits that leaves can have.
    pub fn add(&mut self, traits: Traits) -> u32 {
        self.traits.push(traits);
        u32::try_from(self.traits.len() - 1).expect("leaves that fit in memory")
    }

    /// Whether the traits of that number are those of leaves of `tree`.
    pub fn are_of(&self, traits: u32, tree: &Rc<Tree>) -> bool {
        Rc::ptr_eq(&self.traits[traits as usize].tree, tree)
    }

    pub fn push(&mut self, node: u32, traits: u32, object: Option<&Obj>) {
        self.leaves.push(Stored { node, traits });
        self.objects.extend(object.cloned());
    }

    /// Puts a leaf before all others, with these traits instead of its own.
    pub fn prepend(&mut self, Leaf { object, node, .. }: Leaf<'_>, traits: Traits) {
        self.forget_hashes();
        let traits = self.add(traits);
        self.leaves.insert(0, Stored { node, traits });
        self.objects.splice(..0, object.cloned());
    }

    /// Changes one leaf.
    pub fn change(&mut self, i: usize, change: impl FnOnce(&mut Traits)) {
        self.forget_hashes();
        let mut traits = self.get(i).traits.clone();
        change(&mut traits);
        self.leaves[i].traits = self.add(traits);
    }

    /// Changes all leaves.
    pub fn change_all(&mut self, change: impl FnMut(&mut Traits)) {
        self.forget_hashes();
        self.traits.iter_mut().for_each(change);
    }
}

/// The exceptions that a leaf raises, by when it does.
#[derive(Debug, Clone, Default)]
pub struct LeafErrors {
    /// The kind that is refused, if the leaf is.
    pub kind: Option<LeafKind>,
    /// If the fast path is missed.
    pub missed: Option<Raised>,
    /// When it becomes an argument of the program.
    pub kept: Option<Raised>,
    /// Once the jaxpr is there.
    pub lowered: Option<Raised>,
    /// On the fast path.
    pub fast: Option<Raised>,
}

impl LeafErrors {
    fn passes(&self, passing: &[LeafKind]) -> bool {
        self.kind.is_some_and(|kind| passing.contains(&kind))
    }
}

impl Traits {
    /// Has no part in the program.
    pub fn leave_out(&mut self) {
        self.kept = false;
        self.errors.iter_mut().for_each(|errors| (errors.kept, errors.fast) = (None, None));
    }

    /// The leaf as lowering has it: where `in_shardings` says, if they say anything.
    pub fn lowered(&self) -> Rc<Aval> {
        let Some(asked) = &self.asked else { return Rc::clone(&self.aval) };
        let mut aval = Aval::clone(&self.aval);
        aval.has_no_layout = asked.committed || aval.placement.as_ref().is_some_and(|at| !at.is_committed());
        aval.placement = Some(Placement { committed: asked.sharding.is_none(), ..Placement::clone(asked) });
        Rc::new(aval)
    }

    /// One of its exceptions.
    pub fn error(&self, which: impl Fn(&LeafErrors) -> &Option<Raised>) -> Option<Raised> {
        self.errors.as_ref().and_then(|errors| which(errors).clone())
    }

    /// The exception that it raises before it is traced, unless a flag lets kinds like this one pass, which lowering then
    /// refuses.
    pub fn refused(&self, passing: &[LeafKind]) -> Option<Raised> {
        self.error(|errors| if errors.passes(passing) { &None } else { &errors.missed })
    }

    /// The exception that it raises once the jaxpr is there.
    pub fn refused_by_lowering(&self, passing: &[LeafKind]) -> Option<Raised> {
        self.error(|errors| if errors.passes(passing) { &errors.missed } else { &errors.lowered })
    }

    /// The exception that it raises where the fast path finds the program.
    pub fn error_when_fast(&self) -> Option<Raised> {
        self.error(|errors| &errors.fast).or_else(|| self.error(|errors| &errors.kept))
    }
}
