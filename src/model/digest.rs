//! What tracing can see of a call: two calls with different digests may be traced to different programs.
//!
//! A program remembers the digest that it was traced from; served to a call with another one it is stale. The digest has
//! types where a key may have only values (`1` and `True`), and leaves out what no body can tell: addresses, the hash of an
//! object, the order of a set, devices and commitment.

use super::arguments::{Arguments, Item};
use super::difference::Difference;
use super::key::Ingredients;
use super::object::{Kind, Obj};

/// What tracing can see of a call, part by part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Digest(Vec<Seen>);

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
        let mut seen = Vec::new();
        let mut see = |path: String, what, text| seen.push(Seen { path, what, text });
        // Where the function is an argument like any other, it is among the items.
        if call.arguments.function_items == 0 {
            see(String::new(), "function", typed(body(call.function)));
        }
        if let Kind::Function(function) = &**body(call.function) {
            let defaults = function.defaults.borrow();
            for (name, value) in defaults.iter().filter(|(name, _)| call.arguments.omitted.contains(name)) {
                see(name.to_string(), "default", typed(value));
            }
        }
        for item in items {
            match item {
                Item::Static { path, value, .. } => see(path.to_string(), "static value", typed(value)),
                Item::Tree(treedef) => {
                    for node in treedef.nodes.iter() {
                        let class = node.class.as_ref().map_or_else(|| node.kind.word(), |class| class.as_str());
                        let text = format!("{class} of {}", node.arity);
                        see(node.path.to_string(), "structure", text);
                        for (path, data) in &node.data {
                            see(path.to_string(), "aux data", typed(data));
                        }
                    }
                }
            }
        }
        for leaf in leaves {
            see(leaf.path.to_string(), "aval", leaf.aval.to_string());
        }
        see(String::new(), "positional arguments", positional.to_string());
        let names: Vec<_> = keywords_in_order.iter().map(ToString::to_string).collect();
        see(String::new(), "order of keywords", names.join(", "));
        see(String::new(), "flags", call.ambient.seen.join(", "));
        see(String::new(), "user context", call.ambient.user.as_ref().map_or_else(|| "NoneType".to_owned(), typed));
        Self(seen)
    }

    /// The first thing that a call sees which the program that serves it was not traced from.
    pub fn difference(&self, traced: &Self) -> Option<Difference> {
        let differs = self.0.iter().zip(&traced.0).find(|(now, then)| now != then);
        let lengths = || (self.0.len() != traced.0.len()).then(|| (self.0.last(), traced.0.last()));
        let (now, then) = match differs {
            Some(pair) => pair,
            None => lengths().and_then(|(now, then)| Some((now?, then?)))?,
        };
        Some(Difference {
            path: now.path.clone(),
            component: now.what.to_owned(),
            before: then.text.clone(),
            after: now.text.clone(),
        })
    }
}

/// The function whose body runs: a wrapper adds nothing that could be seen.
pub(super) fn body(function: &Obj) -> &Obj {
    match &**function {
        Kind::Jitted(inner) | Kind::Checkpointed(inner) | Kind::Opaque(inner) | Kind::ModuleWrapper(_, inner) => {
            body(inner)
        }
        _ => function,
    }
}

/// An object with the types of everything in it.
fn typed(obj: &Obj) -> String {
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
        Kind::Node { class, children, aux } => format!("{}({}; {})", class.name, all(children), typed(aux)),
        Kind::Record { class, fields } => format!("{}({})", class.name, named(fields)),
        Kind::Instance { class, value, .. } => format!("{}({})", class.name, typed(&value.borrow())),
        Kind::Derived { class, base } => format!("{}({})", class.name, typed(base)),
        Kind::Member { class, number } => format!("{}({number})", class.name),
        Kind::Class(class) => format!("class {}", class.name),
        Kind::Partial { func, args, kwargs } => format!("partial({}, {}, {})", typed(func), all(args), named(kwargs)),
        Kind::TreePartial { func, args, kwargs } => {
            format!("Partial({}, {}, {})", typed(func), all(args), named(kwargs))
        }
        Kind::Method(of) => format!("method({})", typed(of)),
        Kind::ModuleMethod(of) => format!("BoundMethod({})", typed(of)),
        Kind::ModuleWrapper(by, func) => format!("{by}({})", typed(func)),
        Kind::Jitted(func) | Kind::Checkpointed(func) | Kind::Opaque(func) => format!("wrapper({})", typed(func)),
        Kind::Function(_) => "function".to_owned(),
        Kind::Array(array) => format!("array {}{:?}", array.dtype, array.shape),
        plain => format!("{plain:?}"),
    }
}
