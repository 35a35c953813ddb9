//! Rules: laws about cache keys.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Expectation, FlagEffect, FlagKey, Pattern, Requirement, Tree};
use crate::case::{Class, Name};

/// A file of rules: one family.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// The family's name, with which every rule id of the file begins.
    pub family: String,
    /// What the family is about, in a few sentences for somebody who knows JAX.
    pub about: String,
    /// The rules.
    pub rules: Vec<Rule>,
}

/// A family, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Family {
    /// The name.
    pub name: String,
    /// What it is about.
    pub about: String,
}

/// A law: two patterns over the same metavariables (or the pattern of a whole case), and what follows.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The stable id, `family/name`; it never changes its meaning.
    pub id: String,
    /// The law in one sentence.
    pub says: String,
    /// How much an implementation is held to it.
    #[serde(default)]
    pub level: Level,
    /// The metavariables and what they range over.
    #[serde(default)]
    pub forall: IndexMap<Name, Metavariable>,
    /// Classes that the patterns use, made anew for each case.
    #[serde(default)]
    pub classes: IndexMap<Name, Class>,
    /// Objects that the patterns refer to: the same object in both calls.
    #[serde(default)]
    pub objects: IndexMap<Name, Pattern>,
    /// The two values that are planted, the first in the first call, the second in the second, in the same context.
    #[serde(default)]
    pub pair: Option<[Pattern; 2]>,
    /// Instead of a pair: the pattern of a whole case, which nothing is planted around.
    #[serde(default)]
    pub case: Option<Pattern>,
    /// Instead of a pair: how many steps a random program has. The rule says of it only what the model says, which `expect`
    /// leaves the verdicts to.
    #[serde(default)]
    pub sequence: Option<Numbers>,
    /// The positions that the pair may be planted in.
    #[serde(default, rename = "in")]
    pub places: Places,
    /// What follows, for each implementation that the law speaks of.
    pub expect: IndexMap<String, Expectation>,
    /// Whether the pair may be planted together with others.
    #[serde(default)]
    pub compose: Composition,
    /// Whether it is planted everywhere or only with nothing around it.
    #[serde(default)]
    pub planting: Planting,
    /// Whether the body of the function has to use its arguments for the law to hold: what it doesn't use is no argument of
    /// the compiled program, so the layers below the jaxpr don't see it.
    #[serde(default)]
    pub body: Body,
    /// The versions on which tracing ahead of time, which asks no fast path and runs nothing, does otherwise than the rule
    /// says. `--trace-only` leaves the rule out there, and the rule's note says what happens instead.
    #[serde(default, deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schema", schemars(with = "OneOrManyNames"))]
    pub otherwise_ahead: Vec<Requirement>,
    /// What somebody does whose program recompiles because of this.
    #[serde(default)]
    pub fix: Option<String>,
    /// What can go wrong where the hit is stale.
    #[serde(default)]
    pub hazard: Option<String>,
    /// Why it is so, and whatever else is worth knowing.
    #[serde(default)]
    pub note: Option<String>,
    /// Where the behaviour comes from.
    pub sources: Vec<SourceRef>,
}

impl Rule {
    /// The family's name: what stands before the `/` of the id.
    #[must_use]
    pub fn family(&self) -> &str {
        self.id.split_once('/').map_or(self.id.as_str(), |(family, _)| family)
    }

    /// All patterns of the rule.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.objects.values().chain(self.pair.iter().flatten()).chain(&self.case)
    }
}

/// How much an implementation is held to a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A cache that breaks it gives wrong results or recompiles without need.
    #[default]
    Required,
    /// A cache may differ, and says so in its profile.
    Recommended,
}

/// Whether a pair may be planted together with pairs of other rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Composition {
    /// Its verdict composes layer by layer with that of the others.
    #[default]
    Any,
    /// It is planted alone: whether its comparison is reached at all depends on what stands beside it.
    Alone,
}

/// What the body does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// It may use them or not.
    #[default]
    Any,
    /// It uses all of them.
    Uses,
}

/// How much may stand around a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Planting {
    /// Any context of the position.
    #[default]
    Anywhere,
    /// The pair is the whole argument, because the law speaks of the argument itself.
    WholeArgument,
}

/// The positions that a pair may be planted in, for every implementation alike or for each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Places {
    /// None given: the rule has a case, not a pair.
    #[default]
    None,
    /// The same for every implementation.
    All(Vec<String>),
    /// By implementation.
    By(IndexMap<String, Vec<String>>),
}

impl Places {
    /// The positions for `implementation`.
    #[must_use]
    pub fn of(&self, implementation: &str) -> &[String] {
        match self {
            Self::None => &[],
            Self::All(places) => places,
            Self::By(map) => map.get(implementation).map_or(&[], Vec::as_slice),
        }
    }

    /// All position names that are mentioned.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        let (all, by): (&[String], _) = match self {
            Self::None => (&[], None),
            Self::All(places) => (places, None),
            Self::By(map) => (&[], Some(map.values().flatten())),
        };
        all.iter().chain(by.into_iter().flatten())
    }
}

impl<'de> Deserialize<'de> for Places {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Places;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a position, a list of positions, or a map from implementations to those")
            }
            fn visit_str<E>(self, text: &str) -> Result<Places, E> {
                Ok(Places::All(vec![text.to_owned()]))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Places, A::Error> {
                let mut places = Vec::new();
                while let Some(place) = seq.next_element()? {
                    places.push(place);
                }
                Ok(Places::All(places))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Places, A::Error> {
                let mut places = IndexMap::new();
                while let Some((implementation, OneOrMany(names))) = map.next_entry()? {
                    places.insert(implementation, names);
                }
                Ok(Places::By(places))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// One range of versions, or a list of them.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Requirement>, D::Error> {
    let OneOrMany(ranges) = OneOrMany::deserialize(deserializer)?;
    ranges.into_iter().map(|range| range.try_into().map_err(serde::de::Error::custom)).collect()
}

struct OneOrMany(Vec<String>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Places::deserialize(deserializer)? {
            Places::All(places) => Ok(Self(places)),
            _ => Err(serde::de::Error::custom("expected a text or a list of texts")),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Places {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Places".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one =
            serde_json::json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
        schemars::json_schema!({
            "description": "The positions that the pair may be planted in (see contexts.yaml).",
            "anyOf": [one, { "type": "object", "additionalProperties": one }],
        })
    }
}

/// Where a behaviour comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceRef {
    /// The project, such as `jax`.
    pub project: String,
    /// The file in its repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The function or class in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// An issue or pull request of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    /// Measured, where no source says it: what was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<String>,
}

impl fmt::Display for SourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.project)?;
        if let Some(file) = &self.file {
            write!(f, " {file}")?;
        }
        if let Some(symbol) = &self.symbol {
            write!(f, " {symbol}")?;
        }
        if let Some(thread) = self.thread {
            write!(f, " #{thread}")?;
        }
        if let Some(measured) = &self.measured {
            write!(f, " (measured: {measured})")?;
        }
        Ok(())
    }
}

/// What a metavariable ranges over: exactly one of these, and what it must differ from.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Metavariable {
    /// A dtype of that class; its value is text, such as `f32`.
    #[serde(default)]
    pub dtype: Option<DtypeClass>,
    /// A shape; its value is text, such as `2,3`.
    #[serde(default)]
    pub shape: Option<ShapeDomain>,
    /// An integer of that range.
    #[serde(default)]
    pub int: Option<Numbers>,
    /// A finite float that is no integer.
    #[serde(default)]
    pub float: Option<Numbers>,
    /// A short identifier, as text.
    #[serde(default)]
    pub name: Option<Empty>,
    /// One of these values.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<serde_json::Value>>"))]
    pub one_of: Option<Vec<Tree>>,
    /// A random pytree of arrays.
    #[serde(default)]
    pub tree: Option<TreeDomain>,
    /// That many values of the position's leaves, as a list.
    #[serde(default)]
    pub siblings: Option<Numbers>,
    /// That many `[key, value]` pairs with distinct keys, as a list.
    #[serde(default)]
    pub items: Option<Numbers>,
    /// A config flag of the target with another value than it has, as the map `{name: value}`.
    #[serde(default)]
    pub flag: Option<FlagDomain>,
    /// Metavariables (declared before it) that it must differ from.
    #[serde(default)]
    pub not: OneOrManyNames,
}

impl fmt::Display for Metavariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dtype, shape, int, float, name, one_of, tree, siblings, items, flag, not } = self;
        if let Some(class) = dtype {
            write!(f, "{} dtype", class.words())?;
        }
        if let Some(ShapeDomain { rank, size }) = shape {
            write!(f, "shape of rank {rank} and sizes {size}")?;
        }
        if let Some(range) = int {
            write!(f, "int of {range}")?;
        }
        if let Some(range) = float {
            write!(f, "float of {range}")?;
        }
        if name.is_some() {
            f.write_str("name")?;
        }
        if let Some(values) = one_of {
            let values: Vec<_> =
                values.iter().filter_map(|value| Pattern::parse(value).ok()).map(|value| value.to_string()).collect();
            write!(f, "one of {}", values.join(" | "))?;
        }
        if let Some(TreeDomain { depth }) = tree {
            write!(f, "pytree of arrays, {depth} deep")?;
        }
        if let Some(range) = siblings.or(*items) {
            write!(f, "{range} siblings")?;
        }
        if let Some(FlagDomain { keys, seen }) = flag {
            let words: Vec<_> = keys.iter().flatten().map(|key| format!("{key:?}").to_lowercase()).collect();
            let keys = match keys {
                None => "any key or none".to_owned(),
                Some(keys) if keys.is_empty() => "no key".to_owned(),
                Some(_) => format!("the keys of {}", words.join(" and ")),
            };
            let seen = match seen {
                None => "",
                Some(true) => ", seen by tracing",
                Some(false) => ", not seen by tracing",
            };
            write!(f, "config flag in {keys}{seen}")?;
        }
        if !not.0.is_empty() {
            let others: Vec<_> = not.0.iter().map(Name::as_str).collect();
            write!(f, ", other than {}", others.join(", "))?;
        }
        Ok(())
    }
}

/// Config flags that are alike; those that do more to a call than change its key are in no domain.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlagDomain {
    /// The keys that they are part of, no more and no less; any if not given. The persistent cache is another matter.
    #[serde(default, rename = "in")]
    pub keys: Option<Vec<FlagKey>>,
    /// Whether tracing can see them; either if not given.
    #[serde(default)]
    pub seen: Option<bool>,
}

impl FlagDomain {
    /// Whether a flag of that effect is in the domain.
    #[must_use]
    pub fn has(&self, effect: &FlagEffect) -> bool {
        let in_memory = || effect.keys.iter().filter(|key| **key != FlagKey::Persistent);
        !effect.does_more()
            && self.keys.as_ref().is_none_or(|keys| keys.iter().eq(in_memory()))
            && self.seen.is_none_or(|seen| seen == effect.seen)
    }
}

/// A map without entries, `{}`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Empty {}

/// One name or a list of names.
#[derive(Debug, Clone, Default)]
pub struct OneOrManyNames(pub Vec<Name>);

impl<'de> Deserialize<'de> for OneOrManyNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let OneOrMany(names) = OneOrMany::deserialize(deserializer)?;
        names.into_iter().map(Name::new).collect::<Result<_, _>>().map(Self).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for OneOrManyNames {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OneOrManyNames".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }
}

/// A class of dtypes that a `jax.Array` can have with `jax_enable_x64` off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DtypeClass {
    /// Every one.
    Any,
    /// Floats and complex.
    Inexact,
    /// Floats.
    Float,
    /// Signed and unsigned integers.
    Integer,
    /// Complex.
    Complex,
    /// The three that Python scalars get: `i32`, `f32`, `c64`.
    Weakable,
    /// The four that become narrower: `i64`, `u64`, `f64`, `c128`.
    Wide,
    /// Those with more bytes than one that NumPy itself has, with a byte order: `i16`, `i32`, `u16`, `u32`, `f16`, `f32`.
    ByteOrdered,
}

impl DtypeClass {
    fn words(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Inexact => "inexact",
            Self::Float => "float",
            Self::Integer => "integer",
            Self::Complex => "complex",
            Self::Weakable => "a Python number's",
            Self::Wide => "64-bit",
            Self::ByteOrdered => "byte-ordered",
        }
    }
}

/// Shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ShapeDomain {
    /// The number of dimensions.
    #[serde(default = "rank")]
    pub rank: Numbers,
    /// The size of a dimension.
    #[serde(default = "size")]
    pub size: Numbers,
}

fn rank() -> Numbers {
    Numbers { min: 0, max: 3 }
}

fn size() -> Numbers {
    Numbers { min: 1, max: 4 }
}

/// Random pytrees of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TreeDomain {
    /// How many containers deep.
    pub depth: Numbers,
}

/// An inclusive range, written `0..4`, or a single number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// The smallest.
    pub min: i64,
    /// The largest.
    pub max: i64,
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max { write!(f, "{}", self.min) } else { write!(f, "{}..{}", self.min, self.max) }
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Numbers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an inclusive range such as `0..4`, or a number")
            }
            fn visit_i64<E>(self, n: i64) -> Result<Numbers, E> {
                Ok(Numbers { min: n, max: n })
            }
            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Numbers, E> {
                self.visit_i64(i64::try_from(n).map_err(E::custom)?)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Numbers, E> {
                let ends = text.split_once("..").and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)));
                match ends {
                    Some((min, max)) if min <= max => Ok(Numbers { min, max }),
                    _ => Err(E::custom(format_args!("`{text}` is not an inclusive range such as `0..4`"))),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Numbers {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Numbers".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "An inclusive range such as 0..4, or a number.",
            "anyOf": [{ "type": "integer" }, { "type": "string", "pattern": r"^-?\d+\.\.-?\d+$" }],
        })
    }
}
