//! Where two keys differ: their trees first, then leaves and static leaves where their nodes correspond, then the rest.

use std::fmt;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::apart::{DEPTH, apart, hashed_apart, objects_told_apart, with_class};
use super::distance::distance;
use super::facet::{Facet, leaf_word};
use super::key::{CONTEXT, Key, below_the_fast_path, is_lowered, static_difference};
use super::leaf::Aval;
use super::object::{Kind, Obj};
use super::parts::{FLAGS, LOOP_OPTIONS, MASK, PROGRAM, Part, Plain, STEPS, SURROUNDINGS, X64, other_flags};
use super::python;
use super::side_by_side::{Met, said};
use super::tree_difference::{Compared, KEY_ORDER, compared};
use super::treedef::Treedef;
use crate::case::{Layer, Name};
use crate::spec::{CallComponent, Equality, LeafComponent, Table};

/// A part in which two keys differ.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Where: the path of a leaf, a node or a static, or empty for the call as a whole.
    pub path: String,
    /// Which part of the key.
    pub component: String,
    /// In the earlier key.
    pub before: String,
    /// In the later key.
    pub after: String,
}

impl Difference {
    pub(crate) fn new(path: impl ToString, component: &str, before: impl ToString, after: impl ToString) -> Self {
        let (path, component) = (path.to_string(), component.to_owned());
        Self { path, component, before: before.to_string(), after: after.to_string() }
    }

    /// Whether it is how the arguments are passed, by position or by name.
    #[must_use]
    pub fn is_of_the_form(&self) -> bool {
        FORM.contains(&self.component.as_str())
    }

    /// Whether it is what surrounds the call, and no object there.
    #[must_use]
    pub fn is_of_the_context(&self) -> bool {
        self.path.is_empty() && SURROUNDINGS.contains(&self.component.as_str())
    }

    /// Whether it is how wide a number is, which follows from `jax_enable_x64` where that differs.
    #[must_use]
    pub fn is_of_width(&self) -> bool {
        let is_wider = |narrow: &str, wide: &str| {
            let kinds = |(bits, more)| narrow.strip_suffix(bits).zip(wide.strip_suffix(more));
            [("32", "64"), ("64", "128")].into_iter().filter_map(kinds).any(|(narrow, wide)| narrow == wide)
        };
        let Self { component, before, after, .. } = self;
        component == "dtype" && (is_wider(before, after) || is_wider(after, before))
    }

    /// Whether it is the length of what a loop runs over, which is the number of its steps: that of `[5,3]` which was `[4,3]`.
    #[must_use]
    pub fn follows_from(&self, steps: &Self) -> bool {
        let others = |shape: &str, steps: &str| {
            let inside = shape.strip_prefix('[')?.strip_suffix(']')?;
            let (first, others) = inside.split_once(',').unwrap_or((inside, ""));
            (first == steps).then(|| others.to_owned())
        };
        let (before, after) = (others(&self.before, &steps.before), others(&self.after, &steps.after));
        let is_of_all = self.component == "shape" && self.path.starts_with("xs") && steps.component == STEPS;
        is_of_all && before.is_some() && before == after
    }

    /// Whether it is where a leaf lies.
    #[must_use]
    pub fn is_of_the_placement(&self) -> bool {
        !self.path.is_empty() && PLACEMENT.contains(&self.component.as_str())
    }

    /// Whether it is an argument that one of the calls is given and the other isn't.
    #[must_use]
    pub fn is_an_argument(&self) -> bool {
        [ARGUMENT, STATIC_ARGUMENT].contains(&self.component.as_str())
    }

    /// Whether it is another object that looks the same: one that was made anew.
    pub fn looks_the_same(&self) -> bool {
        self.after.strip_prefix("another ") == Some(&self.before)
    }

    /// Whether it is the function itself that differs, as which `filter_jit` has it among the arguments as well.
    #[must_use]
    pub fn is_the_function(&self) -> bool {
        let is_among_arguments =
            self.path == "fun" && (self.component.starts_with("static") || self.component == STRUCTURE);
        is_among_arguments || self.component == "function"
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.component)?;
        if !self.path.is_empty() {
            write!(f, " at {}", self.path)?;
        }
        write!(f, ": {} was {}", self.after, self.before)
    }
}

/// Why a layer was missed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The layer.
    pub layer: Layer,
    /// The number of the call, from one, whose key is nearest: that with the fewest differences, the last of several.
    pub nearest: usize,
    /// Everything in which the key differs from it, `program` among it if the layer above has another.
    pub differences: Vec<Difference>,
}

/// The word for a part of a tree that the other tree doesn't have.
pub(super) const ABSENT: &str = "absent";

/// The component of an argument that one of the calls is given and the other isn't.
pub(super) const ARGUMENT: &str = "argument";

/// The component of a static argument that one of the calls is given and the other isn't.
pub(super) const STATIC_ARGUMENT: &str = "static argument";

/// The components that are where a leaf lies.
const PLACEMENT: [&str; 11] = [
    "committed",
    "device",
    "known layout",
    "layout",
    "memory kind",
    "memory space",
    "mesh",
    "partition",
    "sharding",
    SPELLING,
    EXPLICIT_SPEC,
];

/// The component of a sharding that is another one, though the array lies where it did.
const SPELLING: &str = "spelling of the sharding";

/// The component of a mesh that is the same one, over whose Explicit axes an array is split otherwise.
const EXPLICIT_SPEC: &str = "spec over explicit axes";

/// The components that say how arguments are passed.
pub(super) const FORM: [&str; 4] = [POSITIONAL, KEYWORDS, NAMES, STATIC_POSITIONS];
const NAMES: &str = "argument names";
const POSITIONAL: &str = "number of positional arguments";
const KEYWORDS: &str = "keyword names";
const STATIC_POSITIONS: &str = "static positions";
const STATIC_NAMES: &str = "static names";

impl Key {
    /// Everything in which `self`, the later key, whose parts are `now`, differs from `earlier`, whose parts are `before`, both of
    /// `table`, and how far it is from that. They differ at the places that were `met`, if their parts stand in the same places.
    pub(super) fn differences(
        &self,
        now: &[Part<'_>],
        earlier: &Self,
        before: &[Part<'_>],
        met: Option<&[Met]>,
        table: &Table,
    ) -> (Vec<Difference>, usize) {
        let (mut found, incomparable) = met.map_or_else(
            || by_path(before, now, table),
            |met| {
                let mut found = said(met, before, now, table);
                leave_out_what_follows(&mut found, before, now);
                #[cfg(test)]
                assert_eq!((found.clone(), 0), by_path(before, now, table));
                (found, 0)
            },
        );
        self.leave_out_what_is_asked(&mut found, earlier, table);
        let far = distance(&found, incomparable);
        (found, far)
    }

    /// Whether lowering has the leaves elsewhere, where `in_shardings` puts them.
    pub(super) fn is_asked_otherwise(&self, earlier: &Self, table: &Table) -> bool {
        is_lowered(table) && self.options.in_shardings != earlier.options.in_shardings
    }

    /// Says of leaves that lie where they did, and that lowering has where `in_shardings` put them, that these differ.
    fn leave_out_what_is_asked(&self, found: &mut Vec<Difference>, earlier: &Self, table: &Table) {
        if !self.is_asked_otherwise(earlier, table) {
            return;
        }
        let [before, now] = [earlier, self].map(|key| {
            let leaves = key.leaves.iter().map(|leaf| (leaf.path().to_string(), leaf.aval.placement.clone()));
            leaves.collect::<FxHashMap<_, _>>()
        });
        let known = found.len();
        found.retain(|found| {
            let lies_alike = now.get(&found.path).is_some_and(|now| before.get(&found.path) == Some(now));
            !(lies_alike && found.is_of_the_placement())
        });
        let (name, now) = self.call_part(CallComponent::Shardings);
        if found.len() < known && !found.iter().any(|found| found.component == name) {
            found.insert(0, Difference::new("", name, earlier.call_part(CallComponent::Shardings).1, now));
        }
    }

    /// Takes out how wide numbers are, which follows from the flag where that differs; an array is another one all the same.
    pub(super) fn leave_out_widths(&self, found: &mut Vec<Difference>, table: &Table) {
        if found.iter().any(|found| found.component == X64) {
            let parts = self.parts(table);
            let is_array = |piece: &Piece<'_>| matches!(piece, Piece::Leaf(aval) if aval.placement.is_some());
            let arrays = places(&parts).filter(|(_, piece)| is_array(piece)).map(|(Place(path, _), _)| path);
            let arrays: FxHashSet<String> = arrays.collect();
            found.retain(|found| !found.is_of_width() || arrays.contains(&found.path));
        }
    }
}

/// The word of a tree for what is none.
const LEAF: &str = "leaf";

/// The word of a tree for None.
const NONE: &str = "None";

/// The component of what is static in one of the calls and an array in the other.
pub(super) const STATIC_OR_TRACED: &str = "static or traced";

/// The component of what is built otherwise.
pub(super) const STRUCTURE: &str = "structure";

/// The component of a static argument or leaf that is another one.
pub(super) const STATIC_VALUE: &str = "static value";

/// The component of a static that is equal to the other one, and of another type.
pub(super) const STATIC_TYPE: &str = "static type";

/// The component of a static that is equal to the other one, and hashed otherwise.
pub(super) const STATIC_HASH: &str = "static hash";

/// Adds in which way the part at `path` of the later key is another than its counterpart in the earlier one.
pub(super) fn pieces(
    path: &str,
    before: Option<&Piece<'_>>,
    after: &Piece<'_>,
    table: &Table,
    found: &mut Vec<Difference>,
) {
    match (before, after) {
        (Some(Piece::Plain(name, before)), Piece::Plain(_, after)) if before != after => match (*name, before, after) {
            (PROGRAM, ..) => found.push(Difference::new("", name, "that of the earlier call", "another")),
            (FLAGS, Plain::Texts(before), Plain::Texts(after)) => {
                found.extend(
                    other_flags(before, after).iter().map(|[before, after]| Difference::new("", FLAGS, before, after)),
                );
            }
            _ => found.push(Difference::new("", name, before, after)),
        },
        (None, Piece::Plain(name, after)) => found.push(Difference::new("", name, "none", after)),
        (Some(Piece::Leaf(before)), Piece::Leaf(after)) => {
            let components = leaves_apart(before, after, table);
            found.extend(components.map(|component| leaf_apart(&path, component, before, after, table)));
        }
        (Some(Piece::Static(before, by)), Piece::Static(after, _)) => {
            let Some(component) = static_difference(before, after, *by) else { return };
            let known = found.len();
            if component == STATIC_VALUE {
                apart(path.to_owned(), component, before, after, DEPTH, found);
            }
            if by.hash && component != STATIC_TYPE {
                hashed_apart(path, before, after, DEPTH, found);
            }
            if found.len() == known {
                let (before, after) = objects_told_apart(before, after);
                found.push(Difference::new(path, component, before, after));
            }
        }
        (None, Piece::Static(after, _)) if is_news(found, path) => {
            found.push(Difference::new(path, STATIC_ARGUMENT, ABSENT, with_class(after)));
        }
        (Some(Piece::Static(before, _)), Piece::Leaf(after)) => {
            found.push(Difference::new(path, STATIC_OR_TRACED, python::repr(before), after));
        }
        (Some(Piece::Leaf(before)), Piece::Static(after, _)) => {
            found.push(Difference::new(path, STATIC_OR_TRACED, before, python::repr(after)));
        }
        _ => {}
    }
}

/// The components of `table` in which two leaves differ.
pub(super) fn leaves_apart<'a>(
    before: &'a Aval,
    after: &'a Aval,
    table: &'a Table,
) -> impl Iterator<Item = LeafComponent> + 'a {
    let is_same = move |component| Facet::is_same(component, before, after, below_the_fast_path(table));
    // An array of old keys has their words as a dimension more.
    let are_keys = before.prng.is_some() != after.prng.is_some();
    // A bool of Python is weak because it's no array, and no key is.
    let are_bools = [before, after].iter().all(|aval| aval.dtype.name() == "bool");
    let weakness_follows = move || {
        are_keys || are_bools && table.leaf.contains(&LeafComponent::Sharding) && !is_same(LeafComponent::Sharding)
    };
    let follows = move |component| match component {
        LeafComponent::WeakType => weakness_follows(),
        LeafComponent::Shape => are_keys,
        _ => false,
    };
    table.leaf.iter().copied().filter(move |component| !is_same(*component) && !follows(*component))
}

/// How two leaves differ in a component of `table`.
pub(super) fn leaf_apart(
    path: &dyn fmt::Display,
    component: LeafComponent,
    before: &Aval,
    after: &Aval,
    table: &Table,
) -> Difference {
    let is_placed = before.placement.is_some() && after.placement.is_some();
    let place = [LeafComponent::Partition, LeafComponent::Device, LeafComponent::Memory];
    let missed = below_the_fast_path(table);
    let is_same_place =
        || is_placed && place.into_iter().all(|component| Facet::is_same(component, before, after, missed));
    let is_spelling = component == LeafComponent::Sharding && is_same_place();
    let word = if is_spelling { SPELLING } else { leaf_word(component) };
    let [then, now] = [(before, after), (after, before)]
        .map(|(aval, other)| Facet::of(component, aval, missed).said_of(component, aval, other));
    let specs = [&then, &now].map(|text| text.split_once(", P(").unwrap_or((text, ")")));
    if component == LeafComponent::Mesh && specs[0].0 == specs[1].0 {
        let [then, now] = specs.map(|(_, spec)| format!("P({spec}"));
        return Difference::new(path, EXPLICIT_SPEC, then, now);
    }
    Difference::new(path, word, then, now)
}

/// Takes out what is in a part that is built otherwise, or itself there in one of the calls only, and is there in one of them only,
/// which follows from that: a Module of nnx is given apart from its leaves. A leaf that both speak of is said once.
pub(super) fn leave_out_what_is_inside(found: &mut Vec<Difference>) {
    let is_there_once = |found: &Difference| found.before == ABSENT || found.after == ABSENT;
    let is_structure = |found: &&Difference| found.component == STRUCTURE && !found.path.is_empty();
    let built: FxHashSet<_> = found.iter().filter(is_structure).map(|found| found.path.clone()).collect();
    let otherwise = found.iter().filter(|found| is_structure(found) && !is_there_once(found));
    let otherwise: FxHashSet<_> = otherwise.map(|found| found.path.clone()).collect();
    let leaves = found.iter().filter(|found| is_structure(found) && is_there_once(found) && !is_elided(found));
    let leaves: FxHashSet<_> = leaves.map(|found| found.path.clone()).collect();
    found.retain(|found| {
        let mut around = found.path.match_indices(['.', '[']).map(|(end, _)| &found.path[..end]);
        let is_said = is_elided(found) && leaves.contains(&found.path) || otherwise.contains(&found.path);
        !(found.component == STRUCTURE && is_there_once(found))
            || !is_said && !around.any(|around| built.contains(around))
    });
}

/// Whether what is there of it is said by its class alone.
fn is_elided(found: &Difference) -> bool {
    [&found.before, &found.after].iter().any(|text| text.ends_with("(…)"))
}

/// Takes out the differences that follow from others.
fn leave_out_what_follows(found: &mut Vec<Difference>, before: &[Part<'_>], after: &[Part<'_>]) {
    let has = |found: &[Difference], components: &[&str]| {
        found.iter().any(|difference| components.contains(&difference.component.as_str()))
    };
    // How arguments are passed follows from which are.
    let arguments = found.iter().filter(|found| found.is_an_argument()).count();
    if arguments > 0 && passed_otherwise(before, after).is_none_or(|count| count == arguments) {
        found.retain(|difference| !difference.is_of_the_form());
    }
    // What the arguments are called follows from how they are built and passed.
    if has(found, &[POSITIONAL, KEYWORDS, STATIC_POSITIONS, STRUCTURE, KEY_ORDER]) {
        found.retain(|difference| difference.component != NAMES);
    }
    // Another number of steps is another program.
    if has(found, &[STEPS, LOOP_OPTIONS]) {
        found.retain(|difference| difference.component != PROGRAM);
    }
    // Which leaves are arrays follows from the rest, if anything else differs.
    if found.iter().any(|difference| !difference.path.is_empty()) {
        found.retain(|difference| difference.component != MASK);
    }
}

/// Says of an argument that is there as a leaf in one of the calls, and among the static ones in the other, that this is so; which
/// positions are static follows.
fn leave_out_what_is_static(
    found: &mut Vec<Difference>,
    before: &FxHashMap<Place, Piece<'_>>,
    now: &FxHashMap<Place, Piece<'_>>,
) {
    let mut is_one = false;
    for difference in found.iter_mut().filter(|found| found.component == ARGUMENT) {
        let Difference { path, component, before: then, after, .. } = difference;
        for (text, pieces) in [(then, before), (after, now)] {
            if let (ABSENT, Some(Piece::Static(value, _))) = (text.as_str(), pieces.get(&Place(path.clone(), 1))) {
                *text = format!("static {}", python::repr(value));
                STATIC_ARGUMENT.clone_into(component);
                is_one = true;
            }
        }
    }
    found.retain(|difference| {
        !is_one || ![STATIC_POSITIONS, STATIC_NAMES, NAMES].contains(&difference.component.as_str())
    });
}

fn trees<'k>(parts: &[Part<'k>]) -> Vec<(&'k Treedef, Equality)> {
    let tree = |part: &Part<'k>| if let Part::Tree(treedef, by) = part { Some((*treedef, *by)) } else { None };
    parts.iter().filter_map(tree).collect()
}

/// Whether nothing that was found says that what is at `path` is there in one of the calls only.
fn is_news(found: &[Difference], path: &str) -> bool {
    let is_inside = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
    !found.iter().any(|found| !found.path.is_empty() && path.strip_prefix(&found.path).is_some_and(is_inside))
}

/// How many arguments are passed in one of the calls and not in the other, by position or by name, as far as keys say it.
fn passed_otherwise(before: &[Part<'_>], after: &[Part<'_>]) -> Option<usize> {
    fn plain<'p>(parts: &'p [Part<'_>], wanted: &str) -> Option<&'p Plain<'p>> {
        parts.iter().find_map(|part| match part {
            Part::Plain(name, plain) if *name == wanted => Some(plain),
            _ => None,
        })
    }
    let &Plain::Number(old) = plain(before, POSITIONAL)? else { return None };
    let &Plain::Number(new) = plain(after, POSITIONAL)? else { return None };
    let &Plain::Names(were) = plain(before, KEYWORDS)? else { return None };
    let &Plain::Names(are) = plain(after, KEYWORDS)? else { return None };
    let only = |some: &[Name], others: &[Name]| some.iter().filter(|name| !others.contains(name)).count();
    Some(usize::try_from(old.abs_diff(new)).ok()? + only(were, are) + only(are, were))
}

/// A path, and how many parts before have the same.
#[derive(PartialEq, Eq, Hash)]
struct Place(String, usize);

/// A part of a key, or one of its leaves.
pub(super) enum Piece<'k> {
    Plain(&'static str, &'k Plain<'k>),
    Leaf(Rc<Aval>),
    Static(Obj, Equality),
}

/// Compares keys by what their parts are called, and trees node by node.
fn by_path(earlier_parts: &[Part<'_>], parts: &[Part<'_>], table: &Table) -> (Vec<Difference>, usize) {
    let Compared { mut found, counterparts, in_trees, incomparable } = compared(&trees(earlier_parts), &trees(parts));
    let before: FxHashMap<Place, Piece<'_>> = places(earlier_parts).collect();
    let mut rest: FxHashSet<&Place> = before.keys().collect();
    for (place, after) in places(parts) {
        let Place(path, nth) = &place;
        let counterpart = match counterparts.get(path) {
            Some(path) => before.get(&Place(path.clone(), *nth)),
            // What a leaf is a part of is new, or built otherwise, and that has been said.
            None if in_trees.contains(path) => continue,
            None => before.get(&place),
        };
        pieces(path, counterpart, &after, table, &mut found);
        rest.remove(&place);
    }
    let left = if rest.is_empty() { &[] } else { earlier_parts };
    for (place, before) in places(left).filter(|(place, _)| rest.contains(place)) {
        if let Piece::Static(before, _) = before
            && !in_trees.contains(&place.0)
            && is_news(&found, &place.0)
        {
            found.push(Difference::new(place.0, STATIC_ARGUMENT, with_class(&before), ABSENT));
        }
    }
    leave_out_what_follows(&mut found, earlier_parts, parts);
    let is_looked_up = found.iter().any(|found| found.after == LEAF || found.is_an_argument());
    let now: FxHashMap<Place, Piece<'_>> = places(parts).filter(|_| is_looked_up).collect();
    for difference in &mut found {
        // A leaf that is there in one of the calls only.
        let (other, there, pieces) = match (&*difference.before, &*difference.after) {
            (ABSENT | NONE, LEAF) => (&difference.before, &mut difference.after, &now),
            (LEAF, ABSENT | NONE) => (&difference.after, &mut difference.before, &before),
            _ => continue,
        };
        match pieces.get(&Place(difference.path.clone(), 1)) {
            Some(Piece::Leaf(aval)) if other == ABSENT => *there = aval.to_string(),
            Some(Piece::Static(value, _)) => {
                *there = python::repr(value);
                if other == NONE {
                    // None is no leaf, and one of the values that what is static can have.
                    STATIC_VALUE.clone_into(&mut difference.component);
                }
            }
            _ => {}
        }
    }
    leave_out_what_is_static(&mut found, &before, &now);
    (found, incomparable)
}

/// An object of what surrounds a call.
pub(super) fn surrounding(value: Option<&Obj>) -> Obj {
    value.map_or_else(|| Rc::new(Kind::None), Rc::clone)
}

fn places<'k>(parts: &'k [Part<'k>]) -> impl Iterator<Item = (Place, Piece<'k>)> {
    let mut seen: FxHashMap<String, usize> = FxHashMap::default();
    let pieces = |part: &'k Part<'k>| -> Vec<(String, Piece<'k>)> {
        match part {
            Part::Plain(name, plain) => vec![(format!("({name})"), Piece::Plain(name, plain))],
            Part::Leaves(leaves) => leaves.iter().map(|(path, aval)| (path.to_string(), Piece::Leaf(aval))).collect(),
            Part::Static(path, value, by) => vec![(path.to_string(), Piece::Static(Rc::clone(value), *by))],
            Part::Context(name, value) => vec![((*name).to_owned(), Piece::Static(surrounding(*value), CONTEXT))],
            Part::Tree(..) => Vec::new(),
        }
    };
    parts.iter().flat_map(pieces).map(move |(path, piece)| {
        let count = seen.entry(path.clone()).or_default();
        *count += 1;
        (Place(path, *count), piece)
    })
}

#[cfg(test)]
mod tests;
