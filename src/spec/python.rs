//! What Python itself decides, whatever runs on it. Declared in `spec/python.yaml`.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexSet;
use serde::Deserialize;

use super::before::Wrong;
use super::read::key;
use super::spans::Step;
use super::{Edit, SourceRef, Version};

/// What Python decides now, and what it decided otherwise before.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pythons {
    /// What is worth knowing about it.
    pub about: String,
    /// What the newest decides.
    pub now: Python,
    /// What is different before a version, as edits of what stands under `now`. It holds for all older versions, too, with what
    /// is different before them.
    #[serde(default)]
    pub before: BTreeMap<Version, Vec<Edit>>,
    /// Where this was read or measured.
    pub sources: Vec<SourceRef>,
}

/// What some versions of Python decide.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// The builtins that `inspect.signature` finds no signature of (`ValueError`).
    #[serde(default)]
    pub unsigned: IndexSet<String>,
    /// Whether a slice hashes, by its three parts.
    #[serde(default)]
    pub slices_hash: bool,
    /// Whether `inspect.signature` asks a callable object whether it equals `type`, by the object's own `==`.
    #[serde(default)]
    pub signatures_compare: bool,
    /// Whether the `==` of a dataclass compares the fields as tuples do, by identity before `==`.
    #[serde(default)]
    pub dataclasses_compare_tuples: bool,
}

/// What the versions before each of these decide, the oldest first.
pub(super) type Older = Vec<(Version, Arc<Python>)>;

impl Pythons {
    /// What the versions before each bound decide, the oldest first.
    ///
    /// # Errors
    /// If an edit changes nothing, or what it makes can't be read.
    pub(super) fn older(&self, now: &serde_yaml::Value) -> Result<Older, Wrong> {
        let wrong = |path: Vec<Step>, reason: String| Wrong { path, reason };
        let mut tree = serde_json::to_value(now).map_err(|error| wrong(vec![key("now")], error.to_string()))?;
        let mut older = Older::new();
        for (bound, edits) in self.before.iter().rev() {
            let mut python = older.last().map_or_else(|| self.now.clone(), |(_, newer)| Python::clone(newer));
            for (i, edit) in edits.iter().enumerate() {
                let at = || vec![key("before"), key(&bound.to_string()), Step::Index(i)];
                if edit.apply(&mut tree) == 0 {
                    return Err(wrong(at(), format!("before {bound}, nothing is changed at `{}`", edit.at)));
                }
                python = Python::deserialize(&tree).map_err(|error| wrong(at(), format!("before {bound}, {error}")))?;
            }
            older.push((bound.clone(), Arc::new(python)));
        }
        older.reverse();
        Ok(older)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use crate::spec::{Spec, SpecFile, Version};

    #[rstest]
    #[case("3.10.13", [true, true, false])]
    #[case("3.12", [true, true, true])]
    #[case("3.12.4", [true, false, true])]
    #[case("3.14", [false, false, true])]
    fn what_was_before_adds_up(#[case] python: &str, #[case] expected: [bool; 3]) {
        let spec = Spec::embedded();
        let jax: Version = "0.6.2".parse().unwrap();
        let profile = spec.profile("jax.jit", &jax.clone().on_python(python.parse().unwrap())).unwrap();
        let it = &profile.python;
        assert_eq!([it.dataclasses_compare_tuples, it.signatures_compare, it.slices_hash], expected);
        let newest = spec.profile("jax.jit", &jax).unwrap();
        assert!(newest.python.slices_hash && !newest.python.dataclasses_compare_tuples);
        assert_eq!(newest.versions, profile.versions);
    }

    #[rstest]
    #[case("before: {'3.12': [{at: slices_hush, set: false}]}", "before 3.12, unknown field `slices_hush`")]
    #[case("before: {'3.12': [{at: slices_hash, set: 3}]}", "before 3.12, invalid type: integer `3`")]
    #[case("befor: {}", "befor")]
    fn what_cannot_be_is_said(#[case] before: &str, #[case] expected: &str) {
        let mut files: Vec<SpecFile> = Spec::embedded_files();
        let python = files.iter_mut().find(|file| file.name == "python.yaml").unwrap();
        python.text = format!("about: x\nnow: {{slices_hash: true}}\n{before}\nsources: []\n");
        let shown = Spec::from_files(files).unwrap_err().to_string();
        assert!(shown.contains("spec/python.yaml:3:") && shown.contains(expected), "{shown}");
    }
}
