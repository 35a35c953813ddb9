//! Where an array lives: on a device, or split over a mesh of them.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::Name;

/// Where a `jax.Array` lives. Devices are numbered as in `jax.devices()`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// The device, 0 if not given.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub device: u32,
    /// Whether the array is committed to its device, as `jax.device_put(x, device)` makes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub committed: bool,
    /// A named sharding over a mesh; the array is committed to the mesh's devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharding: Option<Box<Sharding>>,
    /// Major-to-minor order of the dimensions, where it is not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Vec<u32>>,
    /// `device`, `pinned_host` or `unpinned_host`, where it is not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_kind: Option<String>,
    /// The mesh that its type has though it is on a device: the one that it was over before `jax.device_put` moved it, given a
    /// `jax.Device`, which commits it; or, of what isn't committed, that of an argument whose likeness jax made without it,
    /// `jax.jit(jnp.zeros_like)(x)`, as some versions do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_off: Option<Box<Sharding>>,
}

impl Placement {
    /// Committed to that device; on the first one, and not committed, if there is none.
    #[must_use]
    pub fn on(device: Option<u32>) -> Self {
        Self { device: device.unwrap_or(0), committed: device.is_some(), ..Self::default() }
    }

    /// Whether the array is committed: asked for, or because it was put somewhere.
    #[must_use]
    pub fn is_committed(&self) -> bool {
        self.committed || self.sharding.is_some() || self.layout.is_some() || self.memory_kind.is_some()
    }

    /// The same, a tuple of one axis written as that axis.
    #[must_use]
    pub fn canonical(&self) -> Cow<'_, Self> {
        let is_tuple_of_one = |split: &Split| matches!(split, Split::OverAll(axes) if axes.len() < 2);
        if !self.sharding.as_ref().is_some_and(|named| named.spec.iter().any(is_tuple_of_one)) {
            return Cow::Borrowed(self);
        }
        let mut canonical = self.clone();
        for split in canonical.sharding.iter_mut().flat_map(|named| &mut named.spec) {
            *split = std::mem::replace(split, Split::Whole).canonical();
        }
        Cow::Owned(canonical)
    }

    /// The sharding that such an array has, in words: equal ones have the same.
    #[must_use]
    pub fn as_sharding(&self) -> String {
        let kind = self.memory_kind.as_deref().filter(|kind| *kind != "device");
        let kind = kind.map(|kind| format!(" in {kind}")).unwrap_or_default();
        match &self.sharding {
            None => format!("device {}{kind}", self.device),
            Some(named) => {
                let axes: Vec<_> = named.axes().collect();
                format!("{} over {} on {:?}{kind}", named.spec(), axes.join(", "), named.devices())
            }
        }
    }

    /// The mesh that its type has, as far as it has any.
    #[must_use]
    pub fn mesh_of_type(&self) -> Option<&Sharding> {
        self.moved_off.as_deref().or(self.sharding.as_deref())
    }

    /// The devices that it is on: one, or those of its mesh.
    #[must_use]
    pub fn devices(&self) -> Vec<u32> {
        match &self.sharding {
            None => vec![self.device],
            Some(named) => named.devices(),
        }
    }
}

pub(super) fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The axes of a mesh with their sizes, an explicit one marked so.
pub fn axes<'m>(mesh: &'m IndexMap<Name, u32>, explicit: &'m [Name]) -> impl Iterator<Item = String> + 'm {
    mesh.iter().map(|(axis, size)| format!("{axis}: {size}{}", if explicit.contains(axis) { " explicit" } else { "" }))
}

/// A `NamedSharding`: a mesh and a partition spec.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sharding {
    /// The mesh: axis names with their sizes.
    pub mesh: IndexMap<Name, u32>,
    /// The axes that are `AxisType.Explicit`, so that how an array is split over them is part of its type; the others are
    /// `Auto`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explicit: Vec<Name>,
    /// The devices of the mesh, in order; the first ones if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<u32>,
    /// For each leading dimension of the array what it is split over.
    #[serde(default)]
    pub spec: Vec<Split>,
}

/// What a dimension of an array is split over: no axis (null), one by its name, or those of a tuple.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected the name of an axis, a list of names, or null")]
pub enum Split {
    /// It is whole.
    Whole,
    /// Over one axis.
    Over(Name),
    /// Over several, the outermost first; or over one that is written as a tuple.
    OverAll(Vec<Name>),
}

impl Split {
    /// The axes, the outermost first.
    #[must_use]
    pub fn axes(&self) -> &[Name] {
        match self {
            Self::Whole => &[],
            Self::Over(axis) => std::slice::from_ref(axis),
            Self::OverAll(axes) => axes,
        }
    }

    /// The same, without a tuple of fewer than two axes.
    #[must_use]
    pub fn canonical(self) -> Self {
        match self {
            Self::OverAll(axes) if axes.is_empty() => Self::Whole,
            Self::OverAll(mut axes) if axes.len() == 1 => axes.pop().map_or(Self::Whole, Self::Over),
            other => other,
        }
    }
}

impl From<&Option<Name>> for Split {
    fn from(axis: &Option<Name>) -> Self {
        axis.clone().map_or(Self::Whole, Self::Over)
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("None"),
            Self::Over(axis) => f.write_str(axis.as_str()),
            Self::OverAll(axes) => {
                let axes: Vec<_> = axes.iter().map(Name::as_str).collect();
                write!(f, "({}{})", axes.join(", "), if axes.len() == 1 { "," } else { "" })
            }
        }
    }
}

impl Sharding {
    /// The devices of the mesh, in order.
    #[must_use]
    pub fn devices(&self) -> Vec<u32> {
        if self.devices.is_empty() { (0..self.mesh.values().product()).collect() } else { self.devices.clone() }
    }

    /// The axes with their sizes, an explicit one marked so.
    pub fn axes(&self) -> impl Iterator<Item = String> {
        axes(&self.mesh, &self.explicit)
    }

    /// Into how many parts each leading dimension is split.
    pub fn parts(&self) -> impl Iterator<Item = usize> {
        let size = |axis| self.mesh.get(axis).map_or(1, |size| *size as usize);
        self.spec.iter().map(move |split| split.axes().iter().map(size).product())
    }

    /// The spec as it is written.
    #[must_use]
    pub fn spec(&self) -> String {
        let spec: Vec<_> = self.spec.iter().map(Split::to_string).collect();
        format!("P({})", spec.join(", "))
    }
}

/// Two meshes of the same axes in another order are two.
impl PartialEq for Sharding {
    fn eq(&self, other: &Self) -> bool {
        self.mesh.iter().eq(&other.mesh)
            && (&self.explicit, &self.devices, &self.spec) == (&other.explicit, &other.devices, &other.spec)
    }
}

impl Eq for Sharding {}

impl std::hash::Hash for Sharding {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.mesh.iter().for_each(|axis| axis.hash(state));
        self.explicit.hash(state);
        self.devices.hash(state);
        self.spec.hash(state);
    }
}
