//! How values are written: YAML and JSON, and their schema.

use std::fmt;

use serde::de::{self, IntoDeserializer, MapAccess, SeqAccess};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Array;
use super::array::ArrayForm;
use super::text::Text;
use super::value::{ArrayText, DictItems, Form, Real, Value};

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::Float(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Float(value) => Ok(Self(value)),
            Value::Int(value) => Ok(Self(value.get() as f64)),
            Value::Bool(value) => Ok(Self(f64::from(u8::from(value)))),
            other => Err(de::Error::custom(format_args!("`{other}` is no number"))),
        }
    }
}

/// In short notation, or with what that has no sign for.
#[derive(Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected an array: its notation, or `aval` with what that has no sign for")]
pub(super) enum ArrayTextForm {
    Short(String),
    Long(Box<ArrayForm>),
}

impl Serialize for ArrayText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let short = self.0.to_string();
        let is_whole = short.parse::<Array>().is_ok_and(|read| read == self.0);
        let form = if is_whole {
            ArrayTextForm::Short(short)
        } else {
            ArrayTextForm::Long(Box::new(ArrayForm::from(&self.0)))
        };
        form.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ArrayText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = match ArrayTextForm::deserialize(deserializer)? {
            ArrayTextForm::Short(text) => text.parse(),
            ArrayTextForm::Long(form) => (*form).try_into(),
        };
        read.map(Self).map_err(serde::de::Error::custom)
    }
}

impl Serialize for DictItems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut texts = Vec::with_capacity(self.0.len());
        for (key, _) in &self.0 {
            if let Value::Form(form) = key
                && let Form::Str(text) = &**form
                && !texts.contains(&text)
            {
                texts.push(text);
            }
        }
        if texts.len() < self.0.len() {
            return self.0.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(texts.len()))?;
        for (text, (_, value)) in texts.iter().zip(&self.0) {
            map.serialize_entry(text, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for DictItems {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = DictItems;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map (its keys are Python strings) or a list of `[key, value]` pairs")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DictItems, A::Error> {
                let mut items = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    items.push((Form::Str(key).into(), map.next_value()?));
                }
                Ok(DictItems(items))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<DictItems, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(DictItems)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = |serializer: S, key: &str, text: &str| {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry(key, text)?;
            map.end()
        };
        match self {
            Self::None => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => match i64::try_from(value.get()) {
                Ok(value) => serializer.serialize_i64(value),
                Err(_) => entry(serializer, "int", &value.to_string()),
            },
            Self::Float(value) if value.is_finite() => serializer.serialize_f64(*value),
            Self::Float(value) if value.is_nan() => entry(serializer, "float", "nan"),
            Self::Float(value) => entry(serializer, "float", if *value > 0.0 { "inf" } else { "-inf" }),
            Self::Array(array) => match array.text() {
                (text, true) => serializer.serialize_str(&text),
                (_, false) => {
                    let mut map = serializer.serialize_map(Some(1))?;
                    map.serialize_entry("array", &ArrayForm::from(&**array))?;
                    map.end()
                }
            },
            Self::List(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Self::Form(form) => form.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> de::Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a value: null, a bool, a number, an array such as `f32[3]`, a list, or a map such as `{tuple: […]}`",
        )
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Int(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        if value.is_finite() {
            Ok(Value::Float(value))
        } else {
            Err(E::custom(format_args!("write {{float: {}}}, which JSON can say too", float_text(value))))
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        text.parse::<Array>().map(Value::from).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Value, A::Error> {
        Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Value::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Some(Text(tag)) = map.next_key()? else {
            return Err(de::Error::custom("an empty map is no value: a dict is written `{dict: {}}`"));
        };
        let value = match &*tag {
            "int" => {
                let number: i128 = map.next_value::<String>()?.parse().map_err(de::Error::custom)?;
                Value::Int(number.into())
            }
            "float" => match map.next_value::<String>()?.as_str() {
                "nan" => Value::Float(f64::NAN),
                "inf" => Value::Float(f64::INFINITY),
                "-inf" => Value::Float(f64::NEG_INFINITY),
                other => {
                    return Err(de::Error::custom(format_args!(
                        "`{{float: {other}}}`: only nan, inf and -inf are written so"
                    )));
                }
            },
            "array" => {
                let form: ArrayForm = map.next_value()?;
                Array::try_from(form).map_err(de::Error::custom)?.into()
            }
            _ => Form::deserialize(Tagged { tag: &tag, map: &mut map })?.into(),
        };
        match map.next_key()? {
            None => Ok(value),
            Some(Text(extra)) => Err(de::Error::custom(format_args!(
                "a value has one form, and here are two, `{tag}` and `{extra}`; a dict is written `{{dict: {{…}}}}`"
            ))),
        }
    }
}

fn float_text(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => "nan",
        _ if value > 0.0 => "inf",
        _ => "-inf",
    }
}

/// The entry of a map whose key was read already, as an externally tagged enum.
struct Tagged<'t, A> {
    tag: &'t str,
    map: &'t mut A,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Tagged<'_, A> {
    type Error = A::Error;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> de::EnumAccess<'de> for Tagged<'_, A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<V: de::DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), A::Error> {
        let tag: de::value::StrDeserializer<'_, A::Error> = self.tag.into_deserializer();
        Ok((seed.deserialize(tag)?, self))
    }
}

impl<'de, A: MapAccess<'de>> de::VariantAccess<'de> for Tagged<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.map.next_value()
    }

    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        self.map.next_value_seed(seed)
    }

    fn tuple_variant<V: de::Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(Fields { len: Some(len), visitor })
    }

    fn struct_variant<V: de::Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(Fields { len: None, visitor })
    }
}

/// Reads the fields of a variant: a list for a tuple variant, a map for a struct variant.
struct Fields<V> {
    len: Option<usize>,
    visitor: V,
}

impl<'de, V: de::Visitor<'de>> de::DeserializeSeed<'de> for Fields<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        match self.len {
            Some(len) => deserializer.deserialize_tuple(len, self.visitor),
            None => deserializer.deserialize_map(self.visitor),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Value {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Value".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<Self>();
        let form = generator.subschema_for::<Form>();
        let array = generator.subschema_for::<ArrayForm>();
        let only = |key: &str, schema: serde_json::Value| {
            serde_json::json!({
                "type": "object", "properties": { key: schema }, "required": [key], "additionalProperties": false,
            })
        };
        schemars::json_schema!({
            "description": "A Python value. A bare string is an array in JAX's notation, such as f32[3,4] or ~f32[].",
            "anyOf": [
                { "type": ["null", "boolean", "number"] },
                { "type": "string", "description": "An array: f32[3,4], ~f32[] (weak), np:f32[3], key<fry>[2], f32[3]@1." },
                { "type": "array", "items": value, "description": "A list." },
                only("int", serde_json::json!({ "type": "string", "pattern": "^-?[0-9]+$" })),
                only("float", serde_json::json!({ "enum": ["nan", "inf", "-inf"] })),
                only("array", array.to_value()),
                form,
            ],
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Real {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Real".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A float: 1.5, {float: nan}, {float: inf}, {float: -inf}.",
            "anyOf": [{ "type": ["number", "boolean"] }, { "type": "object", "required": ["float"] }],
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for DictItems {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DictItems".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<Value>();
        let pair = serde_json::json!({ "type": "array", "items": value, "minItems": 2, "maxItems": 2 });
        schemars::json_schema!({
            "description": "A map (its keys are Python strings) or a list of [key, value] pairs.",
            "anyOf": [
                { "type": "object", "additionalProperties": value },
                { "type": "array", "items": pair },
            ],
        })
    }
}
