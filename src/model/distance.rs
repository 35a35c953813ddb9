//! How far a key is from another one: the call whose key is nearest is the one to compare with.

use super::difference::{
    ABSENT, ARGUMENT, Difference, FORM, STATIC_ARGUMENT, STATIC_OR_TRACED, STATIC_VALUE, STRUCTURE,
};
use super::parts::X64;

/// What is built otherwise, and each leaf in it, says more than a leaf that differs in its dtype and how weak that is: of a container
/// of another kind high up nothing is alike.
pub(super) const BUILT_OTHERWISE: usize = 3;

/// How far two keys are from each other that differ so, with so many leaves in parts that can't be compared. How wide numbers are
/// follows from the flag where that differs. How arguments are passed is one thing, in whatever it shows.
pub(super) fn distance(found: &[Difference], incomparable: usize) -> usize {
    let is_flagged = found.iter().any(|found| found.component == X64);
    let own = found.iter().filter(|found| !(is_flagged && found.is_of_width()));
    let (of_form, own): (Vec<_>, Vec<_>) = own.partition(|found| FORM.contains(&&*found.component));
    own.into_iter().map(weight).sum::<usize>() + usize::from(!of_form.is_empty()) + BUILT_OTHERWISE * incomparable
}

/// How much a difference says. A list is further away from a tuple of another length than from one of the same, a dict from a
/// defaultdict than one with another factory, an object of another class than one of the same, what is over no mesh than what is over
/// another one, and an array than a key of another implementation or another number.
fn weight(difference: &Difference) -> usize {
    let Difference { path, component, before, after } = difference;
    let are_sequences = [before, after].into_iter().all(|text| ["list", "tuple"].contains(&class(text)));
    match component.as_str() {
        STRUCTURE if path.ends_with(".default_factory") => BUILT_OTHERWISE - 1,
        // Of what a node has besides its children one value is another.
        STRUCTURE if class(before) == class(after) && count(before).is_none() => BUILT_OTHERWISE - 1,
        STRUCTURE if are_sequences && count(before) == count(after) => BUILT_OTHERWISE - 1,
        STRUCTURE | ARGUMENT => BUILT_OTHERWISE,
        STATIC_ARGUMENT if before == ABSENT || after == ABSENT => BUILT_OTHERWISE,
        STATIC_VALUE if class(before) != class(after) => 2,
        "mesh" if before == "none" || after == "none" => 2,
        "dtype" if before.starts_with("key<") != after.starts_with("key<") => 2,
        STATIC_OR_TRACED => BUILT_OTHERWISE,
        _ => 1,
    }
}

/// How many children a node has, if the text is that of one: `list of 3`.
fn count(text: &str) -> Option<usize> {
    text.rsplit_once(" of ").and_then(|(_, count)| count.parse().ok())
}

/// The class of an object as its text tells it.
fn class(text: &str) -> &str {
    let text = text.strip_prefix("another ").unwrap_or(text);
    let text = text.strip_prefix('<').unwrap_or(text);
    match text {
        "True" | "False" => "bool",
        _ if text.starts_with(['\'', '"']) => "str",
        _ if text.parse::<i128>().is_ok() => "int",
        _ if text.parse::<f64>().is_ok() => "float",
        _ => text.split_once(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(text, |(class, _)| class),
    }
}
