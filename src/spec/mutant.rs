//! Mutants: named defects of a cache key, by which the suite shows what it catches. Declared in `spec/mutants.yaml`.
//!
//! A mutant is the reference model with one thing wrong: its profile is edited, it sees the case otherwise than it is, or it
//! does otherwise than its tables say. None of it is in the model's code.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Profile, Unseen};
use crate::case::{Behaviour, Case, LayerSet, Verdict, text};

/// The mutants: `spec/mutants.yaml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mutants {
    /// What is worth knowing about them.
    pub about: String,
    /// The mutants.
    pub mutants: Vec<Mutant>,
    /// Entries of profiles of which no mutant can be found: `jitkey mutants --entries`.
    #[serde(default)]
    pub unseen: Vec<Unseen>,
}

/// The reference model with a defect.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The stable id.
    pub id: String,
    /// What is wrong, in a sentence.
    pub says: String,
    /// The implementation whose newest profile it is made of.
    #[serde(default = "jax_jit")]
    pub of: String,
    /// What is different in the profile.
    #[serde(default)]
    pub profile: Vec<Edit>,
    /// What is different in each case before it is looked at.
    #[serde(default)]
    pub case: Vec<Edit>,
    /// What values are taken for others.
    #[serde(default)]
    pub sees: Vec<Sight>,
    /// All caches are cleared before each call after so many.
    #[serde(default)]
    pub forgets_after: Option<usize>,
    /// What calls do instead of what they should.
    #[serde(default)]
    pub answers: Vec<Answer>,
}

fn jax_jit() -> String {
    "jax.jit".to_owned()
}

/// A change at some places of a tree.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The places, as in `tables/*/leaf`: keys of maps; of sequences all items (`*`), or those that have the word as a key, as
    /// their `table` or among their `kind`.
    pub at: String,
    /// An item of the sequence, a key of the map, or the items of the sequence that have this key or are called so.
    #[serde(default)]
    pub remove: Option<String>,
    /// A key is removed only from maps that have this one, too.
    #[serde(default)]
    pub beside: Option<String>,
    /// An item more in the sequence.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub add: Option<Json>,
    /// What stands there instead.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub set: Option<Json>,
}

/// A kind of value that is taken for another, wherever it stands among the arguments.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Sight {
    /// Arrays whose text has this form, in which `*` is any text: `~*`.
    #[serde(default)]
    pub array: Option<String>,
    /// Values of a form that is written with this tag, such as `dict`.
    #[serde(default)]
    pub tag: Option<String>,
    /// This value.
    #[serde(default, deserialize_with = "also_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub value: Option<Json>,
    /// What it is taken for: the form of an array, where `*` is the same text; another tag, or none
    /// for what stands in it alone; another value.
    #[serde(default, rename = "as")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub taken_for: Json,
    /// Arrays, of whose shape this isn't seen.
    #[serde(default)]
    pub shape: Option<Blind>,
    /// Only with at least so many containers around it.
    #[serde(default)]
    pub deeper: usize,
    /// Only after so many others like it in the same call.
    #[serde(default)]
    pub after: usize,
    /// Only in these arguments.
    #[serde(default)]
    pub only: Only,
}

/// A value that may be null, where none at all is something else.
fn also_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// What isn't seen of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Blind {
    /// How long the axes are.
    Lengths,
    /// How long the last one is.
    Last,
    /// How many there are: only the number of elements is.
    Rank,
    /// In which order they come.
    Order,
}

/// Which arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Only {
    /// All.
    #[default]
    All,
    /// Those passed by position.
    Positional,
    /// Those passed by keyword.
    Keyword,
    /// Those at the positions of `static_argnums` and with the names of `static_argnames`.
    Static,
    /// The others.
    Dynamic,
    /// The objects and functions that the case gives names to.
    Objects,
    /// None: what calls return.
    Returned,
}

/// What a call does instead.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What it should do; `{error: "*"}` for any error.
    pub from: Verdict,
    /// What it does.
    pub to: Verdict,
}

impl Mutant {
    /// The profile with the defect.
    ///
    /// # Errors
    /// If an edit finds no place, or what it makes is no profile.
    pub fn profile(&self, of: &Profile) -> Result<Profile, String> {
        let mut tree = serde_json::to_value(&of.tree).map_err(|error| error.to_string())?;
        for edit in &self.profile {
            if edit.apply(&mut tree) == 0 {
                return Err(format!("nothing is changed at `{}`", edit.at));
            }
        }
        let profile: Profile = serde_json::from_value(tree).map_err(|error| error.to_string())?;
        let (flags, flag_defaults, python) = (of.flags.clone(), of.flag_defaults.clone(), Arc::clone(&of.python));
        Ok(Profile { flags, flag_defaults, python, versions: of.versions.clone(), ..profile })
    }

    /// The case as the mutant sees it; `None` where it sees it as it is, or would see something that is no case.
    #[must_use]
    pub fn seen(&self, case: &Case) -> Option<Case> {
        if self.case.is_empty() && self.sees.is_empty() && self.forgets_after.is_none() {
            return None;
        }
        let tree = serde_json::to_value(case).ok()?;
        let mut seen = tree.clone();
        self.case.iter().for_each(|edit| _ = edit.apply(&mut seen));
        self.sees.iter().for_each(|sight| sight.apply(&mut seen));
        if let Some(kept) = self.forgets_after {
            forget(&mut seen, kept);
        }
        if seen == tree {
            return None;
        }
        let seen: Case = text::from_json(&seen.to_string()).ok()?;
        seen.validate().is_ok().then_some(seen)
    }

    /// What a call does that should do this.
    #[must_use]
    pub fn answer(&self, behaviour: Behaviour) -> Behaviour {
        let is_meant = |from: &Verdict| match (from, &behaviour.verdict) {
            (Verdict::Error(any), Verdict::Error(_)) if any == "*" => true,
            (from, verdict) => from == verdict,
        };
        match self.answers.iter().find(|answer| is_meant(&answer.from)) {
            Some(answer) => {
                let traced = matches!(answer.to, Verdict::Missed(missed) if missed == LayerSet::ALL);
                Behaviour { verdict: answer.to.clone(), stale: behaviour.stale && !traced }
            }
            None => behaviour,
        }
    }
}

impl Edit {
    /// Makes the change; at how many places something changed.
    pub(super) fn apply(&self, tree: &mut Json) -> usize {
        let steps: Vec<&str> = self.at.split('/').filter(|step| !step.is_empty()).collect();
        let mut changed = 0;
        if let Some(new) = &self.set {
            let Some((last, before)) = steps.split_last() else { return 0 };
            each(tree, before, &mut |place| {
                if let Json::Object(map) = place {
                    changed += usize::from(map.insert((*last).to_owned(), new.clone()).as_ref() != Some(new));
                }
            });
            return changed;
        }
        each(tree, &steps, &mut |place| changed += usize::from(self.change(place)));
        changed
    }

    fn change(&self, place: &mut Json) -> bool {
        match (place, &self.remove, &self.add) {
            (Json::Array(items), Some(word), _) => {
                let before = items.len();
                items.retain(|item| item.as_str() != Some(word) && item.get(word).is_none() && !is_called(item, word));
                items.len() < before
            }
            (Json::Object(map), Some(key), _) => {
                self.beside.as_ref().is_none_or(|other| map.contains_key(other)) && map.shift_remove(key).is_some()
            }
            (Json::Array(items), None, Some(item)) if !items.contains(item) => {
                items.push(item.clone());
                true
            }
            _ => false,
        }
    }
}

/// Whether the item of a sequence is what `word` says.
fn is_called(item: &Json, word: &str) -> bool {
    let kinds = item.get("kind").and_then(Json::as_array);
    item.get("table").is_some_and(|name| name == word)
        || kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == word))
}

/// Calls `change` with each place that the steps lead to.
fn each(tree: &mut Json, steps: &[&str], change: &mut dyn FnMut(&mut Json)) {
    let Some((step, rest)) = steps.split_first() else { return change(tree) };
    match tree {
        Json::Object(map) if *step == "*" => map.values_mut().for_each(|item| each(item, rest, change)),
        Json::Object(map) => {
            if let Some(item) = map.get_mut(*step) {
                each(item, rest, change);
            }
        }
        Json::Array(items) => {
            for item in items {
                if *step == "*" || is_called(item, step) {
                    each(item, rest, change);
                } else if let Some(inner) = item.get_mut(*step) {
                    each(inner, rest, change);
                }
            }
        }
        _ => {}
    }
}

/// Clears all caches before each call after the first `kept`.
fn forget(case: &mut Json, kept: usize) {
    let Some(steps) = case.get_mut("steps").and_then(Json::as_array_mut) else { return };
    let mut calls = 0;
    for step in std::mem::take(steps) {
        if step.get("call").is_some() {
            if calls >= kept {
                steps.push(serde_json::json!({ "clear": "jax" }));
            }
            calls += 1;
        }
        steps.push(step);
    }
}

/// Forms in which no values stand.
const NO_VALUES: [&str; 10] =
    ["str", "bytes", "parsed", "def", "global", "dtype", "scalar_type", "partition_spec", "lambda", "numpy_scalar"];

impl Sight {
    fn apply(&self, case: &mut Json) {
        let options = case.get("options").cloned().unwrap_or_default();
        if self.only == Only::Objects {
            for part in ["objects", "function"] {
                if let Some(values) = case.get_mut(part) {
                    self.rewrite(values, 0, &mut 0);
                }
            }
            return;
        }
        let Some(steps) = case.get_mut("steps").and_then(Json::as_array_mut) else { return };
        for call in steps.iter_mut().filter_map(|step| step.get_mut("call")) {
            let options = call.get("options").cloned().unwrap_or_else(|| options.clone());
            let has = |option: &str, item: Json| options[option].as_array().is_some_and(|items| items.contains(&item));
            let mut met = 0;
            if let Some(returned) = call.get_mut("returns").filter(|_| self.only == Only::Returned) {
                self.rewrite(returned, 0, &mut met);
            }
            let args = call.get_mut("args").and_then(Json::as_array_mut).into_iter().flatten().enumerate();
            for (_, arg) in args.filter(|(i, _)| self.is_about(false, has("static_argnums", (*i).into()))) {
                self.rewrite(arg, 0, &mut met);
            }
            let kwargs = call.get_mut("kwargs").and_then(Json::as_object_mut).into_iter().flatten();
            for (_, arg) in kwargs.filter(|(name, _)| self.is_about(true, has("static_argnames", name.as_str().into())))
            {
                self.rewrite(arg, 0, &mut met);
            }
        }
    }

    fn is_about(&self, keyword: bool, is_static: bool) -> bool {
        match self.only {
            Only::All => true,
            Only::Positional => !keyword,
            Only::Keyword => keyword,
            Only::Static => is_static,
            Only::Dynamic => !is_static,
            Only::Objects | Only::Returned => false,
        }
    }

    /// Takes what is meant in `value` for the other, from the outside in; `met` counts what was meant so far.
    fn rewrite(&self, value: &mut Json, depth: usize, met: &mut usize) {
        if let Some(other) = self.other(value) {
            *met += 1;
            if depth >= self.deeper && *met > self.after {
                *value = other;
                if self.value.is_some() {
                    // In what it is taken for there may be another like it.
                    return;
                }
            }
        }
        match value {
            Json::Array(items) => items.iter_mut().for_each(|item| self.rewrite(item, depth + 1, met)),
            Json::Object(map) if map.keys().any(|key| NO_VALUES.contains(&key.as_str())) => {}
            Json::Object(map) if map.get("nest").is_some_and(|nest| nest.get("levels").is_some()) => {
                let nest = &mut map["nest"];
                let levels = nest["levels"].as_u64().unwrap_or_default() as usize;
                self.rewrite(&mut nest["value"], depth + levels, met);
            }
            Json::Object(map) if map.get("repeat").is_some_and(|repeat| repeat.get("times").is_some()) => {
                let repeat = &mut map["repeat"];
                let times = repeat["times"].as_u64().unwrap_or_default() as usize;
                let before = *met;
                // All of them are seen as the first one is.
                self.rewrite(&mut repeat["value"], depth + 1, met);
                *met += (*met - before) * times.saturating_sub(1);
            }
            Json::Object(map) => map.values_mut().for_each(|item| self.rewrite(item, depth, met)),
            _ => {}
        }
    }

    /// What `value` is taken for, if it is meant.
    fn other(&self, value: &Json) -> Option<Json> {
        let is_array = |text: &str| text.parse::<crate::case::Array>().is_ok();
        if let Some(form) = &self.array {
            let text = value.as_str()?;
            let (before, after) = form.split_once('*').unwrap_or((form, ""));
            let rest = text.strip_prefix(before)?.strip_suffix(after)?;
            let other = self.taken_for.as_str()?.replace('*', rest);
            return (other != text && is_array(&other)).then(|| other.into());
        }
        if let Some(blind) = self.shape {
            let text = value.as_str().filter(|text| is_array(text))?;
            let (start, rest) = text.split_once('[')?;
            let (lengths, end) = rest.split_once(']')?;
            let lengths = lengths.split(',').filter_map(|length| length.trim().parse().ok()).collect();
            let seen: Vec<_> = blind.of(lengths).iter().map(u64::to_string).collect();
            let other = format!("{start}[{}]{end}", seen.join(","));
            return (other != text).then(|| other.into());
        }
        if let Some(tag) = &self.tag {
            let content = value.as_object().filter(|map| map.len() == 1)?.get(tag)?;
            let other = self.taken_for.as_str()?;
            return Some(if other.is_empty() { content.clone() } else { serde_json::json!({ other: content }) });
        }
        (Some(value) == self.value.as_ref()).then(|| self.taken_for.clone())
    }
}

impl Blind {
    fn of(self, mut lengths: Vec<u64>) -> Vec<u64> {
        match self {
            Self::Lengths => lengths.fill(1),
            Self::Last => lengths.iter_mut().last().into_iter().for_each(|last| *last = 1),
            Self::Rank if !lengths.is_empty() => lengths = vec![lengths.iter().product()],
            Self::Rank => {}
            Self::Order => lengths.sort_unstable(),
        }
        lengths
    }
}
