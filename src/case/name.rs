//! Names of objects, classes, parameters and fields.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::text::Text;

/// A Python identifier: the name of an object, class, parameter or field of a case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "String")]
pub struct Name(#[cfg_attr(feature = "schema", schemars(with = "String"))] Arc<str>);

/// Why a text is not a [`Name`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a name: use letters, digits and `_`, not starting with a digit")]
pub struct NameError(String);

impl Name {
    /// The name, if `text` is a Python identifier in ASCII.
    pub fn new(text: impl AsRef<str> + Into<Arc<str>>) -> Result<Self, NameError> {
        let mut chars = text.as_ref().chars();
        let starts_well = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if starts_well && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            Ok(Self(text.into()))
        } else {
            Err(NameError(text.as_ref().to_owned()))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Text::deserialize(deserializer)?.0).map_err(serde::de::Error::custom)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.to_string()
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
