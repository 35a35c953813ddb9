//! The text forms of a case and its parts: YAML for people, JSON for programs, the same shape in both.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Why a text is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TextError(String);

/// Reads YAML (of which JSON is a part), with enums as maps of one entry.
pub fn from_yaml<T: DeserializeOwned>(text: &str) -> Result<T, TextError> {
    let document = serde_yaml::Deserializer::from_str(text);
    serde_yaml::with::singleton_map_recursive::deserialize(document).map_err(|error| TextError(error.to_string()))
}

/// Reads a YAML tree that was parsed (and filled in) before.
pub fn from_tree<T: DeserializeOwned>(tree: &serde_yaml::Value) -> Result<T, TextError> {
    serde_yaml::with::singleton_map_recursive::deserialize(tree).map_err(|error| TextError(error.to_string()))
}

/// Writes YAML.
///
/// # Panics
/// If `value` has a map whose keys are not strings, which no type of this crate has.
pub fn to_yaml<T: Serialize>(value: &T) -> String {
    let mut text = Vec::new();
    let mut serializer = serde_yaml::Serializer::new(&mut text);
    serde_yaml::with::singleton_map_recursive::serialize(value, &mut serializer)
        .expect("every type of this crate has a YAML form");
    String::from_utf8(text).expect("YAML is written as UTF-8")
}

/// Reads JSON.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, TextError> {
    serde_json::from_str(text).map_err(|error| TextError(error.to_string()))
}

/// Writes JSON on one line.
///
/// # Panics
/// If `value` has a map whose keys are not strings, which no type of this crate has.
pub fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("every type of this crate has a JSON form")
}

/// A text that is borrowed from what it is read from, where that can be.
pub(super) struct Text<'de>(pub Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrows;
        impl<'de> Visitor<'de> for Borrows {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrows)
    }
}
