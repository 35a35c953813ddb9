//! The parts of an aval that tables choose among.

use std::fmt;

use super::leaf::Aval;
use crate::case::{Dtype, Placement, Prng, Sharding};
use crate::spec::LeafComponent;

/// One part of an aval.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Facet<'a> {
    Shape(&'a [u64]),
    Dtype(Dtype, Option<Prng>),
    Flag(bool),
    /// On that device alone.
    Device(u32),
    /// On these devices the program has to run, as far as the array has a say.
    Devices(Vec<u32>),
    /// Where the array is, in whatever words; `None` for what is on no device.
    Place(Option<String>),
}

impl<'a> Facet<'a> {
    pub fn of(component: LeafComponent, aval: &'a Aval, missed: bool) -> Self {
        let Aval { shape, dtype, prng, weak, strong_when_missed, placement, moved } = aval;
        match component {
            LeafComponent::Shape => Self::Shape(shape),
            LeafComponent::CanonicalDtype => Self::Dtype(*dtype, *prng),
            LeafComponent::WeakType => Self::Flag(*weak && !(missed && *strong_when_missed)),
            LeafComponent::Committed => Self::Flag(placement.as_ref().is_some_and(Placement::is_committed)),
            LeafComponent::KnownLayout => Self::Flag(!moved && placement.as_ref().is_some_and(Placement::is_committed)),
            LeafComponent::Sharding => match placement {
                Some(Placement { device, sharding: None, memory_kind: None, .. }) => Self::Device(*device),
                _ => Self::Place(placement.as_ref().map(Placement::as_sharding)),
            },
            LeafComponent::Layout => Self::Place(placement.as_ref().and_then(layout)),
            LeafComponent::Mesh => Self::Place(placement.as_ref().and_then(|at| Some(axes(at.sharding.as_ref()?)))),
            LeafComponent::MemoryKind => {
                let kind = placement.as_ref().and_then(memory_kind).filter(|kind| *kind == "pinned_host");
                Self::Place(kind.map(str::to_owned))
            }
            LeafComponent::Memory => Self::Place(placement.as_ref().and_then(memory_kind).map(str::to_owned)),
            LeafComponent::Partition => Self::Place(placement.as_ref().and_then(partition)),
            LeafComponent::Device => Self::Devices(devices(placement.as_ref())),
        }
    }
}

/// The memory that the array is in, where it is not the device's own.
fn memory_kind(at: &Placement) -> Option<&str> {
    at.memory_kind.as_deref().filter(|kind| *kind != "device")
}

pub(super) fn axes(named: &Sharding) -> String {
    named.mesh.iter().map(|(axis, size)| format!("{axis}: {size}")).collect::<Vec<_>>().join(", ")
}

/// The order of the dimensions, where it is not the default one.
fn layout(at: &Placement) -> Option<String> {
    let order = at.layout.as_ref()?;
    let usual = order.iter().enumerate().all(|(i, dimension)| i == *dimension as usize);
    (!usual).then(|| format!("{order:?}"))
}

/// What XLA makes of a sharding: how many devices, and into how many parts each dimension is split.
pub(super) fn partition(at: &Placement) -> Option<String> {
    let named = at.sharding.as_ref()?;
    let count = named.devices().len();
    let mut parts: Vec<u32> = named
        .spec
        .iter()
        .map(|axis| axis.as_ref().and_then(|axis| named.mesh.get(axis)).copied().unwrap_or(1))
        .collect();
    while parts.last() == Some(&1) {
        parts.pop();
    }
    (count > 1).then(|| format!("{parts:?} on {count} devices"))
}

/// The devices that an argument asks the program to run on.
fn devices(placement: Option<&Placement>) -> Vec<u32> {
    placement.filter(|at| at.is_committed()).map_or_else(|| vec![0], Placement::devices)
}

impl fmt::Display for Facet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(shape) => write!(f, "{shape:?}"),
            Self::Dtype(_, Some(prng)) => write!(f, "key<{}>", prng.tag()),
            Self::Dtype(dtype, None) => write!(f, "{dtype}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Device(device) => write!(f, "device {device}"),
            Self::Devices(devices) => write!(f, "{devices:?}"),
            Self::Place(Some(place)) => f.write_str(place),
            Self::Place(None) => f.write_str("none"),
        }
    }
}

pub(super) fn leaf_word(component: LeafComponent) -> &'static str {
    match component {
        LeafComponent::Shape => "shape",
        LeafComponent::CanonicalDtype => "dtype",
        LeafComponent::WeakType => "weak_type",
        LeafComponent::Sharding => "sharding",
        LeafComponent::Mesh => "mesh",
        LeafComponent::MemoryKind => "memory space",
        LeafComponent::Memory => "memory kind",
        LeafComponent::Layout => "layout",
        LeafComponent::Committed => "committed",
        LeafComponent::KnownLayout => "known layout",
        LeafComponent::Device => "device",
        LeafComponent::Partition => "partition",
    }
}
