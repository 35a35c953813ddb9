//! YAML trees as patterns are filled with: what is put into several places is shared, not copied.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::de::value::{Error, MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Error as _, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer};
use serde_yaml::with::singleton_map_recursive;
use serde_yaml::{Number, Value};
use smallvec::SmallVec;

use crate::case::{self, Array, DictItems, Form, NewForm};

/// The items of a list.
pub type Items = SmallVec<[Tree; 2]>;

/// The entries of a map: mostly one, a form by its name.
pub type Entries = SmallVec<[(Tree, Tree); 1]>;

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
    String(Text),
    /// A list.
    Sequence(Arc<Items>),
    /// A map.
    Mapping(Arc<Entries>),
}

/// A text, and the array that it says as a value, once it was asked for.
#[derive(Debug, Clone)]
pub struct Text(Arc<(Box<str>, OnceLock<Arc<Array>>)>);

impl Text {
    fn array(&self) -> Result<case::Value, Error> {
        let (text, known) = &*self.0;
        let array = match known.get() {
            Some(array) => Arc::clone(array),
            None => {
                let array = Arc::new(text.parse().map_err(Error::custom)?);
                Arc::clone(known.get_or_init(|| array))
            }
        };
        Ok(case::Value::Array(array))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.0
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl From<Box<str>> for Text {
    fn from(text: Box<str>) -> Self {
        Self(Arc::new((text, OnceLock::new())))
    }
}

impl Tree {
    /// A list.
    #[must_use]
    pub fn sequence(items: impl IntoIterator<Item = Self>) -> Self {
        Self::Sequence(Arc::new(items.into_iter().collect()))
    }

    /// A map.
    #[must_use]
    pub fn mapping(entries: impl IntoIterator<Item = (Self, Self)>) -> Self {
        Self::Mapping(Arc::new(entries.into_iter().collect()))
    }

    /// What the tree says.
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(self)
    }

    /// The tree that says a value.
    pub fn of(value: &case::Value) -> Result<Self, serde_yaml::Error> {
        singleton_map_recursive::serialize(value, serde_yaml::value::Serializer).map(Self::from)
    }

    /// The value of a case that the tree says: the same, with a short way to the forms that contexts are made of.
    pub fn value(&self) -> Result<case::Value, Error> {
        let entry = match self {
            Self::Null => return Ok(case::Value::None),
            Self::String(text) => return text.array(),
            Self::Sequence(items) => return Ok(case::Value::List(values(items)?)),
            Self::Mapping(map) => map.first().filter(|_| map.len() == 1),
            _ => None,
        };
        let Some((Self::String(tag), inside)) = entry else { return self.read() };
        Ok(match (&**tag, inside) {
            ("str", Self::String(text)) => Form::Str(text.to_string()),
            ("tuple", Self::Sequence(items)) => Form::Tuple(values(items)?),
            ("dict", Self::Sequence(pairs)) => Form::Dict(Self::items(pairs)?),
            ("ordered_dict", Self::Sequence(pairs)) => Form::OrderedDict(Self::items(pairs)?),
            ("new", Self::Mapping(parts)) => match instance(parts)? {
                Some(new) => Form::New(new),
                None => return self.read(),
            },
            _ => return self.read(),
        }
        .into())
    }

    /// The items of a dict that such pairs say.
    pub fn items(pairs: &[Self]) -> Result<DictItems, Error> {
        let pair = |pair: &Self| match pair {
            Self::Sequence(pair) if pair.len() == 2 => Ok((pair[0].value()?, pair[1].value()?)),
            other => other.read(),
        };
        pairs.iter().map(pair).collect::<Result<_, _>>().map(DictItems)
    }
}

fn values(items: &[Tree]) -> Result<Vec<case::Value>, Error> {
    items.iter().map(Tree::value).collect()
}

/// An instance of a class, if it has no parts but those of trees.
fn instance(parts: &[(Tree, Tree)]) -> Result<Option<NewForm>, Error> {
    let Some((Tree::String(first), class)) = parts.first() else { return Ok(None) };
    let mut new = match &**first {
        "class" => NewForm::of(class.read()?),
        _ => return Ok(None),
    };
    for (key, part) in &parts[1..] {
        let Tree::String(key) = key else { return Ok(None) };
        match (&**key, part) {
            ("args", Tree::Sequence(items)) => new.args = Some(values(items)?),
            ("children", Tree::Sequence(items)) => new.children = Some(values(items)?),
            ("fields", Tree::Mapping(fields)) => {
                let field = |(name, value): &(Tree, Tree)| Ok::<_, Error>((name.read()?, value.value()?));
                new.fields = Some(fields.iter().map(field).collect::<Result<_, _>>()?);
            }
            ("aux", Tree::Null) => {}
            ("aux", part) => new.aux = Some(part.value()?),
            _ => return Ok(None),
        }
    }
    Ok(Some(new))
}

impl From<&str> for Tree {
    fn from(text: &str) -> Self {
        Self::String(Box::<str>::from(text).into())
    }
}

impl From<String> for Tree {
    fn from(text: String) -> Self {
        Self::String(text.into_boxed_str().into())
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
            Value::Sequence(items) => Self::sequence(items.into_iter().map(Self::from)),
            Value::Mapping(map) => Self::mapping(map.into_iter().map(|(key, value)| (key.into(), value.into()))),
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
            Tree::String(text) => visitor.visit_enum((**text).into_deserializer()),
            Tree::Mapping(map) if map.len() == 1 => visitor.visit_enum(MapAccessDeserializer::new(entries(map))),
            _ => Err(Error::custom("expected a word, or a map with one entry")),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
