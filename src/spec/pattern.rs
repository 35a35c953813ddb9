//! Patterns: the text of a value, a call or a case, with metavariables in it.
//!
//! `"${d}[${s}]"` is text with two metavariables; a string that is nothing but `"${x}"` stands for the whole value of
//! `x`; in a list, `"${x...}"` puts in all elements of `x`.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use smallvec::SmallVec;

use super::tree::{Entries, Items, Tree};
use crate::case::{Array, DefaultDictForm, DictItems, Form, Name, NewForm, PartialForm, Value};

/// What each metavariable stands for; the last, if it is there several times.
pub type Bindings = Vec<(Name, Tree)>;

/// The values that holes stand for; each is moved into its place.
pub type Holes = SmallVec<[(Name, Option<Value>); 1]>;

/// A YAML tree with metavariables in its strings.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Fixed(Tree),
    Text(Vec<Segment>),
    Whole(Name),
    Spread(Name),
    Seq(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

#[derive(Debug, Clone, PartialEq)]
enum Segment {
    Fixed(String),
    Variable(Name),
}

/// Why a pattern could not be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// A metavariable has no value.
    #[error("metavariable `{0}` is not declared under `forall`")]
    Unbound(Name),
    /// A metavariable inside a text stands for something that is no text.
    #[error("metavariable `{0}` stands for a whole value, so it can't be part of a text")]
    NotText(Name),
    /// A metavariable that is to be spread isn't a list.
    #[error("metavariable `{0}` is no list, so `${{{0}...}}` can't put in its elements")]
    NotList(Name),
    /// A spread stands where there is no list.
    #[error("`${{{0}...}}` can only stand in a list")]
    StraySpread(Name),
    /// A hole stands there twice.
    #[error("`${{{0}}}` can stand in a container only once")]
    Again(Name),
    /// What came out is not what it should be.
    #[error("{0}")]
    Text(String),
}

impl Pattern {
    /// Reads a pattern from a YAML tree.
    pub fn parse(tree: &Tree) -> Result<Self, String> {
        Node::parse(tree).map(Self)
    }

    /// The metavariables, in order of appearance, with repetitions.
    #[must_use]
    pub fn variables(&self) -> Vec<&Name> {
        let mut found = Vec::new();
        self.0.variables(&mut found);
        found
    }

    /// Puts in the bindings and reads the outcome as a `T`.
    pub fn fill<T: DeserializeOwned>(&self, bindings: &Bindings) -> Result<T, FillError> {
        read(self.fill_tree(bindings)?.read())
    }

    /// The same for a value, without a tree of it where its form is one that contexts are made of.
    pub fn fill_value(&self, bindings: &Bindings) -> Result<Value, FillError> {
        self.fill_around(bindings, &mut Holes::new())
    }

    /// The same with values in the holes, each of which stands there once at most.
    pub fn fill_around(&self, bindings: &Bindings, holes: &mut Holes) -> Result<Value, FillError> {
        self.0.value(&mut Filling { bindings, holes })
    }

    /// Puts in the bindings.
    pub fn fill_tree(&self, bindings: &Bindings) -> Result<Tree, FillError> {
        self.0.fill(bindings)
    }
}

impl Node {
    fn parse(tree: &Tree) -> Result<Self, String> {
        Ok(match tree {
            Tree::String(text) => Self::parse_text(text)?,
            Tree::Sequence(items) => {
                let items = items.iter().map(Self::parse).collect::<Result<Vec<_>, _>>()?;
                if items.iter().all(|item| matches!(item, Self::Fixed(_))) {
                    Self::Fixed(tree.clone())
                } else {
                    Self::Seq(items)
                }
            }
            Tree::Mapping(map) => {
                let entries = map
                    .iter()
                    .map(|(key, value)| Ok((Self::parse(key)?, Self::parse(value)?)))
                    .collect::<Result<Vec<_>, String>>()?;
                if entries.iter().all(|entry| matches!(entry, (Self::Fixed(_), Self::Fixed(_)))) {
                    Self::Fixed(tree.clone())
                } else {
                    Self::Map(entries)
                }
            }
            other => Self::Fixed(other.clone()),
        })
    }

    fn parse_text(text: &str) -> Result<Self, String> {
        let mut segments = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            if !before.is_empty() {
                segments.push(Segment::Fixed(before.to_owned()));
            }
            let (inside, after) =
                after.split_once('}').ok_or_else(|| format!("`{text}`: `${{` is not closed by `}}`"))?;
            if let Some(name) = inside.strip_suffix("...") {
                if !segments.is_empty() || !after.is_empty() {
                    return Err(format!("`{text}`: `${{{inside}}}` must be the whole text of a list element"));
                }
                return Ok(Self::Spread(Name::new(name).map_err(|error| error.to_string())?));
            }
            segments.push(Segment::Variable(Name::new(inside).map_err(|error| error.to_string())?));
            rest = after;
        }
        if segments.is_empty() {
            return Ok(Self::Fixed(text.into()));
        }
        if !rest.is_empty() {
            segments.push(Segment::Fixed(rest.to_owned()));
        }
        Ok(match <[Segment; 1]>::try_from(segments) {
            Ok([Segment::Variable(name)]) => Self::Whole(name),
            Ok([Segment::Fixed(_)]) => unreachable!("a text without metavariables was returned above"),
            Err(segments) => Self::Text(segments),
        })
    }

    fn variables<'p>(&'p self, found: &mut Vec<&'p Name>) {
        match self {
            Self::Fixed(_) => {}
            Self::Text(segments) => found.extend(segments.iter().filter_map(|segment| match segment {
                Segment::Fixed(_) => None,
                Segment::Variable(name) => Some(name),
            })),
            Self::Whole(name) | Self::Spread(name) => found.push(name),
            Self::Seq(items) => items.iter().for_each(|item| item.variables(found)),
            Self::Map(entries) => entries.iter().for_each(|(key, value)| {
                key.variables(found);
                value.variables(found);
            }),
        }
    }

    fn fill(&self, bindings: &Bindings) -> Result<Tree, FillError> {
        Ok(match self {
            Self::Fixed(tree) => tree.clone(),
            Self::Whole(name) => bound(bindings, name)?.clone(),
            Self::Spread(name) => return Err(FillError::StraySpread(name.clone())),
            Self::Text(segments) => text_of(segments, bindings)?.into(),
            Self::Seq(items) => {
                let mut filled = Items::with_capacity(items.len());
                for item in items {
                    match item {
                        Self::Spread(name) => filled.extend(elements(bindings, name)?.iter().cloned()),
                        item => filled.push(item.fill(bindings)?),
                    }
                }
                Tree::Sequence(Arc::new(filled))
            }
            Self::Map(entries) => {
                let mut filled = Entries::with_capacity(entries.len());
                // Keys that are written out are different.
                let can_meet = entries.iter().any(|(key, _)| !matches!(key, Self::Fixed(_)));
                for (key, value) in entries {
                    let (key, value) = (key.fill(bindings)?, value.fill(bindings)?);
                    match filled.iter_mut().find(|(known, _)| can_meet && *known == key) {
                        Some((_, old)) => *old = value,
                        None => filled.push((key, value)),
                    }
                }
                Tree::Mapping(Arc::new(filled))
            }
        })
    }
}

/// What a value is made with.
struct Filling<'f> {
    bindings: &'f Bindings,
    holes: &'f mut Holes,
}

impl Filling<'_> {
    fn value(&mut self, name: &Name) -> Result<Value, FillError> {
        match self.holes.iter_mut().find(|(hole, _)| hole == name) {
            Some((_, value)) => value.take().ok_or_else(|| FillError::Again(name.clone())),
            None => read(bound(self.bindings, name)?.value()),
        }
    }
}

/// Values are made at once; [`Node::fill`] says what they are.
impl Node {
    fn value(&self, filling: &mut Filling<'_>) -> Result<Value, FillError> {
        let entry = match self {
            Self::Fixed(tree) => return read(tree.value()),
            Self::Whole(name) => return filling.value(name),
            Self::Seq(items) => return Ok(Value::List(Self::values(items, filling)?)),
            Self::Map(entries) => entries.first().filter(|_| entries.len() == 1),
            Self::Text(segments) => return read(text_of(segments, filling.bindings)?.parse()).map(Array::into),
            Self::Spread(_) => None,
        };
        let Some((Self::Fixed(Tree::String(tag)), inside)) = entry else { return self.read_value(filling) };
        Ok(match (&**tag, inside) {
            ("str", Self::Text(segments)) => Form::Str(text_of(segments, filling.bindings)?),
            ("tuple", Self::Seq(items)) => Form::Tuple(Self::values(items, filling)?),
            ("dict", Self::Seq(pairs)) => Form::Dict(Self::items(pairs, filling)?),
            ("ordered_dict", Self::Seq(pairs)) => Form::OrderedDict(Self::items(pairs, filling)?),
            ("default_dict", Self::Map(parts)) => match &parts[..] {
                [(key, Self::Seq(pairs))] if key.is("items") => {
                    Form::DefaultDict(DefaultDictForm { factory: Value::None, items: Self::items(pairs, filling)? })
                }
                _ => return self.read_value(filling),
            },
            ("new", Self::Map(parts)) if parts.iter().all(Self::is_part) && parts[0].0.is("class") => {
                Form::New(Self::instance(parts, filling)?)
            }
            ("tree_partial", Self::Map(parts)) => match &parts[..] {
                [(first, func), (second, Self::Seq(items))] if first.is("func") && second.is("args") => {
                    let (func, args) = (func.value(filling)?, Self::values(items, filling)?);
                    Form::TreePartial(PartialForm { func, args, kwargs: IndexMap::new() })
                }
                _ => return self.read_value(filling),
            },
            _ => return self.read_value(filling),
        }
        .into())
    }

    /// A value of any form, by a tree.
    fn read_value(&self, filling: &mut Filling<'_>) -> Result<Value, FillError> {
        if filling.holes.is_empty() {
            return read(self.fill(filling.bindings)?.value());
        }
        let mut bindings = filling.bindings.clone();
        let mut names = Vec::new();
        self.variables(&mut names);
        for (name, value) in filling.holes.iter_mut().filter(|(name, _)| names.contains(&name)) {
            let value = value.take().ok_or_else(|| FillError::Again(name.clone()))?;
            bindings.push((name.clone(), read(Tree::of(&value))?));
        }
        read(self.fill(&bindings)?.value())
    }

    fn values(items: &[Self], filling: &mut Filling<'_>) -> Result<Vec<Value>, FillError> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Self::Spread(name) => {
                    for element in elements(filling.bindings, name)?.iter() {
                        values.push(read(element.value())?);
                    }
                }
                item => values.push(item.value(filling)?),
            }
        }
        Ok(values)
    }

    fn items(pairs: &[Self], filling: &mut Filling<'_>) -> Result<DictItems, FillError> {
        let mut items = Vec::with_capacity(pairs.len());
        for pair in pairs {
            match pair {
                Self::Spread(name) => items.extend(read(Tree::items(elements(filling.bindings, name)?))?.0),
                Self::Seq(pair) if pair.len() == 2 => items.push((pair[0].value(filling)?, pair[1].value(filling)?)),
                pair => items.push(read(pair.fill(filling.bindings)?.read())?),
            }
        }
        Ok(DictItems(items))
    }

    /// Whether it is a part of an instance that a container may have.
    fn is_part((key, part): &(Self, Self)) -> bool {
        key.is("class")
            || key.is("aux")
            || (key.is("args") || key.is("children")) && matches!(part, Self::Seq(_))
            || key.is("fields") && matches!(part, Self::Map(_))
    }

    /// An instance of a class; the first of the parts is the class.
    fn instance(parts: &[(Self, Self)], filling: &mut Filling<'_>) -> Result<NewForm, FillError> {
        let mut new = NewForm::of(read(parts[0].1.fill(filling.bindings)?.read())?);
        for (key, part) in &parts[1..] {
            match part {
                part if key.is("aux") => new.aux = Some(part.value(filling)?).filter(|aux| *aux != Value::None),
                Self::Seq(items) if key.is("args") => new.args = Some(Self::values(items, filling)?),
                Self::Seq(items) => new.children = Some(Self::values(items, filling)?),
                Self::Map(fields) => {
                    let field = |(name, value): &(Self, Self)| {
                        Ok::<_, FillError>((read(name.fill(filling.bindings)?.read())?, value.value(filling)?))
                    };
                    new.fields = Some(fields.iter().map(field).collect::<Result<_, _>>()?);
                }
                _ => {}
            }
        }
        Ok(new)
    }

    fn is(&self, word: &str) -> bool {
        matches!(self, Self::Fixed(Tree::String(text)) if **text == *word)
    }
}

/// What a metavariable stands for.
fn bound<'b>(bindings: &'b Bindings, name: &Name) -> Result<&'b Tree, FillError> {
    let found = bindings.iter().rev().find(|(known, _)| known == name);
    found.map(|(_, tree)| tree).ok_or_else(|| FillError::Unbound(name.clone()))
}

/// What a metavariable stands for that is to be spread.
fn elements<'b>(bindings: &'b Bindings, name: &Name) -> Result<&'b Items, FillError> {
    match bound(bindings, name)? {
        Tree::Sequence(elements) => Ok(elements),
        _ => Err(FillError::NotList(name.clone())),
    }
}

/// What a tree said, or why it said nothing.
fn read<T>(said: Result<T, impl fmt::Display>) -> Result<T, FillError> {
    said.map_err(|error| FillError::Text(error.to_string()))
}

/// A text with what its metavariables stand for.
fn text_of(segments: &[Segment], bindings: &Bindings) -> Result<String, FillError> {
    let mut text = String::with_capacity(16);
    for segment in segments {
        match segment {
            Segment::Fixed(fixed) => text.push_str(fixed),
            Segment::Variable(name) => match bound(bindings, name)? {
                Tree::String(part) => text.push_str(part),
                other => text.push_str(&scalar_text(other).ok_or_else(|| FillError::NotText(name.clone()))?),
            },
        }
    }
    Ok(text)
}

fn scalar_text(tree: &Tree) -> Option<String> {
    match tree {
        Tree::Number(number) => Some(number.to_string()),
        Tree::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Tree::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Display for Pattern {
    /// The pattern as flow YAML, as people write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(tree) => flow(tree, f),
            Self::Text(segments) => segments.iter().try_for_each(|segment| match segment {
                Segment::Fixed(text) => f.write_str(text),
                Segment::Variable(name) => write!(f, "${{{name}}}"),
            }),
            Self::Whole(name) => write!(f, "${{{name}}}"),
            Self::Spread(name) => write!(f, "${{{name}...}}"),
            Self::Seq(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Map(entries) => {
                f.write_str("{")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

fn flow(tree: &Tree, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match tree {
        Tree::Null => f.write_str("null"),
        Tree::Bool(value) => write!(f, "{value}"),
        Tree::Number(number) => write!(f, "{number}"),
        Tree::String(text) => f.write_str(text),
        Tree::Sequence(items) => {
            f.write_str("[")?;
            for (i, item) in items.iter().enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                flow(item, f)?;
            }
            f.write_str("]")
        }
        Tree::Mapping(map) => {
            f.write_str("{")?;
            for (i, (key, value)) in map.iter().enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                flow(key, f)?;
                f.write_str(": ")?;
                flow(value, f)?;
            }
            f.write_str("}")
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Pattern {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pattern".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A value, call or case with metavariables in its strings: \"${d}[${s}]\", \"${x}\", or \"${xs...}\" in a list.",
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("${d}[${s}]", "f32[2,3]")]
    #[case("{tuple: ['${x}', '${xs...}', '~${d}[]']}", "{tuple: [null, 1, true, ~f32[]]}")]
    #[case("{dict: {'${d}': 1}}", "{dict: {f32: 1}}")]
    #[case("[1, 2]", "[1, 2]")]
    fn fills(#[case] pattern: &str, #[case] expect: &str) {
        let pattern: Pattern = serde_yaml::from_str(pattern).unwrap();
        let bindings: IndexMap<Name, Tree> =
            serde_yaml::from_str("{d: f32, s: '2,3', x: null, xs: [1, true]}").unwrap();
        let bindings: Bindings = bindings.into_iter().collect();
        assert_eq!(Pattern::parse(&pattern.fill_tree(&bindings).unwrap()).unwrap().to_string(), expect);
    }

    #[test]
    fn a_missing_metavariable_is_named() {
        let pattern: Pattern = serde_yaml::from_str("${d}[]").unwrap();
        assert_eq!(pattern.fill_tree(&Bindings::default()), Err(FillError::Unbound(Name::new("d").unwrap())));
    }
}
