//! Treedefs: the structure of a pytree, and the paths of its nodes.
//!
//! Sources: `jaxlib/pytree.cc` (kinds, order of nodes, what hash and `==` of a treedef look at). A treedef's nodes are kept
//! in post-order, and compared in that order; its hash covers kinds, arities and custom types, never aux data or keys. Paths
//! are made of the nodes where somebody reads them: no key has one.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;
use std::hash::Hasher;
use std::rc::Rc;

use smallvec::SmallVec;

use super::object::{Kind, Obj, Raised};
use super::python;
use crate::case::Name;
use crate::spec::Equality;

/// What a child or a piece of data is called in its node.
#[derive(Debug, Clone)]
pub enum Label {
    Index(usize),
    Key {
        key: Obj,
        /// The key that names the value in what jax prints.
        called: Obj,
    },
    Attribute(Name),
    /// As a class that is registered with keys calls it.
    Written(Rc<str>),
    /// The n-th part of a node's own data.
    Data(&'static str),
}

impl Label {
    pub(super) fn is_key(&self) -> bool {
        matches!(self, Self::Key { .. })
    }

    /// Whether both read the same, as far as that is seen at once.
    fn reads_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Index(a), Self::Index(b)) => a == b,
            (Self::Attribute(a), Self::Attribute(b)) => a == b,
            (Self::Written(a), Self::Written(b)) => a == b,
            (Self::Data(a), Self::Data(b)) => a == b,
            (Self::Key { key: a, .. }, Self::Key { key: b, .. }) => match (&**a, &**b) {
                (Kind::Str(a), Kind::Str(b)) => a == b,
                (Kind::Int(a), Kind::Int(b)) => a == b,
                _ => python::is(a, b),
            },
            _ => false,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(i) => write!(f, "[{i}]"),
            Self::Key { key, .. } => write!(f, "[{}]", python::repr(key)),
            Self::Attribute(name) => f.write_str(&attribute(name.as_str())),
            Self::Written(key) => f.write_str(key),
            Self::Data(what) => write!(f, ".{what}"),
        }
    }
}

/// How an attribute is asked for. An item of a Module of nnx is recorded as one, `_item_0`.
pub(super) fn attribute(name: &str) -> String {
    let item = name.strip_prefix("_item_").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    item.map_or_else(|| format!(".{name}"), |item| format!("[{item}]"))
}

/// What a node is, as far as a treedef's hash sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    Leaf,
    None,
    Tuple,
    List,
    Dict,
    Namedtuple,
    OrderedDict,
    DefaultDict,
    TreePartial,
    /// The bound method of a Module.
    ModuleMethod,
    /// What `filter_jit` returns; likewise the next two.
    FilterJit,
    FilterGrad,
    FilterVmap,
    /// An `nnx.Module` that stands elsewhere in the call, before.
    Shared,
    /// A class registered by hand, or a Module's.
    Custom,
    /// A class registered as a dataclass.
    Dataclass,
}

impl NodeKind {
    /// The word for a reader.
    pub fn word(self) -> &'static str {
        match self {
            Self::Leaf => "leaf",
            Self::None => "None",
            Self::Tuple => "tuple",
            Self::List => "list",
            Self::Dict => "dict",
            Self::Namedtuple => "namedtuple",
            Self::OrderedDict => "OrderedDict",
            Self::DefaultDict => "defaultdict",
            Self::TreePartial => "Partial",
            Self::ModuleMethod => "bound method",
            Self::FilterJit => "filter_jit",
            Self::FilterGrad => "filter_grad",
            Self::FilterVmap => "filter_vmap",
            Self::Shared => "shared Module",
            Self::Custom | Self::Dataclass => "registered class",
        }
    }
}

/// A node of a treedef.
#[derive(Debug)]
pub struct TreeNode {
    pub kind: NodeKind,
    pub arity: u32,
    /// What only some kinds of nodes have.
    pub more: Option<Box<More>>,
}

/// What a node has besides its children.
#[derive(Debug, Default)]
pub struct More {
    /// What is compared besides: aux data, keys, the namedtuple's class.
    pub data: Vec<(Label, Obj)>,
    /// What the children are called, where it is neither their places nor the keys among the data.
    pub names: Vec<Label>,
    /// Whether the data are one tuple, so that Python compares them by `==`; jaxlib itself asks for `!=`.
    pub in_tuple: bool,
    /// A registered class, by its name and its address.
    pub class: Option<(Name, usize)>,
}

impl TreeNode {
    pub fn data(&self) -> &[(Label, Obj)] {
        self.more.as_ref().map_or(&[], |more| &more.data)
    }

    /// What its `nth` child is called.
    fn label(&self, nth: usize) -> Label {
        let keys = || self.data().iter().map(|(label, _)| label).filter(|label| label.is_key());
        let name = self.more.as_ref().and_then(|more| more.names.get(nth)).or_else(|| keys().nth(nth));
        name.cloned().unwrap_or(Label::Index(nth))
    }

    /// Whether it is of the other one's kind, and its children and data are called alike.
    fn reads_as(&self, other: &Self) -> bool {
        fn labels(node: &TreeNode) -> impl Iterator<Item = &Label> {
            let more = node.more.iter();
            more.flat_map(|more| more.names.iter().chain(more.data.iter().map(|(label, _)| label)))
        }
        let counts =
            |node: &Self| (node.arity, node.data().len(), node.more.as_ref().map_or(0, |more| more.names.len()));
        self.same_kind(other, Equality::default())
            && counts(self) == counts(other)
            && labels(self).zip(labels(other)).all(|(a, b)| a.reads_as(b))
    }

    fn class(&self) -> Option<&(Name, usize)> {
        self.more.as_ref().and_then(|more| more.class.as_ref())
    }

    /// What the hash of a treedef has of it.
    pub(super) fn seen_by_hash(&self) -> (NodeKind, u32, Option<usize>) {
        (self.kind, self.arity, self.class().map(|(_, address)| *address))
    }

    /// Adds that to the hash: two words, or one of a node without a class.
    pub(super) fn hash(&self, hasher: &mut impl Hasher) {
        let (kind, arity, class) = self.seen_by_hash();
        hasher.write_u64((kind as u64) << 32 | u64::from(arity));
        class.into_iter().for_each(|address| hasher.write_usize(address));
    }

    /// Whether `==` takes the nodes for one, but for their data.
    pub(super) fn same_kind(&self, other: &Self, by: Equality) -> bool {
        let class = |node: &Self| node.class().map(|(_, address)| *address);
        self.kind == other.kind && (class(self) == class(other) || by.any_dataclass && self.kind == NodeKind::Dataclass)
    }

    /// The word for a reader: the name of its class, if it is registered or a namedtuple's.
    pub fn word(&self) -> &str {
        let named = || match (self.kind, self.data()) {
            (NodeKind::Namedtuple, [(_, class), ..]) => match &**class {
                Kind::Class(class) => Some(class.name.as_str()),
                _ => None,
            },
            _ => None,
        };
        let class = self.class().map(|(name, _)| name.as_str());
        class.or_else(named).unwrap_or_else(|| self.kind.word())
    }

    /// Whether a piece of this node's data and one of another node are the same.
    pub(super) fn same_data(&self, mine: &Obj, others: &Obj, by: Equality) -> Result<bool, Raised> {
        let in_tuple = self.more.as_ref().is_some_and(|more| more.in_tuple);
        Ok((by.identity && python::is(mine, others)) || !by.equal || data_equal(mine, others, by, in_tuple)?)
    }
}

/// `not (a != b)`, or `a == b` of data in a tuple. For a PyTreeDef beside something else the two are not the same.
fn data_equal(a: &Obj, b: &Obj, by: Equality, in_tuple: bool) -> Result<bool, Raised> {
    let is_treedef = |obj: &Obj| matches!(**obj, Kind::Treedef(_));
    if is_treedef(a) == is_treedef(b) {
        return python::equal(a, b);
    }
    let beside_none = [a, b].iter().any(|obj| matches!(***obj, Kind::None));
    if by.treedef_equals_others && !beside_none { Ok(!in_tuple) } else { Err(Raised::new("TypeError")) }
}

/// What the root of a tree is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// It is the function itself, which `filter_jit` has among its arguments.
    Function,
    /// It is the positional argument of that number.
    Argument(usize),
    /// It is the argument of that number among those which the parameter of that name takes.
    Rest(Name, usize),
    Named(Name),
    Called(Cow<'static, str>),
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function => f.write_str("fun"),
            Self::Argument(i) => write!(f, "args[{i}]"),
            Self::Rest(name, i) => write!(f, "{name}[{i}]"),
            Self::Named(name) => f.write_str(name.as_str()),
            Self::Called(name) => f.write_str(name),
        }
    }
}

/// The nodes of a tree: most trees have few.
pub(super) type Nodes = SmallVec<[TreeNode; 4]>;

/// The structure of a pytree, and what its root is called.
#[derive(Debug)]
pub struct Tree {
    pub(super) root: Root,
    /// In post-order, with the hash of a treedef: kinds, arities and custom types. Not yet there while it is flattened.
    nodes: OnceCell<(Nodes, u64)>,
    /// For each node but the root its parent, and which child of it it is.
    parents: OnceCell<Vec<(u32, u32)>>,
}

impl Tree {
    /// Whether all paths in it read as in the other one, as far as that is seen at once.
    pub(super) fn reads_as(&self, other: &Self) -> bool {
        let is_one = std::ptr::eq(self, other);
        let (mine, others) = (self.nodes(), other.nodes());
        let same_nodes = || mine.len() == others.len() && mine.iter().zip(others).all(|(a, b)| a.reads_as(b));
        is_one || self.root == other.root && same_nodes()
    }

    /// A tree whose nodes are still to come.
    pub(super) fn of(root: Root) -> Rc<Self> {
        Rc::new(Self { root, nodes: OnceCell::new(), parents: OnceCell::new() })
    }

    pub(super) fn complete(&self, nodes: Nodes, hash: u64) {
        self.nodes.set((nodes, hash)).expect("a tree is flattened once");
    }

    fn nodes(&self) -> &[TreeNode] {
        self.nodes.get().map_or(&[], |(nodes, _)| nodes)
    }

    fn parents(&self) -> &[(u32, u32)] {
        self.parents.get_or_init(|| {
            let mut parents = vec![(0, 0); self.nodes().len()];
            let mut open: Vec<u32> = Vec::new();
            for (i, node) in (0_u32..).zip(self.nodes()) {
                let children = open.len() - node.arity as usize;
                for (nth, child) in (0_u32..).zip(open.drain(children..)) {
                    parents[child as usize] = (i, nth);
                }
                open.push(i);
            }
            parents
        })
    }
}

/// The structure of a pytree, as a Python object.
#[derive(Debug, Clone)]
pub struct Treedef {
    pub tree: Rc<Tree>,
    /// How it compares.
    pub by: Equality,
}

impl Treedef {
    pub fn nodes(&self) -> &[TreeNode] {
        self.tree.nodes()
    }

    /// The path of a node.
    pub fn path(&self, node: usize) -> Path {
        Path::new(&self.tree, u32::try_from(node).expect("a tree that fits in memory"))
    }

    pub fn structure_hash(&self) -> u64 {
        self.tree.nodes.get().map_or(0, |(_, hash)| *hash)
    }

    /// `==` of treedefs, as jaxlib compares them: node by node, data by `is` or `==`.
    pub fn equal(&self, other: &Self) -> Result<bool, Raised> {
        self.same(other, Equality { identity: true, equal: true, ..self.by })
    }

    /// Whether no node differs.
    pub fn same(&self, other: &Self, by: Equality) -> Result<bool, Raised> {
        self.compared(other, by, |_, raised| raised)
    }

    /// The same; what the comparison of the data of a node raises is `shown` so.
    pub fn compared(
        &self,
        other: &Self,
        by: Equality,
        shown: impl Fn(NodeKind, Raised) -> Raised,
    ) -> Result<bool, Raised> {
        for (a, b) in self.nodes().iter().zip(other.nodes()) {
            let (mine, others) = (a.data(), b.data());
            if !a.same_kind(b, by) || a.arity != b.arity || mine.len() != others.len() {
                return Ok(false);
            }
            for ((_, mine), (_, others)) in mine.iter().zip(others) {
                if !a.same_data(mine, others, by).map_err(|raised| shown(a.kind, raised))? {
                    return Ok(false);
                }
            }
        }
        Ok(self.nodes().len() == other.nodes().len())
    }
}

/// The way from a call to a leaf or node: `x["a"][0].w`.
#[derive(Clone)]
pub struct Path {
    tree: Rc<Tree>,
    node: u32,
}

impl Path {
    /// The path of an argument that is no tree.
    pub fn argument(root: Root) -> Self {
        Self::new(&Tree::of(root), 0)
    }

    /// The path of a node.
    pub(super) fn new(tree: &Rc<Tree>, node: u32) -> Self {
        Self { tree: Rc::clone(tree), node }
    }

    /// The name of an argument that is passed by name, where the path is that of one.
    pub fn root(&self) -> Option<&Name> {
        if let Root::Named(name) = &self.tree.root { Some(name) } else { None }
    }

    /// The tree, and its node.
    pub(super) fn place(&self) -> (&Rc<Tree>, u32) {
        (&self.tree, self.node)
    }

    /// The labels on the way, from the root.
    fn labels(&self) -> Vec<Label> {
        self.steps().into_iter().map(|(_, label)| label).collect()
    }

    /// The same, with the kinds of the nodes in which something is called so.
    fn steps(&self) -> Vec<(NodeKind, Label)> {
        let mut node = self.node as usize;
        let mut steps = Vec::new();
        while node + 1 < self.tree.nodes().len() {
            let (parent, nth) = self.tree.parents()[node];
            node = parent as usize;
            let within = &self.tree.nodes()[node];
            steps.push((within.kind, within.label(nth as usize)));
        }
        steps.reverse();
        steps
    }

    /// The name of a leaf in the debug info of jax. Up to 0.4.35 key paths take the keys of a defaultdict `as_inserted`, although
    /// its values are sorted (`_register_keypaths`). `print` is what `repr` does with a key.
    pub fn called(&self, as_inserted: bool, print: fn(&Obj) -> String) -> String {
        let called = |(kind, label): &(NodeKind, Label)| match (kind, label) {
            (_, Label::Key { key, called }) => format!("[{}]", print(if as_inserted { called } else { key })),
            // Of the children of a class a recording says where they are held, if the class has no keys for them.
            (NodeKind::Custom, Label::Written(_) | Label::Index(_)) => "[…]".to_owned(),
            (_, label) => label.to_string(),
        };
        std::iter::once(self.tree.root.to_string()).chain(self.steps().iter().map(called)).collect()
    }
}

impl PartialEq for Path {
    /// Whether they read the same.
    fn eq(&self, other: &Self) -> bool {
        let [mine, others] = [self, other].map(Self::labels);
        self.tree.root == other.tree.root && mine.iter().map(Label::to_string).eq(others.iter().map(Label::to_string))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = self.labels();
        let part = match (&self.tree.root, labels.first()) {
            (Root::Called(name), Some(Label::Index(i))) => part_of_tuple(name, *i),
            _ => None,
        };
        match part {
            Some(part) => f.write_str(part)?,
            None => write!(f, "{}", self.tree.root)?,
        }
        labels.iter().skip(usize::from(part.is_some())).try_for_each(|label| write!(f, "{label}"))
    }
}

/// What a part of a tuple is called that is called by what it is of: `init_val` of `(i, init_val)`.
fn part_of_tuple(name: &str, i: usize) -> Option<&str> {
    name.strip_prefix('(')?.strip_suffix(')')?.split(", ").nth(i)
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
