//! Python's `repr`, as far as explanations show it.

use std::rc::Rc;

use super::apart::stem;
use super::object::{Kind, Obj};
use crate::case::{Class, Name};

/// What a recording says of an instance in the place of its value: `rate=0.1, width=8`, or `0, 3` of a range.
pub fn description(value: &Obj) -> Option<&str> {
    match &**value {
        Kind::Str(text) if text.contains('=') || text.contains(", ") => Some(text),
        _ => None,
    }
}

/// `repr(obj)`, as far as the names of arguments show it: enough to tell keys apart that are equal.
pub fn repr(obj: &Obj) -> String {
    match &**obj {
        Kind::None => "None".to_owned(),
        Kind::Bool(true) => "True".to_owned(),
        Kind::Bool(false) => "False".to_owned(),
        Kind::Int(value) => value.to_string(),
        Kind::Float(value) if value.is_nan() => "nan".to_owned(),
        Kind::Float(value) => format!("{value:?}"),
        Kind::Complex(re, im) => format!("({re}+{im}j)"),
        Kind::Str(text) => format!("'{text}'"),
        Kind::Bytes(text) => format!("b'{text}'"),
        Kind::Parsed(parsed) => parsed.expression(),
        Kind::Tuple(items) if items.len() == 1 => format!("({},)", repr(&items[0])),
        Kind::Tuple(items) => format!("({})", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Kind::Namedtuple(class, items) => {
            format!("{}({})", stem(class.name.as_str()), items.iter().map(repr).collect::<Vec<_>>().join(", "))
        }
        Kind::List(items) => format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Kind::Frozenset(items) => format!("frozenset({{{}}})", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Kind::Range(start, stop, 1) => format!("range({start}, {stop})"),
        Kind::Range(start, stop, step) => format!("range({start}, {stop}, {step})"),
        Kind::Slice(parts, _) => format!("slice({})", parts.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Kind::NumpyScalar(dtype, value) => format!("np.{dtype}({value})"),
        Kind::Dtype(dtype) => format!("dtype({dtype})"),
        Kind::ScalarType(dtype) => format!("np.{dtype}"),
        Kind::JaxScalarType(dtype) => format!("jnp.{dtype}"),
        Kind::Global(name) => name.clone(),
        Kind::Member { class, number } => match &class.class {
            Class::Enum(members) | Class::IntEnum(members) => {
                let member = usize::try_from(number - 1).ok().and_then(|i| members.get(i));
                format!("{}.{}", class.name, member.map_or("?", |name| name.as_str()))
            }
            _ => class.name.to_string(),
        },
        Kind::Derived { base, class } if class.shows_itself() => format!("{}({})", class.name, repr(base)),
        Kind::Derived { base, .. } => repr(base),
        Kind::Tracer(value) => format!("a tracer of {}", repr(value)),
        Kind::Instance { class, value, .. } => {
            let value = value.borrow();
            let written = match &**value {
                // What a recording says of one of Python's own; what is called `float` alone is no class of a case.
                Kind::Str(text) if matches!(class.name.as_str(), "float__2" | "dict__2" | "list__2") => {
                    return text.to_string();
                }
                // What it says of a container, of what there are no words for, and of a string that can be taken for such.
                Kind::Str(text) if text.is_empty() || text.starts_with(['{', '[', '(', '<', '\'']) => Some(&**text),
                _ => description(&value),
            };
            format!("{}({})", stem(class.name.as_str()), written.map_or_else(|| repr(&value), str::to_owned))
        }
        Kind::Array(array) => array.to_string(),
        // Without the address, so that an explanation is the same each time.
        Kind::Function(function) => match &function.name {
            None => "<function>".to_owned(),
            Some(name) => format!("<function {name}>"),
        },
        Kind::Partial { func, .. } => format!("functools.partial({}, …)", repr(func)),
        Kind::TreePartial { func, .. } => format!("Partial({}, …)", repr(func)),
        Kind::Jitted(func, _) => format!("<jit of {}>", repr(func)),
        Kind::Wrapper(func, _) | Kind::Checkpointed(func) | Kind::Mapped(func) | Kind::Opaque(func, _) => {
            format!("<wrapper of {}>", repr(func))
        }
        Kind::Method { of, name: Some(name), .. } => format!("<bound method {name} of {}>", repr(of)),
        Kind::Method { of, name: None, .. } | Kind::ModuleMethod(of) => format!("<bound method of {}>", repr(of)),
        Kind::Class(class) => format!("<class {}>", stem(class.name.as_str())),
        Kind::Record { class, .. } | Kind::Node { class, .. } => format!("{}(…)", stem(class.name.as_str())),
        Kind::Dict(_) | Kind::OrderedDict(_) | Kind::DefaultDict(..) | Kind::MappingProxy(_) => "{…}".to_owned(),
        Kind::Set(_) => "{…}".to_owned(),
        Kind::Bytearray(text) => format!("bytearray(b'{text}')"),
        Kind::ShapeDtypeStruct(array) => format!("ShapeDtypeStruct({array})"),
        Kind::ArrayRef(array) => format!("Ref({array})"),
        Kind::PartitionSpec(axes, _) => {
            let axis =
                |axis: &Option<Name>| axis.as_ref().map_or_else(|| "None".to_owned(), |name| format!("'{name}'"));
            format!("P({})", axes.iter().map(axis).collect::<Vec<_>>().join(", "))
        }
        Kind::Treedef(_) => "PyTreeDef(…)".to_owned(),
        Kind::ModuleWrapper(by, func, _) => format!("{by}({})", repr(func)),
        Kind::Ellipsis => "...".to_owned(),
        Kind::Object { called, .. } => called.clone().unwrap_or_else(|| "<object>".to_owned()),
    }
}

/// The same with the address of what Python prints with one, so that no two objects print alike.
pub fn printed(obj: &Obj) -> String {
    match &**obj {
        Kind::Tuple(items) => format!("({})", items.iter().map(printed).collect::<Vec<_>>().join(", ")),
        Kind::Instance { class, .. } if matches!(class.root(), Class::Plain { .. }) => {
            format!("{} at {:p}", repr(obj), Rc::as_ptr(obj))
        }
        _ => repr(obj),
    }
}
