//! What tracing can see of a call: two calls with different digests may be traced to different programs.
//!
//! A program remembers the digest that it was traced from; served to a call with another one it is stale. The digest has
//! types where a key may have only values (`1` and `True`), and leaves out what no body can tell: addresses, the hash of an
//! object, the order of a set, devices and commitment.

use std::rc::Rc;

use super::arguments::{Arguments, Item};
use super::difference::Difference;
use super::key::Ingredients;
use super::leaf::{Aval, Leaf, Leaves};
use super::object::{Kind, Obj};
use super::treedef::{TreeNode, Treedef};

/// What tracing can see of a call, part by part.
#[derive(Debug, Default)]
pub struct Digest(Vec<Part>);

#[derive(Debug)]
enum Part {
    Seen(Seen),
    /// A tree, and its data with types as they were then.
    Tree(Treedef, Vec<String>),
    Leaves(Rc<Leaves>),
}

/// One thing that tracing can see.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    path: String,
    what: &'static str,
    text: String,
}

impl Digest {
    /// What tracing sees of `call`.
    pub fn of(call: &Ingredients<'_>) -> Self {
        let Arguments { leaves, items, positional, keywords_in_order, .. } = call.arguments;
        let mut parts = Vec::new();
        let seen = |path: String, what, text| Part::Seen(Seen { path, what, text });
        // Where the function is an argument like any other, it is among the items.
        if call.arguments.function_items == 0 {
            parts.push(seen(String::new(), "function", typed(body(call.function))));
        }
        if let Kind::Function(function) = &**body(call.function) {
            let defaults = function.defaults.borrow();
            for (name, value) in defaults.iter().filter(|(name, _)| call.arguments.omitted.contains(name)) {
                parts.push(seen(name.to_string(), "default", typed(value)));
            }
        }
        parts.extend(items.iter().map(|item| match item {
            Item::Static { path, value, .. } => seen(path.to_string(), "static value", typed(value)),
            Item::Tree(treedef) => {
                let data = treedef.nodes().iter().flat_map(TreeNode::data);
                Part::Tree(treedef.clone(), data.map(|(_, data)| typed(data)).collect())
            }
        }));
        parts.push(Part::Leaves(Rc::clone(leaves)));
        let names: Vec<_> = keywords_in_order.iter().map(ToString::to_string).collect();
        let user = call.ambient.user.as_ref().map_or_else(|| "NoneType".to_owned(), typed);
        parts.extend([
            seen(String::new(), "positional arguments", positional.to_string()),
            seen(String::new(), "order of keywords", names.join(", ")),
            seen(String::new(), "flags", call.ambient.seen.join(", ")),
            seen(String::new(), "user context", user),
        ]);
        Self(parts)
    }

    /// The first thing that a call sees which the program that serves it was not traced from.
    pub fn difference(&self, traced: &Self) -> Option<Difference> {
        if self.0.len() == traced.0.len() && self.0.iter().zip(&traced.0).all(|(now, then)| now.is_plainly(then)) {
            return None;
        }
        let [all, then_all] = [self, traced].map(|digest| digest.0.iter().flat_map(Part::all).collect::<Vec<_>>());
        let differs = all.iter().zip(&then_all).find(|(now, then)| now != then);
        let lengths = || (all.len() != then_all.len()).then(|| (all.last(), then_all.last()));
        let (now, then) = match differs {
            Some(pair) => pair,
            None => lengths().and_then(|(now, then)| Some((now?, then?)))?,
        };
        let said = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
        Some(Difference {
            path: now.path.clone(),
            component: now.what.to_owned(),
            before: said(&then.text),
            after: said(&now.text),
        })
    }
}

impl Part {
    /// Whether it is the same without a look at paths: where the data are the same, they are.
    fn is_plainly(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Seen(a), Self::Seen(b)) => a == b,
            (Self::Tree(a, mine), Self::Tree(b, others)) => {
                let nodes = || a.nodes().iter().zip(b.nodes());
                a.tree.root == b.tree.root
                    && a.nodes().len() == b.nodes().len()
                    && nodes().all(|(a, b)| a.seen_by_hash() == b.seen_by_hash())
                    && mine == others
            }
            (Self::Leaves(a), Self::Leaves(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| shown(&a.aval) == shown(&b.aval))
            }
            _ => false,
        }
    }

    fn all(&self) -> Vec<Seen> {
        match self {
            Self::Seen(seen) => vec![seen.clone()],
            Self::Leaves(leaves) => {
                let seen =
                    |leaf: Leaf<'_>| Seen { path: leaf.path().to_string(), what: "aval", text: leaf.aval.to_string() };
                leaves.iter().map(seen).collect()
            }
            Self::Tree(treedef, typed) => {
                let mut typed = typed.iter();
                let mut all = Vec::new();
                for (i, node) in treedef.nodes().iter().enumerate() {
                    let path = treedef.path(i).to_string();
                    let data = node.data().iter().zip(&mut typed).map(|((label, _), text)| Seen {
                        path: format!("{path}{label}"),
                        what: "aux data",
                        text: text.clone(),
                    });
                    let data: Vec<_> = data.collect();
                    all.push(Seen { path, what: "structure", text: format!("{} of {}", node.word(), node.arity) });
                    all.extend(data);
                }
                all
            }
        }
    }
}

/// What the text of an aval shows.
fn shown(aval: &Aval) -> impl PartialEq {
    (aval.weak && !aval.strong_when_missed, aval.dtype, aval.prng, aval.is_ref, &aval.shape)
}

/// The function whose body runs: a wrapper adds nothing that could be seen.
pub(super) fn body(function: &Obj) -> &Obj {
    match &**function {
        Kind::Jitted(inner)
        | Kind::Wrapper(inner, _)
        | Kind::Checkpointed(inner)
        | Kind::Mapped(inner)
        | Kind::Opaque(inner)
        | Kind::ModuleWrapper(_, inner) => body(inner),
        _ => function,
    }
}

/// An object with the types of everything in it.
pub(super) fn typed(obj: &Obj) -> String {
    let all = |items: &[Obj]| items.iter().map(typed).collect::<Vec<_>>().join(", ");
    let pairs = |items: &[(Obj, Obj)]| {
        items.iter().map(|(key, value)| format!("{}: {}", typed(key), typed(value))).collect::<Vec<_>>().join(", ")
    };
    let sorted = |items: &[Obj]| {
        let mut texts: Vec<_> = items.iter().map(typed).collect();
        texts.sort();
        texts.join(", ")
    };
    let named = |items: &[(crate::case::Name, Obj)]| {
        items.iter().map(|(name, value)| format!("{name}={}", typed(value))).collect::<Vec<_>>().join(", ")
    };
    match &**obj {
        Kind::Tuple(items) => format!("tuple({})", all(items)),
        Kind::List(items) => format!("list({})", all(items)),
        Kind::Set(items) => format!("set({})", sorted(items)),
        Kind::Frozenset(items) => format!("frozenset({})", sorted(items)),
        Kind::Dict(items) => format!("dict({})", pairs(items)),
        Kind::OrderedDict(items) => format!("OrderedDict({})", pairs(items)),
        Kind::DefaultDict(factory, items) => format!("defaultdict({}, {})", typed(factory), pairs(items)),
        Kind::MappingProxy(items) => format!("mappingproxy({})", pairs(items)),
        Kind::Namedtuple(class, items) => format!("{}({})", class.name, all(items)),
        Kind::Node { class, children, aux, .. } => format!("{}({}; {})", class.name, all(children), typed(aux)),
        Kind::Record { class, fields } => format!("{}({})", class.name, named(fields)),
        Kind::Instance { class, value, .. } => format!("{}({})", class.name, typed(&value.borrow())),
        Kind::Derived { class, base } => format!("{}({})", class.name, typed(base)),
        Kind::Member { class, number } => format!("{}({number})", class.name),
        Kind::Class(class) => format!("class {}", class.name),
        Kind::Partial { func, args, kwargs } => format!("partial({}, {}, {})", typed(func), all(args), named(kwargs)),
        Kind::TreePartial { func, args, kwargs } => {
            format!("Partial({}, {}, {})", typed(func), all(args), named(kwargs))
        }
        Kind::Method { of, name, .. } => format!("{}({})", name.as_deref().unwrap_or("method"), typed(of)),
        Kind::ModuleMethod(of) => format!("BoundMethod({})", typed(of)),
        Kind::ModuleWrapper(by, func) => format!("{by}({})", typed(func)),
        Kind::Jitted(func)
        | Kind::Wrapper(func, _)
        | Kind::Checkpointed(func)
        | Kind::Mapped(func)
        | Kind::Opaque(func) => format!("wrapper({})", typed(func)),
        Kind::Function(_) => "function".to_owned(),
        Kind::Array(array) => format!("array {}{:?}", array.dtype, array.shape),
        plain => format!("{plain:?}"),
    }
}
