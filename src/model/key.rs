//! Keys: what a table has of a call, and how two keys differ.
//!
//! A key is hashed first; only keys with equal hashes are compared. What the model itself compares comes first, then what
//! Python does, part by part in order: a comparison that raises is reached only if nothing before it differed.

use std::hash::Hasher;
use std::rc::Rc;

use rustc_hash::FxHasher;
use smallvec::{SmallVec, smallvec};

use super::ambient::Ambient;
use super::arguments::{Arguments, CallForm, Invocation, Item};
use super::array_equality::is_of_jax;
use super::difference::{STATIC_HASH, STATIC_TYPE, STATIC_VALUE};
use super::facet::Facet;
use super::leaf::{Aval, Leaves, Traits};
use super::object::{Kind, Obj, Raised};
use super::parts::{Part, surroundings};
use super::persistent::module_name;
use super::python;
use super::table::Program;
use super::treedef::{NodeKind, Path, Treedef};
use super::wrapper::Options;
use crate::case::{JitOptions, Name, Placement, Shardings, Via};
use crate::spec::{CallComponent, ContextComponent, Equality, LeafComponent, Table, TableName};

/// What a table has of a call. Keys of one call share what they are made of, and what a table has of that is looked at where
/// two keys are compared: most are never.
#[derive(Debug, Clone)]
pub struct Key {
    /// Of all that Python compares by its hash, and of enough else to tell most keys apart.
    pub(super) hash: u64,
    /// The program that the layer above found.
    pub(super) above: Option<Program>,
    /// The primitive of a loop.
    pub(super) primitive: Option<Rc<Primitive>>,
    /// The generation of the wrapper, where that has a table of its own.
    pub(super) generation: u64,
    /// What a transformation makes of the jaxpr.
    pub(super) transformation: Option<String>,
    pub(super) leaves: Rc<Leaves>,
    pub(super) form: Rc<CallForm>,
    pub(super) options: Options,
    pub(super) ambient: Rc<Ambient>,
    /// The name of the wrapper, where a function has several.
    pub(super) wrapper: Option<Name>,
    /// Whether it is compiled ahead of time.
    pub(super) ahead: bool,
    pub(super) definition: Option<Rc<str>>,
    pub(super) module: Option<&'static str>,
    /// The statics and trees, where the table has any, without so many of the first ones. Others keep none of them alive.
    pub(super) items: Option<Rc<Vec<Item>>>,
    pub(super) skipped: usize,
}

/// A static or a tree, and how a table compares it.
pub(super) enum KeyItem<'k> {
    Static { path: &'k Path, value: &'k Obj, hash: u64, by: Equality },
    Tree(&'k Treedef, Equality),
}

impl KeyItem<'_> {
    fn is_static(&self) -> bool {
        matches!(self, Self::Static { .. })
    }
}

/// The leaves that a table has of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avals<'k> {
    leaves: &'k Rc<Leaves>,
    /// Whether they are those that the program has, as lowering has them.
    lowered: bool,
}

impl Avals<'_> {
    fn has(&self, leaf: &Traits) -> bool {
        leaf.kept || !self.lowered
    }

    fn aval(&self, leaf: &Traits) -> Rc<Aval> {
        if self.lowered { leaf.lowered() } else { Rc::clone(&leaf.aval) }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = (Path, Rc<Aval>)> {
        self.leaves.iter().filter(move |leaf| self.has(leaf)).map(move |leaf| (leaf.path(), self.aval(&leaf)))
    }

    fn same(self, other: Self, table: &Table, counts: impl Fn(LeafComponent) -> bool) -> bool {
        let missed = below_the_fast_path(table);
        let same = |a: &Aval, b: &Aval| {
            let mut components = table.leaf.iter().filter(|component| counts(**component));
            std::ptr::eq(a, b) || a == b || components.all(|component| Facet::is_same(*component, a, b, missed))
        };
        let ((mine, traits), (others, others_traits)) = (self.leaves.by_traits(), other.leaves.by_traits());
        let mut others = others.filter(|i| other.has(&others_traits[*i]));
        // For the traits of mine, those of others that were found to be the same.
        let mut known: SmallVec<[_; 8]> = smallvec![None; traits.len()];
        let all_same = mine.filter(|i| self.has(&traits[*i])).all(|i| {
            others.next().is_some_and(|j| {
                let met = known[i].replace(j);
                met == Some(j) || same(&self.aval(&traits[i]), &other.aval(&others_traits[j]))
            })
        });
        all_same && others.next().is_none()
    }
}

/// How objects of the context are compared.
pub(super) const CONTEXT: Equality = Equality {
    same_type: false,
    hash: true,
    identity: true,
    equal: true,
    treedef_equals_others: false,
    any_dataclass: false,
};

/// What a key is made of, besides the table's own words.
#[derive(Clone, Copy)]
pub struct Ingredients<'c> {
    pub function: &'c Obj,
    pub arguments: &'c Arguments,
    /// What the arguments were sorted from, where what is called inside may sort them otherwise.
    pub invocation: Option<&'c Invocation<'c>>,
    pub options: &'c Options,
    pub ambient: &'c Rc<Ambient>,
    /// How the function is used.
    pub via: Via,
    /// The name of the wrapper, where a function has several.
    pub wrapper: Option<&'c Name>,
    /// Which tables the wrapper has: those made after a clearing can have others than those made before.
    pub generation: u64,
    /// What is called, where that is the primitive of an eager loop.
    pub primitive: Option<&'c Rc<Primitive>>,
}

/// The primitive of an eager loop, by its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Primitive {
    pub jaxprs: Vec<Program>,
    /// How many steps it has, if it says so.
    pub steps: Option<u64>,
    /// Its other parameters, where they are not as usual.
    pub options: Vec<String>,
}

impl Key {
    /// The key of a call in `table`; `above` is the program that the layer above found.
    pub fn of(table: &Table, call: &Ingredients<'_>, above: Option<Program>) -> Self {
        Self::without(0, table, call, above)
    }

    /// The same for the function inside a `jax.jit(f)`: what belongs to the wrapper is no part of it.
    pub fn of_inner(table: &Table, call: &Ingredients<'_>) -> Self {
        Self::without(call.arguments.function_items, table, call, None)
    }

    fn without(skipped: usize, table: &Table, call: &Ingredients<'_>, above: Option<Program>) -> Self {
        let Ingredients { function, arguments, options, ambient, .. } = *call;
        let has_items = table.statics.is_some() || table.tree.is_some();
        let mut key = Self {
            hash: 0,
            above,
            // The program says it too; an explanation wants the words.
            primitive: call.primitive.filter(|_| table.table == TableName::Dispatch).cloned(),
            generation: if belongs_to_wrapper(table, call) { call.generation } else { 0 },
            transformation: if table.table == TableName::Lower { transformation(call) } else { None },
            leaves: Rc::clone(&arguments.leaves),
            form: Rc::clone(&arguments.form),
            options: options.clone(),
            ambient: Rc::clone(ambient),
            wrapper: call.wrapper.cloned(),
            ahead: call.via == Via::Compile,
            definition: definition(function),
            module: module_name(function),
            items: has_items.then(|| Rc::clone(&arguments.items)),
            skipped,
        };
        key.hash = key.hashed(table);
        key
    }

    fn hashed(&self, table: &Table) -> u64 {
        let mut hasher = FxHasher::default();
        self.above.into_iter().for_each(|program| hasher.write_u64(program.0));
        // The fast path doesn't hash what surrounds a call.
        let hashed = if table.table == TableName::Dispatch { &[][..] } else { &table.context };
        for component in hashed {
            let value = match component {
                ContextComponent::XlaMetadata => self.ambient.xla_metadata.as_ref(),
                ContextComponent::User => self.ambient.user.as_ref(),
                _ => None,
            };
            // A value that can't be hashed has no key.
            value.into_iter().for_each(|value| hasher.write_u64(python::hash(value).unwrap_or_default()));
        }
        // A table that lacks one of them has keys that are the same although these differ.
        if [LeafComponent::Shape, LeafComponent::CanonicalDtype].iter().all(|part| table.leaf.contains(part)) {
            hasher.write_u64(self.leaves.hash(is_lowered(table)));
        }
        for item in self.items(table) {
            match item {
                KeyItem::Static { hash, by, .. } if by.hash => hasher.write_u64(hash),
                KeyItem::Tree(treedef, by) if by.hash => hasher.write_u64(treedef.structure_hash()),
                _ => {}
            }
        }
        hasher.finish()
    }

    pub(super) fn avals(&self, table: &Table) -> Option<Avals<'_>> {
        (!table.leaf.is_empty()).then_some(Avals { leaves: &self.leaves, lowered: is_lowered(table) })
    }

    /// What Python compares besides what surrounds the call, in the order of comparison.
    pub(super) fn items(&self, table: &Table) -> impl Iterator<Item = KeyItem<'_>> {
        let items = self.items.as_ref().map_or(&[][..], |items| &items[self.skipped..]);
        items.iter().filter_map(|item| match item {
            Item::Static { path, value, keyword, hash } => {
                let by = table.statics.as_ref()?.of(*keyword);
                Some(KeyItem::Static { path, value, hash: *hash, by })
            }
            Item::Tree(treedef) => Some(KeyItem::Tree(treedef, table.tree?)),
        })
    }

    /// Which leaves of a partition are arrays, where the table has statics.
    pub(super) fn mask(&self, table: &Table) -> &[bool] {
        if table.statics.is_some() { &self.form.mask } else { &[] }
    }

    pub(super) fn loop_options(&self) -> Option<&[String]> {
        self.primitive.as_ref().map(|primitive| &primitive.options[..])
    }

    /// Whether the primitive of a loop has other jaxprs, however often each runs.
    pub(super) fn is_of_other_jaxprs(&self, other: &Self) -> Option<bool> {
        let (one, other) = self.primitive.as_ref().zip(other.primitive.as_ref())?;
        Some(one.jaxprs != other.jaxprs)
    }

    pub(super) fn steps(&self) -> Option<u64> {
        self.primitive.as_ref()?.steps
    }

    /// Whether they are keys of one wrapper, in a table that wrappers have: those of the calls of all that share it.
    pub(super) fn is_of(&self, wrapper: &Self, table: &Table) -> bool {
        const OF_WRAPPERS: [CallComponent; 7] = [
            CallComponent::Wrapper,
            CallComponent::WrapperWithShardings,
            CallComponent::Donation,
            CallComponent::DonatedPositions,
            CallComponent::CompilerOptions,
            CallComponent::Shardings,
            CallComponent::Options,
        ];
        let mut components = table.call.iter().filter(|component| OF_WRAPPERS.contains(component));
        self.generation == wrapper.generation && components.all(|component| self.agrees(wrapper, *component))
    }

    /// Whether the keys, both of `table`, are the same; an error where a comparison that is reached raises, as the table
    /// shows it.
    pub fn same(&self, other: &Self, table: &Table) -> Result<bool, Raised> {
        if self.hash != other.hash || !self.is_plainly(other, table) {
            return Ok(false);
        }
        if table.compares_arguments_first {
            return Ok(self.items_are(other, table)?
                && self.leaves_are(other, table, |component| component == LeafComponent::WeakType)
                && self.context_is(other, table)?);
        }
        Ok(self.context_is(other, table)? && self.items_are(other, table)?)
    }

    /// Whether nothing differs that the model itself compares before Python compares anything.
    fn is_plainly(&self, other: &Self, table: &Table) -> bool {
        let is_early = |component| component != LeafComponent::WeakType || !table.compares_arguments_first;
        self.above == other.above
            && (self.steps(), self.loop_options()) == (other.steps(), other.loop_options())
            && self.generation == other.generation
            && self.transformation == other.transformation
            && table.call.iter().all(|component| self.agrees(other, *component))
            && self.leaves_are(other, table, is_early)
            && self.mask(table) == other.mask(table)
            && self.items(table).map(|item| item.is_static()).eq(other.items(table).map(|item| item.is_static()))
    }

    /// Whether the leaves are the same in the components that count.
    fn leaves_are(&self, other: &Self, table: &Table, counts: impl Fn(LeafComponent) -> bool) -> bool {
        match (self.avals(table), other.avals(table)) {
            (Some(a), Some(b)) => a.same(b, table, counts),
            _ => true,
        }
    }

    /// Whether what surrounds the calls is the same: what the model itself compares, then what Python does.
    fn context_is(&self, other: &Self, table: &Table) -> Result<bool, Raised> {
        if Rc::ptr_eq(&self.ambient, &other.ambient) {
            return Ok(true);
        }
        let [mine, others] = [self, other].map(|key| surroundings(table, &key.ambient).collect::<Vec<_>>());
        let pairs = || mine.iter().zip(&others);
        if pairs().any(|pair| matches!(pair, (Part::Plain(_, a), Part::Plain(_, b)) if a != b)) {
            return Ok(false);
        }
        let none: Obj = Rc::new(Kind::None);
        for pair in pairs() {
            let is_same = match pair {
                // The fast path doesn't hash it, and compares it with None as with anything; to compare with an array that
                // it is now calls a jitted function, of whose key it is part as well.
                (Part::Context(_, a), Part::Context(_, b)) if table.table == TableName::Dispatch => {
                    match [a.unwrap_or(&none), b.unwrap_or(&none)] {
                        [a, b] if python::is(a, b) => true,
                        [a, _] if is_of_jax(a) => return Err(Raised::new("TypeError")),
                        [a, b] => statics_same(a, b, Equality { hash: false, ..CONTEXT })?,
                    }
                }
                (Part::Context(_, Some(a)), Part::Context(_, Some(b))) => {
                    statics_same(a, b, CONTEXT).map_err(|raised| as_shown(&table.comparison_raises.statics, raised))?
                }
                (Part::Context(_, a), Part::Context(_, b)) => a.is_none() == b.is_none(),
                _ => true,
            };
            if !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the statics and trees are the same, which Python compares.
    fn items_are(&self, other: &Self, table: &Table) -> Result<bool, Raised> {
        let errors = &table.comparison_raises;
        let of_node = |kind, raised| as_shown(if kind == NodeKind::Dict { &errors.dict } else { &errors.tree }, raised);
        for pair in self.items(table).zip(other.items(table)) {
            let is_same = match pair {
                (KeyItem::Static { value: a, by, .. }, KeyItem::Static { value: b, .. }) => {
                    statics_same(a, b, by).map_err(|raised| as_shown(&errors.statics, raised))?
                }
                (KeyItem::Tree(a, by), KeyItem::Tree(b, _)) => a.compared(b, by, of_node)?,
                _ => false,
            };
            if !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What a comparison raises, as a table shows it.
fn as_shown(class: &Option<String>, raised: Raised) -> Raised {
    class.as_deref().map_or(raised, Raised::new)
}

/// Whether it has the leaves of the program, as lowering has them.
pub(super) fn is_lowered(table: &Table) -> bool {
    matches!(table.table, TableName::Lower | TableName::Compile | TableName::Persistent)
}

/// Whether it is asked only once the fast path was missed, below which some leaves look different.
pub(super) fn below_the_fast_path(table: &Table) -> bool {
    table.table != TableName::Dispatch
}

fn statics_same(a: &Obj, b: &Obj, by: Equality) -> Result<bool, Raised> {
    if by.same_type && !python::same_type(a, b) {
        return Ok(false);
    }
    if by.hash && python::hash(a)? != python::hash(b)? {
        return Ok(false);
    }
    if by.identity && python::is(a, b) {
        return Ok(true);
    }
    if by.equal { python::equal(a, b) } else { Ok(false) }
}

/// What in two statics differs, if anything does.
pub(super) fn static_difference(a: &Obj, b: &Obj, by: Equality) -> Option<&'static str> {
    match statics_same(a, b, by) {
        Ok(true) => None,
        Err(_) => Some("static value (its comparison raises)"),
        Ok(false) if by.same_type && !python::same_type(a, b) && python::equal(a, b) == Ok(true) => Some(STATIC_TYPE),
        Ok(false) if by.hash && python::equal(a, b) == Ok(true) => Some(STATIC_HASH),
        Ok(false) => Some(STATIC_VALUE),
    }
}

/// Whether wrappers of other generations have another table: `jax.jit` has the fast path by wrapper and the jaxprs by
/// function, `filter_jit` everything by its inner function, which wrappers of one generation share.
fn belongs_to_wrapper(table: &Table, call: &Ingredients<'_>) -> bool {
    let is_partition = call.arguments.function_items > 0;
    match table.table {
        TableName::Dispatch => true,
        TableName::Infer | TableName::Trace => is_partition,
        TableName::Resources | TableName::Lower | TableName::Compile | TableName::Persistent => false,
    }
}

/// What a transformation makes of the jaxpr, which then is lowered on its own.
fn transformation(call: &Ingredients<'_>) -> Option<String> {
    match call.via {
        Via::Vmap => Some(format!("vmap over {}", call.arguments.batch.unwrap_or_default())),
        Via::Grad | Via::Jvp if call.arguments.without_tangents => None,
        Via::Grad => Some("grad".to_owned()),
        Via::Jvp => Some("jvp".to_owned()),
        _ => None,
    }
}

/// Where a plain function is defined.
fn definition(function: &Obj) -> Option<Rc<str>> {
    match &**function {
        Kind::Function(function) => Some(Rc::clone(&function.definition)),
        _ => None,
    }
}

/// Where the results have to be: one for all, or one for each if they differ; nothing if the compiler chooses. A body that uses nothing
/// has none.
pub(super) fn out_shardings<'c>(
    options: &'c JitOptions,
    leaves: &Leaves,
) -> impl Iterator<Item = Option<&'c Placement>> + use<'c> {
    let asked = options.out_shardings.as_ref().filter(|_| leaves.iter().any(|leaf| leaf.kept));
    let count = asked.map_or(0, |asked| match asked {
        Shardings::All(_) => 1,
        Shardings::Tree(tree) if tree.leaves.iter().all(Option::is_none) => 0,
        Shardings::Tree(tree) if tree.leaves.windows(2).all(|pair| pair[0] == pair[1]) => 1,
        Shardings::Tree(tree) => tree.leaves.len(),
    });
    (0..count).map(move |i| asked?.of_leaf(i))
}
