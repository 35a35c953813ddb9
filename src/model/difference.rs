//! Why a call missed: the nearest earlier key, and where the two differ.
//!
//! Trees are compared node by node, so that what follows a difference in structure is compared as well: the children of
//! dicts go by their keys, those of other nodes by their places. Leaves and static leaves are compared where their nodes
//! correspond.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use indexmap::IndexMap;

use super::facet::{Facet, leaf_word};
use super::key::{
    CONTEXT, Key, LOOP_OPTIONS, MASK, PROGRAM, Part, Plain, STEPS, below_the_fast_path, static_difference,
};
use super::leaf::Aval;
use super::object::{Kind, Obj};
use super::python;
use super::treedef::{Label, NodeKind, Path, TreeNode, Treedef};
use crate::case::{Class, Layer, Name};
use crate::spec::{Equality, LeafComponent, Table};

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

    /// Whether it is the function itself that differs, as which `filter_jit` has it among the arguments as well.
    #[must_use]
    pub fn is_the_function(&self) -> bool {
        let is_among_arguments =
            self.path == "fun" && (self.component.starts_with("static") || self.component == "structure");
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
const ABSENT: &str = "absent";

/// The component of an argument that one of the calls is given and the other isn't.
const ARGUMENT: &str = "argument";

/// The component of a static argument that one of the calls is given and the other isn't.
const STATIC_ARGUMENT: &str = "static argument";

/// The component of a sharding that is another one, though the array lies where it did.
const SPELLING: &str = "spelling of the sharding";

/// The components that say how arguments are passed.
const FORM: [&str; 4] = [POSITIONAL, KEYWORDS, NAMES, "static positions"];
const NAMES: &str = "argument names";
const POSITIONAL: &str = "number of positional arguments";
const KEYWORDS: &str = "keyword names";

/// The component of the flag that says whether numbers can have 64 bits.
const X64: &str = "jax_enable_x64";

/// The component of a dict whose keys are the same, in another order.
const KEY_ORDER: &str = "key order";

impl Key {
    /// Everything in which `self`, the later key, differs from `earlier`, both of `table`.
    #[must_use]
    pub fn differences(&self, earlier: &Self, table: &Table) -> Vec<Difference> {
        let missed = below_the_fast_path(table);
        let (parts, earlier_parts) = (self.parts(table), earlier.parts(table));
        let mut comparison = Comparison::default();
        comparison.trees(&trees(&earlier_parts), &trees(&parts));
        let Comparison { mut found, counterparts, .. } = comparison;
        let before: HashMap<Place, Piece<'_>> = places(&earlier_parts).collect();
        for (place, after) in places(&parts) {
            let Place(path, nth) = &place;
            let counterpart = match counterparts.get(path) {
                Some(path) => before.get(&Place(path.clone(), *nth)),
                // It is no leaf of a tree, or what it is a part of is new.
                None => before.get(&place),
            };
            match (counterpart, after) {
                (Some(Piece::Plain(name, before)), Piece::Plain(_, after)) if *before != after => {
                    found.push(match *name {
                        PROGRAM => Difference::new("", name, "that of the earlier call", "another"),
                        _ => Difference::new("", name, before, after),
                    });
                }
                (None, Piece::Plain(name, after)) => found.push(Difference::new("", name, "none", after)),
                (Some(Piece::Leaf(before)), Piece::Leaf(after)) => {
                    // An array of old keys has their words as a dimension more.
                    let are_keys = before.prng.is_some() != after.prng.is_some();
                    let is_same = |component| {
                        let [before, after] = [before, &after].map(|aval| Facet::of(component, aval, missed));
                        before == after
                    };
                    let place = [LeafComponent::Partition, LeafComponent::Device, LeafComponent::Memory];
                    let is_placed = before.placement.is_some() && after.placement.is_some();
                    let is_same_place = || is_placed && place.into_iter().all(is_same);
                    for component in &table.leaf {
                        let [before, after] = [before, &after].map(|aval| Facet::of(*component, aval, missed));
                        if before != after && !(are_keys && *component == LeafComponent::Shape) {
                            let is_spelling = *component == LeafComponent::Sharding && is_same_place();
                            let word = if is_spelling { SPELLING } else { leaf_word(*component) };
                            found.push(Difference::new(path, word, before, after));
                        }
                    }
                }
                (Some(Piece::Static(before, by)), Piece::Static(after, _)) => {
                    match static_difference(before, &after, *by) {
                        Some("static value") => apart(path.clone(), "static value", before, &after, DEPTH, &mut found),
                        Some(component) => {
                            let (before, after) = objects_told_apart(before, &after);
                            found.push(Difference::new(path, component, before, after));
                        }
                        None => {}
                    }
                }
                (None, Piece::Static(after, _)) if is_news(&found, path) => {
                    found.push(Difference::new(path, STATIC_ARGUMENT, ABSENT, python::repr(&after)));
                }
                (Some(Piece::Static(before, _)), Piece::Leaf(after)) => {
                    found.push(Difference::new(path, "static or traced", python::repr(before), after));
                }
                (Some(Piece::Leaf(before)), Piece::Static(after, _)) => {
                    found.push(Difference::new(path, "static or traced", before, python::repr(&after)));
                }
                _ => {}
            }
        }
        let after: HashSet<Place> = places(&parts).map(|(place, _)| place).collect();
        for (place, before) in places(&earlier_parts).filter(|(place, _)| !after.contains(place)) {
            if let Piece::Static(before, _) = before
                && is_news(&found, &place.0)
            {
                found.push(Difference::new(place.0, STATIC_ARGUMENT, python::repr(&before), ABSENT));
            }
        }
        // How arguments are passed follows from which are.
        let is_argument = |found: &&Difference| [ARGUMENT, STATIC_ARGUMENT].contains(&found.component.as_str());
        let arguments = found.iter().filter(is_argument).count();
        if arguments > 0 && passed_otherwise(&earlier_parts, &parts).is_none_or(|count| count == arguments) {
            found.retain(|difference| !FORM.contains(&difference.component.as_str()));
        }
        // What the arguments are called follows from how they are built and passed.
        let names_them = |found: &Difference| found.component == NAMES;
        if found.iter().any(|found| {
            !names_them(found) && (FORM.contains(&found.component.as_str()) || found.component == "structure")
        }) {
            found.retain(|found| !names_them(found));
        }
        // How wide numbers are follows from the flag.
        if found.iter().any(|difference| difference.component == X64) {
            let is_wider = |narrow: &str, wide: &str| {
                let kinds = |(bits, more)| narrow.strip_suffix(bits).zip(wide.strip_suffix(more));
                [("32", "64"), ("64", "128")].into_iter().filter_map(kinds).any(|(narrow, wide)| narrow == wide)
            };
            let is_width = |found: &Difference| {
                let (before, after) = (&found.before, &found.after);
                found.component == "dtype" && (is_wider(before, after) || is_wider(after, before))
            };
            found.retain(|difference| !is_width(difference));
        }
        // Another number of steps is another program.
        if found.iter().any(|difference| [STEPS, LOOP_OPTIONS].contains(&difference.component.as_str())) {
            found.retain(|difference| difference.component != PROGRAM);
        }
        // Which leaves are arrays follows from the rest, if anything else differs.
        if found.iter().any(|difference| !difference.path.is_empty()) {
            found.retain(|difference| difference.component != MASK);
        }
        found
    }
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
enum Piece<'k> {
    Plain(&'static str, &'k Plain<'k>),
    Leaf(Rc<Aval>),
    Static(Obj, Equality),
}

fn places<'k>(parts: &'k [Part<'k>]) -> impl Iterator<Item = (Place, Piece<'k>)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let pieces = |part: &'k Part<'k>| -> Vec<(String, Piece<'k>)> {
        match part {
            Part::Plain(name, plain) => vec![(format!("({name})"), Piece::Plain(name, plain))],
            Part::Leaves(leaves) => leaves.iter().map(|(path, aval)| (path.to_string(), Piece::Leaf(aval))).collect(),
            Part::Static(path, value, by) => vec![(path.to_string(), Piece::Static(Rc::clone(value), *by))],
            Part::Context(name, value) => {
                let value = value.cloned().unwrap_or_else(|| Rc::new(Kind::None));
                vec![((*name).to_owned(), Piece::Static(value, CONTEXT))]
            }
            Part::Tree(..) => Vec::new(),
        }
    };
    parts.iter().flat_map(pieces).map(move |(path, piece)| {
        let count = seen.entry(path.clone()).or_default();
        *count += 1;
        (Place(path, *count), piece)
    })
}

/// The texts of two things that are not the same, even if they look alike.
pub(super) fn told_apart(before: &str, after: &str) -> (String, String) {
    let another = if before == after { "another " } else { "" };
    (before.to_owned(), format!("{another}{after}"))
}

fn objects_told_apart(before: &Obj, after: &Obj) -> (String, String) {
    let [mut old, mut new] = [before, after].map(python::repr);
    if old == new {
        // An instance of a subclass looks as one of its base.
        for (object, text) in [(before, &mut old), (after, &mut new)] {
            if let Kind::Derived { class, .. } = &**object {
                *text = format!("{}({text})", class.name);
            }
        }
        if let Some((before, after)) = methods_told_apart(before, after) {
            return (before, after);
        }
    }
    told_apart(&old, &new)
}

/// The texts of a method of two objects that look alike, with the fields in which these differ; `None` if they don't.
fn methods_told_apart(before: &Obj, after: &Obj) -> Option<(String, String)> {
    let (Kind::Method { of: old, .. }, Kind::Method { of: new, .. }) = (&**before, &**after) else { return None };
    let (Kind::Record { fields: was, .. }, Kind::Record { class, fields: is }) = (&**old, &**new) else { return None };
    let text = |(name, value): &(Name, Obj)| format!("{name}={}", python::repr(value));
    let pairs = was.iter().map(text).zip(is.iter().map(text));
    let (was, is): (Vec<_>, Vec<_>) = pairs.filter(|(was, is)| was != is).unzip();
    let whole = python::repr(new);
    let said = |method: &Obj, fields: &[String]| {
        python::repr(method).replacen(&whole, &format!("{}({})", class.name, fields.join(", ")), 1)
    };
    (!was.is_empty()).then(|| (said(before, &was), said(after, &is)))
}

/// So deep is looked into data for the parts that differ.
const DEPTH: u32 = 64;

/// Adds the smallest parts in which two pieces of data differ, or the pieces themselves if no parts correspond.
fn apart(path: String, component: &str, old: &Obj, new: &Obj, depth: u32, found: &mut Vec<Difference>) {
    let before = found.len();
    if depth > 0 {
        each_apart(&path, component, corresponding(old, new), depth - 1, found);
    }
    if found.len() == before {
        found.push(match defined_again(old, new) {
            Some(class) => Difference::new(format!("{path}.__class__"), component, class, format!("another {class}")),
            None => {
                let (old, new) = objects_told_apart(old, new);
                Difference::new(path, component, old, new)
            }
        });
    }
}

/// The class of two instances that hold the same, where it was defined again in between: a recording has numbered the second.
fn defined_again<'o>(old: &'o Obj, new: &Obj) -> Option<&'o str> {
    let (was, is) = (class_name(old)?, class_name(new)?);
    let [before, after] =
        [(old, was), (new, is)].map(|(object, name)| python::repr(object).replacen(name, stem(name), 1));
    (was != is && stem(was) == stem(is) && before == after).then(|| stem(was))
}

/// What the class of an instance is called in the case.
fn class_name(object: &Obj) -> Option<&str> {
    match &**object {
        Kind::Record { class, .. } | Kind::Instance { class, .. } | Kind::Namedtuple(class, _) => {
            Some(class.name.as_str())
        }
        _ => None,
    }
}

/// The same for each of the parts of what is at `path`.
fn each_apart(path: &str, component: &str, parts: Vec<Corresponding<'_>>, depth: u32, found: &mut Vec<Difference>) {
    for (label, old, new) in parts {
        let path = format!("{path}{label}");
        match (old, new) {
            (Some(old), Some(new)) if python::is(old, new) || python::equal(old, new) == Ok(true) => {}
            (Some(old), Some(new)) => apart(path, component, old, new, depth, found),
            (old, new) => {
                let [old, new] = [old, new].map(|part| part.map_or_else(|| ABSENT.to_owned(), python::repr));
                found.push(Difference::new(path, "structure", old, new));
            }
        }
    }
}

/// A part of a piece of data by what it is called there, in each of two.
type Corresponding<'d> = (String, Option<&'d Obj>, Option<&'d Obj>);

/// The parts of two pieces of data that are built alike.
fn corresponding<'d>(old: &'d Obj, new: &'d Obj) -> Vec<Corresponding<'d>> {
    let zipped = |old: &'d [Obj], new: &'d [Obj]| {
        let parts = old.iter().zip(new).enumerate();
        parts.map(|(i, (old, new))| (format!("[{i}]"), Some(old), Some(new))).collect()
    };
    match (&**old, &**new) {
        (Kind::Tuple(old), Kind::Tuple(new)) if old.len() == new.len() => zipped(old, new),
        (Kind::List(old), Kind::List(new)) if old.len() == new.len() => zipped(old, new),
        (Kind::Namedtuple(was, old), Kind::Namedtuple(is, new)) if Rc::ptr_eq(was, is) => match was.root() {
            Class::Namedtuple(fields) => {
                let parts = fields.iter().zip(old.iter().zip(new));
                parts.map(|(name, (old, new))| (format!(".{name}"), Some(old), Some(new))).collect()
            }
            _ => zipped(old, new),
        },
        (Kind::Dict(old), Kind::Dict(new))
        | (Kind::OrderedDict(old), Kind::OrderedDict(new))
        | (Kind::DefaultDict(_, old), Kind::DefaultDict(_, new))
        | (Kind::MappingProxy(old), Kind::MappingProxy(new)) => {
            let of = |all: &'d [(Obj, Obj)], key: &Obj| {
                all.iter().find(|(other, _)| python::equal(other, key) == Ok(true)).map(|(_, part)| part)
            };
            let more = new.iter().filter(|(key, _)| of(old, key).is_none());
            let keys = old.iter().chain(more).map(|(key, _)| key);
            keys.map(|key| (format!("[{}]", python::repr(key)), of(old, key), of(new, key))).collect()
        }
        // Instances of one class that have other attributes are recorded as two.
        (Kind::Record { class: was, fields: old }, Kind::Record { class: is, fields: new })
            if stem(was.name.as_str()) == stem(is.name.as_str()) =>
        {
            let of =
                |all: &'d [(Name, Obj)], name: &Name| all.iter().find(|(other, _)| other == name).map(|(_, part)| part);
            let more = new.iter().filter(|(name, _)| of(old, name).is_none());
            let names = old.iter().chain(more).map(|(name, _)| name);
            names.map(|name| (format!(".{name}"), of(old, name), of(new, name))).collect()
        }
        (
            Kind::Node { class: was, children: old, aux: old_aux, .. },
            Kind::Node { class: is, children: new, aux: new_aux, .. },
        ) if Rc::ptr_eq(was, is) && old.len() == new.len() => {
            let mut parts: Vec<_> = zipped(old, new);
            parts.push((".aux".to_owned(), Some(old_aux), Some(new_aux)));
            parts
        }
        (Kind::Derived { class: was, base: old }, Kind::Derived { class: is, base: new }) if Rc::ptr_eq(was, is) => {
            vec![(String::new(), Some(old), Some(new))]
        }
        _ => Vec::new(),
    }
}

/// The name of a class without the number that a recording gives it.
fn stem(name: &str) -> &str {
    let numbered = name.rsplit_once("__").filter(|(_, number)| number.parse::<u32>().is_ok());
    numbered.map_or(name, |(stem, _)| stem)
}

/// A tree, and the children of one of its nodes by their keys.
type Keyed<'t, 'k> = (&'t Tree<'k>, &'t [(&'k Obj, usize)]);

/// A tree, and the children of one of its nodes by what paths call them.
type Called<'t, 'k> = (&'t Tree<'k>, &'t IndexMap<String, usize>);

#[derive(Default)]
struct Comparison {
    found: Vec<Difference>,
    /// The leaves of the earlier tree that stand where leaves of the later one do, by the paths of these.
    counterparts: HashMap<String, String>,
}

/// A tree, with the children of each node.
struct Tree<'k> {
    treedef: &'k Treedef,
    nodes: &'k [TreeNode],
    children: Vec<Vec<usize>>,
}

impl<'k> Tree<'k> {
    /// From post-order; the root is the last node.
    fn of(treedef: &'k Treedef) -> Self {
        let nodes = treedef.nodes();
        let mut open: Vec<usize> = Vec::new();
        let mut children = Vec::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            children.push(open.split_off(open.len().saturating_sub(node.arity as usize)));
            open.push(i);
        }
        Self { treedef, nodes, children }
    }

    fn path(&self, node: usize) -> Path {
        self.treedef.path(node)
    }

    fn word(&self, node: usize) -> String {
        let node = &self.nodes[node];
        let holds_any = matches!(
            node.kind,
            NodeKind::Tuple | NodeKind::List | NodeKind::Dict | NodeKind::OrderedDict | NodeKind::DefaultDict
        );
        match node.arity {
            0 if !holds_any => node.word().to_owned(),
            n => format!("{} of {n}", node.word()),
        }
    }

    /// The children by their keys, if the node has a key for each.
    fn keyed(&self, node: usize) -> Option<Vec<(&'k Obj, usize)>> {
        let keys: Vec<_> = self.nodes[node].data().iter().filter(|(label, _)| label.is_key()).collect();
        let is_keyed = !keys.is_empty() && keys.len() == self.children[node].len();
        is_keyed.then(|| keys.into_iter().map(|(_, key)| key).zip(self.children[node].iter().copied()).collect())
    }

    /// The children by what paths call them, if the class says so.
    fn called(&self, node: usize) -> Option<IndexMap<String, usize>> {
        let names = &self.nodes[node].more.as_ref()?.names;
        let is_written = !names.is_empty() && names.iter().all(|name| matches!(name, Label::Written(_)));
        is_written.then(|| names.iter().map(ToString::to_string).zip(self.children[node].iter().copied()).collect())
    }
}

impl Comparison {
    fn report(&mut self, path: &impl ToString, before: impl ToString, after: impl ToString) {
        self.found.push(Difference::new(path.to_string(), "structure", before, after));
    }

    /// Compares the trees of two keys, which belong together if their roots have one path.
    fn trees(&mut self, before: &[(&Treedef, Equality)], after: &[(&Treedef, Equality)]) {
        let root = |treedef: &Treedef| treedef.tree.root.to_string();
        for (late, by) in after {
            let new = Tree::of(late);
            match before.iter().find(|(early, _)| root(early) == root(late)) {
                Some((early, _)) => {
                    let old = Tree::of(early);
                    self.nodes(&old, old.nodes.len() - 1, &new, new.nodes.len() - 1, *by);
                }
                None => {
                    let last = new.nodes.len() - 1;
                    self.found.push(Difference::new(new.path(last), ARGUMENT, ABSENT, new.word(last)));
                }
            }
        }
        for (early, _) in before.iter().filter(|(early, _)| !after.iter().any(|(late, _)| root(early) == root(late))) {
            let (last, old) = (early.nodes().len() - 1, Tree::of(early));
            self.found.push(Difference::new(old.path(last), ARGUMENT, old.word(last), ABSENT));
        }
    }

    fn nodes(&mut self, old: &Tree<'_>, i: usize, new: &Tree<'_>, j: usize, by: Equality) {
        let (before, after) = (&old.nodes[i], &new.nodes[j]);
        // What == takes for one may have two hashes.
        if !before.same_kind(after, by) || (by.hash && !before.same_kind(after, Equality::default())) {
            if self.attributes(before, after, new, j) {
                return;
            }
            let [was, is] = [old.word(i), new.word(j)].map(|word| match word.split_once(' ') {
                // A class that was defined again has a number in a recording.
                Some((name, rest)) => format!("{} {rest}", stem(name)),
                None => stem(&word).to_owned(),
            });
            let (was, is) = told_apart(&was, &is);
            return self.report(&new.path(j), was, is);
        }
        if let (Some(was), Some(is)) = (old.keyed(i), new.keyed(j)) {
            self.keyed(&new.path(j), (old, &was), (new, &is), by);
            // What isn't a key: the factory of a defaultdict.
            return self.data(before, new, j, by, |label| !label.is_key());
        }
        if let (Some(was), Some(is)) = (old.called(i), new.called(j))
            && was != is
        {
            return self.called((old, &was), (new, &is), by);
        }
        if before.arity != after.arity {
            self.report(&new.path(j), old.word(i), new.word(j));
            // An empty dict has no keys.
            return self.zipped(old, i, new, j, by);
        }
        if before.kind == NodeKind::Leaf {
            self.counterparts.insert(new.path(j).to_string(), old.path(i).to_string());
        }
        self.data(before, new, j, by, |_| true);
        self.zipped(old, i, new, j, by);
    }

    /// Compares the data of two nodes of one class that have other attributes, which a recording takes for two classes. Returns
    /// whether they are such.
    fn attributes(&mut self, before: &TreeNode, after: &TreeNode, new: &Tree<'_>, j: usize) -> bool {
        let named = |node: &TreeNode| node.data().iter().map(|(label, _)| label.to_string()).collect::<Vec<_>>();
        let (was, is) = (named(before), named(after));
        if before.kind != after.kind || stem(before.word()) != stem(after.word()) || was == is {
            return false;
        }
        let (old, now) = (was.iter().zip(before.data()), is.iter().zip(after.data()));
        let mut parts: IndexMap<&String, (Option<&Obj>, Option<&Obj>)> = IndexMap::new();
        old.for_each(|(name, (_, part))| parts.entry(name).or_default().0 = Some(part));
        now.for_each(|(name, (_, part))| parts.entry(name).or_default().1 = Some(part));
        let parts = parts.into_iter().map(|(name, (old, now))| (name.clone(), old, now));
        each_apart(&new.path(j).to_string(), "structure", parts.collect(), DEPTH, &mut self.found);
        true
    }

    fn zipped(&mut self, old: &Tree<'_>, i: usize, new: &Tree<'_>, j: usize, by: Equality) {
        for (a, b) in old.children[i].iter().zip(&new.children[j]) {
            self.nodes(old, *a, new, *b, by);
        }
    }

    /// Compares the children of two nodes by what paths call them. What the nodes have besides says so too, if they differ.
    fn called(&mut self, (old, was): Called<'_, '_>, (new, is): Called<'_, '_>, by: Equality) {
        for (_, at) in was.iter().filter(|(name, _)| !is.contains_key(*name)) {
            self.report(&old.path(*at), old.word(*at), ABSENT);
        }
        for (name, at) in is {
            match was.get(name) {
                Some(earlier) => self.nodes(old, *earlier, new, *at, by),
                None => self.report(&new.path(*at), ABSENT, new.word(*at)),
            }
        }
    }

    /// Compares the children of the node at `path` by their keys.
    fn keyed(&mut self, path: &super::Path, (old, was): Keyed<'_, '_>, (new, is): Keyed<'_, '_>, by: Equality) {
        let same = |a: &Obj, b: &Obj| python::is(a, b) || python::equal(a, b) == Ok(true);
        let of = |all: &[(&Obj, usize)], key: &Obj| all.iter().find(|(other, _)| same(other, key)).map(|(_, at)| *at);
        let in_order = was.len() == is.len() && was.iter().zip(is).all(|((a, _), (b, _))| same(a, b));
        let as_set = was.len() == is.len() && was.iter().all(|(key, _)| of(is, key).is_some());
        if as_set && !in_order {
            let keys =
                |all: &[(&Obj, usize)]| all.iter().map(|(key, _)| python::repr(key)).collect::<Vec<_>>().join(", ");
            self.found.push(Difference::new(path, KEY_ORDER, keys(was), keys(is)));
        }
        for (_, at) in was.iter().filter(|(key, _)| of(is, key).is_none()) {
            self.report(&old.path(*at), old.word(*at), ABSENT);
        }
        for (key, at) in is {
            match of(was, key) {
                Some(earlier) => self.nodes(old, earlier, new, *at, by),
                None => self.report(&new.path(*at), ABSENT, new.word(*at)),
            }
        }
    }

    fn data(&mut self, before: &TreeNode, new: &Tree<'_>, j: usize, by: Equality, counts: impl Fn(&Label) -> bool) {
        let pairs = before.data().iter().zip(new.nodes[j].data());
        for ((_, old), (label, now)) in pairs.filter(|(_, (label, _))| counts(label)) {
            match before.same_data(old, now, by) {
                Ok(true) => {}
                Ok(false) => apart(format!("{}{label}", new.path(j)), "structure", old, now, DEPTH, &mut self.found),
                Err(_) => {
                    let (old, now) = objects_told_apart(old, now);
                    let (path, component) = (format!("{}{label}", new.path(j)), "structure (its comparison raises)");
                    self.found.push(Difference::new(path, component, old, now));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Difference;
    use crate::case::{Case, text};
    use crate::model::Simulation;
    use crate::spec::Spec;

    /// What the last call of `steps` says, at the topmost layer that it missed.
    fn differences(implementation: &str, steps: &str) -> Vec<String> {
        let spec = Spec::embedded();
        let case: Case = text::from_yaml(steps).unwrap();
        let mut simulation = Simulation::explaining(&case, spec.newest_profile(implementation).unwrap()).unwrap();
        let predictions: Vec<_> = case.steps.iter().filter_map(|step| simulation.step(step).unwrap()).collect();
        predictions.last().unwrap().differences().iter().map(Difference::to_string).collect()
    }

    #[rstest::rstest]
    #[case::leaves_beside_a_new_key(
        "jax.jit",
        "steps:\n\
         - call: {args: [{dict: {a: \"f32[2]\", c: \"f32[]\"}}]}\n\
         - call: {args: [{dict: {a: \"f32[3]\", b: [\"f32[]\"], c: \"~f32[]\"}}]}\n",
        &["structure at args[0]['b']: list of 1 was absent", "shape at args[0]['a']: [3] was [2]",
          "weak_type at args[0]['c']: true was false"]
    )]
    #[case::a_key_less(
        "jax.jit",
        "steps:\n\
         - call: {args: [{dict: {a: \"f32[2]\", b: {tuple: []}}}]}\n\
         - call: {args: [{dict: {a: \"f32[2]\"}}]}\n",
        &["structure at args[0]['b']: absent was tuple of 0"]
    )]
    #[case::keys_in_another_order(
        "jax.jit",
        "steps:\n\
         - call: {args: [{ordered_dict: {b: \"f32[2]\", a: \"f32[]\"}}]}\n\
         - call: {args: [{ordered_dict: {a: \"f32[]\", b: \"f32[3]\"}}]}\n",
        &["key order at args[0]: 'a', 'b' was 'b', 'a'", "shape at args[0]['b']: [3] was [2]"]
    )]
    #[case::a_longer_list(
        "jax.jit",
        "steps:\n\
         - call: {args: [[\"f32[2]\"], \"i32[]\"]}\n\
         - call: {args: [[\"f32[3]\", \"f32[]\"], \"f32[]\"]}\n",
        &["structure at args[0]: list of 2 was list of 1", "shape at args[0][0]: [3] was [2]", "dtype at args[1]: f32 was i32"]
    )]
    #[case::an_argument_more(
        "jax.jit",
        "steps:\n\
         - call: {args: [\"f32[]\"]}\n\
         - call: {args: [\"f32[]\", 1]}\n",
        &["argument at args[1]: leaf was absent"]
    )]
    #[case::by_name_what_was_by_position(
        "jax.jit",
        "function: {def: {params: [x]}}\n\
         steps:\n\
         - call: {args: [\"f32[]\"]}\n\
         - call: {kwargs: {x: \"f32[]\"}}\n",
        &["number of positional arguments: 0 was 1", "keyword names: [x] was []"]
    )]
    #[case::a_static_more(
        "jax.jit",
        "function: {def: {params: [x, {name: train, default: true}]}}\n\
         options: {static_argnames: [train]}\n\
         steps:\n\
         - call: {args: [\"f32[]\"]}\n\
         - call: {args: [\"f32[]\"], kwargs: {train: false}}\n",
        &["static argument at train: False was absent"]
    )]
    #[case::a_static_whose_name_begins_as_another(
        "jax.jit",
        "function: {def: {params: [x, {name: x2, default: true}]}}\n\
         options: {static_argnames: [x2]}\n\
         steps:\n\
         - call: {args: [\"f32[]\"]}\n\
         - call: {args: [\"f32[2]\"], kwargs: {x2: false}}\n",
        &["shape at x: [2] was []", "static argument at x2: False was absent"]
    )]
    #[case::a_call_that_failed_left_no_key(
        "jax.jit",
        "function: {def: {params: [x, n]}}\n\
         options: {static_argnames: [n]}\n\
         steps:\n\
         - call: {args: [\"f32[]\"], kwargs: {n: 4}}\n\
         - call: {args: [\"f32[]\"], kwargs: {n: \"f32[]\"}}\n\
         - call: {args: [\"f32[]\"], kwargs: {n: {numpy_scalar: [i64, 4]}}}\n",
        &["static type at n: np.i64(4) was 4"]
    )]
    #[case::nobody_passes_the_dummy(
        "equinox.filter_jit",
        "steps:\n\
         - call: {args: [\"f32[]\"]}\n\
         - call: {args: [\"f32[]\", \"f32[2]\"]}\n",
        &["argument at args[1]: leaf was absent"]
    )]
    #[case::children_by_their_keys(
        "jax.jit",
        "classes: {Pair: {node: {}}}\n\
         steps:\n\
         - call: {args: [{new: {class: Pair, children: [\"f32[2]\", \"f32[]\"], keys: [.a, .c]}}]}\n\
         - call: {args: [{new: {class: Pair, children: [\"f32[2]\", \"i32[]\", \"f32[3]\"], keys: [.a, .b, .c]}}]}\n",
        &["structure at args[0].b: leaf was absent", "shape at args[0].c: [3] was []"]
    )]
    #[case::a_placement_in_two_spellings(
        "jax.jit",
        "devices: 2\n\
         steps:\n\
         - call: {args: [{array: {aval: \"f32[2,2]\", placement: {sharding: {mesh: {x: 2}, spec: [x, null]}}}}]}\n\
         - call: {args: [{array: {aval: \"f32[2,2]\", placement: {sharding: {mesh: {x: 2}, spec: [x]}}}}]}\n",
        &["spelling of the sharding at args[0]: P(x) over x: 2 on [0, 1] was P(x, None) over x: 2 on [0, 1]"]
    )]
    #[case::the_nearest_of_several(
        "jax.jit",
        "steps:\n\
         - call: {args: [\"f32[2]\", \"f32[]\"]}\n\
         - call: {args: [\"f32[3]\", \"i32[]\"]}\n\
         - call: {args: [\"f32[2]\", \"~f32[]\"]}\n",
        &["weak_type at args[1]: true was false"]
    )]
    #[case::none_where_an_array_was(
        "equinox.filter_jit",
        "steps:\n\
         - call: {args: [{dict: {g: \"f32[2]\", n: 1}}]}\n\
         - call: {args: [{dict: {g: null, n: \"f32[]\"}}]}\n",
        &["structure at args[0]['g']: None was leaf", "static or traced at args[0]['n']: f32[] was 1"]
    )]
    fn a_miss_is_explained(#[case] implementation: &str, #[case] steps: &str, #[case] expected: &[&str]) {
        assert_eq!(differences(implementation, steps), expected);
    }
}
