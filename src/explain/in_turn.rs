//! Which objects of earlier calls come again: two that are used in turn are both meant.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value as Tree;

use crate::case::Call;
use crate::model::Difference;

/// The objects that calls name.
pub(super) struct InTurn {
    named: Vec<Rc<HashSet<String>>>,
    /// The last call that names each.
    last: HashMap<String, usize>,
}

impl InTurn {
    /// Of calls by their numbers, from 1 on; several may be described by one.
    pub fn of<'r>(calls: usize, described: impl Fn(usize) -> Option<&'r Call>) -> Self {
        let mut known: HashMap<*const Call, Rc<HashSet<String>>> = HashMap::new();
        let mut named = Vec::with_capacity(calls);
        let mut last = HashMap::new();
        for number in 1..=calls {
            let names = match described(number) {
                Some(call) => Rc::clone(known.entry(std::ptr::from_ref(call)).or_insert_with(|| {
                    let mut names = HashSet::new();
                    add_names(&serde_json::to_value(call).expect("every call has a text"), &mut names);
                    Rc::new(names)
                })),
                None => Rc::default(),
            };
            last.extend(names.iter().map(|name| (name.clone(), number)));
            named.push(names);
        }
        Self { named, last }
    }

    /// Whether the function that `difference` is about, which call `nearest` names and call `number` doesn't, is named later.
    pub fn comes_again(&self, nearest: usize, number: usize, difference: &Difference) -> bool {
        let Some(function) = called(&difference.before) else { return false };
        let is_of = |name: &&String| name.strip_prefix(&*function).is_some_and(|rest| rest.starts_with('_'));
        let before = self.named[nearest - 1].iter().filter(is_of);
        let mut gone = before.filter(|name| !self.named[number - 1].contains(*name));
        gone.any(|name| self.last[name] > number)
    }
}

/// What a function is called, as names are made of that: `init_fn` of `<function chain.<locals>.init_fn at a.py:1>`.
fn called(text: &str) -> Option<String> {
    let (path, _) = text.strip_prefix("<function ")?.split_once(" at ")?;
    let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
    Some(name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect())
}

fn add_names(text: &Tree, names: &mut HashSet<String>) {
    match text {
        Tree::Object(parts) => {
            if let Some(Tree::String(name)) = parts.get("ref") {
                names.insert(name.clone());
            }
            parts.values().for_each(|part| add_names(part, names));
        }
        Tree::Array(parts) => parts.iter().for_each(|part| add_names(part, names)),
        _ => {}
    }
}
