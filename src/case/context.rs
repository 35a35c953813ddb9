//! What surrounds a call.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::placement::is_zero;
use super::{Name, Value};

/// What surrounds a call: configuration and context managers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// `jax_enable_x64`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x64: Option<bool>,
    /// Other config flags, by their name in `jax.config`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub flags: IndexMap<String, Value>,
    /// Flags that a context manager has set in this thread: to the value of `flags`, or to the one that they have anyway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub local_flags: Vec<String>,
    /// `jax.default_device`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_device: Option<DefaultDevice>,
    /// A mesh that surrounds the call, as a context manager: axis names with their sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<IndexMap<Name, u32>>,
    /// The mesh of `jax.set_mesh`, written likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_mesh: Option<IndexMap<Name, u32>>,
    /// The mesh of `jax.sharding.use_abstract_mesh`, inside of the others: its axes with their sizes, which are all `Auto`. One
    /// without axes is written `{}`; jax enters it itself where it transposes and around callbacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstract_mesh: Option<IndexMap<Name, u32>>,
    /// The devices of these meshes, in order; the first ones if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mesh_devices: Vec<u32>,
    /// The axes of these meshes that are `AxisType.Explicit`; the others are `Auto`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mesh_explicit: Vec<Name>,
    /// `jax.experimental.xla_metadata.set_xla_metadata(name=value, …)`
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub xla_metadata: IndexMap<Name, Value>,
    /// `jax.experimental.compute_on.compute_on`: the compute type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_on: Option<String>,
    /// The axes that `axis_name` of `jax.vmap` names around the call, or `jax.shard_map` with a mesh, with their sizes, the outermost
    /// first: the axis environment of jax.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub named_axes: IndexMap<Name, u32>,
    /// The value of a context that was made with `jax.make_user_context()`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Value>,
    /// How many contexts were made since the case began, by `jax.make_user_context()` or by a module that was imported. Each is a part
    /// of all keys, whether or not it is entered, and there for good.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub contexts_made: u32,
    /// `jax.transfer_guard`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_guard: Option<TransferGuard>,
    /// Whether programs are kept in the files of a persistent cache: a folder that is empty as the case begins
    /// (`jax_compilation_cache_dir`). What is loaded from there is not compiled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub persistent_cache: bool,
}

/// `jax.default_device`
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected the number of a device, or the name of a platform")]
pub enum DefaultDevice {
    /// The device of that number.
    Number(u32),
    /// The first device of the platform of that name.
    Platform(String),
}

impl std::fmt::Display for DefaultDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Platform(name) => f.write_str(name),
        }
    }
}

/// `jax.transfer_guard`: what happens to a value that has to be copied to a device, or between devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TransferGuard {
    /// Nothing.
    Allow,
    /// It is logged, if nobody asked for the copy.
    Log,
    /// It raises, if nobody asked for the copy.
    Disallow,
    /// It is logged.
    LogExplicit,
    /// It raises.
    DisallowExplicit,
}

impl TransferGuard {
    /// Every one.
    const ALL: [Self; 5] = [Self::Allow, Self::Log, Self::Disallow, Self::LogExplicit, Self::DisallowExplicit];

    /// The guard of that word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|guard| guard.word() == word)
    }

    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Log => "log",
            Self::Disallow => "disallow",
            Self::LogExplicit => "log_explicit",
            Self::DisallowExplicit => "disallow_explicit",
        }
    }

    /// Whether what a call has to copy raises. Nobody asks for that copy.
    #[must_use]
    pub fn disallows(self) -> bool {
        matches!(self, Self::Disallow | Self::DisallowExplicit)
    }
}

impl Context {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self {
            x64,
            flags,
            local_flags,
            default_device,
            mesh,
            set_mesh,
            abstract_mesh,
            mesh_devices,
            mesh_explicit,
            ..
        } = self;
        let Self {
            xla_metadata, compute_on, named_axes, user, contexts_made, transfer_guard, persistent_cache, ..
        } = self;
        let is_plain = x64.is_none() && default_device.is_none() && transfer_guard.is_none() && !persistent_cache;
        let has_mesh = [mesh, set_mesh, abstract_mesh].into_iter().any(Option::is_some)
            || !mesh_devices.is_empty()
            || !mesh_explicit.is_empty();
        let has_axes = !named_axes.is_empty();
        let has_values = !flags.is_empty()
            || !local_flags.is_empty()
            || !xla_metadata.is_empty()
            || compute_on.is_some()
            || user.is_some();
        is_plain && !has_mesh && !has_axes && !has_values && *contexts_made == 0
    }

    /// The context of a call inside this one: what both set is as the call says.
    #[must_use]
    pub fn around<'c>(&'c self, call: &'c Self) -> Cow<'c, Self> {
        if call.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut flags = self.flags.clone();
        flags.extend(call.flags.clone());
        let mut local_flags = self.local_flags.clone();
        local_flags.extend(call.local_flags.clone());
        let mut xla_metadata = self.xla_metadata.clone();
        xla_metadata.extend(call.xla_metadata.clone());
        let mut named_axes = self.named_axes.clone();
        named_axes.extend(call.named_axes.clone());
        let devices = if call.mesh_devices.is_empty() { &self.mesh_devices } else { &call.mesh_devices };
        let explicit = if call.mesh_explicit.is_empty() { &self.mesh_explicit } else { &call.mesh_explicit };
        Cow::Owned(Self {
            x64: call.x64.or(self.x64),
            flags,
            local_flags,
            default_device: call.default_device.clone().or_else(|| self.default_device.clone()),
            mesh: call.mesh.clone().or_else(|| self.mesh.clone()),
            set_mesh: call.set_mesh.clone().or_else(|| self.set_mesh.clone()),
            abstract_mesh: call.abstract_mesh.clone().or_else(|| self.abstract_mesh.clone()),
            mesh_devices: devices.clone(),
            mesh_explicit: explicit.clone(),
            xla_metadata,
            compute_on: call.compute_on.clone().or_else(|| self.compute_on.clone()),
            named_axes,
            user: call.user.clone().or_else(|| self.user.clone()),
            contexts_made: call.contexts_made.max(self.contexts_made),
            transfer_guard: call.transfer_guard.or(self.transfer_guard),
            persistent_cache: call.persistent_cache || self.persistent_cache,
        })
    }
}
