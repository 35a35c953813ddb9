//! Which objects of earlier calls come again: two that are used in turn are both meant.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value as Tree;

use crate::case::Call;

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

    /// Whether something that call `nearest` names, and call `number` doesn't, is named later.
    pub fn comes_again(&self, nearest: usize, number: usize) -> bool {
        let mut before = self.named[nearest - 1].iter().filter(|name| !self.named[number - 1].contains(*name));
        before.any(|name| self.last[name] > number)
    }
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
