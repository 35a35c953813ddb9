//! Keys: what a table has of a call, and how two keys differ.
//!
//! A key is hashed first; only keys with equal hashes are compared. What the model itself compares comes first, then what
//! Python does, part by part in order: a comparison that raises is reached only if nothing before it differed.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::rc::Rc;

use rustc_hash::FxHasher;
use smallvec::{SmallVec, smallvec};

use super::ambient::{Ambient, Mesh};
use super::arguments::{Arguments, Invocation, Item};
use super::facet::{Facet, partition, sharding_type};
use super::leaf::{Aval, Leaves, Traits};
use super::object::{Kind, Obj, Raised};
use super::persistent::module_name;
use super::python;
use super::table::Program;
use super::treedef::{Path, Treedef};
use crate::case::{Donate, JitOptions, Name, Placement, Shardings, Value, Via};
use crate::spec::{CallComponent, ContextComponent, Equality, LeafComponent, Table, TableName};

/// What a table has of a call.
#[derive(Debug)]
pub struct Key {
    /// Of all that Python compares by its hash, and of enough else to tell most keys apart.
    hash: u64,
    pub(super) parts: Vec<Part>,
}

#[derive(Debug)]
pub(super) enum Part {
    /// Compared as it is.
    Plain(&'static str, Plain),
    Leaves(Avals),
    Static(Path, Obj, Equality),
    /// What surrounds the call, as far as the table has it.
    Ambient(Rc<Ambient>),
    /// An object of that: compared by `==`, like all of them.
    Context(&'static str, Option<Obj>),
    Tree(Treedef, Equality),
}

/// The leaves that a table has of a call.
#[derive(Debug)]
pub(super) struct Avals {
    leaves: Rc<Leaves>,
    /// Whether they are those that the program has, as lowering has them.
    lowered: bool,
}

impl Avals {
    fn has(&self, leaf: &Traits) -> bool {
        leaf.kept || !self.lowered
    }

    fn of(&self, leaf: &Traits) -> Rc<Aval> {
        if self.lowered { leaf.lowered() } else { Rc::clone(&leaf.aval) }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Path, Rc<Aval>)> {
        self.leaves.iter().filter(|leaf| self.has(leaf)).map(|leaf| (leaf.path(), self.of(&leaf)))
    }

    /// Adds the shape and dtype of each leaf to the hash, as far as they count.
    fn hash(&self, hasher: &mut FxHasher, components: &[LeafComponent]) {
        let [shape, dtype] =
            [LeafComponent::Shape, LeafComponent::CanonicalDtype].map(|component| components.contains(&component));
        if !shape && !dtype {
            return;
        }
        let (leaves, traits) = self.leaves.by_traits();
        let hash = |leaf: &Traits| {
            let mut hasher = FxHasher::default();
            shape.then(|| leaf.aval.shape.hash(&mut hasher));
            dtype.then(|| leaf.aval.dtype.hash(&mut hasher));
            self.has(leaf).then(|| hasher.finish())
        };
        let hashes: SmallVec<[_; 8]> = traits.iter().map(hash).collect();
        leaves.filter_map(|i| hashes[i]).for_each(|hash| hasher.write_u64(hash));
    }

    fn same(&self, other: &Self, table: &Table) -> bool {
        let missed = below_the_fast_path(table);
        let same = |a: &Aval, b: &Aval| {
            let facet = |component: &LeafComponent, aval| Facet::of(*component, aval, missed);
            a == b || table.leaf.iter().all(|component| facet(component, a) == facet(component, b))
        };
        let ((mine, traits), (others, others_traits)) = (self.leaves.by_traits(), other.leaves.by_traits());
        let mut others = others.filter(|i| other.has(&others_traits[*i]));
        // For the traits of mine, those of others that were found to be the same.
        let mut known: SmallVec<[_; 8]> = smallvec![None; traits.len()];
        let all_same = mine.filter(|i| self.has(&traits[*i])).all(|i| {
            others.next().is_some_and(|j| {
                let met = known[i].replace(j);
                met == Some(j) || same(&self.of(&traits[i]), &other.of(&others_traits[j]))
            })
        });
        all_same && others.next().is_none()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plain {
    Number(u64),
    Numbers(Vec<u64>),
    Mask(Vec<bool>),
    Texts(Vec<String>),
    Names(Vec<Name>),
    /// The options of a wrapper, and its name if it isn't the first one.
    Wrapper(Box<(Cow<'static, str>, Option<Name>)>),
    /// The text of a function.
    Definition(Rc<str>),
    Flag(bool),
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Numbers(n) => write!(f, "{n:?}"),
            Self::Mask(mask) => {
                write!(f, "{} leaves, {} of them arrays", mask.len(), mask.iter().filter(|d| **d).count())
            }
            Self::Texts(texts) => write!(f, "[{}]", texts.join(", ")),
            Self::Names(names) => write!(f, "[{}]", names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")),
            Self::Wrapper(wrapper) => {
                let (options, name) = &**wrapper;
                write!(f, "[{options}, {}]", name.as_ref().map_or("the first", Name::as_str))
            }
            Self::Definition(text) => write!(f, "[{text}]"),
            Self::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

/// How objects of the context are compared.
pub(super) const CONTEXT: Equality = Equality {
    same_type: false,
    hash: true,
    identity: true,
    equal: true,
    treedef_equals_others: false,
    any_dataclass: false,
};

/// The part that says which wrapper it is.
const WRAPPER: &str = "wrapper";

/// The parts that belong to the wrapper and not to a call.
const OF_WRAPPERS: [&str; 6] = [WRAPPER, "donation", "donated positions", "compiler options", "shardings", "options"];

/// The part that is what the layer above found.
pub(super) const PROGRAM: &str = "program";

/// The parts that say how often a loop runs, and how.
pub(super) const STEPS: &str = "number of steps";
pub(super) const LOOP_OPTIONS: &str = "options of the loop";

/// The part that says which leaves of a partition are arrays.
pub(super) const MASK: &str = "which leaves are arrays";

/// What a key is made of, besides the table's own words.
#[derive(Clone, Copy)]
pub struct Ingredients<'c> {
    pub function: &'c Obj,
    pub arguments: &'c Arguments,
    /// What the arguments were sorted from, where what is called inside may sort them otherwise.
    pub invocation: Option<&'c Invocation<'c>>,
    pub options: &'c JitOptions,
    pub ambient: &'c Rc<Ambient>,
    /// How the function is used.
    pub via: Via,
    /// The name of the wrapper, where a function has several.
    pub wrapper: Option<&'c Name>,
    /// Which tables the wrapper has: those made after a clearing can have others than those made before.
    pub generation: u64,
    /// What is called, where that is the primitive of an eager loop.
    pub primitive: Option<&'c Primitive>,
}

/// The primitive of an eager loop, by its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Primitive {
    pub jaxprs: Vec<Program>,
    /// How many steps it has, if it says so.
    pub steps: Option<u64>,
    /// Its other parameters, where they are not as usual.
    pub options: Vec<String>,
}

impl Key {
    /// The key of a call in `table`; `above` is the program that the layer above found.
    pub fn of(table: &Table, call: &Ingredients<'_>, above: Option<Program>) -> Self {
        Self::without(0, table, call, above)
    }

    /// The same for the function inside a `jax.jit(f)`: what belongs to the wrapper is no part of it.
    pub fn of_inner(table: &Table, call: &Ingredients<'_>) -> Self {
        Self::without(call.arguments.function_items, table, call, None)
    }

    fn without(skipped: usize, table: &Table, call: &Ingredients<'_>, above: Option<Program>) -> Self {
        let mut parts = Vec::with_capacity(4 + table.call.len() + call.arguments.items.len());
        if let Some(program) = above {
            parts.push(Part::Plain(PROGRAM, Plain::Number(program.0)));
        }
        // The program says it too; an explanation wants the words.
        if let Some(primitive) = call.primitive.filter(|_| table.table == TableName::Dispatch) {
            parts.extend(primitive.steps.map(|steps| Part::Plain(STEPS, Plain::Number(steps))));
            parts.push(Part::Plain(LOOP_OPTIONS, Plain::Texts(primitive.options.clone())));
        }
        if call.generation > 0 && belongs_to_wrapper(table, call) {
            parts.push(Part::Plain(WRAPPER, Plain::Number(call.generation)));
        }
        if table.table == TableName::Lower
            && let Some(transformation) = transformation(call)
        {
            parts.push(Part::Plain("transformation", Plain::Texts(vec![transformation])));
        }
        for component in &table.call {
            parts.push(call_part(*component, call));
        }
        if !table.context.is_empty() {
            parts.push(Part::Ambient(Rc::clone(call.ambient)));
        }
        let mut hasher = FxHasher::default();
        for part in &parts {
            match part {
                Part::Plain(_, Plain::Number(number)) => hasher.write_u64(*number),
                Part::Ambient(ambient) => {
                    let values = table.context.iter().filter_map(|component| match component {
                        ContextComponent::XlaMetadata => ambient.xla_metadata.as_ref(),
                        ContextComponent::User => ambient.user.as_ref(),
                        _ => None,
                    });
                    // A value that can't be hashed has no key.
                    values.for_each(|value| hasher.write_u64(python::hash(value).unwrap_or_default()));
                }
                _ => {}
            }
        }
        if !table.leaf.is_empty() {
            let lowered = matches!(table.table, TableName::Lower | TableName::Compile | TableName::Persistent);
            let leaves = Avals { leaves: Rc::clone(&call.arguments.leaves), lowered };
            leaves.hash(&mut hasher, &table.leaf);
            parts.push(Part::Leaves(leaves));
        }
        if !call.arguments.mask.is_empty() && table.statics.is_some() {
            parts.push(Part::Plain(MASK, Plain::Mask(call.arguments.mask.clone())));
        }
        for item in &call.arguments.items[skipped..] {
            match item {
                Item::Static { path, value, keyword, hash } => {
                    let Some(by) = table.statics.as_ref().map(|by| if *keyword { by.keyword } else { by.positional })
                    else {
                        continue;
                    };
                    if by.hash {
                        hasher.write_u64(*hash);
                    }
                    parts.push(Part::Static(path.clone(), value.clone(), by));
                }
                Item::Tree(treedef) => {
                    if let Some(by) = table.tree {
                        if by.hash {
                            hasher.write_u64(treedef.structure_hash());
                        }
                        parts.push(Part::Tree(treedef.clone(), by));
                    }
                }
            }
        }
        Self { hash: hasher.finish(), parts }
    }

    /// What the keys of a wrapper's own table have in common: those of the calls of all wrappers that share it.
    pub(super) fn of_wrapper(table: &Table, call: &Ingredients<'_>) -> Vec<(&'static str, Plain)> {
        let generation = (call.generation > 0 && belongs_to_wrapper(table, call))
            .then_some((WRAPPER, Plain::Number(call.generation)));
        let parts = table.call.iter().filter_map(|component| match call_part(*component, call) {
            Part::Plain(name, plain) if OF_WRAPPERS.contains(&name) => Some((name, plain)),
            _ => None,
        });
        generation.into_iter().chain(parts).collect()
    }

    /// Whether it is a key of that wrapper's table.
    pub(super) fn is_of(&self, wrapper: &[(&'static str, Plain)]) -> bool {
        let parts = self.parts.iter().filter_map(|part| match part {
            Part::Plain(name, plain) if OF_WRAPPERS.contains(name) => Some((*name, plain)),
            _ => None,
        });
        parts.eq(wrapper.iter().map(|(name, plain)| (*name, plain)))
    }

    /// Whether the keys, both of `table`, are the same; an error where a comparison that is reached raises, as the table
    /// shows it.
    pub fn same(&self, other: &Self, table: &Table) -> Result<bool, Raised> {
        if self.hash != other.hash || self.parts.len() != other.parts.len() {
            return Ok(false);
        }
        let mut parts = self.parts.iter().zip(&other.parts);
        if !parts.clone().all(|(a, b)| a.is_plainly(b, table)) {
            return Ok(false);
        }
        parts.try_fold(true, |same, (a, b)| Ok(same && a.same(b, table)?))
    }
}

impl Part {
    /// Whether nothing differs that the model itself compares.
    fn is_plainly(&self, other: &Self, table: &Table) -> bool {
        match (self, other) {
            (Self::Plain(a, mine), Self::Plain(b, others)) => a == b && mine == others,
            (Self::Leaves(a), Self::Leaves(b)) => a.same(b, table),
            (Self::Ambient(a), Self::Ambient(b)) => {
                let mut pairs = surroundings(table, a).zip(surroundings(table, b));
                Rc::ptr_eq(a, b) || pairs.all(|(a, b)| a.is_plainly(&b, table))
            }
            _ => discriminant(self) == discriminant(other),
        }
    }

    /// Whether nothing differs that Python compares.
    fn same(&self, other: &Self, table: &Table) -> Result<bool, Raised> {
        let errors = &table.comparison_raises;
        let shown = |class: &Option<String>| {
            let class = class.clone();
            move |raised| class.map_or(raised, Raised)
        };
        match (self, other) {
            (Self::Static(_, a, by), Self::Static(_, b, _)) => statics_same(a, b, *by).map_err(shown(&errors.statics)),
            (Self::Ambient(a), Self::Ambient(b)) if !Rc::ptr_eq(a, b) => {
                let mut pairs = surroundings(table, a).zip(surroundings(table, b));
                pairs.try_fold(true, |same, (a, b)| Ok(same && a.same(&b, table)?))
            }
            (Self::Context(_, Some(a)), Self::Context(_, Some(b))) => {
                statics_same(a, b, CONTEXT).map_err(shown(&errors.statics))
            }
            (Self::Context(_, a), Self::Context(_, b)) => Ok(a.is_none() == b.is_none()),
            (Self::Tree(a, by), Self::Tree(b, _)) => a.same(b, *by).map_err(shown(&errors.tree)),
            _ => Ok(true),
        }
    }
}

/// Whether it is asked only once the fast path was missed, below which some leaves look different.
pub(super) fn below_the_fast_path(table: &Table) -> bool {
    table.table != TableName::Dispatch
}

fn statics_same(a: &Obj, b: &Obj, by: Equality) -> Result<bool, Raised> {
    if by.same_type && !python::same_type(a, b) {
        return Ok(false);
    }
    if by.hash && python::hash(a)? != python::hash(b)? {
        return Ok(false);
    }
    if by.identity && python::is(a, b) {
        return Ok(true);
    }
    if by.equal { python::equal(a, b) } else { Ok(false) }
}

/// What in two statics differs, if anything does.
pub(super) fn static_difference(a: &Obj, b: &Obj, by: Equality) -> Option<&'static str> {
    match statics_same(a, b, by) {
        Ok(true) => None,
        Err(_) => Some("static value (its comparison raises)"),
        Ok(false) if by.same_type && !python::same_type(a, b) && python::equal(a, b) == Ok(true) => Some("static type"),
        Ok(false) if by.hash && python::equal(a, b) == Ok(true) => Some("static hash"),
        Ok(false) => Some("static value"),
    }
}

/// Whether wrappers of other generations have another table: `jax.jit` has the fast path by wrapper and the jaxprs by
/// function, `filter_jit` everything by its inner function, which wrappers of one generation share.
fn belongs_to_wrapper(table: &Table, call: &Ingredients<'_>) -> bool {
    let is_partition = call.arguments.function_items > 0;
    match table.table {
        TableName::Dispatch => true,
        TableName::Infer | TableName::Trace => is_partition,
        TableName::Resources | TableName::Lower | TableName::Compile | TableName::Persistent => false,
    }
}

/// What a transformation makes of the jaxpr, which then is lowered on its own.
fn transformation(call: &Ingredients<'_>) -> Option<String> {
    match call.via {
        Via::Vmap => Some(format!("vmap over {}", call.arguments.batch.unwrap_or_default())),
        Via::Grad | Via::Jvp if call.arguments.without_tangents => None,
        Via::Grad => Some("grad".to_owned()),
        Via::Jvp => Some("jvp".to_owned()),
        _ => None,
    }
}

fn texts(items: impl IntoIterator<Item = String>) -> Plain {
    Plain::Texts(items.into_iter().collect())
}

fn call_part(component: CallComponent, call: &Ingredients<'_>) -> Part {
    let arguments = call.arguments;
    match component {
        CallComponent::PositionalCount => {
            Part::Plain("number of positional arguments", Plain::Number(arguments.positional as u64))
        }
        CallComponent::KeywordNames => Part::Plain("keyword names", Plain::Names(arguments.keywords.clone())),
        CallComponent::StaticPositions => Part::Plain(
            "static positions",
            Plain::Numbers(arguments.static_positions.iter().map(|i| *i as u64).collect()),
        ),
        CallComponent::Definition => Part::Plain(
            "definition",
            Plain::Definition(match &**call.function {
                Kind::Function(function) => Rc::clone(&function.definition),
                _ => Rc::default(),
            }),
        ),
        CallComponent::ArgumentNames => {
            Part::Plain("argument names", texts(arguments.leaves.iter().map(|leaf| leaf.path().called())))
        }
        CallComponent::DonatedPositions => {
            let positions = arguments.donated.0.iter().map(ToString::to_string);
            Part::Plain("donated positions", texts(positions))
        }
        CallComponent::Donation => {
            let (positions, names) = &arguments.donated;
            let donated = positions.iter().map(ToString::to_string).chain(names.iter().map(ToString::to_string));
            Part::Plain("donation", texts(donated))
        }
        CallComponent::DonatedLeaves => {
            let donated = arguments.leaves.iter().filter(|leaf| leaf.donated).map(|leaf| leaf.path().to_string());
            Part::Plain("donated leaves", texts(donated))
        }
        CallComponent::DonatedArguments => {
            let kept = arguments.leaves.iter().filter(|leaf| leaf.kept);
            Part::Plain("donated arguments", Plain::Mask(kept.map(|leaf| leaf.donated).collect()))
        }
        CallComponent::ModuleName => {
            Part::Plain("name of the module", texts(module_name(call.function).map(str::to_owned)))
        }
        CallComponent::Options => Part::Plain("options", texts([written(call.options).into_owned()])),
        CallComponent::KeepUnused => Part::Plain("keep_unused", Plain::Flag(call.options.keep_unused)),
        CallComponent::CompilerOptions => Part::Plain(
            "compiler options",
            texts(call.options.compiler_options.iter().flatten().map(|(name, value)| match value {
                // Compared by `==`.
                Value::Bool(value) => format!("{name}={}", i32::from(*value)),
                value => format!("{name}={value}"),
            })),
        ),
        CallComponent::Shardings => {
            let JitOptions { in_shardings, out_shardings, device, backend, .. } = call.options;
            let options = || JitOptions {
                in_shardings: in_shardings.clone(),
                out_shardings: out_shardings.clone(),
                device: *device,
                backend: backend.clone(),
                ..JitOptions::default()
            };
            let any = in_shardings.is_some() || out_shardings.is_some();
            Part::Plain("shardings", texts(any.then(|| options().to_string())))
        }
        CallComponent::Wrapper => {
            Part::Plain(WRAPPER, Plain::Wrapper(Box::new((written(call.options), call.wrapper.cloned()))))
        }
        CallComponent::WrapperWithShardings => {
            let is_given = call.options.in_shardings.is_some() || call.options.out_shardings.is_some();
            let name = is_given.then(|| call.wrapper.map_or("the first", Name::as_str).to_owned());
            Part::Plain(WRAPPER, texts(name))
        }
        CallComponent::OutPartition => {
            let word = |at: &Placement| partition(at).unwrap_or_else(|| "on one device".to_owned());
            let words = out_shardings(call).map(|at| at.map_or_else(|| "anywhere".to_owned(), word));
            Part::Plain("out_shardings", texts(words))
        }
        CallComponent::OutMesh => {
            let meshes = out_shardings(call).filter_map(|at| at?.sharding.as_deref().map(sharding_type));
            Part::Plain("mesh of out_shardings", texts(meshes))
        }
        CallComponent::OutDevices => {
            let devices = out_shardings(call).flatten().map(|at| format!("{:?}", at.devices()));
            Part::Plain("devices of out_shardings", texts(devices))
        }
    }
}

/// The options in a text that tells them apart.
fn written(options: &JitOptions) -> Cow<'static, str> {
    // That equinox warns is no part of what it asks jax for.
    let silent = match options.donate {
        Some(Donate::Warn) => Donate::All,
        Some(Donate::WarnExceptFirst) => Donate::AllExceptFirst,
        _ if options.is_empty() => return "{}".into(),
        _ => return crate::case::text::to_json(options).into(),
    };
    crate::case::text::to_json(&JitOptions { donate: Some(silent), ..options.clone() }).into()
}

/// Where the results have to be: one for all, or one for each. A body that uses nothing has none.
pub(super) fn out_shardings<'c>(call: &Ingredients<'c>) -> impl Iterator<Item = Option<&'c Placement>> {
    let asked = call.options.out_shardings.as_ref();
    let asked = asked.filter(|_| call.arguments.leaves.iter().any(|leaf| leaf.kept));
    let count = asked.map_or(0, |asked| match asked {
        Shardings::All(_) => 1,
        Shardings::Tree(tree) => tree.leaves.len(),
    });
    (0..count).map(move |i| asked?.of_leaf(i))
}

/// The parts of what surrounds a call that `table` has.
pub(super) fn surroundings(table: &Table, ambient: &Ambient) -> impl Iterator<Item = Part> {
    table.context.iter().map(|component| context_part(*component, table.table, ambient))
}

fn context_part(component: ContextComponent, table: TableName, ambient: &Ambient) -> Part {
    match component {
        ContextComponent::X64 => Part::Plain("jax_enable_x64", Plain::Flag(ambient.x64)),
        ContextComponent::DefaultDevice => Part::Plain(
            "default device",
            Plain::Texts(ambient.default_device.iter().map(ToString::to_string).collect()),
        ),
        ContextComponent::Mesh => Part::Plain("mesh around the call", Plain::Texts(mesh(ambient.mesh.as_ref(), true))),
        ContextComponent::SetMesh => {
            // The jaxpr has an abstract mesh, which has no devices; the executable has nothing else of it.
            let words = match (table, &ambient.set_mesh) {
                (TableName::Compile, set) => set.iter().map(|mesh| format!("devices {:?}", mesh.devices)).collect(),
                (_, set) => mesh(set.as_ref(), table == TableName::Dispatch),
            };
            Part::Plain("jax.set_mesh", Plain::Texts(words))
        }
        ContextComponent::XlaMetadata => Part::Context("XLA metadata", ambient.xla_metadata.clone()),
        ContextComponent::ComputeOn => {
            Part::Plain("compute_on", Plain::Texts(ambient.compute_on.iter().cloned().collect()))
        }
        ContextComponent::User => Part::Context("user context", ambient.user.clone()),
        ContextComponent::Flags => {
            let flags = match table {
                TableName::Dispatch => &ambient.dispatch,
                TableName::Persistent => &ambient.persistent,
                _ => &ambient.trace,
            };
            Part::Plain("flags", Plain::Texts(flags.clone()))
        }
    }
}

/// A mesh in words, with its devices or without.
fn mesh(mesh: Option<&Mesh>, with_devices: bool) -> Vec<String> {
    let Some(mesh) = mesh else { return Vec::new() };
    let devices = with_devices.then(|| format!("devices {:?}", mesh.devices));
    mesh.words().chain(devices).collect()
}
