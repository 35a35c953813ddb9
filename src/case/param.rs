//! Parameters of a function.

use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Name, Value};

/// A parameter: `x`, `*args`, `**kwargs`, or `{name: x, default: 2.0}`; after `*` or `*args` they are keyword-only, before `/`
/// positional-only.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Param {
    /// A parameter without a default, `/`, `*`, `*args` or `**kwargs`.
    Plain(ArgName),
    /// A parameter with a default.
    Default {
        /// The name.
        name: Name,
        /// The default value.
        default: Value,
    },
}

impl<'de> Deserialize<'de> for Param {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct WithDefault {
            name: Name,
            default: Value,
        }
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Param;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a parameter: `x`, `/`, `*`, `*args`, `**kwargs`, or `{name: x, default: 2.0}`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Param, E> {
                ArgName::try_from(text.to_owned()).map(Param::Plain).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Param, A::Error> {
                let read = WithDefault::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Param::Default { name: read.name, default: read.default })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A parameter's name as it stands in a signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub enum ArgName {
    /// `x`
    One(Name),
    /// `/`: those before it are positional-only.
    Slash,
    /// `*args`, or a bare `*` that makes the following keyword-only.
    Positional(Option<Name>),
    /// `**kwargs`
    Keyword(Name),
}

impl TryFrom<String> for ArgName {
    type Error = super::NameError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        if let Some(name) = text.strip_prefix("**") {
            Ok(Self::Keyword(Name::new(name)?))
        } else if text == "/" {
            Ok(Self::Slash)
        } else if text == "*" {
            Ok(Self::Positional(None))
        } else if let Some(name) = text.strip_prefix('*') {
            Ok(Self::Positional(Some(Name::new(name)?)))
        } else {
            Ok(Self::One(Name::new(text)?))
        }
    }
}

impl From<ArgName> for String {
    fn from(name: ArgName) -> Self {
        match name {
            ArgName::One(name) => name.to_string(),
            ArgName::Slash => "/".to_owned(),
            ArgName::Positional(None) => "*".to_owned(),
            ArgName::Positional(Some(name)) => format!("*{name}"),
            ArgName::Keyword(name) => format!("**{name}"),
        }
    }
}
