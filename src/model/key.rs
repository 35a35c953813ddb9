//! Keys: what a table has of a call, and how two keys differ.
//!
//! A key is hashed first; only keys with equal hashes are compared. What the model itself compares comes first, then what
//! Python does, part by part in order: a comparison that raises is reached only if nothing before it differed.

use std::borrow::Cow;
use std::fmt;
use std::hash::Hasher;
use std::rc::Rc;

use rustc_hash::FxHasher;
use smallvec::{SmallVec, smallvec};

use super::ambient::{Ambient, Mesh};
use super::arguments::{Arguments, CallForm, Invocation, Item};
use super::facet::{Facet, partition, sharding_type};
use super::leaf::{Aval, Leaves, Traits};
use super::object::{Kind, Obj, Raised};
use super::persistent::module_name;
use super::python;
use super::table::Program;
use super::treedef::{NodeKind, Path, Treedef};
use super::wrapper::Options;
use crate::case::{Donate, JitOptions, Name, Placement, Shardings, Value, Via};
use crate::spec::{CallComponent, ContextComponent, Equality, LeafComponent, Table, TableName};

/// What a table has of a call. Keys of one call share what they are made of, and what a table has of that is looked at where
/// two keys are compared: most are never.
#[derive(Debug)]
pub struct Key {
    /// Of all that Python compares by its hash, and of enough else to tell most keys apart.
    hash: u64,
    /// The program that the layer above found.
    above: Option<Program>,
    /// The primitive of a loop.
    primitive: Option<Rc<Primitive>>,
    /// The generation of the wrapper, where that has a table of its own.
    generation: u64,
    /// What a transformation makes of the jaxpr.
    transformation: Option<String>,
    leaves: Rc<Leaves>,
    form: Rc<CallForm>,
    options: Options,
    ambient: Rc<Ambient>,
    /// The name of the wrapper, where a function has several.
    wrapper: Option<Name>,
    definition: Option<Rc<str>>,
    module: Option<&'static str>,
    /// The statics and trees, where the table has any, without so many of the first ones. Others keep none of them alive.
    items: Option<Rc<Vec<Item>>>,
    skipped: usize,
}

/// A part of a key, as a table has it.
#[derive(Debug)]
pub(super) enum Part<'k> {
    /// Compared as it is.
    Plain(&'static str, Plain<'k>),
    Leaves(Avals<'k>),
    Static(&'k Path, &'k Obj, Equality),
    /// An object of what surrounds the call: compared by `==`, like all of them.
    Context(&'static str, Option<&'k Obj>),
    Tree(&'k Treedef, Equality),
}

/// A static or a tree, and how a table compares it.
enum KeyItem<'k> {
    Static { path: &'k Path, value: &'k Obj, hash: u64, by: Equality },
    Tree(&'k Treedef, Equality),
}

impl KeyItem<'_> {
    fn is_static(&self) -> bool {
        matches!(self, Self::Static { .. })
    }
}

/// The leaves that a table has of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avals<'k> {
    leaves: &'k Rc<Leaves>,
    /// Whether they are those that the program has, as lowering has them.
    lowered: bool,
}

impl Avals<'_> {
    fn has(&self, leaf: &Traits) -> bool {
        leaf.kept || !self.lowered
    }

    fn aval(&self, leaf: &Traits) -> Rc<Aval> {
        if self.lowered { leaf.lowered() } else { Rc::clone(&leaf.aval) }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = (Path, Rc<Aval>)> {
        self.leaves.iter().filter(move |leaf| self.has(leaf)).map(move |leaf| (leaf.path(), self.aval(&leaf)))
    }

    fn same(self, other: Self, table: &Table, counts: impl Fn(LeafComponent) -> bool) -> bool {
        let missed = below_the_fast_path(table);
        let same = |a: &Aval, b: &Aval| {
            let facet = |component: &LeafComponent, aval| Facet::of(*component, aval, missed);
            let mut components = table.leaf.iter().filter(|component| counts(**component));
            std::ptr::eq(a, b) || a == b || components.all(|component| facet(component, a) == facet(component, b))
        };
        let ((mine, traits), (others, others_traits)) = (self.leaves.by_traits(), other.leaves.by_traits());
        let mut others = others.filter(|i| other.has(&others_traits[*i]));
        // For the traits of mine, those of others that were found to be the same.
        let mut known: SmallVec<[_; 8]> = smallvec![None; traits.len()];
        let all_same = mine.filter(|i| self.has(&traits[*i])).all(|i| {
            others.next().is_some_and(|j| {
                let met = known[i].replace(j);
                met == Some(j) || same(&self.aval(&traits[i]), &other.aval(&others_traits[j]))
            })
        });
        all_same && others.next().is_none()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plain<'k> {
    Number(u64),
    Numbers(&'k [usize]),
    Mask(Cow<'k, [bool]>),
    Texts(Cow<'k, [String]>),
    Text(&'k str),
    Names(&'k [Name]),
    /// The options of a wrapper, and its name if it isn't the first one.
    Wrapper(Cow<'static, str>, Option<&'k Name>),
    Flag(bool),
}

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Numbers(n) => write!(f, "{n:?}"),
            Self::Mask(mask) => {
                write!(f, "{} leaves, {} of them arrays", mask.len(), mask.iter().filter(|d| **d).count())
            }
            Self::Texts(texts) => write!(f, "[{}]", texts.join(", ")),
            Self::Text(text) => write!(f, "[{text}]"),
            Self::Names(names) => write!(f, "[{}]", names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")),
            Self::Wrapper(options, name) => {
                write!(f, "[{options}, {}]", name.map_or("the first", Name::as_str))
            }
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
    pub options: &'c Options,
    pub ambient: &'c Rc<Ambient>,
    /// How the function is used.
    pub via: Via,
    /// The name of the wrapper, where a function has several.
    pub wrapper: Option<&'c Name>,
    /// Which tables the wrapper has: those made after a clearing can have others than those made before.
    pub generation: u64,
    /// What is called, where that is the primitive of an eager loop.
    pub primitive: Option<&'c Rc<Primitive>>,
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
        let Ingredients { function, arguments, options, ambient, .. } = *call;
        let has_items = table.statics.is_some() || table.tree.is_some();
        let mut key = Self {
            hash: 0,
            above,
            // The program says it too; an explanation wants the words.
            primitive: call.primitive.filter(|_| table.table == TableName::Dispatch).cloned(),
            generation: if belongs_to_wrapper(table, call) { call.generation } else { 0 },
            transformation: if table.table == TableName::Lower { transformation(call) } else { None },
            leaves: Rc::clone(&arguments.leaves),
            form: Rc::clone(&arguments.form),
            options: options.clone(),
            ambient: Rc::clone(ambient),
            wrapper: call.wrapper.cloned(),
            definition: definition(function),
            module: module_name(function),
            items: has_items.then(|| Rc::clone(&arguments.items)),
            skipped,
        };
        key.hash = key.hashed(table);
        key
    }

    fn hashed(&self, table: &Table) -> u64 {
        let mut hasher = FxHasher::default();
        self.above.into_iter().for_each(|program| hasher.write_u64(program.0));
        for component in table.context.iter().filter(|_| !table.compares_arguments_first) {
            let value = match component {
                ContextComponent::XlaMetadata => self.ambient.xla_metadata.as_ref(),
                ContextComponent::User => self.ambient.user.as_ref(),
                _ => None,
            };
            // A value that can't be hashed has no key.
            value.into_iter().for_each(|value| hasher.write_u64(python::hash(value).unwrap_or_default()));
        }
        // A table that lacks one of them has keys that are the same although these differ.
        if [LeafComponent::Shape, LeafComponent::CanonicalDtype].iter().all(|part| table.leaf.contains(part)) {
            hasher.write_u64(self.leaves.hash(is_lowered(table)));
        }
        for item in self.items(table) {
            match item {
                KeyItem::Static { hash, by, .. } if by.hash => hasher.write_u64(hash),
                KeyItem::Tree(treedef, by) if by.hash => hasher.write_u64(treedef.structure_hash()),
                _ => {}
            }
        }
        hasher.finish()
    }

    fn avals(&self, table: &Table) -> Option<Avals<'_>> {
        (!table.leaf.is_empty()).then_some(Avals { leaves: &self.leaves, lowered: is_lowered(table) })
    }

    /// What Python compares besides what surrounds the call, in the order of comparison.
    fn items(&self, table: &Table) -> impl Iterator<Item = KeyItem<'_>> {
        let items = self.items.as_ref().map_or(&[][..], |items| &items[self.skipped..]);
        items.iter().filter_map(|item| match item {
            Item::Static { path, value, keyword, hash } => {
                let by = table.statics.as_ref()?.of(*keyword);
                Some(KeyItem::Static { path, value, hash: *hash, by })
            }
            Item::Tree(treedef) => Some(KeyItem::Tree(treedef, table.tree?)),
        })
    }

    /// Which leaves of a partition are arrays, where the table has statics.
    fn mask(&self, table: &Table) -> &[bool] {
        if table.statics.is_some() { &self.form.mask } else { &[] }
    }

    fn loop_options(&self) -> Option<&[String]> {
        self.primitive.as_ref().map(|primitive| &primitive.options[..])
    }

    fn steps(&self) -> Option<u64> {
        self.primitive.as_ref()?.steps
    }

    /// Everything that the key has, for an explanation.
    pub(super) fn parts<'k>(&'k self, table: &'k Table) -> Vec<Part<'k>> {
        let generation = Some(self.generation).filter(|generation| *generation > 0);
        let plain = [
            (PROGRAM, self.above.map(|program| Plain::Number(program.0))),
            (STEPS, self.steps().map(Plain::Number)),
            (LOOP_OPTIONS, self.loop_options().map(|options| Plain::Texts(Cow::Borrowed(options)))),
            (WRAPPER, generation.map(Plain::Number)),
            ("transformation", self.transformation.as_deref().map(Plain::Text)),
        ];
        let plain = plain.into_iter().filter_map(|(name, plain)| Some((name, plain?)));
        let plain = plain.chain(table.call.iter().map(|component| self.call_part(*component)));
        let mut parts: Vec<_> = plain.map(|(name, plain)| Part::Plain(name, plain)).collect();
        parts.extend(surroundings(table, &self.ambient));
        parts.extend(self.avals(table).map(Part::Leaves));
        let mask = Some(self.mask(table)).filter(|mask| !mask.is_empty());
        parts.extend(mask.map(|mask| Part::Plain(MASK, Plain::Mask(Cow::Borrowed(mask)))));
        parts.extend(self.items(table).map(|item| match item {
            KeyItem::Static { path, value, by, .. } => Part::Static(path, value, by),
            KeyItem::Tree(treedef, by) => Part::Tree(treedef, by),
        }));
        parts
    }

    /// Whether they are keys of one wrapper, in a table that wrappers have: those of the calls of all that share it.
    pub(super) fn is_of(&self, wrapper: &Self, table: &Table) -> bool {
        const OF_WRAPPERS: [CallComponent; 7] = [
            CallComponent::Wrapper,
            CallComponent::WrapperWithShardings,
            CallComponent::Donation,
            CallComponent::DonatedPositions,
            CallComponent::CompilerOptions,
            CallComponent::Shardings,
            CallComponent::Options,
        ];
        let mut components = table.call.iter().filter(|component| OF_WRAPPERS.contains(component));
        self.generation == wrapper.generation && components.all(|component| self.agrees(wrapper, *component))
    }

    /// Whether the keys, both of `table`, are the same; an error where a comparison that is reached raises, as the table
    /// shows it.
    pub fn same(&self, other: &Self, table: &Table) -> Result<bool, Raised> {
        if self.hash != other.hash || !self.is_plainly(other, table) {
            return Ok(false);
        }
        if table.compares_arguments_first {
            return Ok(self.items_are(other, table)?
                && self.leaves_are(other, table, |component| component == LeafComponent::WeakType)
                && self.context_is(other, table)?);
        }
        Ok(self.context_is(other, table)? && self.items_are(other, table)?)
    }

    /// Whether nothing differs that the model itself compares before Python compares anything.
    fn is_plainly(&self, other: &Self, table: &Table) -> bool {
        let is_early = |component| component != LeafComponent::WeakType || !table.compares_arguments_first;
        self.above == other.above
            && (self.steps(), self.loop_options()) == (other.steps(), other.loop_options())
            && self.generation == other.generation
            && self.transformation == other.transformation
            && table.call.iter().all(|component| self.agrees(other, *component))
            && self.leaves_are(other, table, is_early)
            && self.mask(table) == other.mask(table)
            && self.items(table).map(|item| item.is_static()).eq(other.items(table).map(|item| item.is_static()))
    }

    /// Whether the leaves are the same in the components that count.
    fn leaves_are(&self, other: &Self, table: &Table, counts: impl Fn(LeafComponent) -> bool) -> bool {
        match (self.avals(table), other.avals(table)) {
            (Some(a), Some(b)) => a.same(b, table, counts),
            _ => true,
        }
    }

    /// Whether what surrounds the calls is the same: what the model itself compares, then what Python does.
    fn context_is(&self, other: &Self, table: &Table) -> Result<bool, Raised> {
        if Rc::ptr_eq(&self.ambient, &other.ambient) {
            return Ok(true);
        }
        let [mine, others] = [self, other].map(|key| surroundings(table, &key.ambient).collect::<Vec<_>>());
        let pairs = || mine.iter().zip(&others);
        if pairs().any(|pair| matches!(pair, (Part::Plain(_, a), Part::Plain(_, b)) if a != b)) {
            return Ok(false);
        }
        for pair in pairs() {
            let is_same = match pair {
                (Part::Context(_, Some(a)), Part::Context(_, Some(b))) => {
                    statics_same(a, b, CONTEXT).map_err(|raised| as_shown(&table.comparison_raises.statics, raised))?
                }
                (Part::Context(_, a), Part::Context(_, b)) => a.is_none() == b.is_none(),
                _ => true,
            };
            if !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the statics and trees are the same, which Python compares.
    fn items_are(&self, other: &Self, table: &Table) -> Result<bool, Raised> {
        let errors = &table.comparison_raises;
        let of_node = |kind, raised| as_shown(if kind == NodeKind::Dict { &errors.dict } else { &errors.tree }, raised);
        for pair in self.items(table).zip(other.items(table)) {
            let is_same = match pair {
                (KeyItem::Static { value: a, by, .. }, KeyItem::Static { value: b, .. }) => {
                    statics_same(a, b, by).map_err(|raised| as_shown(&errors.statics, raised))?
                }
                (KeyItem::Tree(a, by), KeyItem::Tree(b, _)) => a.compared(b, by, of_node)?,
                _ => false,
            };
            if !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether they agree in a part of the call's form.
    fn agrees(&self, other: &Self, component: CallComponent) -> bool {
        let same_options = || self.options.are(&other.options);
        match component {
            CallComponent::Options
            | CallComponent::KeepUnused
            | CallComponent::CompilerOptions
            | CallComponent::Shardings
                if same_options() =>
            {
                true
            }
            CallComponent::Wrapper if same_options() => self.wrapper == other.wrapper,
            _ => self.call_part(component) == other.call_part(component),
        }
    }

    /// A part of the call's form, and what it is called.
    fn call_part(&self, component: CallComponent) -> (&'static str, Plain<'_>) {
        let form = &*self.form;
        match component {
            CallComponent::PositionalCount => ("number of positional arguments", Plain::Number(form.positional as u64)),
            CallComponent::KeywordNames => ("keyword names", Plain::Names(&form.keywords)),
            CallComponent::StaticPositions => ("static positions", Plain::Numbers(&form.static_positions)),
            CallComponent::ChoosesByName => ("static names", Plain::Flag(form.chooses_by_name)),
            CallComponent::Definition => ("definition", Plain::Text(self.definition.as_deref().unwrap_or_default())),
            CallComponent::ArgumentNames => {
                ("argument names", texts(self.leaves.iter().map(|leaf| leaf.path().called())))
            }
            CallComponent::DonatedPositions => {
                ("donated positions", texts(form.donated.0.iter().map(ToString::to_string)))
            }
            CallComponent::Donation => {
                let (positions, names) = &form.donated;
                let positions = positions.iter().map(ToString::to_string);
                ("donation", texts(positions.chain(names.iter().map(ToString::to_string))))
            }
            CallComponent::DonatedLeaves => {
                let donated = self.leaves.iter().filter(|leaf| leaf.donated).map(|leaf| leaf.path().to_string());
                ("donated leaves", texts(donated))
            }
            CallComponent::DonatedArguments => {
                let kept = self.leaves.iter().filter(|leaf| leaf.kept);
                ("donated arguments", Plain::Mask(kept.map(|leaf| leaf.donated).collect()))
            }
            CallComponent::ModuleName => ("name of the module", texts(self.module.map(str::to_owned))),
            CallComponent::Options => ("options", texts([written(&self.options).into_owned()])),
            CallComponent::KeepUnused => ("keep_unused", Plain::Flag(self.options.keep_unused)),
            CallComponent::CompilerOptions => (
                "compiler options",
                texts(self.options.compiler_options.iter().flatten().map(|(name, value)| match value {
                    // Compared by `==`.
                    Value::Bool(value) => format!("{name}={}", i32::from(*value)),
                    value => format!("{name}={value}"),
                })),
            ),
            CallComponent::Shardings => {
                let JitOptions { in_shardings, out_shardings, device, backend, .. } = &*self.options;
                let options = || JitOptions {
                    in_shardings: in_shardings.clone(),
                    out_shardings: out_shardings.clone(),
                    device: *device,
                    backend: backend.clone(),
                    ..JitOptions::default()
                };
                let any = in_shardings.is_some() || out_shardings.is_some();
                ("shardings", texts(any.then(|| options().to_string())))
            }
            CallComponent::Wrapper => (WRAPPER, Plain::Wrapper(written(&self.options), self.wrapper.as_ref())),
            CallComponent::WrapperWithShardings => {
                let is_given = self.options.in_shardings.is_some() || self.options.out_shardings.is_some();
                let name = is_given.then(|| self.wrapper.as_ref().map_or("the first", Name::as_str).to_owned());
                (WRAPPER, texts(name))
            }
            CallComponent::OutPartition => {
                let word = |at: &Placement| partition(at).unwrap_or_else(|| "on one device".to_owned());
                let words = self.out_shardings().map(|at| at.map_or_else(|| "anywhere".to_owned(), word));
                ("out_shardings", texts(words))
            }
            CallComponent::OutMesh => {
                let meshes = self.out_shardings().filter_map(|at| at?.sharding.as_deref().map(sharding_type));
                ("mesh of out_shardings", texts(meshes))
            }
            CallComponent::OutDevices => {
                let devices = self.out_shardings().flatten().map(|at| format!("{:?}", at.devices()));
                ("devices of out_shardings", texts(devices))
            }
        }
    }

    fn out_shardings(&self) -> impl Iterator<Item = Option<&Placement>> {
        out_shardings(&self.options, &self.leaves)
    }
}

/// What a comparison raises, as a table shows it.
fn as_shown(class: &Option<String>, raised: Raised) -> Raised {
    class.as_deref().map_or(raised, Raised::new)
}

/// Whether it has the leaves of the program, as lowering has them.
fn is_lowered(table: &Table) -> bool {
    matches!(table.table, TableName::Lower | TableName::Compile | TableName::Persistent)
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

fn texts(items: impl IntoIterator<Item = String>) -> Plain<'static> {
    Plain::Texts(items.into_iter().collect())
}

/// Where a plain function is defined.
fn definition(function: &Obj) -> Option<Rc<str>> {
    match &**function {
        Kind::Function(function) => Some(Rc::clone(&function.definition)),
        _ => None,
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
pub(super) fn out_shardings<'c>(
    options: &'c JitOptions,
    leaves: &Leaves,
) -> impl Iterator<Item = Option<&'c Placement>> + use<'c> {
    let asked = options.out_shardings.as_ref().filter(|_| leaves.iter().any(|leaf| leaf.kept));
    let count = asked.map_or(0, |asked| match asked {
        Shardings::All(_) => 1,
        Shardings::Tree(tree) => tree.leaves.len(),
    });
    (0..count).map(move |i| asked?.of_leaf(i))
}

/// The parts of what surrounds a call that `table` has.
fn surroundings<'k>(table: &'k Table, ambient: &'k Ambient) -> impl Iterator<Item = Part<'k>> {
    table.context.iter().map(|component| context_part(*component, table.table, ambient))
}

fn context_part(component: ContextComponent, table: TableName, ambient: &Ambient) -> Part<'_> {
    let plain = |name, texts| Part::Plain(name, Plain::Texts(texts));
    match component {
        ContextComponent::X64 => Part::Plain("jax_enable_x64", Plain::Flag(ambient.x64)),
        ContextComponent::DefaultDevice => {
            plain("default device", ambient.default_device.iter().map(ToString::to_string).collect())
        }
        ContextComponent::Mesh => plain("mesh around the call", mesh(ambient.mesh.as_ref(), true).into()),
        ContextComponent::SetMesh => {
            // The jaxpr has an abstract mesh, which has no devices; the executable has nothing else of it.
            let words = match (table, &ambient.set_mesh) {
                (TableName::Compile, set) => set.iter().map(|mesh| format!("devices {:?}", mesh.devices)).collect(),
                (_, set) => mesh(set.as_ref(), table == TableName::Dispatch),
            };
            plain("jax.set_mesh", words.into())
        }
        ContextComponent::XlaMetadata => Part::Context("XLA metadata", ambient.xla_metadata.as_ref()),
        ContextComponent::ComputeOn => plain("compute_on", ambient.compute_on.as_slice().into()),
        ContextComponent::User => Part::Context("user context", ambient.user.as_ref()),
        ContextComponent::Flags => {
            let flags = match table {
                TableName::Dispatch => &ambient.dispatch,
                TableName::Persistent => &ambient.persistent,
                _ => &ambient.trace,
            };
            plain("flags", Cow::Borrowed(flags))
        }
    }
}

/// A mesh in words, with its devices or without.
fn mesh(mesh: Option<&Mesh>, with_devices: bool) -> Vec<String> {
    let Some(mesh) = mesh else { return Vec::new() };
    let devices = with_devices.then(|| format!("devices {:?}", mesh.devices));
    mesh.words().chain(devices).collect()
}
