//! What was compiled beside the calls of a recording.

use indexmap::IndexMap;
use serde::Serialize;

use super::recording::{self, Recording};

/// What a line of the program had compiled outside of the recorded calls: operations, and what libraries jit themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Beside {
    /// The line, if it is known.
    pub from: Option<String>,
    /// How often.
    pub compiles: usize,
    /// How often of each name.
    pub names: IndexMap<String, usize>,
}

impl Beside {
    pub(super) fn all(recording: &Recording) -> Vec<Self> {
        let mut lines: IndexMap<_, Self> = IndexMap::new();
        for recording::Beside { name, from } in recording.beside() {
            let new = || Self { from: from.clone(), compiles: 0, names: IndexMap::new() };
            let line = lines.entry(from).or_insert_with(new);
            line.compiles += 1;
            if let Some(name) = name {
                *line.names.entry(name.clone()).or_default() += 1;
            }
        }
        let mut lines: Vec<_> = lines.into_values().collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.compiles));
        lines
    }
}
