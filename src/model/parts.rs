//! The parts of a key that the model itself compares, in words for a reader.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::ambient::{Ambient, Mesh};
use super::difference::Difference;
use super::facet::{partition, sharding_type};
use super::key::{Avals, Key, KeyItem, out_shardings};
use super::object::Obj;
use super::python;
use super::treedef::{Path, Treedef};
use crate::case::{Donate, JitOptions, Name, Placement, Value};
use crate::spec::{CallComponent, ContextComponent, Equality, Table, TableName};

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

/// The part that says which wrapper it is.
const WRAPPER: &str = "wrapper";

/// The part that is what the layer above found.
pub(super) const PROGRAM: &str = "program";

/// The parts that say how often a loop runs, and how.
pub(super) const STEPS: &str = "number of steps";
pub(super) const LOOP_OPTIONS: &str = "options of the loop";

/// The parts that are what surrounds a call, and no object.
pub(super) const SURROUNDINGS: [&str; 8] =
    [X64, DEFAULT_DEVICE, MESH, SET_MESH, COMPUTE_ON, NAMED_AXES, CONTEXTS_MADE, FLAGS];
/// The flag that says whether numbers can have 64 bits.
pub const X64: &str = "jax_enable_x64";
const DEFAULT_DEVICE: &str = "default device";
const MESH: &str = "mesh around the call";
const SET_MESH: &str = "jax.set_mesh";
const COMPUTE_ON: &str = "compute_on";
const NAMED_AXES: &str = "named axes";
const CONTEXTS_MADE: &str = "contexts that were made";
/// The word for a flag that has no value of its own.
const UNSET: &str = "unset";
/// The part that is what else `jax.config` says: each flag that is set, with its value.
pub(super) const FLAGS: &str = "flags";

/// The part that says which leaves of a partition are arrays.
pub(super) const MASK: &str = "which leaves are arrays";

impl Key {
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

    /// Whether they agree in a part of the call's form.
    pub(super) fn agrees(&self, other: &Self, component: CallComponent) -> bool {
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
            CallComponent::ArgumentNames => {
                self.leaves.are_called_as(&other.leaves) || self.names(false).eq(other.names(false))
            }
            CallComponent::ArgumentNamesAsInserted => self.names(true).eq(other.names(true)),
            _ => self.call_part(component) == other.call_part(component),
        }
    }

    /// The names of the arguments. Of a recording nobody knows what prints with its address: objects that are equal print alike.
    fn names(&self, as_inserted: bool) -> impl Iterator<Item = String> {
        let print = if self.ambient.recorded { python::repr } else { python::printed };
        self.leaves.iter().map(move |leaf| leaf.path().called(as_inserted, print))
    }

    /// A part of the call's form, and what it is called.
    pub(super) fn call_part(&self, component: CallComponent) -> (&'static str, Plain<'_>) {
        let form = &*self.form;
        match component {
            CallComponent::PositionalCount => ("number of positional arguments", Plain::Number(form.positional as u64)),
            CallComponent::KeywordNames => ("keyword names", Plain::Names(&form.keywords)),
            CallComponent::StaticPositions => ("static positions", Plain::Numbers(&form.static_positions)),
            CallComponent::ChoosesByName => ("static names", Plain::Flag(form.chooses_by_name)),
            CallComponent::Definition => ("definition", Plain::Text(self.definition.as_deref().unwrap_or_default())),
            CallComponent::ArgumentNames => {
                ("argument names", texts(self.leaves.iter().map(|leaf| leaf.path().called(false, python::repr))))
            }
            CallComponent::ArgumentNamesAsInserted => {
                ("argument names", texts(self.leaves.iter().map(|leaf| leaf.path().called(true, python::repr))))
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
            CallComponent::Ahead => ("compiled ahead of time", Plain::Flag(self.ahead)),
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

/// The parts of what surrounds a call that `table` has.
pub(super) fn surroundings<'k>(table: &'k Table, ambient: &'k Ambient) -> impl Iterator<Item = Part<'k>> {
    table.context.iter().map(|component| context_part(*component, table.table, ambient))
}

fn context_part(component: ContextComponent, table: TableName, ambient: &Ambient) -> Part<'_> {
    let plain = |name, texts| Part::Plain(name, Plain::Texts(texts));
    match component {
        ContextComponent::X64 => Part::Plain(X64, Plain::Flag(ambient.x64)),
        ContextComponent::DefaultDevice => {
            plain(DEFAULT_DEVICE, ambient.default_device.iter().map(ToString::to_string).collect())
        }
        ContextComponent::Mesh => plain(MESH, mesh(ambient.mesh.as_ref(), true).into()),
        ContextComponent::SetMesh => plain(SET_MESH, set_mesh(table, ambient).into()),
        ContextComponent::XlaMetadata => Part::Context("XLA metadata", ambient.xla_metadata.as_ref()),
        ContextComponent::ComputeOn => plain(COMPUTE_ON, ambient.compute_on.as_slice().into()),
        ContextComponent::NamedAxes => plain(NAMED_AXES, ambient.named_axes.as_slice().into()),
        ContextComponent::ContextsMade => Part::Plain(CONTEXTS_MADE, Plain::Number(u64::from(ambient.contexts_made))),
        ContextComponent::User => Part::Context("user context", ambient.user.as_ref()),
        ContextComponent::Flags => {
            let flags = match table {
                TableName::Dispatch => &ambient.dispatch,
                TableName::Persistent => &ambient.persistent,
                _ => &ambient.trace,
            };
            plain(FLAGS, Cow::Borrowed(flags))
        }
    }
}

/// Each flag that is another one, before and after, with its value.
pub(super) fn other_flags(before: &[String], after: &[String]) -> Vec<[String; 2]> {
    fn by_name(texts: &[String]) -> BTreeMap<&str, &str> {
        texts.iter().map(|text| (text.split_once('=').map_or(text.as_str(), |(name, _)| name), text.as_str())).collect()
    }
    let (before, after) = (by_name(before), by_name(after));
    let names: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
    let both = names.into_iter().map(|name| [&before, &after].map(|flags| *flags.get(name).unwrap_or(&UNSET)));
    both.filter(|[before, after]| before != after).map(|both| both.map(str::to_owned)).collect()
}

impl Difference {
    /// The flag that is another one, if it is a flag.
    #[must_use]
    pub fn flag(&self) -> Option<&str> {
        let set = if self.after == UNSET { &self.before } else { &self.after };
        set.split_once('=').filter(|_| self.component == FLAGS).map(|(name, _)| name)
    }
}

/// A mesh in words, with its devices or without.
fn mesh(mesh: Option<&Mesh>, with_devices: bool) -> Vec<String> {
    let Some(mesh) = mesh else { return Vec::new() };
    let devices = with_devices.then(|| format!("devices {:?}", mesh.devices));
    mesh.words().chain(devices).collect()
}

/// What a table has of the meshes of `jax.set_mesh` and `use_abstract_mesh`: the jaxpr has the innermost, which is abstract and has
/// no devices, and the executable only the devices.
fn set_mesh(table: TableName, ambient: &Ambient) -> Vec<String> {
    let set = ambient.set_mesh.as_ref();
    match (table, &ambient.abstract_mesh) {
        (TableName::Compile, _) => set.iter().map(|mesh| format!("devices {:?}", mesh.devices)).collect(),
        (TableName::Dispatch, inner) => {
            let inner = inner.iter().flatten().cloned();
            mesh(set, true).into_iter().chain(inner).collect()
        }
        (_, Some(inner)) => inner.clone(),
        (_, None) => mesh(set, false),
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

fn texts(items: impl IntoIterator<Item = String>) -> Plain<'static> {
    Plain::Texts(items.into_iter().collect())
}
