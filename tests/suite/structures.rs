//! What treedefs differ in that are static, or in the data of nodes.

use jitkey::report::explain::text;
use jitkey::report::text::Style;
use rstest::rstest;

use super::common::NEWEST;
use super::recordings::record;

/// Two treedefs differ in nodes, each of which has its path and its cause.
#[rstest]
fn a_treedef_differs_in_its_nodes(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let explained = record("treedefs", version);
    let again = explained.calls.iter().filter(|call| call.is_again() && call.compiles());
    let said: Vec<_> = again
        .map(|call| {
            let first = call.differences().first().expect("a difference");
            let cause = call.advice.iter().flatten().next().map_or("none", |advice| &advice.cause);
            format!("{}: {first}: {cause}", call.number)
        })
        .collect();
    let by = "it.aux['inner'].aux['layer'].aux['by']";
    let anew = "<function scale.<locals>.by at treedefs.py:124>";
    let expected = [
        "3: structure at treedef['b']: tuple of 2 was list of 2: another-structure",
        "4: structure at treedef['b']: absent was tuple of 2: a-key-less",
        "5: structure at treedef: Pair of 2 was dict of 2: another-structure",
        "6: key order at treedef.right: 'b', 'a' was 'a', 'b': keys-in-another-order",
        "7: structure at treedef: Pair of 2 was dict of 2: another-structure",
        "8: structure at treedef.right.default_factory: <class 'dict'> was <class 'list'>: another-default-factory",
        "9: structure at treedef: Scaled of 1 was Pair of 2: another-structure",
        "10: structure at treedef.aux['by']: 2 was 1: static-field-number",
        &format!("12: structure at treedef.aux['by']: {anew} was 2: static-field-number"),
        &format!("13: structure at treedef.aux['by']: another {anew} was {anew}: function-made-anew"),
        "14: structure at treedef: Head of 1 was Scaled of 1: another-structure",
        "15: structure at treedef.size: 4 was 3: static-field-number",
        "16: structure at leaves: list of 1 was list of 3: list-of-another-length",
        "18: static value at treedef: PyTreeDef('… (2)') was PyTreeDef('…'): static-argument",
        "19: structure at leaves: list of 2 was list of 1: list-of-another-length",
        "21: static value at treedef: PyTreeDef(dict(*, *) (2)) was PyTreeDef(dict(*, *)): static-argument",
        "22: structure at leaves: list of 0 was list of 1: list-of-another-length",
        &format!("26: structure at {by}: {anew} was <function scale at treedefs.py:123>: another-function"),
        &format!("27: structure at {by}: another {anew} was {anew}: function-made-anew"),
        "28: structure at it: Table of 1 was Held of 2: another-structure",
        "29: structure at it['b']: f32[2] was absent: a-key-more-or-less",
        "30: static value at treedef: PyTreeDef(…) was PyTreeDef('… (2)'): static-argument",
        "32: static value at treedef: PyTreeDef('Greek(*)') was PyTreeDef(…): static-argument",
        "34: static value at treedef: PyTreeDef(…) was PyTreeDef('Greek(*)'): static-argument",
    ];
    assert_eq!(said, expected, "{}", text(&explained, Style::PLAIN));
    let added = explained.calls.iter().find(|call| call.number == 29).expect("a call");
    assert_eq!(added.differences().len(), 1, "the treedef in its data lists the key that is added");
}
