//! How deep a call had to go.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A cache that a call may miss, from the one consulted first to the one consulted last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The fast path (`jaxlib`'s C++ `PjitFunctionCache`): a hit runs no Python of jax.
    Dispatch,
    /// The jaxpr: a miss runs the Python body again.
    Trace,
    /// The lowered MLIR module.
    Lower,
    /// The XLA executable.
    Compile,
}

impl Layer {
    /// Every layer, in the order in which a call consults them.
    pub const ALL: [Self; 4] = [Self::Dispatch, Self::Trace, Self::Lower, Self::Compile];

    /// The layer's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::Trace => "trace",
            Self::Lower => "lower",
            Self::Compile => "compile",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A set of layers: those that a call missed, or those that a target can observe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LayerSet(u8);

impl LayerSet {
    /// No layer.
    pub const NONE: Self = Self(0);
    /// All four layers.
    pub const ALL: Self = Self(0b1111);

    /// Whether the set has `layer`.
    #[must_use]
    pub fn contains(self, layer: Layer) -> bool {
        self.0 & (1 << layer as u8) != 0
    }

    /// The set with `layer` added.
    #[must_use]
    pub fn with(self, layer: Layer) -> Self {
        Self(self.0 | 1 << layer as u8)
    }

    /// The layers that both sets have.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The layers, in the order in which a call consults them.
    pub fn iter(self) -> impl Iterator<Item = Layer> {
        Layer::ALL.into_iter().filter(move |layer| self.contains(*layer))
    }
}

impl FromIterator<Layer> for LayerSet {
    fn from_iter<I: IntoIterator<Item = Layer>>(layers: I) -> Self {
        layers.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for LayerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl fmt::Display for LayerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.iter().map(Layer::word).collect();
        f.write_str(&words.join(" "))
    }
}

impl Serialize for LayerSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for LayerSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Layer>::deserialize(deserializer)?.into_iter().collect())
    }
}

/// How deep one call had to go, or the error it raised.
///
/// The five words name the usual sets of missed layers: `hit` none; `dispatch` the fast path only, nothing was rebuilt;
/// `compile` XLA compiled again; `lower` lowered and compiled; `trace` all four. Other sets are written
/// `{missed: [dispatch, trace]}`, and an error `{error: TypeError}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The layers that were missed.
    Missed(LayerSet),
    /// The class name of the exception that the call raised.
    Error(String),
}

impl Verdict {
    /// Nothing was missed.
    pub const HIT: Self = Self::Missed(LayerSet(0));
    /// Only the fast path was missed.
    pub const DISPATCH: Self = Self::Missed(LayerSet(0b0001));
    /// XLA compiled again.
    pub const COMPILE: Self = Self::Missed(LayerSet(0b1001));
    /// Lowered and compiled again.
    pub const LOWER: Self = Self::Missed(LayerSet(0b1101));
    /// The body ran again, and all below followed.
    pub const TRACE: Self = Self::Missed(LayerSet(0b1111));

    /// The five words with the sets they name.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("hit", Self::HIT),
        ("dispatch", Self::DISPATCH),
        ("compile", Self::COMPILE),
        ("lower", Self::LOWER),
        ("trace", Self::TRACE),
    ];

    /// The verdict that `word` names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, verdict)| verdict)
    }

    /// The part of the verdict that a target which observes only `visible` could report.
    #[must_use]
    pub fn seen_by(&self, visible: LayerSet) -> Self {
        match self {
            Self::Missed(missed) => Self::Missed(missed.and(visible)),
            Self::Error(class) => Self::Error(class.clone()),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((word, _)) = Self::WORDS.iter().find(|(_, verdict)| verdict == self) {
            return f.write_str(word);
        }
        match self {
            Self::Missed(missed) => write!(f, "missed({missed})"),
            Self::Error(class) => write!(f, "error({class})"),
        }
    }
}

/// What a call did: how deep it went, and whether the program that served it was traced from something visibly different.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Behaviour {
    /// How deep it went.
    pub verdict: Verdict,
    /// Whether the program that served it is a stale one.
    pub stale: bool,
}

impl Behaviour {
    /// The part of it that a target could report which observes only `visible`, and staleness only if `sees_stale`.
    #[must_use]
    pub fn seen_by(&self, visible: LayerSet, sees_stale: bool) -> Self {
        Self { verdict: self.verdict.seen_by(visible), stale: self.stale && sees_stale }
    }
}

impl From<Verdict> for Behaviour {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, stale: false }
    }
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.verdict, if self.stale { " (stale)" } else { "" })
    }
}

impl Serialize for Behaviour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Stale<'b> {
            verdict: &'b Verdict,
            stale: bool,
        }
        match self {
            Self { verdict, stale: false } => verdict.serialize(serializer),
            Self { verdict, stale } => Stale { verdict, stale: *stale }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Behaviour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a verdict, or one as `verdict` with `stale` beside it")]
        enum Form {
            Stale { verdict: Verdict, stale: bool },
            Plain(Verdict),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Stale { verdict, stale } => Self { verdict, stale },
            Form::Plain(verdict) => verdict.into(),
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Behaviour {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Behaviour".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let verdict = generator.subschema_for::<Verdict>();
        schemars::json_schema!({
            "description": "What a call did: a verdict, or one with `stale: true`.",
            "anyOf": [verdict, {
                "type": "object", "properties": { "verdict": verdict, "stale": { "type": "boolean" } },
                "required": ["verdict", "stale"], "additionalProperties": false,
            }],
        })
    }
}

/// The forms of a verdict that are not one of the five words.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum VerdictForm {
    /// The layers that were missed, where no word names the set.
    Missed(#[cfg_attr(feature = "schema", schemars(with = "Vec<Layer>"))] LayerSet),
    /// The class name of the exception.
    Error(String),
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some((word, _)) = Self::WORDS.iter().find(|(_, verdict)| verdict == self) {
            return serializer.serialize_str(word);
        }
        match self {
            Self::Missed(missed) => VerdictForm::Missed(*missed),
            Self::Error(class) => VerdictForm::Error(class.clone()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Verdict;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "`hit`, `dispatch`, `compile`, `lower`, `trace`, `{error: Class}` or `{missed: [layer, …]}`",
                )
            }
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Verdict, E> {
                Verdict::from_word(word)
                    .ok_or_else(|| E::unknown_variant(word, &["hit", "dispatch", "compile", "lower", "trace"]))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Verdict, A::Error> {
                let form = VerdictForm::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    .map_err(A::Error::custom)?;
                Ok(match form {
                    VerdictForm::Missed(missed) => Verdict::Missed(missed),
                    VerdictForm::Error(class) => Verdict::Error(class),
                })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Verdict {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Verdict".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words: Vec<_> = Self::WORDS.iter().map(|(word, _)| *word).collect();
        let forms = generator.subschema_for::<VerdictForm>();
        schemars::json_schema!({
            "description": "How deep one call had to go, or the error it raised.",
            "oneOf": [{ "enum": words }, forms],
        })
    }
}
