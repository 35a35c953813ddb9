//! What stands around the steps of every script: what it imports, how it sees what a call took, and how it ends.

/// The parts of scripts, as Python has them.
const PARTS: &str = include_str!("parts.py");

/// The helpers that a script can need. Those that another one uses stand before it.
pub(super) const HELPERS: &[&str] = &[
    "enable_x64",
    "abstract_mesh",
    "within",
    "weak",
    "with_layout",
    "flag",
    "local_flag",
    "persistent_cache",
    "user_context",
    "UserArray",
    "Converted",
    "plain_method",
    "new_lambda",
    "closing_over",
    "compiled",
    "ahead_of_time",
    "in_thread",
];

/// The part of that name.
///
/// # Panics
/// If there is none.
pub(super) fn part(name: &str) -> &'static str {
    let parts = PARTS.split("\n# part: ").skip(1).filter_map(|part| part.split_once('\n'));
    let (_, text) = parts.into_iter().find(|(known, _)| *known == name).expect("every part is in the file");
    text.trim_end()
}

/// The names by which scripts know modules, with what imports them.
const IMPORTS: &[(&str, &str)] = &[
    ("collections", "import collections"),
    ("contextlib", "import contextlib"),
    ("dataclasses", "import dataclasses"),
    ("enum", "import enum"),
    ("functools", "import functools"),
    ("gc", "import gc"),
    ("re", "import re"),
    ("sys", "import sys"),
    ("tempfile", "import tempfile"),
    ("threading", "import threading"),
    ("types", "import types"),
    ("eqx", "import equinox as eqx"),
    ("equinox", "import equinox"),
    ("jax", "import jax"),
    // Which `import jax` doesn't bring.
    ("jax.flatten_util", "import jax.flatten_util"),
    ("jnp", "import jax.numpy as jnp"),
    ("jtu", "import jax.tree_util as jtu"),
    ("lax", "from jax import lax"),
    ("ml_dtypes", "import ml_dtypes"),
    ("np", "import numpy as np"),
    ("optax", "import optax"),
];

/// How many of [`IMPORTS`] are Python's own.
const OWN: usize = 11;

/// Whether the name is a module's in every script.
pub(super) fn is_module(name: &str) -> bool {
    IMPORTS.iter().any(|(known, _)| *known == name)
}

/// The import statements that the code needs, Python's own first.
pub(super) fn imports(code: &str, others: impl IntoIterator<Item = String>) -> String {
    let is_used = |module: &str| {
        code.match_indices(&format!("{module}.")).any(|(at, _)| {
            let before = code[..at].chars().next_back();
            before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == '.'))
        })
    };
    let needed = |known: &[(&str, &str)]| -> Vec<String> {
        known.iter().filter(|(module, _)| is_used(module)).map(|(_, import)| (*import).to_owned()).collect()
    };
    let own = needed(&IMPORTS[..OWN]).join("\n");
    let mut libraries = needed(&IMPORTS[OWN..]);
    libraries.extend(others);
    libraries.sort_by_key(|line| line.split(' ').nth(1).map(str::to_owned));
    libraries.dedup();
    format!("{own}\n\n{}", libraries.join("\n"))
}
