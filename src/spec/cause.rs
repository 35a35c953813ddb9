//! Causes: what a difference between two keys means to the author of a program, and how it is mended. Declared in
//! `spec/causes.yaml`.

use serde::Deserialize;

/// The causes: `spec/causes.yaml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Causes {
    /// What is worth knowing about them.
    pub about: String,
    /// The causes, the particular before the general: of those that fit a difference the first is stated.
    pub causes: Vec<Cause>,
}

/// Why calls of a program have different keys.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The stable id.
    pub id: String,
    /// Which differences it explains.
    pub when: When,
    /// What is the matter, in a sentence. `{path}`, `{before}` and `{after}` are those of the difference.
    pub says: String,
    /// What to do, in the terms of the program.
    pub fix: String,
    /// The rule that says so.
    pub rule: String,
}

/// Which differences a cause explains. In each text `*` stands for any characters; one that isn't given fits all.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The implementation that is called.
    #[serde(default)]
    pub api: Vec<String>,
    /// The component of the key, in the words of `jitkey predict`.
    pub component: Vec<String>,
    /// The path of the leaf, node or static.
    #[serde(default)]
    pub path: Vec<String>,
    /// What stands in the earlier key.
    #[serde(default)]
    pub before: Vec<String>,
    /// What stands in the later key.
    #[serde(default)]
    pub after: Vec<String>,
}
