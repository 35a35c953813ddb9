//! What surrounds a call: configuration and contexts, as far as keys and verdicts depend on them.

use std::rc::Rc;

use indexmap::IndexMap;

use super::build::Namespace;
use super::object::{Kind, Obj, Raised};
use super::persistent::{FLAGS_OF_FILES, Files};
use super::predict::ModelError;
use super::python;
use crate::case::{Context, DefaultDevice, Form, Layer, Name, TransferGuard, Value, axes};
use crate::spec::{ContextField, FlagEffect, FlagKey, LeafKind, NonFinite, Profile};

/// The surroundings of one call.
#[derive(Debug, Clone, Default)]
pub struct Ambient {
    pub x64: bool,
    pub default_device: Option<DefaultDevice>,
    /// The mesh around the call.
    pub mesh: Option<Mesh>,
    /// The mesh of `jax.set_mesh`.
    pub set_mesh: Option<Mesh>,
    /// The axes of the mesh of `use_abstract_mesh`, in words, if there is one.
    pub abstract_mesh: Option<Vec<String>>,
    /// What `set_xla_metadata` set: a tuple of names and values.
    pub xla_metadata: Option<Obj>,
    pub compute_on: Option<String>,
    /// The axes that are named around the call, with their sizes, in words.
    pub named_axes: Vec<String>,
    /// The value of the user's own context.
    pub user: Option<Obj>,
    /// How many contexts were made since the case began.
    pub contexts_made: u32,
    /// Whether what has to be copied to where the program runs raises.
    pub guarded: bool,
    /// The flags that are part of the fast path's key, with their values; likewise the next two.
    pub dispatch: Vec<String>,
    /// The flags that are part of the trace context.
    pub trace: Vec<String>,
    /// The flags that tracing can see.
    pub seen: Vec<String>,
    /// What the body reads of objects where no key sees it, by its path.
    pub reads: Vec<(String, String)>,
    /// The same of each function of an eager loop.
    pub reads_each: Vec<Vec<(String, String)>>,
    /// The flags that are part of the name of a program's file.
    pub persistent: Vec<String>,
    /// Whether programs are kept in files.
    pub persistent_cache: bool,
    /// What is done with these files.
    pub files: Files,
    pub never_fast: bool,
    /// Whether what is called with a PRNG key is never taken up by the fast path.
    pub never_fast_with_keys: bool,
    pub bypasses: bool,
    /// Whether the program of an eager loop is made anew.
    pub makes_loops_anew: bool,
    pub trace_raises: Option<String>,
    pub miss_raises: Option<String>,
    /// Whether any jaxpr that is made for a call is a trace of it.
    pub traced_with_any: bool,
    /// The layer at which nothing can be made, and what is raised there.
    pub fails_at: Option<(Layer, String)>,
    pub run_raises: Option<String>,
    pub compiled_raises: Option<String>,
    /// The kinds of leaves that are traced although they are refused otherwise.
    pub passing: Vec<LeafKind>,
    /// Whether no array without buffers is of use to the program.
    pub reads_no_gone: bool,
    /// Whether its program came from a file of a persistent cache that the case doesn't know.
    pub loaded: bool,
    /// Whether the call is one of a recording: what its body returns isn't known.
    pub recorded: bool,
    /// What a program may not return.
    pub returns_no: Vec<NonFinite>,
}

/// A mesh: its axes with their sizes, and its devices in order.
#[derive(Debug, Clone)]
pub struct Mesh {
    pub axes: IndexMap<Name, u32>,
    pub explicit: Vec<Name>,
    pub devices: Vec<u32>,
}

impl Mesh {
    /// The axes with their sizes, in words.
    pub fn words(&self) -> impl Iterator<Item = String> {
        axes(&self.axes, &self.explicit)
    }
}

/// A mesh of `use_abstract_mesh` in words: its axes with their sizes, and that it doesn't know the kind of its devices, as one of
/// `jax.set_mesh` does.
fn abstract_words(mesh: &IndexMap<Name, u32>, profile: &Profile) -> Vec<String> {
    let is_none = mesh.is_empty() && profile.empty_mesh_is_none;
    let apart = (!is_none).then_some(if mesh.is_empty() { "without axes" } else { "without devices" });
    axes(mesh, &[]).chain(apart.map(str::to_owned)).collect()
}

/// The guard that a flag asks for.
fn guard(value: &Value) -> Option<TransferGuard> {
    match value {
        Value::Form(form) => match &**form {
            Form::Str(word) => TransferGuard::named(word),
            _ => None,
        },
        _ => None,
    }
}

impl Ambient {
    /// The surroundings of a call in a case; those of the call come over those of the case.
    pub fn of(case: &Context, call: &Context, profile: &Profile, names: &Namespace) -> Result<Self, ModelError> {
        let context = case.around(call).into_owned();
        let mesh = |axes: IndexMap<Name, u32>| Mesh {
            devices: match &context.mesh_devices[..] {
                [] => (0..axes.values().product()).collect(),
                devices => devices.to_vec(),
            },
            axes,
            explicit: context.mesh_explicit.clone(),
        };
        let mut metadata = Vec::new();
        let has_metadata = !context.xla_metadata.is_empty();
        for (name, value) in &context.xla_metadata {
            let value = names.build(value)?;
            // Nothing is entered: Python raises before there is a call.
            python::hash(&value).map_err(|Raised(class)| ModelError::Unbuildable(class))?;
            if profile.none_is_metadata || !matches!(*value, Kind::None) {
                metadata.push((name.clone(), value));
            }
        }
        metadata.sort_by(|(a, _), (b, _)| a.cmp(b));
        let user = context.user.as_ref().map(|value| names.build(value)).transpose()?;
        let pair = |(name, value): (Name, Obj)| Rc::new(Kind::Tuple(vec![Rc::new(Kind::Str(name.to_string())), value]));
        let mut ambient = Self {
            x64: context.x64.unwrap_or(false),
            default_device: context.default_device,
            mesh: context.mesh.map(mesh),
            set_mesh: context.set_mesh.map(mesh),
            abstract_mesh: context.abstract_mesh.map(|mesh| abstract_words(&mesh, profile)),
            xla_metadata: has_metadata.then(|| Rc::new(Kind::Tuple(metadata.into_iter().map(pair).collect()))),
            compute_on: context.compute_on,
            named_axes: axes(&context.named_axes, &[]).collect(),
            // A context that is None is as good as none.
            user: user.filter(|value| !matches!(**value, Kind::None)),
            contexts_made: context.contexts_made,
            guarded: context.transfer_guard.is_some_and(TransferGuard::disallows),
            persistent_cache: context.persistent_cache,
            ..Self::default()
        };
        if !profile.axes_in_order {
            ambient.named_axes.sort_unstable();
        }
        ambient.never_fast = profile.axes_never_fast && !ambient.named_axes.is_empty();
        let mut flags = context.flags;
        flags.sort_unstable_keys();
        for (name, value) in &flags {
            let Some(effect) = profile.flags.get(name) else {
                return Err(ModelError::Unsupported(format!("the flag {name}")));
            };
            if ambient.persistent_cache && FLAGS_OF_FILES.contains(&name.as_str()) {
                let files = Files::under(name, value);
                let unknown =
                    || ModelError::Unsupported(format!("the files of a persistent cache under {name}={value}"));
                ambient.files = ambient.files.max(files.ok_or_else(unknown)?);
            }
            if profile.flag_defaults.get(name) == Some(value) {
                continue;
            }
            match effect.stands_for {
                Some(ContextField::X64) => ambient.x64 = context.x64.unwrap_or(*value == Value::Bool(true)),
                // A context manager comes over the flag, whichever of the two it is.
                Some(ContextField::TransferGuard) if context.transfer_guard.is_none() => {
                    ambient.guarded |= guard(value).is_some_and(TransferGuard::disallows);
                }
                Some(ContextField::TransferGuard) => {}
                None => {}
            }
            ambient.add(effect, &format!("{name}={value}"));
            if *value == Value::Bool(true) {
                ambient.returns_no.extend(&effect.returns_no);
                ambient.passing.extend(&effect.traces);
            }
        }
        if profile.local_flags_count {
            let mut local = context.local_flags;
            local.sort_unstable();
            local.dedup();
            let counts = |name: &String| profile.flags.get(name).is_some_and(|it| it.keys.contains(&FlagKey::Dispatch));
            ambient.dispatch.extend(local.into_iter().filter(counts).map(|name| name + " set by a context manager"));
        }
        Ok(ambient)
    }

    /// Whether there is anything around the call that the model doesn't know for compiled objects.
    pub fn is_more_than_flags(&self) -> bool {
        self.set_mesh.is_some()
            || self.abstract_mesh.is_some()
            || self.xla_metadata.is_some()
            || self.compute_on.is_some()
            || !self.named_axes.is_empty()
            || self.contexts_made > 0
            || self.user.is_some()
            || self.guarded
    }

    /// What comes of a context whose value can't be hashed, as all keys have to.
    pub fn unhashable(&self) -> Option<Raised> {
        self.user.as_ref().and_then(|value| python::hash(value).err())
    }

    /// What a call raises that the fast path doesn't find.
    pub fn missing_raises(&self) -> Option<Raised> {
        self.miss_raises.as_deref().map(Raised::new)
    }

    fn add(&mut self, effect: &FlagEffect, text: &str) {
        let FlagEffect {
            keys,
            seen,
            never_fast,
            never_fast_with_keys,
            bypasses,
            makes_loops_anew,
            trace_raises,
            miss_raises,
            run_raises,
            compiled_raises,
            ..
        } = effect;
        for key in keys {
            match key {
                FlagKey::Dispatch => self.dispatch.push(text.to_owned()),
                FlagKey::Trace => self.trace.push(text.to_owned()),
                FlagKey::Persistent => self.persistent.push(text.to_owned()),
            }
        }
        if *seen {
            self.seen.push(text.to_owned());
        }
        self.never_fast |= never_fast;
        self.never_fast_with_keys |= never_fast_with_keys;
        self.bypasses |= bypasses;
        self.makes_loops_anew |= makes_loops_anew;
        self.trace_raises = self.trace_raises.take().or_else(|| trace_raises.clone());
        self.miss_raises = self.miss_raises.take().or_else(|| miss_raises.clone());
        self.run_raises = self.run_raises.take().or_else(|| run_raises.clone());
        self.compiled_raises = self.compiled_raises.take().or_else(|| compiled_raises.clone());
    }
}
