//! Where two pieces of data differ: the smallest parts of them that do, by their paths.

use std::rc::Rc;

use super::difference::{ABSENT, Difference, STATIC_HASH, STRUCTURE};
use super::object::{Kind, Obj};
use super::python;
use super::tree_difference::treedefs_apart;
use super::treedef::attribute;
use crate::case::{Class, Name};

/// The texts of two things that are not the same, even if they look alike.
pub(super) fn told_apart(before: &str, after: &str) -> (String, String) {
    let another = if before == after { "another " } else { "" };
    (before.to_owned(), format!("{another}{after}"))
}

pub(super) fn objects_told_apart(before: &Obj, after: &Obj) -> (String, String) {
    let [old, new] = [before, after].map(with_class);
    let methods = if old == new { methods_told_apart(before, after) } else { None };
    methods.unwrap_or_else(|| told_apart(&old, &new))
}

/// The text of an object; an instance of a subclass, a member of an enum say, looks as one of its base without its class.
pub(super) fn with_class(object: &Obj) -> String {
    match &**object {
        Kind::Derived { class, .. } if !class.shows_itself() => format!("{}({})", class.name, python::repr(object)),
        _ => python::repr(object),
    }
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
pub(super) const DEPTH: u32 = 64;

/// Adds the smallest parts in which two pieces of data differ, or the pieces themselves if no parts correspond.
pub(super) fn apart(path: String, component: &str, old: &Obj, new: &Obj, depth: u32, found: &mut Vec<Difference>) {
    let before = found.len();
    if let (Kind::Treedef(old), Kind::Treedef(new)) = (&**old, &**new) {
        treedefs_apart(&path, old, new, found);
    }
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

/// Adds the smallest parts of two pieces of data that are equal and hashed otherwise.
pub(super) fn hashed_apart(path: &str, old: &Obj, new: &Obj, depth: u32, found: &mut Vec<Difference>) {
    for (label, old, new) in corresponding(old, new) {
        let (Some(old), Some(new), true) = (old, new, depth > 0) else { continue };
        if python::is(old, new) {
            continue;
        }
        let (path, known) = (format!("{path}{label}"), found.len());
        hashed_apart(&path, old, new, depth - 1, found);
        let is_hashed_otherwise = || python::hash(old).ok() != python::hash(new).ok();
        if found.len() == known && python::equal(old, new) == Ok(true) && is_hashed_otherwise() {
            let (old, new) = objects_told_apart(old, new);
            found.push(Difference::new(path, STATIC_HASH, old, new));
        }
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
pub(super) fn each_apart(
    path: &str,
    component: &str,
    parts: Vec<Corresponding<'_>>,
    depth: u32,
    found: &mut Vec<Difference>,
) {
    for (label, old, new) in parts {
        let path = format!("{path}{label}");
        match (old, new) {
            (Some(old), Some(new)) if python::is(old, new) || python::equal(old, new) == Ok(true) => {}
            (Some(old), Some(new)) => apart(path, component, old, new, depth, found),
            (old, new) => {
                let [old, new] = [old, new].map(|part| part.map_or_else(|| ABSENT.to_owned(), python::repr));
                found.push(Difference::new(path, STRUCTURE, old, new));
            }
        }
    }
}

/// A part of a piece of data by what it is called there, in each of two.
pub(super) type Corresponding<'d> = (String, Option<&'d Obj>, Option<&'d Obj>);

/// The parts of two pieces of data that are built alike.
pub(super) fn corresponding<'d>(old: &'d Obj, new: &'d Obj) -> Vec<Corresponding<'d>> {
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
            names.map(|name| (attribute(name.as_str()), of(old, name), of(new, name))).collect()
        }
        (
            Kind::Node { class: was, children: old, aux: old_aux, .. },
            Kind::Node { class: is, children: new, aux: new_aux, .. },
        ) if Rc::ptr_eq(was, is) && old.len() == new.len() => {
            let mut parts: Vec<_> = zipped(old, new);
            parts.push((".aux".to_owned(), Some(old_aux), Some(new_aux)));
            parts
        }
        // A number or a text of a class of its own, a member of an enum, has no parts.
        (Kind::Derived { class: was, base: old }, Kind::Derived { class: is, base: new })
            if Rc::ptr_eq(was, is) && !corresponding(old, new).is_empty() =>
        {
            vec![(String::new(), Some(old), Some(new))]
        }
        _ => Vec::new(),
    }
}

/// The name of a class without the number that a recording gives it.
pub(crate) fn stem(name: &str) -> &str {
    let numbered = name.rsplit_once("__").filter(|(_, number)| number.parse::<u32>().is_ok());
    numbered.map_or(name, |(stem, _)| stem)
}
