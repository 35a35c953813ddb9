//! Plants a pair: the same random context around both of its values.

use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use smallvec::smallvec;

use super::{Discard, Source, draw};
use crate::case::{Class, Name, Value};
use crate::spec::{Bindings, Contexts, FillError, FlagEffect, Passing, Pattern, Rule, Tree, WrapperKind};

/// Both sides of a pair, with what stands around them.
#[derive(Debug, Clone)]
pub struct Planted {
    pub sides: [Value; 2],
    pub position: String,
    pub is_static: bool,
    pub by: Passing,
}

/// The classes and objects that planted pairs use.
#[derive(Debug, Default)]
pub struct Definitions {
    pub classes: IndexMap<Name, Class>,
    pub objects: IndexMap<Name, Value>,
}

/// The names that a rule defines, as another pair of the same case has to call them.
struct Renaming {
    names: Vec<(Name, Name)>,
}

impl Renaming {
    /// A suffix for every name of `rule` that something else has already.
    fn avoiding(taken: &Definitions, contexts: &Contexts, rule: &Rule) -> Self {
        let is_reserved = |name: &Name| {
            contexts.wrappers.values().flat_map(|stage| &stage.kinds).any(|kind| kind.classes.contains_key(name))
        };
        let is_free =
            |name: &Name| !taken.classes.contains_key(name) && !taken.objects.contains_key(name) && !is_reserved(name);
        let fresh = |name: &Name| {
            let mut candidates = (2..).map(|n| Name::new(format!("{name}{n}")).expect("a name with a digit behind it"));
            if is_free(name) { name.clone() } else { candidates.find(is_free).expect("numbers don't end") }
        };
        Self { names: rule.classes.keys().chain(rule.objects.keys()).map(|name| (name.clone(), fresh(name))).collect() }
    }

    fn of(&self, name: &Name) -> Name {
        self.names.iter().find(|(old, _)| old == name).map_or_else(|| name.clone(), |(_, new)| new.clone())
    }

    fn is_none(&self) -> bool {
        self.names.iter().all(|(old, new)| old == new)
    }

    /// Renames the references in a tree: `{ref: x}`, `{class: X}`, `{new: {class: X, …}}`.
    fn apply(&self, tree: &mut Tree) {
        match tree {
            Tree::Sequence(items) => Arc::make_mut(items).iter_mut().for_each(|item| self.apply(item)),
            Tree::Mapping(map) => {
                for (key, value) in Arc::make_mut(map) {
                    match (&*key, &mut *value) {
                        (Tree::String(key), Tree::String(name)) if matches!(&**key, "ref" | "class" | "of") => {
                            if let Some((_, new)) = self.names.iter().find(|(old, _)| *old.as_str() == **name) {
                                *value = new.as_str().into();
                            }
                        }
                        _ => self.apply(value),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Draws the metavariables of `rule` and fills in its patterns as `fill` does; the definitions of the rule join the others.
pub fn instantiate<T: DeserializeOwned>(
    source: &mut Source,
    around: Surroundings<'_>,
    rule: &Rule,
    definitions: &mut Definitions,
    patterns: &[Pattern],
    fill: fn(&Pattern, &Bindings) -> Result<T, FillError>,
) -> Result<Vec<T>, Discard> {
    let bindings = draw::bindings(source, around, rule.forall.iter())?;
    let renaming = Renaming::avoiding(definitions, around.contexts, rule);
    for (name, class) in &rule.classes {
        let class = match class {
            Class::Subclass { of, repr } => Class::Subclass { of: renaming.of(of), repr: *repr },
            other => other.clone(),
        };
        definitions.classes.insert(renaming.of(name), class);
    }
    for (name, pattern) in &rule.objects {
        let object = filled(pattern, &bindings, &renaming, Pattern::fill_value)?;
        definitions.objects.insert(renaming.of(name), object);
    }
    patterns.iter().map(|pattern| filled(pattern, &bindings, &renaming, fill)).collect()
}

fn filled<T: DeserializeOwned>(
    pattern: &Pattern,
    bindings: &Bindings,
    renaming: &Renaming,
    fill: fn(&Pattern, &Bindings) -> Result<T, FillError>,
) -> Result<T, Discard> {
    if renaming.is_none() {
        return fill(pattern, bindings).map_err(broken);
    }
    let mut tree = pattern.fill_tree(bindings).map_err(broken)?;
    renaming.apply(&mut tree);
    tree.read().map_err(broken)
}

/// What stands around a pair, for one implementation.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'s> {
    pub contexts: &'s Contexts,
    pub implementation: &'s str,
    pub flags: &'s [Flag],
}

/// A config flag of the target, with another value than it has and what it does to a call under that.
#[derive(Debug, Clone)]
pub struct Flag {
    pub name: String,
    pub value: Tree,
    pub effect: FlagEffect,
}

/// Plants the sides at a position; if they may stand `anywhere` in an argument, through all stages but the one named
/// `later`.
pub fn plant(
    source: &mut Source,
    around: Surroundings<'_>,
    anywhere: bool,
    position: &str,
    sides: [Value; 2],
    definitions: &mut Definitions,
    later: &str,
) -> Result<Planted, Discard> {
    let spec = &around.contexts.positions[position];
    let mut planted = Planted { sides, position: position.to_owned(), is_static: spec.is_static, by: spec.by };
    if anywhere {
        for stage in spec.through.iter().filter(|stage| *stage != later) {
            wrap(source, around, stage, &mut planted.sides, definitions)?;
        }
    }
    Ok(planted)
}

/// What stands for that which a container is put around.
static HOLE: LazyLock<Name> = LazyLock::new(|| Name::new("hole").expect("a literal name"));

/// Puts the stage of wrapping of that name around both sides.
pub fn wrap(
    source: &mut Source,
    around: Surroundings<'_>,
    stage: &str,
    sides: &mut [Value; 2],
    definitions: &mut Definitions,
) -> Result<(), Discard> {
    let Surroundings { contexts, implementation, .. } = around;
    let stage = &contexts.wrappers[stage];
    let is_here = |kind: &&WrapperKind| kind.only.is_empty() || kind.only.iter().any(|only| only == implementation);
    let kinds = || stage.kinds.iter().filter(is_here);
    for _ in 0..source.number(stage.depth) {
        let kind = source.weighted(kinds().map(|kind| kind.weight));
        let kind = kinds().nth(kind).expect("a stage has a kind for each implementation");
        let bindings = draw::bindings(source, around, kind.forall.iter())?;
        for side in sides.iter_mut() {
            let inside = std::mem::replace(side, Value::None);
            *side = kind.value.fill_around(&bindings, &mut smallvec![(HOLE.clone(), Some(inside))]).map_err(broken)?;
        }
        for (name, class) in &kind.classes {
            definitions.classes.entry(name.clone()).or_insert_with(|| class.clone());
        }
    }
    Ok(())
}

/// `{tag: inside}`
pub fn tagged(tag: &str, inside: Tree) -> Tree {
    Tree::mapping([(tag.into(), inside)])
}

/// A defect of the rule, or of what stands around its pair.
pub fn broken(error: impl ToString) -> Discard {
    Discard::Broken(error.to_string())
}
