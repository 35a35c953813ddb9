//! Flattening: a pytree's leaves, and its treedef.
//!
//! Sources: `jaxlib/pytree.cc` and `jax/_src/tree_util.py` (how OrderedDict, defaultdict, Partial and dataclasses are
//! registered).

use std::hash::Hasher;
use std::rc::Rc;

use rustc_hash::FxHasher;

use super::object::{ClassObject, Kind, Obj, Raised};
use super::python;
use super::treedef::{Label, More, NodeKind, Nodes, Root, Tree, TreeNode, Treedef};
use crate::case::{Class, Name};
use crate::spec::{Equality, Profile};

/// A pytree, flattened.
#[derive(Debug)]
pub struct Flat {
    /// With their nodes.
    pub leaves: Vec<(u32, Obj)>,
    pub treedef: Treedef,
}

/// What is particular in how an implementation flattens: the exceptions, and whether nnx walks the arguments before.
pub struct Flattening<'p> {
    pub dict: &'p str,
    pub default_dict: &'p str,
    pub none_key: Option<&'p str>,
    pub walked_by_nnx: bool,
}

impl<'p> Flattening<'p> {
    /// What raises these, and does nothing in particular else.
    pub fn raising(dict: &'p str, default_dict: &'p str) -> Self {
        Self { dict, default_dict, none_key: None, walked_by_nnx: false }
    }

    pub fn of(profile: &'p Profile) -> Self {
        Self {
            dict: &profile.unsortable_dict,
            default_dict: &profile.unsortable_default_dict,
            none_key: profile.none_key.as_deref(),
            walked_by_nnx: profile.takes_nnx_modules,
        }
    }
}

/// Flattens `obj`, which is called `root`.
pub fn flatten(root: Root, obj: &Obj, how: &Flattening<'_>) -> Result<Flat, Raised> {
    let mut leaves = Vec::new();
    let each = |node, leaf: &Obj| leaves.push((node, Rc::clone(leaf)));
    let treedef = flatten_among(&Tree::of(root), obj, how, &mut Vec::new(), each)?;
    Ok(Flat { leaves, treedef })
}

/// The same for one of several that are walked together: `modules` are the `nnx.Module`s and references that nnx met in those before. One
/// that is met again becomes a reference to its first place, without leaves (`flax/nnx/extract.py`, `to_tree`). The leaves
/// go to `each`, with their nodes of `tree`.
pub fn flatten_among(
    tree: &Rc<Tree>,
    obj: &Obj,
    how: &Flattening<'_>,
    modules: &mut Vec<Obj>,
    each: impl FnMut(u32, &Obj),
) -> Result<Treedef, Raised> {
    let mut flattener = Flattener { nodes: Nodes::new(), hasher: FxHasher::default(), run: 0, how, modules };
    flattener.visit(obj, each)?;
    flattener.end_run();
    tree.complete(flattener.nodes, flattener.hasher.finish());
    Ok(Treedef { tree: Rc::clone(tree), by: Equality::default() })
}

struct Flattener<'e> {
    nodes: Nodes,
    hasher: FxHasher,
    /// How many leaves the hash doesn't have yet: it has the leaves between two other nodes as one number.
    run: u64,
    how: &'e Flattening<'e>,
    modules: &'e mut Vec<Obj>,
}

/// A node whose children are being visited.
struct Open {
    kind: NodeKind,
    children: Children,
    visited: usize,
    more: Option<Box<More>>,
}

enum Children {
    /// Those of a sequence.
    Of(Obj),
    Collected(Vec<Obj>),
}

impl Open {
    fn sequence(kind: NodeKind, of: &Obj) -> Self {
        Self { kind, children: Children::Of(Rc::clone(of)), visited: 0, more: None }
    }

    fn new(kind: NodeKind, children: Vec<Obj>, data: Vec<(Label, Obj)>) -> Self {
        let more = Box::new(More { data, ..More::default() });
        Self { kind, children: Children::Collected(children), visited: 0, more: Some(more) }
    }

    fn with(mut self, change: impl FnOnce(&mut More)) -> Self {
        change(self.more.get_or_insert_default());
        self
    }
}

impl Children {
    fn all(&self) -> &[Obj] {
        match self {
            Self::Collected(children) => children,
            Self::Of(sequence) => match &**sequence {
                Kind::List(items) => items,
                Kind::Tuple(items) | Kind::Namedtuple(_, items) | Kind::Node { children: items, .. } => items,
                _ => &[],
            },
        }
    }
}

impl Flattener<'_> {
    /// Walks the tree; the leaves go to `each`, with their nodes.
    fn visit(&mut self, root: &Obj, mut each: impl FnMut(u32, &Obj)) -> Result<(), Raised> {
        let mut open: Vec<Open> = Vec::new();
        let mut next = Some(Rc::clone(root));
        loop {
            if let Some(obj) = next.take() {
                match self.open(&obj)? {
                    Some(node) => {
                        self.nodes.reserve(node.children.all().len() + 1);
                        open.push(node);
                    }
                    None => self.leaf(&obj, &mut each),
                }
            }
            let Some(last) = open.last_mut() else { return Ok(()) };
            next = self.leaves(last, &mut each);
            if next.is_none()
                && let Some(Open { kind, visited, more, .. }) = open.pop()
            {
                self.refuse_none(kind, more.as_deref())?;
                self.close(kind, visited, more);
            }
        }
    }

    /// Hands over the leaves up to the next child that may be a node, which it returns.
    fn leaves(&mut self, Open { children, visited, .. }: &mut Open, each: &mut impl FnMut(u32, &Obj)) -> Option<Obj> {
        let first = self.next();
        let rest = &children.all()[*visited..];
        let mut count = 0;
        for (node, leaf) in (first..).zip(rest).take_while(|(_, child)| child.is_number()) {
            each(node, leaf);
            count += 1;
        }
        self.close_leaves(count);
        let next = rest.get(count);
        *visited += count + usize::from(next.is_some());
        next.map(Rc::clone)
    }

    fn leaf(&mut self, obj: &Obj, each: &mut impl FnMut(u32, &Obj)) {
        each(self.next(), obj);
        self.close_leaves(1);
    }

    /// The number of the next node.
    fn next(&self) -> u32 {
        u32::try_from(self.nodes.len()).expect("a tree that fits in memory")
    }

    fn close_leaves(&mut self, count: usize) {
        let leaf = || TreeNode { kind: NodeKind::Leaf, arity: 0, more: None };
        self.nodes.extend(std::iter::repeat_with(leaf).take(count));
        self.run += count as u64;
    }

    fn close(&mut self, kind: NodeKind, arity: usize, more: Option<Box<More>>) {
        let arity = u32::try_from(arity).expect("a node that fits in memory");
        let node = TreeNode { kind, arity, more };
        self.end_run();
        node.hash(&mut self.hasher);
        self.nodes.push(node);
    }

    fn end_run(&mut self) {
        if self.run > 0 {
            self.hasher.write_u64((NodeKind::Leaf as u64) << 32 | self.run);
            self.run = 0;
        }
    }

    /// The exception for None among the keys of an OrderedDict or defaultdict, where there is one.
    fn refuse_none(&self, kind: NodeKind, more: Option<&More>) -> Result<(), Raised> {
        let is_none = |(label, key): &(Label, Obj)| label.is_key() && matches!(**key, Kind::None);
        match self.how.none_key {
            Some(class)
                if matches!(kind, NodeKind::OrderedDict | NodeKind::DefaultDict)
                    && more.is_some_and(|more| more.data.iter().any(is_none)) =>
            {
                Err(Raised::new(class))
            }
            _ => Ok(()),
        }
    }

    /// What nnx makes of one of its Modules or a reference that was met before: a reference to its first place.
    fn shared(&mut self, obj: &Obj) -> Option<Open> {
        let is_node = match &**obj {
            Kind::Record { class, .. } => matches!(class.root(), Class::NnxModule { .. }),
            Kind::ArrayRef(_) => self.how.walked_by_nnx,
            _ => false,
        };
        if !is_node {
            return None;
        }
        let Some(first) = self.modules.iter().position(|module| python::is(module, obj)) else {
            self.modules.push(obj.clone());
            return None;
        };
        let data = vec![(Label::Data("shared"), Rc::new(Kind::Int((first as i64).into())))];
        Some(Open::new(NodeKind::Shared, Vec::new(), data).with(|more| more.in_tuple = true))
    }

    /// The node that `obj` is; `None` for a leaf.
    fn open(&mut self, obj: &Obj) -> Result<Option<Open>, Raised> {
        Ok(Some(match &**obj {
            Kind::None => Open::sequence(NodeKind::None, obj),
            Kind::Tuple(_) => Open::sequence(NodeKind::Tuple, obj),
            Kind::List(_) => Open::sequence(NodeKind::List, obj),
            Kind::Namedtuple(class, _) => {
                let fields: &[Name] = match class.root() {
                    Class::Namedtuple(fields) => fields,
                    _ => &[],
                };
                let object: Obj = Rc::new(Kind::Class(class.clone()));
                Open::sequence(NodeKind::Namedtuple, obj).with(|more| {
                    more.data = vec![(Label::Data("__class__"), object)];
                    more.names = fields.iter().cloned().map(Label::Attribute).collect();
                })
            }
            Kind::Dict(items) => {
                let sorted = sorted(items, self.how.dict)?;
                let (children, data) = keyed(&sorted, &sorted);
                Open::new(NodeKind::Dict, children, data)
            }
            Kind::OrderedDict(items) => {
                let (children, data) = keyed(items, items);
                Open::new(NodeKind::OrderedDict, children, data).with(|more| more.in_tuple = true)
            }
            Kind::DefaultDict(factory, items) => {
                let sorted = sorted(items, self.how.default_dict)?;
                let (children, keys) = keyed(&sorted, items);
                let factory = (Label::Data("default_factory"), factory.clone());
                let data = std::iter::once(factory).chain(keys).collect();
                Open::new(NodeKind::DefaultDict, children, data).with(|more| more.in_tuple = true)
            }
            // Registering a class doesn't register its subclasses; Modules register themselves.
            Kind::Node { class, .. } | Kind::Record { class, .. }
                if class.base.is_some() && !matches!(class.root(), Class::Module { .. } | Class::NnxModule { .. }) =>
            {
                return Ok(None);
            }
            Kind::Node { class, aux, keys, .. } => Open::sequence(NodeKind::Custom, obj).with(|more| {
                more.data = vec![(Label::Data("aux"), aux.clone())];
                more.names = keys.to_vec();
                more.class = Some(registered(class));
            }),
            Kind::Record { class, fields } => {
                let (kind, data, static_) = match class.root() {
                    Class::Dataclass { data, meta } => (NodeKind::Dataclass, data, meta),
                    // The graphdef of an nnx.Module is the aux data of what it becomes.
                    Class::Module { fields: data, static_ } | Class::NnxModule { params: data, static_ } => {
                        (NodeKind::Custom, data, static_)
                    }
                    _ => return Ok(None),
                };
                if let Some(shared) = self.shared(obj) {
                    return Ok(Some(shared));
                }
                let (names, children) = attributes(fields, data).unzip();
                Open::new(kind, children, attributes(fields, static_).collect()).with(|more| {
                    more.names = names;
                    more.in_tuple = true;
                    more.class = Some(registered(class));
                })
            }
            Kind::ArrayRef(_) => return Ok(self.shared(obj)),
            Kind::TreePartial { func, args, kwargs } => {
                let args: Obj = Rc::new(Kind::Tuple(args.clone()));
                let kwargs: Vec<_> = kwargs.iter().map(|(name, value)| (text(name), value.clone())).collect();
                let children = vec![args, Rc::new(Kind::Dict(kwargs.into()))];
                Open::new(NodeKind::TreePartial, children, vec![(Label::Data("func"), func.clone())])
                    .with(|more| more.names = vec![Label::Data("args"), Label::Data("keywords")])
            }
            Kind::ModuleMethod(of) => Open::new(NodeKind::ModuleMethod, vec![of.clone()], Vec::new())
                .with(|more| more.names = vec![Label::Data("__self__")]),
            // `_JitWrapper` has the function's name as a leaf and the function, partitioned: its arrays are leaves, the rest
            // is in static fields. The others have the function as a leaf.
            Kind::ModuleWrapper("filter_jit", func, _) => {
                let name: Obj = Rc::new(Kind::Str(python::repr(func)));
                if python::has_arrays(func) {
                    let names = vec![Label::Data("fn"), Label::Data("__wrapped__")];
                    return Ok(Some(
                        Open::new(NodeKind::FilterJit, vec![name, func.clone()], Vec::new())
                            .with(|more| more.names = names),
                    ));
                }
                let func = (Label::Data("__wrapped__"), func.clone());
                Open::new(NodeKind::FilterJit, vec![name], vec![func]).with(|more| more.names = vec![Label::Data("fn")])
            }
            Kind::ModuleWrapper(by, func, _) => {
                let kind = if *by == "filter_grad" { NodeKind::FilterGrad } else { NodeKind::FilterVmap };
                Open::new(kind, vec![func.clone()], Vec::new())
                    .with(|more| more.names = vec![Label::Data("__wrapped__")])
            }
            _ => return Ok(None),
        }))
    }
}

/// Whether a dict in the tree has keys without an order.
pub fn is_unsortable(tree: &Obj) -> bool {
    let unsortable = Raised::new("unsortable");
    let errors = Flattening::raising(&unsortable.0, "TypeError");
    flatten(Root::Called("tree".into()), tree, &errors).is_err_and(|raised| raised == unsortable)
}

/// The values of a dict, and its keys; `called` are the items by whose keys jax prints them.
fn keyed(items: &[(Obj, Obj)], called: &[(Obj, Obj)]) -> (Vec<Obj>, Vec<(Label, Obj)>) {
    let data = |((key, value), (called, _)): (&(Obj, Obj), &(Obj, Obj))| {
        let label = Label::Key { key: key.clone(), called: called.clone() };
        (value.clone(), (label, key.clone()))
    };
    items.iter().zip(called).map(data).unzip()
}

/// Those of the fields that have these names.
fn attributes<'f>(fields: &'f [(Name, Obj)], names: &'f [Name]) -> impl Iterator<Item = (Label, Obj)> {
    names
        .iter()
        .filter_map(|name| fields.iter().find(|(field, _)| field == name))
        .map(|(name, value)| (Label::Attribute(name.clone()), value.clone()))
}

/// A registered class, by name and address.
fn registered(class: &Rc<ClassObject>) -> (Name, usize) {
    (class.name.clone(), Rc::as_ptr(class) as usize)
}

/// A Python str.
pub fn text(name: &Name) -> Obj {
    Rc::new(Kind::Str(name.to_string()))
}

fn sorted(items: &[(Obj, Obj)], error: &str) -> Result<Vec<(Obj, Obj)>, Raised> {
    python::sort_by_key(items.to_vec()).map_err(|_| Raised::new(error))
}
