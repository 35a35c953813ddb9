//! What tracing can see of a call: two calls with different digests may be traced to different programs.
//!
//! A program remembers the digest that it was traced from; served to a call with another one it is stale. The digest has
//! types where a key may have only values (`1` and `True`), and leaves out what no body can tell: addresses, the hash of an
//! object, the order of a set, devices and commitment.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::rc::Rc;

use super::arguments::{Arguments, Item};
use super::called::body;
use super::difference::Difference;
use super::key::Ingredients;
use super::leaf::{Aval, Leaf, Leaves};
use super::object::{Kind, Obj};
use super::python;
use super::treedef::{NodeKind, Path, TreeNode, Treedef};
use crate::case::Name;

/// What tracing can see of a call, part by part.
#[derive(Debug, Default)]
pub struct Digest {
    parts: Vec<Part>,
    positional: usize,
    /// In their order.
    keywords: Vec<Name>,
    flags: Vec<String>,
    user: Option<Typed>,
    reads: Vec<(String, String)>,
}

/// The component of a stale hit whose body read something of an object that the object doesn't hold any more.
pub const CHANGED: &str = "value that no key sees";

/// An object with types, as it was then.
type Typed = Cow<'static, str>;

#[derive(Debug)]
enum Part {
    Function(Typed),
    Default(Name, Typed),
    Static(Path, Typed),
    /// A tree and its data.
    Tree(Treedef, Vec<Typed>),
    Leaves(Rc<Leaves>),
}

/// One thing that tracing can see.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    path: String,
    what: &'static str,
    text: String,
}

impl Seen {
    /// The difference from what stands in the same place.
    fn unlike(&self, then: &Self) -> Difference {
        let said = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
        Difference::new(self.path.clone(), self.what, said(&then.text), said(&self.text))
    }
}

impl Digest {
    /// What tracing sees of `call`.
    pub fn of(call: &Ingredients<'_>) -> Self {
        let Arguments { leaves, items, form, keywords_in_order, .. } = call.arguments;
        let mut parts = Vec::with_capacity(items.len() + 2);
        // Where the function is an argument like any other, it is among the items.
        if call.arguments.function_items == 0 {
            parts.push(Part::Function(typed(body(call.function))));
        }
        if let Kind::Function(function) = &**body(call.function) {
            let defaults = function.defaults.borrow();
            for (name, value) in defaults.iter().filter(|(name, _)| call.arguments.omitted.contains(name)) {
                parts.push(Part::Default(name.clone(), typed(value)));
            }
        }
        parts.extend(items.iter().map(|item| match item {
            Item::Static { path, value, .. } => Part::Static(path.clone(), typed(value)),
            Item::Tree(treedef) => {
                let data = treedef.nodes().iter().flat_map(TreeNode::data);
                Part::Tree(treedef.clone(), data.map(|(_, data)| typed(data)).collect())
            }
        }));
        parts.push(Part::Leaves(Rc::clone(leaves)));
        Self {
            parts,
            positional: form.positional,
            keywords: keywords_in_order.clone(),
            flags: call.ambient.seen.clone(),
            user: call.ambient.user.as_ref().map(typed),
            reads: call.ambient.reads.clone(),
        }
    }

    /// What is known of the trace of one of a loop's functions: what it read.
    pub fn of_reads(reads: Vec<(String, String)>) -> Self {
        Self { reads, ..Self::default() }
    }

    /// The first thing that a call sees which the program that serves it was not traced from; one that is another value before one
    /// that is only written otherwise.
    pub fn difference(&self, traced: &Self) -> Option<Difference> {
        if self.is_plainly(traced) {
            return self.changes(traced).next();
        }
        let [all, then_all] = [self, traced].map(Self::all);
        let differing = || all.iter().zip(&then_all).filter(|(now, then)| now != then);
        let is_another = |(now, then): &(&Seen, &Seen)| Written::otherwise(&now.text, &then.text).is_none();
        let lengths = || (all.len() != then_all.len()).then(|| (all.last(), then_all.last()));
        let (now, then) = match differing().find(is_another).or_else(|| differing().next()) {
            Some(pair) => pair,
            None => lengths().and_then(|(now, then)| Some((now?, then?)))?,
        };
        Some(now.unlike(then))
    }

    /// All that a call sees which the program that serves it was not traced from; of trees of other nodes nothing but what objects
    /// hold.
    pub fn differences(&self, traced: &Self) -> Vec<Difference> {
        let [all, then_all] = [self, traced].map(Self::all);
        let pairs = || all.iter().zip(&then_all);
        let has_same_nodes =
            all.len() == then_all.len() && pairs().all(|(now, then)| (&now.path, now.what) == (&then.path, then.what));
        let unlike = pairs().filter(|(now, then)| has_same_nodes && now != then).map(|(now, then)| now.unlike(then));
        unlike.chain(self.changes(traced)).collect()
    }

    /// What the body reads of objects and that was another when it was traced.
    pub fn changes<'d>(&'d self, traced: &'d Self) -> impl Iterator<Item = Difference> + 'd {
        self.reads.iter().filter_map(|(path, now)| {
            let (_, then) = traced.reads.iter().find(|(known, then)| known == path && then != now)?;
            Some(Difference::new(path.clone(), CHANGED, then.clone(), now.clone()))
        })
    }

    /// Whether it is the same without a look at the paths of nodes.
    fn is_plainly(&self, other: &Self) -> bool {
        self.positional == other.positional
            && self.keywords == other.keywords
            && self.flags == other.flags
            && self.user == other.user
            && self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(now, then)| now.is_plainly(then))
    }

    fn all(&self) -> Vec<Seen> {
        let seen = |what, text| Seen { path: String::new(), what, text };
        let names: Vec<_> = self.keywords.iter().map(Name::as_str).collect();
        let whole = [
            seen("positional arguments", self.positional.to_string()),
            seen("order of keywords", names.join(", ")),
            seen("flags", self.flags.join(", ")),
            seen("user context", self.user.as_deref().unwrap_or("NoneType").to_owned()),
        ];
        self.parts.iter().flat_map(Part::all).chain(whole).collect()
    }
}

impl Part {
    /// Whether it is the same without a look at paths: where the data are the same, they are.
    fn is_plainly(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Function(a), Self::Function(b)) => a == b,
            (Self::Default(a, mine), Self::Default(b, others)) => a == b && mine == others,
            (Self::Static(a, mine), Self::Static(b, others)) => a == b && mine == others,
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
        let seen = |path: &str, what, text: &str| vec![Seen { path: path.to_owned(), what, text: text.to_owned() }];
        match self {
            Self::Function(text) => seen("", "function", text),
            Self::Default(name, text) => seen(name.as_str(), "default", text),
            Self::Static(path, text) => seen(&path.to_string(), "static value", text),
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
                        text: text.to_string(),
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

/// An object with the types of everything in it.
pub(super) fn typed(obj: &Obj) -> Typed {
    match &**obj {
        Kind::None => Typed::Borrowed("None"),
        Kind::Function(_) => Typed::Borrowed("function"),
        _ => {
            let mut text = String::with_capacity(32);
            write!(text, "{}", WithTypes(obj)).expect("a String takes whatever comes");
            Typed::Owned(text)
        }
    }
}

/// Shows an object with the types of everything in it.
pub(super) struct WithTypes<'o>(pub &'o Obj);

/// Several things, with `, ` between them.
struct Listed<I>(I);

impl<I: Iterator<Item: fmt::Display> + Clone> fmt::Display for Listed<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.clone().enumerate().try_for_each(|(i, item)| write!(f, "{}{item}", if i > 0 { ", " } else { "" }))
    }
}

impl fmt::Display for WithTypes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |items| Listed(<[Obj]>::iter(items).map(WithTypes));
        let pairs = |items| Listed(<[(Obj, Obj)]>::iter(items).map(|(key, value)| Pair(WithTypes(key), ": ", value)));
        let named = |items| Listed(<[(Name, Obj)]>::iter(items).map(|(name, value)| Pair(name, "=", value)));
        let sorted = |items: &[Obj]| {
            let mut texts: Vec<_> = items.iter().map(typed).collect();
            texts.sort();
            texts.join(", ")
        };
        match &**self.0 {
            Kind::Tuple(items) if items.len() == 1 => write!(f, "({},)", all(items)),
            Kind::Tuple(items) => write!(f, "({})", all(items)),
            Kind::List(items) => write!(f, "[{}]", all(items)),
            Kind::Slice(parts, _) => write!(f, "slice({})", all(parts)),
            Kind::Set(items) => write!(f, "set({})", sorted(items)),
            Kind::Frozenset(items) => write!(f, "frozenset({})", sorted(items)),
            Kind::Dict(items) => write!(f, "dict({})", pairs(items)),
            Kind::OrderedDict(items) => write!(f, "OrderedDict({})", pairs(items)),
            Kind::DefaultDict(factory, items) => write!(f, "defaultdict({}, {})", WithTypes(factory), pairs(items)),
            Kind::MappingProxy(items) => write!(f, "mappingproxy({})", pairs(items)),
            Kind::Namedtuple(class, items) => write!(f, "{}({})", class.name, all(items)),
            Kind::Node { class, children, aux, .. } => {
                write!(f, "{}({}; {})", class.name, all(children), WithTypes(aux))
            }
            Kind::Record { class, fields } => write!(f, "{}({})", class.name, named(fields)),
            Kind::Instance { class, value, .. } => match python::description(&value.borrow()) {
                Some(text) => write!(f, "{}({text})", class.name),
                None => write!(f, "{}({})", class.name, WithTypes(&value.borrow())),
            },
            Kind::Derived { class, base } => write!(f, "{}({})", class.name, WithTypes(base)),
            Kind::Member { class, number } => write!(f, "{}({number})", class.name),
            Kind::Class(class) => write!(f, "class {}", class.name),
            Kind::Partial { func, args, kwargs } => {
                write!(f, "partial({}, {}, {})", WithTypes(func), all(args), named(kwargs))
            }
            Kind::TreePartial { func, args, kwargs } => {
                write!(f, "Partial({}, {}, {})", WithTypes(func), all(args), named(kwargs))
            }
            Kind::Method { of, name, .. } => write!(f, "{}({})", name.as_deref().unwrap_or("method"), WithTypes(of)),
            Kind::ModuleMethod(of) => write!(f, "BoundMethod({})", WithTypes(of)),
            Kind::ModuleWrapper(by, func, _) => write!(f, "{by}({})", WithTypes(func)),
            Kind::Jitted(func, _)
            | Kind::Wrapper(func, _)
            | Kind::Checkpointed(func)
            | Kind::Mapped(func)
            | Kind::Opaque(func, _) => write!(f, "wrapper({})", WithTypes(func)),
            Kind::Function(_) => f.write_str("function"),
            Kind::Array(array) => write!(f, "array {}{:?}", array.dtype, array.shape),
            // A number shows its type, and a string that it is one.
            Kind::NumpyScalar(dtype, value) if dtype.is_float() => write!(f, "np.{dtype}({value:?})"),
            Kind::Bool(_)
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Complex(..)
            | Kind::Str(_)
            | Kind::Bytes(_)
            | Kind::NumpyScalar(..)
            | Kind::Dtype(_)
            | Kind::ScalarType(_)
            | Kind::JaxScalarType(_) => f.write_str(&python::repr(self.0)),
            Kind::Parsed(parsed) => f.write_str(&parsed.expression()),
            Kind::ShapeDtypeStruct(array) => write!(f, "ShapeDtypeStruct({array})"),
            Kind::ArrayRef(array) => write!(f, "Ref({array})"),
            Kind::Treedef(treedef) => {
                let node = |node| Listed(<[(_, Obj)]>::iter(TreeNode::data(node)).map(|(_, data)| WithTypes(data)));
                write!(f, "PyTreeDef(")?;
                for (i, each) in treedef.nodes().iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{}", each.word())?;
                    if each.kind != NodeKind::Leaf {
                        write!(f, " of {}", each.arity)?;
                    }
                    if !each.data().is_empty() {
                        write!(f, " with {}", node(each))?;
                    }
                }
                f.write_str(")")
            }
            plain => write!(f, "{plain:?}"),
        }
    }
}

/// A key or name before a value.
struct Pair<'o, K>(K, &'static str, &'o Obj);

impl<K: fmt::Display> fmt::Display for Pair<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.0, self.1, WithTypes(self.2))
    }
}

/// How one value is written in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// A dtype in two forms: as `np.dtype`, `np.float32` or `jnp.float32`.
    Dtype,
    /// A number of Python's and one of NumPy's, which are equal and of one kind. To promotion they are not the same.
    Number,
}

impl Written {
    /// In what two texts of a digest differ, if it is in nothing else.
    #[must_use]
    pub fn otherwise(one: &str, other: &str) -> Option<Self> {
        let is_same = |of: Self| of.alike(one) == of.alike(other);
        (one != other).then_some(())?;
        [Self::Dtype, Self::Number].into_iter().find(|of| is_same(*of))
    }

    /// The text with dtypes in one form, and numbers of NumPy's as Python's if these are alike.
    fn alike(self, text: &str) -> String {
        let mut alike = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((at, word)) =
            ["jnp.", "np.", "dtype("].iter().filter_map(|word| Some((rest.find(word)?, word))).min()
        {
            let (before, after) = (&rest[..at], &rest[at + word.len()..]);
            alike.push_str(before);
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
            let (dtype, behind) = after.split_at(end);
            match (*word, behind.strip_prefix('('), behind.strip_prefix(')')) {
                ("np.", Some(number), _) if self == Self::Number => {
                    let (number, behind) = number.split_once(')').unwrap_or((number, ""));
                    alike.push_str(match (dtype, number) {
                        ("bool", "0") => "False",
                        ("bool", _) => "True",
                        _ => number,
                    });
                    rest = behind;
                }
                ("np.", Some(_), _) => {
                    alike.push_str(&rest[at..at + word.len() + end]);
                    rest = behind;
                }
                ("dtype(", _, Some(behind)) => {
                    alike.push_str(dtype);
                    rest = behind;
                }
                _ => {
                    alike.push_str(dtype);
                    rest = behind;
                }
            }
        }
        alike + rest
    }
}

#[cfg(test)]
mod tests {
    use super::Written;

    #[rstest::rstest]
    #[case("np.f32", "jnp.f32", Some(Written::Dtype))]
    #[case("tuple(dtype(f32), 1)", "tuple(np.f32, 1)", Some(Written::Dtype))]
    #[case("dtype(f32)", "dtype(f64)", None)]
    #[case("tuple(np.i64(2), 3)", "tuple(2, np.u8(3))", Some(Written::Number))]
    #[case("np.f32(1.0)", "1.0", Some(Written::Number))]
    #[case("np.f32(1.0)", "1", None)]
    #[case("np.bool(1)", "True", Some(Written::Number))]
    #[case("np.bool(1)", "1", None)]
    #[case("True", "1", None)]
    #[case("1.0", "1", None)]
    fn values_that_are_written_otherwise(#[case] one: &str, #[case] other: &str, #[case] expected: Option<Written>) {
        assert_eq!(Written::otherwise(one, other), expected);
    }
}
