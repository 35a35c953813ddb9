//! Classes as Python writes them.

use std::fmt::Write;

use super::{ScriptError, Writer};
use crate::case::{Class, EqPolicy, HashPolicy, MethodKind, Name};

impl Writer<'_> {
    /// The class, as `src/python/jitkey/classes.py` makes it.
    pub(super) fn class(&self, name: &Name, class: &Class) -> Result<String, ScriptError> {
        let named = self.name(name)?;
        let mut after = String::new();
        let mut body = Vec::new();
        let (decorator, base) = match class {
            Class::Namedtuple(fields) => {
                let method = |(attribute, kind): (&String, &MethodKind)| {
                    let made = match kind {
                        MethodKind::Instance => "lambda self, *args, **kwargs: body(self, args, kwargs)",
                        MethodKind::Class => "classmethod(lambda cls, *args, **kwargs: body(cls, args, kwargs))",
                        MethodKind::Static => "staticmethod(lambda *args, **kwargs: body(args, kwargs))",
                    };
                    format!("\n{named}.{attribute} = {made}")
                };
                let methods: String = self.methods.iter().map(method).collect();
                return Ok(format!("{named} = collections.namedtuple(\"{name}\", {}){methods}", list(fields)));
            }
            Class::Node {} => {
                body.push(
                    "def __init__(self, children, aux=None):\n    self.children, self.aux = children, aux".to_owned(),
                );
                body.push("def tree_flatten(self):\n    return tuple(self.children), self.aux".to_owned());
                body.push(
                    "@classmethod\ndef tree_unflatten(cls, aux, children):\n    return cls(children, aux)".to_owned(),
                );
                ("@jax.tree_util.register_pytree_node_class\n", "")
            }
            Class::Dataclass { data, meta } => {
                body.extend(fields(data.iter().chain(meta), ""));
                after = format!("\n\n\njax.tree_util.register_dataclass({named}, {}, {})", list(data), list(meta));
                ("@dataclasses.dataclass\n", "")
            }
            Class::Module { fields: dynamic, static_ } => {
                let declared = fields(dynamic.iter(), "").chain(fields(static_.iter(), " = eqx.field(static=True)"));
                body.extend(declared.collect::<Vec<_>>());
                ("", "(eqx.Module)")
            }
            Class::NnxModule { .. } => return Err(ScriptError::new("a class that is an nnx.Module")),
            Class::Plain { eq, hash, callable: _ } => {
                body.push(
                    "def __init__(self, value=None, hash=0):\n    self.value, self.hash = value, hash".to_owned(),
                );
                body.extend(equality(*eq, &named));
                body.extend(hashing(*eq, *hash, &named));
                ("", "")
            }
            Class::PlainDataclass { fields: declared, frozen } => {
                body.extend(fields(declared.iter(), ""));
                (if *frozen { "@dataclasses.dataclass(frozen=True)\n" } else { "@dataclasses.dataclass\n" }, "")
            }
            Class::Enum(members) => {
                body.extend(numbered(members));
                ("", "(enum.Enum)")
            }
            Class::IntEnum(members) => {
                body.extend(numbered(members));
                ("", "(enum.IntEnum)")
            }
            Class::Subclass { of, repr } => {
                let base = if self.case.classes.contains_key(of) { self.name(of)? } else { of.to_string() };
                let shown = format!("def __repr__(self):\n    return f\"{named}({{super().__repr__()}})\"");
                body.extend(repr.then_some(shown));
                body.extend(self.method(class));
                return Ok(written("", &named, &format!("({base})"), body));
            }
        };
        if self.stale && matches!(class, Class::Plain { .. } | Class::Node {}) {
            body.push("def __repr__(self):\n    return f\"{type(self).__name__}({vars(self)})\"".to_owned());
        }
        let callable = match class {
            Class::Plain { callable, .. } => *callable,
            Class::Module { .. } => self.calls_instances,
            _ => false,
        };
        if callable {
            body.push("def __call__(self, *args, **kwargs):\n    return body(self, args, kwargs)".to_owned());
        }
        body.extend(self.method(class));
        Ok(written(decorator, &named, base, body) + &after)
    }

    /// The methods that the case uses.
    fn method(&self, class: &Class) -> Vec<String> {
        if matches!(class, Class::Subclass { of, .. } if self.case.classes.contains_key(of)) {
            return Vec::new();
        }
        let method = |(attribute, kind): (&String, &MethodKind)| {
            let (decorator, first) = match kind {
                MethodKind::Instance => ("", "self, "),
                MethodKind::Class => ("@classmethod\n", "cls, "),
                MethodKind::Static => ("@staticmethod\n", ""),
            };
            format!("{decorator}def {attribute}({first}*args, **kwargs):\n    return body({first}args, kwargs)")
        };
        self.methods.iter().map(method).collect()
    }
}

fn written(decorator: &str, name: &str, base: &str, body: Vec<String>) -> String {
    let mut text = format!("{decorator}class {name}{base}:");
    if body.is_empty() {
        return text + "\n    pass";
    }
    let mut after_a_function = false;
    for (i, part) in body.iter().enumerate() {
        let is_function = part.contains("def ");
        let gap = if i > 0 && (is_function || after_a_function) { "\n" } else { "" };
        let _ = write!(text, "{gap}\n{}", super::indented(part));
        after_a_function = is_function;
    }
    text
}

fn fields<'n>(names: impl Iterator<Item = &'n Name>, default: &'n str) -> impl Iterator<Item = String> {
    names.map(move |name| format!("{name}: object{default}"))
}

fn list(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", names.join(", "))
}

fn numbered(members: &[Name]) -> Vec<String> {
    members.iter().enumerate().map(|(i, name)| format!("{name} = {}", i + 1)).collect()
}

const SAME_VALUE: &str =
    "(isinstance(other, type(self)) or isinstance(self, type(other))) and bool(self.value == other.value)";

fn equality(policy: EqPolicy, class: &str) -> Option<String> {
    let result = match policy {
        EqPolicy::Identity => return None,
        EqPolicy::Value => format!("return {SAME_VALUE}"),
        EqPolicy::Always => format!("return isinstance(other, {class})"),
        EqPolicy::Never => "return False".to_owned(),
        EqPolicy::Raises => format!("raise RuntimeError(\"{class} can't be compared\")"),
        EqPolicy::Array => "return np.array([True, True])".to_owned(),
        EqPolicy::Truthy => format!("return \"x\" if {SAME_VALUE} else \"\""),
    };
    Some(format!("def __eq__(self, other):\n    {result}"))
}

fn hashing(eq: EqPolicy, policy: HashPolicy, class: &str) -> Option<String> {
    let result = match policy {
        HashPolicy::Identity if eq == EqPolicy::Identity => return None,
        HashPolicy::Identity => return Some("__hash__ = object.__hash__".to_owned()),
        HashPolicy::None => return Some("__hash__ = None".to_owned()),
        HashPolicy::Value => "return hash(self.value)".to_owned(),
        HashPolicy::Constant => "return 7".to_owned(),
        HashPolicy::Chosen => "return self.hash".to_owned(),
        HashPolicy::Raises => format!("raise RuntimeError(\"{class} can't be hashed\")"),
    };
    Some(format!("def __hash__(self):\n    {result}"))
}
