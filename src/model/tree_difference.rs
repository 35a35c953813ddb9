//! Where the trees of two keys differ, node by node.
//!
//! What follows a difference in structure is compared as well: the children of dicts go by their keys, those of other nodes
//! by their places.

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::apart::{DEPTH, apart, corresponding, each_apart, objects_told_apart, stem, told_apart};
use super::difference::{ABSENT, ARGUMENT, Difference, STRUCTURE};
use super::digest::WithTypes;
use super::object::{Kind, Obj};
use super::python;
use super::treedef::{Label, NodeKind, Path, TreeNode, Treedef};
use crate::spec::Equality;

/// The component of a dict whose keys are the same, in another order.
pub(super) const KEY_ORDER: &str = "key order";

/// What is around a name in a path.
const PUNCTUATION: [char; 4] = ['.', '[', ']', '\''];

/// A tree, and the children of one of its nodes by their keys.
type Keyed<'t, 'k> = (&'t Tree<'k>, &'t [(&'k Obj, usize)]);

/// A tree, and the children of one of its nodes by what paths call them.
type Called<'t, 'k> = (&'t Tree<'k>, &'t IndexMap<String, usize>);

/// What comparing trees gives.
#[derive(Default)]
pub(super) struct Compared {
    pub found: Vec<Difference>,
    /// The leaves of the earlier tree that stand where leaves of the later one do, by the paths of these.
    pub counterparts: FxHashMap<String, String>,
    /// The leaves of each of the two that stand in a tree, by their paths, where some have no counterpart.
    pub in_trees: FxHashSet<String>,
    /// How many leaves there are in the parts that the other tree has nothing like, but for the first of each: for that one stands
    /// the difference.
    pub incomparable: usize,
}

/// Compares the trees of two keys, which belong together if their roots have one path.
pub(super) fn compared(before: &[(&Treedef, Equality)], after: &[(&Treedef, Equality)]) -> Compared {
    let mut compared = Compared::default();
    let root = |treedef: &Treedef| treedef.tree.root.to_string();
    for (late, by) in after {
        let new = Tree::of(late);
        match before.iter().find(|(early, _)| root(early) == root(late)) {
            Some((early, _)) => {
                let old = Tree::of(early);
                compared.nodes(&old, old.nodes.len() - 1, &new, new.nodes.len() - 1, *by);
            }
            None => {
                let last = new.nodes.len() - 1;
                compared.has_nothing_like(new.leaves(&[last]));
                compared.found.push(Difference::new(new.path(last), ARGUMENT, ABSENT, new.word(last)));
            }
        }
    }
    for (early, _) in before.iter().filter(|(early, _)| !after.iter().any(|(late, _)| root(early) == root(late))) {
        let (last, old) = (early.nodes().len() - 1, Tree::of(early));
        compared.has_nothing_like(old.leaves(&[last]));
        compared.found.push(Difference::new(old.path(last), ARGUMENT, old.word(last), ABSENT));
    }
    let trees = || before.iter().chain(after).map(|(treedef, _)| Tree::of(treedef));
    if trees().map(|tree| tree.all_leaves().count()).sum::<usize>() != 2 * compared.counterparts.len() {
        let paths = |tree: Tree<'_>| tree.all_leaves().map(|leaf| tree.path(leaf).to_string()).collect::<Vec<_>>();
        compared.in_trees = trees().flat_map(paths).collect();
    }
    compared
}

/// Adds the nodes in which two treedefs differ that are data at `path`.
pub(super) fn treedefs_apart(path: &str, old: &Treedef, new: &Treedef, found: &mut Vec<Difference>) {
    let of_node = |node: Difference| {
        let own = node.path.strip_prefix(&new.tree.root.to_string()).unwrap_or(&node.path);
        Difference { path: format!("{path}{own}"), ..node }
    };
    found.extend(compared(&[(old, old.by)], &[(new, new.by)]).found.into_iter().map(of_node));
}

/// A tree, with the children of each node.
struct Tree<'k> {
    treedef: &'k Treedef,
    nodes: &'k [TreeNode],
    children: Vec<Vec<usize>>,
    /// How many leaves there are in and below each node.
    leaves: Vec<usize>,
}

impl<'k> Tree<'k> {
    /// From post-order; the root is the last node.
    fn of(treedef: &'k Treedef) -> Self {
        let nodes = treedef.nodes();
        let mut open: Vec<usize> = Vec::new();
        let mut children = Vec::with_capacity(nodes.len());
        let mut leaves = Vec::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            let own: Vec<usize> = open.split_off(open.len().saturating_sub(node.arity as usize));
            let below: usize = own.iter().map(|child| leaves[*child]).sum();
            leaves.push(below + usize::from(node.kind == NodeKind::Leaf));
            children.push(own);
            open.push(i);
        }
        Self { treedef, nodes, children, leaves }
    }

    fn leaves(&self, nodes: &[usize]) -> usize {
        nodes.iter().map(|node| self.leaves[*node]).sum()
    }

    fn all_leaves(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(|node| self.nodes[*node].kind == NodeKind::Leaf)
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
        // An empty dict has none, and each of another one is one more.
        let has_keys = matches!(self.nodes[node].kind, NodeKind::Dict | NodeKind::OrderedDict | NodeKind::DefaultDict);
        let is_keyed = (has_keys || !keys.is_empty()) && keys.len() == self.children[node].len();
        is_keyed.then(|| keys.into_iter().map(|(_, key)| key).zip(self.children[node].iter().copied()).collect())
    }

    /// The children by what paths call them, if the class says so.
    fn called(&self, node: usize) -> Option<IndexMap<String, usize>> {
        let names = &self.nodes[node].more.as_ref()?.names;
        let has_fields = matches!(self.nodes[node].kind, NodeKind::Custom | NodeKind::Dataclass);
        let is_name = |name: &Label| match name {
            Label::Written(_) => true,
            Label::Attribute(_) => has_fields,
            _ => false,
        };
        (!names.is_empty() && names.iter().all(is_name))
            .then(|| names.iter().map(ToString::to_string).zip(self.children[node].iter().copied()).collect())
    }
}

/// What paths call the children of a node.
fn named(node: &TreeNode) -> Vec<String> {
    let names = node.more.as_ref().map(|more| &more.names);
    names.into_iter().flatten().map(ToString::to_string).collect()
}

/// Whether two nodes are of namedtuples whose fields have other names: nothing in them corresponds.
fn is_another_namedtuple(before: &TreeNode, after: &TreeNode) -> bool {
    before.kind == NodeKind::Namedtuple && after.kind == NodeKind::Namedtuple && named(before) != named(after)
}

/// The items of a tuple or a list.
fn items(object: &Obj) -> Option<&[Obj]> {
    match &**object {
        Kind::Tuple(items) => Some(items),
        Kind::List(contents) => Some(contents),
        _ => None,
    }
}

/// Whether two pieces of data are the same but for these names, and what begins with one of them.
fn same_but_for(names: &[&str], old: &Obj, now: &Obj) -> bool {
    fn is_of_one(names: &[&str], item: &Obj) -> bool {
        matches!(&**item, Kind::Str(text) if names.contains(&text.as_str()))
            || items(item).and_then(<[Obj]>::first).is_some_and(|first| is_of_one(names, first))
    }
    if python::is(old, now) || python::equal(old, now) == Ok(true) {
        return true;
    }
    let Some((old, now)) = items(old).zip(items(now)) else { return false };
    let [old, now] = [old, now].map(|items| items.iter().filter(|item| !is_of_one(names, item)).collect::<Vec<_>>());
    old.len() == now.len() && old.iter().zip(now).all(|(old, now)| same_but_for(names, old, now))
}

/// Whether two pieces of data have an item for each child, and the same one for those that are called alike.
fn same_of_each(was: &IndexMap<String, usize>, old: &Obj, is: &IndexMap<String, usize>, now: &Obj) -> bool {
    let Some((old, now)) = items(old).zip(items(now)) else { return false };
    let mut common = is.keys().enumerate().filter_map(|(i, name)| Some((was.get_index_of(name)?, i)));
    (old.len(), now.len()) == (was.len(), is.len())
        && common.all(|(before, after)| python::equal(&old[before], &now[after]) == Ok(true))
}

/// Adds the parts in which two pieces of data differ, but for what they say of children of these names.
fn beside_names(names: &[&str], path: String, old: &Obj, now: &Obj, found: &mut Vec<Difference>) {
    if same_but_for(names, old, now) {
        return;
    }
    let parts = corresponding(old, now);
    for (label, old, now) in &parts {
        if let (Some(old), Some(now)) = (old, now) {
            beside_names(names, format!("{path}{label}"), old, now, found);
        } else if !names.contains(&label.trim_matches(PUNCTUATION)) {
            let [old, now] = [old, now].map(|part| part.map_or_else(|| ABSENT.to_owned(), python::repr));
            found.push(Difference::new(format!("{path}{label}"), STRUCTURE, old, now));
        }
    }
    // What else has a name in it, a treedef say, is taken to list it.
    let texts = [old, now].map(|data| match &**data {
        Kind::Treedef(_) => WithTypes(data).to_string(),
        _ => python::repr(data),
    });
    let lists = names.iter().any(|name| texts.iter().any(|text| text.contains(&format!("'{name}'"))));
    if parts.is_empty() && (items(old).is_some() || !lists) {
        apart(path, STRUCTURE, old, now, DEPTH, found);
    }
}

impl Compared {
    fn report(&mut self, path: &impl ToString, before: impl ToString, after: impl ToString) {
        self.found.push(Difference::new(path.to_string(), STRUCTURE, before, after));
    }

    /// A difference says of a part with so many leaves that the other tree has nothing like it.
    fn has_nothing_like(&mut self, leaves: usize) {
        self.incomparable += leaves.saturating_sub(1);
    }

    /// A part that the later tree doesn't have.
    fn is_gone(&mut self, old: &Tree<'_>, at: usize) {
        self.has_nothing_like(old.leaves(&[at]));
        self.report(&old.path(at), old.word(at), ABSENT);
    }

    /// A part that the earlier tree doesn't have.
    fn is_new(&mut self, new: &Tree<'_>, at: usize) {
        self.has_nothing_like(new.leaves(&[at]));
        self.report(&new.path(at), ABSENT, new.word(at));
    }

    fn nodes(&mut self, old: &Tree<'_>, i: usize, new: &Tree<'_>, j: usize, by: Equality) {
        let (before, after) = (&old.nodes[i], &new.nodes[j]);
        // What == takes for one may have two hashes.
        if !before.same_kind(after, by) || (by.hash && !before.same_kind(after, Equality::default())) {
            if self.attributes(before, after, new, j) {
                return self.children(old, i, new, j, by);
            }
            let [was, is] = [old.word(i), new.word(j)].map(|word| match word.split_once(' ') {
                // A class that was defined again has a number in a recording.
                Some((name, rest)) => format!("{} {rest}", stem(name)),
                None => stem(&word).to_owned(),
            });
            let (was, is) = told_apart(&was, &is);
            self.has_nothing_like(old.leaves(&[i]).max(new.leaves(&[j])));
            return self.report(&new.path(j), was, is);
        }
        if let (Some(was), Some(is)) = (old.keyed(i), new.keyed(j)) {
            self.keyed(&new.path(j), (old, &was), (new, &is), by);
            // What isn't a key: the factory of a defaultdict.
            return self.data(before, new, j, by, |label| !label.is_key());
        }
        if let (Some(was), Some(is)) = (old.called(i), new.called(j))
            && !was.keys().eq(is.keys())
        {
            self.called((old, &was), (new, &is), by);
            return self.data_beside_names(before, new, j, by, (&was, &is));
        }
        if is_another_namedtuple(before, after) {
            self.has_nothing_like(old.leaves(&[i]).max(new.leaves(&[j])));
            return match before.arity == after.arity {
                true => self.data(before, new, j, by, |_| true),
                false => self.report(&new.path(j), old.word(i), new.word(j)),
            };
        }
        if before.arity != after.arity {
            self.report(&new.path(j), old.word(i), new.word(j));
            let both = before.arity.min(after.arity) as usize;
            let (rest, more) = (&old.children[i][both..], &new.children[j][both..]);
            self.has_nothing_like(old.leaves(rest) + new.leaves(more));
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
        let data = |node: &TreeNode| node.data().iter().map(|(label, _)| label.to_string()).collect::<Vec<_>>();
        let (was, is) = (data(before), data(after));
        let are_alike = was == is && named(before) == named(after);
        if before.kind != after.kind || stem(before.word()) != stem(after.word()) || are_alike {
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

    /// Compares the children of two nodes that correspond, if it can be said which of them do.
    fn children(&mut self, old: &Tree<'_>, i: usize, new: &Tree<'_>, j: usize, by: Equality) {
        match (old.called(i), new.called(j)) {
            (Some(was), Some(is)) => self.called((old, &was), (new, &is), by),
            _ if old.nodes[i].arity == new.nodes[j].arity => self.zipped(old, i, new, j, by),
            _ => {}
        }
    }

    fn zipped(&mut self, old: &Tree<'_>, i: usize, new: &Tree<'_>, j: usize, by: Equality) {
        for (a, b) in old.children[i].iter().zip(&new.children[j]) {
            self.nodes(old, *a, new, *b, by);
        }
    }

    /// Compares the children of two nodes by what paths call them.
    fn called(&mut self, (old, was): Called<'_, '_>, (new, is): Called<'_, '_>, by: Equality) {
        for (_, at) in was.iter().filter(|(name, _)| !is.contains_key(*name)) {
            self.is_gone(old, *at);
        }
        for (name, at) in is {
            match was.get(name) {
                Some(earlier) => self.nodes(old, *earlier, new, *at, by),
                None => self.is_new(new, *at),
            }
        }
    }

    /// Compares the children of the node at `path` by their keys.
    fn keyed(&mut self, path: &Path, (old, was): Keyed<'_, '_>, (new, is): Keyed<'_, '_>, by: Equality) {
        let same = |a: &Obj, b: &Obj| python::is(a, b) || python::equal(a, b) == Ok(true);
        // The place of each key among those before: after that of the last one, as a rule.
        let mut next = 0;
        let earlier: Vec<Option<usize>> = is
            .iter()
            .map(|(key, _)| {
                let found = (next..was.len()).chain(0..next.min(was.len())).find(|place| same(was[*place].0, key))?;
                next = found + 1;
                Some(found)
            })
            .collect();
        let mut is_there = vec![false; was.len()];
        earlier.iter().flatten().for_each(|place| is_there[*place] = true);
        let as_set = was.len() == is.len() && is_there.iter().all(|is_there| *is_there);
        if as_set && !earlier.iter().flatten().is_sorted() {
            let keys =
                |all: &[(&Obj, usize)]| all.iter().map(|(key, _)| python::repr(key)).collect::<Vec<_>>().join(", ");
            self.found.push(Difference::new(path, KEY_ORDER, keys(was), keys(is)));
        }
        for ((_, at), _) in was.iter().zip(is_there).filter(|(_, is_there)| !is_there) {
            self.is_gone(old, *at);
        }
        for ((_, at), place) in is.iter().zip(earlier) {
            match place {
                Some(place) => self.nodes(old, was[place].1, new, *at, by),
                None => self.is_new(new, *at),
            }
        }
    }

    /// Compares the data of two nodes whose children are called otherwise, but for what follows from that: data often list the names,
    /// or have something for each child.
    fn data_beside_names(
        &mut self,
        before: &TreeNode,
        new: &Tree<'_>,
        j: usize,
        by: Equality,
        (was, is): (&IndexMap<String, usize>, &IndexMap<String, usize>),
    ) {
        let gone = was.keys().filter(|name| !is.contains_key(*name));
        let names = gone.chain(is.keys().filter(|name| !was.contains_key(*name)));
        let names: Vec<_> = names.map(|name| name.trim_matches(PUNCTUATION)).collect();
        self.data_by(before, new, j, by, |path, _, old, now, found| {
            if !same_of_each(was, old, is, now) {
                beside_names(&names, path, old, now, found);
            }
        });
    }

    fn data(&mut self, before: &TreeNode, new: &Tree<'_>, j: usize, by: Equality, counts: impl Fn(&Label) -> bool) {
        self.data_by(before, new, j, by, |path, label, old, now, found| {
            if counts(label) {
                apart(path, STRUCTURE, old, now, DEPTH, found);
            }
        });
    }

    /// Compares the data of two nodes, as `compare` does that where they differ.
    fn data_by(
        &mut self,
        before: &TreeNode,
        new: &Tree<'_>,
        j: usize,
        by: Equality,
        compare: impl Fn(String, &Label, &Obj, &Obj, &mut Vec<Difference>),
    ) {
        for ((_, old), (label, now)) in before.data().iter().zip(new.nodes[j].data()) {
            let path = format!("{}{label}", new.path(j));
            match before.same_data(old, now, by) {
                Ok(true) => {}
                Ok(false) => compare(path, label, old, now, &mut self.found),
                Err(_) => {
                    let (old, now) = objects_told_apart(old, now);
                    self.found.push(Difference::new(path, "structure (its comparison raises)", old, now));
                }
            }
        }
    }
}
