//! A profile in words: what each table of the cache compares.

use serde::Serialize;

use crate::spec::{Equality, FunctionBy, Held, Profile, Table};

/// The parts of a key that a table compares, each with how, in the order of the profile's file.
#[must_use]
pub fn compared(table: &Table) -> Vec<(&'static str, String)> {
    let mut parts = Vec::new();
    if let Some(function) = &table.function {
        let by = match function.by {
            FunctionBy::Identity => "the same object",
            FunctionBy::Equal => "equal",
        };
        let held = match function.held {
            Held::Weakly => "held weakly",
            Held::Strongly => "kept alive",
        };
        parts.push(("function", format!("{by}, {held}")));
    }
    for (name, words) in
        [("call", words(&table.call)), ("leaf", words(&table.leaf)), ("context", words(&table.context))]
    {
        if !words.is_empty() {
            parts.push((name, words));
        }
    }
    if let Some(tree) = &table.tree {
        parts.push(("tree", equality(tree)));
    }
    if let Some(statics) = &table.statics {
        let (positional, keyword) = (equality(&statics.positional), equality(&statics.keyword));
        if positional == keyword {
            parts.push(("statics", positional));
        } else {
            parts.push(("statics", format!("{positional}; by keyword: {keyword}")));
        }
    }
    parts
}

/// What each kind of leaf is.
#[must_use]
pub fn leaves(profile: &Profile) -> Vec<(String, String)> {
    let line = |rule: &crate::spec::LeafRule| {
        let mut told = vec![format!("{:?}", rule.role).to_lowercase()];
        let errors = [
            (&rule.error, ""),
            (&rule.error_when_used, " if the body uses it"),
            (&rule.error_when_missed, " if the fast path is missed"),
            (&rule.error_when_lowered, " once it is lowered"),
            (&rule.error_when_twice, " if one is given twice"),
        ];
        for (error, when) in errors {
            told.extend(error.iter().map(|error| format!("{error}{when}")));
        }
        told.extend(rule.never_fast.then(|| "never on the fast path".to_owned()));
        told.extend(rule.commits.then(|| "committed to where it is".to_owned()));
        told.extend(rule.strong_when_missed.then(|| "strongly typed below the fast path".to_owned()));
        (words(&rule.kind), told.join("; "))
    };
    profile.leaves.iter().map(line).collect()
}

/// The name of a table, or any other word of a profile.
#[must_use]
pub fn word<T: Serialize>(value: &T) -> String {
    let json = serde_json::to_value(value).expect("a word of a profile is text");
    json.as_str().unwrap_or_default().replace('_', " ")
}

fn words<T: Serialize>(values: &[T]) -> String {
    values.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn equality(equality: &Equality) -> String {
    let tests = [
        (equality.same_type, "same type"),
        (equality.hash, "hash"),
        (equality.identity, "is"),
        (equality.equal, "=="),
        (equality.treedef_equals_others, "a treedef among aux equals others"),
    ];
    tests.iter().filter(|(made, _)| *made).map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}
