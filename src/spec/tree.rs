//! YAML trees as patterns are filled with: what is put into several places is shared, not copied.

use std::sync::Arc;

use serde::de::value::{Error, MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Error as _, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer};
use serde_yaml::{Number, Value};

/// A YAML tree, cheap to clone.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Tree {
    /// `null`
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(Arc<str>),
    /// A list.
    Sequence(Arc<Vec<Tree>>),
    /// A map.
    Mapping(Arc<Vec<(Tree, Tree)>>),
}

impl Tree {
    /// A list.
    #[must_use]
    pub fn sequence(items: Vec<Self>) -> Self {
        Self::Sequence(Arc::new(items))
    }

    /// A map.
    #[must_use]
    pub fn mapping(entries: Vec<(Self, Self)>) -> Self {
        Self::Mapping(Arc::new(entries))
    }

    /// What the tree says.
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(self)
    }
}

impl From<&str> for Tree {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Tree {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<i64> for Tree {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<f64> for Tree {
    fn from(number: f64) -> Self {
        Self::Number(number.into())
    }
}

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => text.into(),
            Value::Sequence(items) => Self::sequence(items.into_iter().map(Self::from).collect()),
            Value::Mapping(map) => {
                Self::mapping(map.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
            }
            Value::Tagged(tagged) => tagged.value.into(),
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

impl<'de> IntoDeserializer<'de> for &'de Tree {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn entries(entries: &[(Tree, Tree)]) -> MapDeserializer<'_, impl Iterator<Item = (&Tree, &Tree)>, Error> {
    MapDeserializer::new(entries.iter().map(|(key, value)| (key, value)))
}

/// Enums are texts or maps of one entry, as in the text forms of a case.
impl<'de> Deserializer<'de> for &'de Tree {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Tree::Null => visitor.visit_unit(),
            Tree::Bool(value) => visitor.visit_bool(*value),
            Tree::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (.., number) => visitor.visit_f64(number.unwrap_or(f64::NAN)),
            },
            Tree::String(text) => visitor.visit_borrowed_str(text),
            Tree::Sequence(items) => {
                let mut items = SeqDeserializer::new(items.iter());
                let value = visitor.visit_seq(&mut items)?;
                items.end().map(|()| value)
            }
            Tree::Mapping(map) => {
                let mut map = entries(map);
                let value = visitor.visit_map(&mut map)?;
                map.end().map(|()| value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if *self == Tree::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Tree::String(text) => visitor.visit_enum(text.as_ref().into_deserializer()),
            Tree::Mapping(map) if map.len() == 1 => visitor.visit_enum(MapAccessDeserializer::new(entries(map))),
            _ => Err(Error::custom("expected a word, or a map with one entry")),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
