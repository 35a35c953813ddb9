//! Flattening: leaves with their paths, and treedefs.
//!
//! Sources: `jaxlib/pytree.cc` (kinds, order of nodes, what hash and `==` of a treedef look at) and
//! `jax/_src/tree_util.py` (how OrderedDict, defaultdict, Partial and dataclasses are registered). A treedef's nodes are
//! kept in post-order, and compared in that order; its hash covers kinds, arities and custom types, never aux data or keys.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHasher;

use super::object::{Kind, Obj, Raised};
use super::python;
use crate::case::{Class, Name};
use crate::spec::Equality;

/// The way from a call to a leaf or node: `x["a"][0].w`.
#[derive(Debug, Clone)]
pub struct Path(Option<Rc<(Path, Segment)>>);

#[derive(Debug, Clone)]
enum Segment {
    Root(Rc<str>),
    Index(usize),
    Key {
        key: Obj,
        /// The key that names the value in what jax prints.
        called: Obj,
    },
    Attribute(Name),
    /// The n-th part of a node's own data.
    Data(&'static str),
}

impl Path {
    /// The path of an argument.
    pub fn root(name: &str) -> Self {
        Self(Some(Rc::new((Self(None), Segment::Root(name.into())))))
    }

    pub(super) fn is_key(&self) -> bool {
        self.0.as_ref().is_some_and(|step| matches!(step.1, Segment::Key { .. }))
    }

    fn then(&self, segment: Segment) -> Self {
        Self(Some(Rc::new((self.clone(), segment))))
    }

    /// The name of a leaf in the debug info of jax 0.4, whose key paths take the keys of a defaultdict in the order of
    /// insertion, although its values are sorted (`_register_keypaths`).
    pub fn called(&self) -> String {
        self.0.as_ref().map_or_else(String::new, |step| match &step.1 {
            Segment::Key { called, .. } => format!("{}[{}]", step.0.called(), python::repr(called)),
            segment => format!("{}{segment}", step.0.called()),
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(step) = &self.0 else { return Ok(()) };
        write!(f, "{}{}", step.0, step.1)
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => f.write_str(name),
            Self::Index(i) => write!(f, "[{i}]"),
            Self::Key { key, .. } => write!(f, "[{}]", python::repr(key)),
            Self::Attribute(name) => write!(f, ".{name}"),
            Self::Data(what) => write!(f, ".{what}"),
        }
    }
}

/// What a node is, as far as a treedef's hash sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// What `filter_jit` and its like return.
    ModuleWrapper(&'static str),
    /// An `nnx.Module` that stands elsewhere in the call, before.
    Shared,
    /// A class registered by hand, or a Module's, by its address.
    Custom(usize),
    /// A class registered as a dataclass, by its address.
    Dataclass(usize),
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
            Self::ModuleWrapper(by) => by,
            Self::Shared => "shared Module",
            Self::Custom(_) | Self::Dataclass(_) => "registered class",
        }
    }

    /// Whether `==` takes them for one.
    pub(super) fn same(self, other: Self, by: Equality) -> bool {
        self == other || by.any_dataclass && matches!((self, other), (Self::Dataclass(_), Self::Dataclass(_)))
    }
}

/// A node of a treedef.
#[derive(Debug, Clone)]
pub struct TreeNode {
    pub kind: NodeKind,
    pub arity: usize,
    /// What is compared besides: aux data, keys, the namedtuple's class.
    pub data: Vec<(Path, Obj)>,
    /// Whether the data are one tuple, so that Python compares them by `==`; jaxlib itself asks for `!=`.
    pub in_tuple: bool,
    pub path: Path,
    /// The name of a registered class.
    pub class: Option<Name>,
}

/// The structure of a pytree.
#[derive(Debug, Clone)]
pub struct Treedef {
    /// In post-order.
    pub nodes: Rc<Vec<TreeNode>>,
    /// How it compares as a Python object.
    pub by: Equality,
}

impl Treedef {
    /// The hash of a treedef: kinds, arities and custom types.
    pub fn structure_hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for node in self.nodes.iter() {
            (node.kind, node.arity).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// `==` of treedefs, as jaxlib compares them: node by node, data by `is` or `==`.
    pub fn equal(&self, other: &Self) -> Result<bool, Raised> {
        Ok(self.difference(other, Equality { identity: true, equal: true, ..self.by })?.is_none())
    }

    /// The first node that differs, by its place in post-order, with the piece of data if it is not the node itself.
    pub fn difference(&self, other: &Self, by: Equality) -> Result<Option<(usize, Option<usize>)>, Raised> {
        for (i, (a, b)) in self.nodes.iter().zip(other.nodes.iter()).enumerate() {
            if !a.kind.same(b.kind, by) || a.arity != b.arity || a.data.len() != b.data.len() {
                return Ok(Some((i, None)));
            }
            for (j, ((_, mine), (_, others))) in a.data.iter().zip(&b.data).enumerate() {
                if !a.same_data(mine, others, by)? {
                    return Ok(Some((i, Some(j))));
                }
            }
        }
        let shorter = self.nodes.len().min(other.nodes.len());
        Ok((self.nodes.len() != other.nodes.len()).then_some((shorter, None)))
    }
}

impl TreeNode {
    /// Whether a piece of this node's data and one of another node are the same.
    pub(super) fn same_data(&self, mine: &Obj, others: &Obj, by: Equality) -> Result<bool, Raised> {
        Ok((by.identity && python::is(mine, others)) || !by.equal || data_equal(mine, others, by, self.in_tuple)?)
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

/// A pytree, flattened.
#[derive(Debug)]
pub struct Flat {
    pub leaves: Vec<(Path, Obj)>,
    pub treedef: Treedef,
}

/// The exceptions that flattening raises.
pub struct FlattenErrors<'p> {
    pub dict: &'p str,
    pub default_dict: &'p str,
    pub none_key: Option<&'p str>,
}

/// Flattens `obj`, whose path is `path`.
pub fn flatten(path: Path, obj: &Obj, errors: &FlattenErrors<'_>) -> Result<Flat, Raised> {
    flatten_among(path, obj, errors, &mut Vec::new())
}

/// The same for one of several that are walked together: `modules` are the `nnx.Module`s that were met in those before. One
/// that is met again becomes a reference to its first place, without leaves (`flax/nnx/extract.py`, `to_tree`).
pub fn flatten_among(
    path: Path,
    obj: &Obj,
    errors: &FlattenErrors<'_>,
    modules: &mut Vec<Obj>,
) -> Result<Flat, Raised> {
    let mut flattener = Flattener { leaves: Vec::new(), nodes: Vec::new(), errors, modules };
    flattener.visit(path, obj)?;
    Ok(Flat { leaves: flattener.leaves, treedef: Treedef { nodes: Rc::new(flattener.nodes), by: Equality::default() } })
}

struct Flattener<'e> {
    leaves: Vec<(Path, Obj)>,
    nodes: Vec<TreeNode>,
    errors: &'e FlattenErrors<'e>,
    modules: &'e mut Vec<Obj>,
}

type Data = Vec<(Path, Obj)>;
type Children = Vec<(Path, Obj)>;

impl Flattener<'_> {
    fn visit(&mut self, path: Path, obj: &Obj) -> Result<(), Raised> {
        if let Some(first) = self.shared_with(obj) {
            let first = (path.then(Segment::Data("shared")), Rc::new(Kind::Int(first)));
            let data = vec![first];
            self.nodes.push(TreeNode { kind: NodeKind::Shared, arity: 0, data, in_tuple: true, path, class: None });
            return Ok(());
        }
        let Some((kind, children, data)) = self.open(&path, obj)? else {
            self.nodes.push(TreeNode {
                kind: NodeKind::Leaf,
                arity: 0,
                data: Vec::new(),
                in_tuple: false,
                path: path.clone(),
                class: None,
            });
            self.leaves.push((path, obj.clone()));
            return Ok(());
        };
        let arity = children.len();
        for (path, child) in children {
            self.visit(path, &child)?;
        }
        let in_tuple = match &**obj {
            Kind::OrderedDict(_) | Kind::DefaultDict(..) => {
                if let Some(class) = self.errors.none_key
                    && data.iter().any(|(path, key)| path.is_key() && matches!(**key, Kind::None))
                {
                    return Err(Raised::new(class));
                }
                true
            }
            Kind::Record { .. } => true,
            _ => false,
        };
        let class = match &**obj {
            Kind::Node { class, .. } | Kind::Record { class, .. } => Some(class.name.clone()),
            _ => None,
        };
        self.nodes.push(TreeNode { kind, arity, data, in_tuple, path, class });
        Ok(())
    }

    /// Which of the Modules `obj` is, if it was met before.
    fn shared_with(&mut self, obj: &Obj) -> Option<i128> {
        let is_module = matches!(&**obj, Kind::Record { class, .. } if matches!(class.root(), Class::NnxModule { .. }));
        let met = self.modules.iter().position(|module| is_module && python::is(module, obj));
        if is_module && met.is_none() {
            self.modules.push(obj.clone());
        }
        met.and_then(|first| first.try_into().ok())
    }

    /// The children and data of a node; `None` for a leaf.
    fn open(&self, path: &Path, obj: &Obj) -> Result<Option<(NodeKind, Children, Data)>, Raised> {
        let indexed = |items: &[Obj]| -> Children {
            items.iter().enumerate().map(|(i, item)| (path.then(Segment::Index(i)), item.clone())).collect()
        };
        let keyed = |items: &[(Obj, Obj)], called: &[(Obj, Obj)]| -> (Children, Data) {
            items
                .iter()
                .zip(called)
                .map(|((key, value), (called, _))| {
                    let path = path.then(Segment::Key { key: key.clone(), called: called.clone() });
                    ((path.clone(), value.clone()), (path, key.clone()))
                })
                .unzip()
        };
        let attributes = |fields: &[(Name, Obj)], names: &[Name]| -> Children {
            names
                .iter()
                .filter_map(|name| fields.iter().find(|(field, _)| field == name))
                .map(|(name, value)| (path.then(Segment::Attribute(name.clone())), value.clone()))
                .collect()
        };
        Ok(Some(match &**obj {
            Kind::None => (NodeKind::None, Vec::new(), Vec::new()),
            Kind::Tuple(items) => (NodeKind::Tuple, indexed(items), Vec::new()),
            Kind::List(items) => (NodeKind::List, indexed(items), Vec::new()),
            Kind::Namedtuple(class, items) => {
                let fields: &[Name] = match class.root() {
                    Class::Namedtuple(fields) => fields,
                    _ => &[],
                };
                let children = fields
                    .iter()
                    .zip(items)
                    .map(|(field, item)| (path.then(Segment::Attribute(field.clone())), item.clone()))
                    .collect();
                let class = (path.then(Segment::Data("__class__")), Rc::new(Kind::Class(class.clone())));
                (NodeKind::Namedtuple, children, vec![class])
            }
            Kind::Dict(items) => {
                let sorted = sorted(items, self.errors.dict)?;
                let (children, data) = keyed(&sorted, &sorted);
                (NodeKind::Dict, children, data)
            }
            Kind::OrderedDict(items) => {
                let (children, data) = keyed(items, items);
                (NodeKind::OrderedDict, children, data)
            }
            Kind::DefaultDict(factory, items) => {
                let sorted = sorted(items, self.errors.default_dict)?;
                let (children, keys) = keyed(&sorted, items);
                let factory = (path.then(Segment::Data("default_factory")), factory.clone());
                (NodeKind::DefaultDict, children, std::iter::once(factory).chain(keys).collect())
            }
            // Registering a class doesn't register its subclasses; Modules register themselves.
            Kind::Node { class, .. } | Kind::Record { class, .. }
                if class.base.is_some() && !matches!(class.root(), Class::Module { .. } | Class::NnxModule { .. }) =>
            {
                return Ok(None);
            }
            Kind::Node { class, children, aux } => {
                let aux = (path.then(Segment::Data("aux")), aux.clone());
                (NodeKind::Custom(address(class)), indexed(children), vec![aux])
            }
            Kind::Record { class, fields } => match class.root() {
                Class::Dataclass { data, meta } => {
                    (NodeKind::Dataclass(address(class)), attributes(fields, data), attributes(fields, meta))
                }
                // The graphdef of an nnx.Module is the aux data of what it becomes.
                Class::Module { fields: data, static_ } | Class::NnxModule { params: data, static_ } => {
                    (NodeKind::Custom(address(class)), attributes(fields, data), attributes(fields, static_))
                }
                _ => return Ok(None),
            },
            Kind::TreePartial { func, args, kwargs } => {
                let func = (path.then(Segment::Data("func")), func.clone());
                let args: Obj = Rc::new(Kind::Tuple(args.clone()));
                let kwargs = kwargs.iter().map(|(name, value)| (text(name), value.clone())).collect();
                let children = vec![
                    (path.then(Segment::Data("args")), args),
                    (path.then(Segment::Data("keywords")), Rc::new(Kind::Dict(kwargs))),
                ];
                (NodeKind::TreePartial, children, vec![func])
            }
            Kind::ModuleMethod(of) => {
                (NodeKind::ModuleMethod, vec![(path.then(Segment::Data("__self__")), of.clone())], Vec::new())
            }
            // `_JitWrapper` has the function's name as a leaf and the function, partitioned, in static fields; the others
            // have the function as a leaf.
            Kind::ModuleWrapper("filter_jit", func) => {
                let name = (path.then(Segment::Data("fn")), Rc::new(Kind::Str(python::repr(func))));
                let func = (path.then(Segment::Data("__wrapped__")), func.clone());
                (NodeKind::ModuleWrapper("filter_jit"), vec![name], vec![func])
            }
            Kind::ModuleWrapper(by, func) => {
                let func = (path.then(Segment::Data("__wrapped__")), func.clone());
                (NodeKind::ModuleWrapper(by), vec![func], Vec::new())
            }
            _ => return Ok(None),
        }))
    }
}

/// A Python str.
pub fn text(name: &Name) -> Obj {
    Rc::new(Kind::Str(name.to_string()))
}

fn address(class: &Rc<super::object::ClassObject>) -> usize {
    Rc::as_ptr(class) as usize
}

fn sorted(items: &[(Obj, Obj)], error: &str) -> Result<Vec<(Obj, Obj)>, Raised> {
    python::sort_by_key(items.to_vec()).map_err(|_| Raised::new(error))
}
