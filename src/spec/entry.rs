//! What a profile says, entry by entry: for each a mutant without it, so that what no rule looks at shows.

use serde::Deserialize;
use serde_json::Value as Json;

use super::{Edit, Mutant, Profile, glob};

/// Entries of profiles that no pair shows, and why none can.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Unseen {
    /// The entries, as patterns of ids: `jax.jit/tables/*/call/positional_count`.
    pub entries: Vec<String>,
    /// Why.
    pub because: String,
}

impl Unseen {
    /// Whether the mutant of that id is one of them.
    #[must_use]
    pub fn covers(&self, id: &str) -> bool {
        self.entries.iter().any(|pattern| glob(pattern).is_some_and(|glob| glob.is_match(id)))
    }
}

/// Parts of a profile that are no part of a key: what it is of, where its facts are from, and what arguments are.
const NO_ENTRIES: [&str; 8] =
    ["profile", "versions", "before", "about", "sources", "positions", "arguments", "follows"];

/// What an entry says instead where it can't be left out.
const OTHERWISE: [(&str, &str); 8] = [
    ("identity", "equal"),
    ("equal", "identity"),
    ("weakly", "strongly"),
    ("strongly", "weakly"),
    ("ValueError", "TypeError"),
    ("TypeError", "ValueError"),
    ("function", "wrapper"),
    ("wrapper", "function"),
];

impl Mutant {
    /// The mutants that each lack one entry of `profile`, or say the contrary where it can't be left out. Their ids are the
    /// implementation and the place: `jax.jit/tables/dispatch/leaf/shape`.
    ///
    /// # Errors
    /// If the profile can't be written as JSON.
    pub fn of_entries(profile: &Profile) -> Result<Vec<Self>, String> {
        let tree = serde_json::to_value(&profile.tree).map_err(|error| error.to_string())?;
        let mut found = Entries { profile, mutants: Vec::new() };
        for (key, value) in tree.as_object().into_iter().flatten() {
            if !NO_ENTRIES.contains(&key.as_str()) {
                found.entry("", key, value);
            }
        }
        Ok(found.mutants)
    }
}

struct Entries<'p> {
    profile: &'p Profile,
    mutants: Vec<Mutant>,
}

impl Entries<'_> {
    /// The entry `key` of the map at `at`, and what is in it.
    fn entry(&mut self, at: &str, key: &str, value: &Json) {
        let here = if at.is_empty() { key.to_owned() } else { format!("{at}/{key}") };
        let without = Edit { at: at.to_owned(), remove: Some(key.to_owned()), ..Edit::default() };
        let otherwise = match value {
            Json::Bool(is) => Some(Json::Bool(!is)),
            Json::String(word) => OTHERWISE.iter().find(|(one, _)| one == word).map(|(_, other)| (*other).into()),
            _ => None,
        };
        let otherwise = otherwise.map(|set| Edit { at: here.clone(), set: Some(set), ..Edit::default() });
        let tries = if value.is_boolean() { [otherwise, Some(without)] } else { [Some(without), otherwise] };
        let _ = tries.into_iter().flatten().any(|edit| self.can_be_made(&here, edit));
        match value {
            Json::Object(map) => map.iter().for_each(|(key, value)| self.entry(&here, key, value)),
            Json::Array(items) => items.iter().for_each(|item| self.item(&here, item)),
            _ => {}
        }
    }

    /// An item of the sequence at `at`.
    fn item(&mut self, at: &str, item: &Json) {
        if let Some(word) = item.as_str() {
            let edit = Edit { at: at.to_owned(), remove: Some(word.to_owned()), ..Edit::default() };
            self.can_be_made(&format!("{at}/{word}"), edit);
            return;
        }
        let Some(name) = item["table"].as_str().or_else(|| item["kind"][0].as_str()) else { return };
        for (key, value) in item.as_object().into_iter().flatten().filter(|(key, _)| *key != "table") {
            if key == "kind" {
                for kind in value.as_array().into_iter().flatten().filter_map(Json::as_str) {
                    self.item(&format!("{at}/{kind}/kind"), &kind.into());
                }
            } else {
                self.entry(&format!("{at}/{name}"), key, value);
            }
        }
    }

    /// Adds the mutant, if it is one: what the edit makes is a profile, and it isn't there yet.
    fn can_be_made(&mut self, place: &str, edit: Edit) -> bool {
        let says = match &edit.set {
            Some(set) => format!("At {place} stands {set}."),
            None => format!("Nothing is said of {place}."),
        };
        let of = self.profile.profile.clone();
        let id = format!("{of}/{place}");
        let mutant = Mutant { id, says, of, profile: vec![edit], ..Mutant::default() };
        let is_one = mutant.profile(self.profile).is_ok() && self.mutants.iter().all(|other| other.id != mutant.id);
        if is_one {
            self.mutants.push(mutant);
        }
        is_one
    }
}
