//! What functions read from outside of their arguments: nothing that a key has, and what a function that is made anew was often made
//! for.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::Value as Tree;

use super::Recording;
use crate::case::{Call, Value};
use crate::model::Difference;

/// The word for what a function closes over or reads of its module.
const OUTSIDE: &str = "from outside";

/// The same, of an object that is compared by identity, where it is another.
pub(super) const OBJECT: &str = "object from outside";

/// What is read from outside without the number of the object: `<Model width=2> #3`.
pub(super) fn unnumbered(text: &str) -> (&str, Option<&str>) {
    let is_number = |number: &str| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    match text.rsplit_once(" #").filter(|(_, number)| is_number(number)) {
        Some((text, number)) => (text, Some(number)),
        None => (text, None),
    }
}

/// Whether it is a number that is read from outside, and another one.
pub(super) fn is_of_a_number(found: &Difference) -> bool {
    found.component == OUTSIDE && [&found.before, &found.after].iter().all(|text| text.parse::<f64>().is_ok())
}

/// Whether it is a number without a fraction, a bool, a text or nothing that is read from outside: what can decide what is traced.
pub(super) fn is_of_a_choice(found: &Difference) -> bool {
    let is_choice = |text: &String| {
        matches!(&**text, "True" | "False" | "None") || text.starts_with(['\'', '"']) || text.parse::<i64>().is_ok()
    };
    found.component == OUTSIDE && [&found.before, &found.after].into_iter().all(is_choice)
}

/// Whether it is the shape or dtype of an array that is read from outside.
pub(super) fn is_of_an_array(found: &Difference) -> bool {
    let is_array = |text: &str| {
        let parts = text.strip_suffix(']').and_then(|text| text.split_once('['));
        parts.is_some_and(|(dtype, shape)| {
            let is_dtype = dtype.starts_with(|first: char| first.is_ascii_alphabetic());
            is_dtype
                && !dtype.contains(['(', ' ', '='])
                && shape.chars().all(|it| it.is_ascii_digit() || ", ".contains(it))
        })
    };
    found.component == OUTSIDE && is_array(&found.before) && is_array(&found.after)
}

/// Whether a number is the same as a float, inside of what is read: a schedule of optax makes 8.0 of its 8 once it is called.
fn is_converted(name: &str, [before, after]: &[&str; 2]) -> bool {
    let is_inside = name.contains('.');
    is_inside && (*after == format!("{before}.0") || *before == format!("{after}.0"))
}

/// What is read from outside by one name, where it is another.
fn difference(name: &str, before: &str, after: &str) -> Difference {
    let ((before, of_before), (after, of_after)) = (unnumbered(before), unnumbered(after));
    let is_another = of_before.zip(of_after).is_some_and(|(before, after)| before != after);
    let component = if is_another { OBJECT } else { OUTSIDE };
    let another = if before == after { ANOTHER } else { "" };
    Difference::new(name, component, before, format!("{another}{after}"))
}

/// How an object looks that looks the same as before.
const ANOTHER: &str = "another ";

/// What follows one that looks the same and isn't, as other things are read of it: another optimizer.
const OTHERWISE: &str = ", built otherwise";

/// Whether it is such an object.
pub(super) fn is_built_otherwise(found: &Difference) -> bool {
    found.component == OBJECT && found.after.ends_with(OTHERWISE)
}

/// Instead of what is read by a name: nothing.
const UNREAD: &str = "unread";

/// What the functions of a recording read from outside, as it was when they were met first.
pub(super) struct Outside<'r> {
    objects: HashMap<&'r str, &'r Value>,
    reads: HashMap<&'r str, &'r IndexMap<String, String>>,
}

impl<'r> Outside<'r> {
    pub fn of(recording: &'r Recording) -> Self {
        Self {
            objects: recording.news().flat_map(|news| &news.objects).map(|(name, it)| (name.as_str(), it)).collect(),
            reads: recording.news().flat_map(|news| &news.outside).map(|(name, it)| (name.as_str(), it)).collect(),
        }
    }

    /// What functions that stand in the same place of both calls, and are called alike, read by one name, and looks otherwise. That of
    /// a function among the arguments, which is one of what is `stated` to differ, is named after it.
    pub fn differences(&self, before: &Call, after: &Call, stated: &[Difference]) -> Vec<Difference> {
        let mut found = Vec::new();
        if !self.reads.is_empty() {
            let [before, after] =
                [before, after].map(|call| serde_json::to_value(call).expect("every call has a text"));
            self.compare(&before, &after, stated, &mut Vec::new(), &mut found);
        }
        let (found, unread): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|found| found.before != UNREAD && found.after != UNREAD);
        let is_otherwise = |object: &Difference| {
            let inside =
                |found: &Difference| found.path.strip_prefix(&*object.path).is_some_and(|rest| rest.starts_with('.'));
            object.component == OBJECT && object.after.starts_with(ANOTHER) && unread.iter().any(inside)
        };
        let told = |object: Difference| match is_otherwise(&object) {
            true => Difference { after: format!("{}{OTHERWISE}", &object.after[ANOTHER.len()..]), ..object },
            false => object,
        };
        found.into_iter().map(told).collect()
    }

    /// Whether the functions of two calls read the same, by the same names.
    pub fn is_alike(&self, before: &Call, after: &Call) -> bool {
        let mut found = Vec::new();
        let [before, after] =
            [before, after].map(|call| serde_json::to_value(&call.function).expect("every value has a text"));
        self.compare(&before, &after, &[], &mut Vec::new(), &mut found);
        found.is_empty()
    }

    fn compare<'t>(
        &self,
        before: &'t Tree,
        after: &'t Tree,
        stated: &[Difference],
        within: &mut Vec<(String, String)>,
        found: &mut Vec<Difference>,
    ) {
        match (before, after) {
            (Tree::String(before), Tree::String(after)) if before != after => {
                let names = (before.clone(), after.clone());
                if within.contains(&names) {
                    return;
                }
                let are_alike = self.called(before) == self.called(after);
                if let (true, Some(before), Some(after)) = (are_alike, self.read_by(before), self.read_by(after)) {
                    let holder = self.holder(&names.0, stated);
                    let names = after.keys().chain(before.keys().filter(|name| !after.contains_key(*name)));
                    let texts =
                        |name| [before, after].map(|read| read.get(name).map_or(UNREAD, |text: &String| text.as_str()));
                    let differing = names.map(|name| (name, texts(name)));
                    let differing =
                        differing.filter(|(name, texts)| texts[0] != texts[1] && !is_converted(name, texts));
                    for (name, [before, after]) in differing {
                        let difference = difference(&format!("{holder}{name}"), before, after);
                        if !found.contains(&difference) {
                            found.push(difference);
                        }
                    }
                }
                // A partial or a method has others in it.
                if let [Some(before), Some(after)] = [before, after].map(|name| self.object(name)) {
                    within.push(names);
                    self.compare(&before, &after, stated, within, found);
                    within.pop();
                }
            }
            (Tree::Array(before), Tree::Array(after)) => {
                before.iter().zip(after).for_each(|(before, after)| self.compare(before, after, stated, within, found));
            }
            (Tree::Object(before), Tree::Object(after)) => {
                for (key, before) in before {
                    if let Some(after) = after.get(key) {
                        self.compare(before, after, stated, within, found);
                    }
                }
            }
            _ => {}
        }
    }

    /// How the path of what a function reads begins: with that of the function, if it is the only one of what is `stated` that is
    /// called so. What the function that is jitted reads is named as it names it.
    fn holder(&self, name: &str, stated: &[Difference]) -> String {
        let Some(Tree::String(called)) = self.called(name) else { return String::new() };
        let text = format!("<function {called}>");
        let mut paths = stated.iter().filter(|found| found.before == text && !found.is_the_function());
        match (paths.next(), paths.next()) {
            (Some(found), None) => format!("{}.", found.path),
            _ => String::new(),
        }
    }

    /// What a function is called, and where it is written; a partial, that of what it is made of.
    fn called(&self, name: &str) -> Option<Tree> {
        let form = self.object(name)?;
        let [function, method, object] = [["def", "name"], ["method", "name"], ["object", "called"]]
            .map(|[kind, name]| form.get(kind).and_then(|form| form.get(name)).cloned());
        function.or(method).or(object)
    }

    fn read_by(&self, name: &str) -> Option<&'r IndexMap<String, String>> {
        self.reads.get(name).copied()
    }

    fn object(&self, name: &str) -> Option<Tree> {
        let object = self.objects.get(name)?;
        Some(serde_json::to_value(object).expect("every value has a text"))
    }
}
