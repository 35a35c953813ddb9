//! The parts of an aval that tables choose among.

use std::fmt;

use indexmap::IndexMap;

use super::leaf::Aval;
use crate::case::{Dtype, Name, Placement, Prng, Sharding, Split};
use crate::spec::LeafComponent;

/// One part of an aval.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Facet<'a> {
    Shape(&'a [u64]),
    /// With whether it is a reference to an array of it.
    Dtype(Dtype, Option<Prng>, bool),
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
        let Aval { shape, dtype, prng, is_ref, weak, strong_when_missed, placement, has_no_layout } = aval;
        match component {
            LeafComponent::Shape => Self::Shape(shape),
            LeafComponent::CanonicalDtype => Self::Dtype(*dtype, *prng, *is_ref),
            LeafComponent::WeakType => Self::Flag(*weak && !(missed && *strong_when_missed)),
            LeafComponent::Committed => Self::Flag(placement.as_ref().is_some_and(Placement::is_committed)),
            LeafComponent::KnownLayout => {
                Self::Flag(!has_no_layout && placement.as_ref().is_some_and(Placement::is_committed))
            }
            LeafComponent::Sharding => match placement {
                Some(Placement { device, sharding: None, memory_kind: None, .. }) => Self::Device(*device),
                _ => Self::Place(placement.as_ref().map(|at| at.canonical().as_sharding())),
            },
            LeafComponent::WrittenSharding => Self::Place(placement.as_ref().map(Placement::as_sharding)),
            LeafComponent::Layout => Self::Place(placement.as_ref().and_then(layout)),
            LeafComponent::Mesh => {
                Self::Place(placement.as_ref().and_then(|at| Some(sharding_type(at.mesh_of_type()?))))
            }
            LeafComponent::MemoryKind => {
                // The aval of keys has none.
                let at = placement.as_ref().filter(|_| prng.is_none());
                let kind = at.and_then(memory_kind).filter(|kind| *kind == "pinned_host");
                Self::Place(kind.map(str::to_owned))
            }
            LeafComponent::Memory => Self::Place(placement.as_ref().and_then(memory_kind).map(str::to_owned)),
            LeafComponent::Partition => Self::Place(placement.as_ref().and_then(partition)),
            LeafComponent::Device => Self::Devices(devices(placement.as_ref())),
        }
    }

    /// Whether two leaves have the same of it. Most that differ in something else lie in the same place.
    pub fn is_same(component: LeafComponent, one: &Aval, other: &Aval, missed: bool) -> bool {
        use LeafComponent::{CanonicalDtype, Shape, WeakType};
        let is_of_place = !matches!(component, Shape | CanonicalDtype | WeakType);
        let lie_alike =
            || one.placement == other.placement && one.prng == other.prng && one.has_no_layout == other.has_no_layout;
        is_of_place && lie_alike() || Facet::of(component, one, missed) == Facet::of(component, other, missed)
    }

    /// What explanations say of it beside that of another leaf: the mesh that a type keeps is one that the array was moved off, of
    /// Python numbers of two types it is these that differ, what isn't weakly typed can be NumPy's, and what has a shape can be keys.
    pub fn said_of(&self, component: LeafComponent, aval: &Aval, beside: &Aval) -> String {
        let moved = aval.placement.as_ref().filter(|at| at.moved_off.is_some());
        match (component, python_number(aval), python_number(beside)) {
            (LeafComponent::Mesh, ..) if moved.is_some_and(|at| at.committed) => format!("{self}, moved off it"),
            (LeafComponent::Mesh, ..) if moved.is_some() => format!("{self}, in its type alone"),
            (LeafComponent::CanonicalDtype, Some(own), Some(other)) if own != other => {
                format!("{self} (a Python {own})")
            }
            (LeafComponent::WeakType, own, _) if [aval, beside].iter().all(|aval| aval.dtype.name() == "bool") => {
                format!("{self} of a {}", own.unwrap_or("numpy.bool"))
            }
            // What is on no device and has a dtype of its own.
            (LeafComponent::WeakType, ..) if !aval.weak && beside.weak && aval.placement.is_none() => {
                format!("{self} of NumPy's")
            }
            (LeafComponent::Shape, ..) if aval.prng.is_some() => format!("{self} of keys"),
            _ => self.to_string(),
        }
    }
}

/// Of which type a number of Python's is; `None` for what is none.
fn python_number(aval: &Aval) -> Option<&'static str> {
    let is_number = aval.weak && aval.placement.is_none() && aval.shape.is_empty() && aval.prng.is_none();
    let kind = ["int", "float", "complex", "bool"].into_iter();
    kind.filter(|_| is_number).find(|kind| aval.dtype.name().starts_with(&kind[..1]))
}

/// The memory that the array is in, where it is not the device's own.
fn memory_kind(at: &Placement) -> Option<&str> {
    at.memory_kind.as_deref().filter(|kind| *kind != "device")
}

/// What the type of an array says of where it is: the mesh, without its devices, and the part of the spec that is over explicit
/// axes.
pub(super) fn sharding_type(named: &Sharding) -> String {
    let mut axes = named.axes().collect::<Vec<_>>().join(", ");
    let of = |split: &Split| split.axes().iter().filter(|axis| named.explicit.contains(axis)).cloned().collect();
    let mut spec: Vec<Vec<Name>> = named.spec.iter().map(of).collect();
    spec.truncate(spec.iter().rposition(|split| !split.is_empty()).map_or(0, |last| last + 1));
    if !spec.is_empty() {
        let spec = spec.into_iter().map(|axes| Split::OverAll(axes).canonical());
        axes += &format!(", {}", Sharding { spec: spec.collect(), ..named.clone() }.spec());
    }
    axes
}

/// The order of the dimensions, where it is not the default one.
fn layout(at: &Placement) -> Option<String> {
    let order = at.layout.as_ref()?;
    let usual = order.iter().enumerate().all(|(i, dimension)| i == *dimension as usize);
    (!usual).then(|| format!("{order:?}"))
}

/// What XLA makes of a sharding: how many devices, into how many parts each dimension is split, and which device has which
/// part, if that isn't in their order.
pub(super) fn partition(at: &Placement) -> Option<String> {
    let named = at.sharding.as_ref()?;
    let count = named.devices().len();
    if count <= 1 {
        return None;
    }
    let mut parts: Vec<usize> = named.parts().collect();
    let tiles: Vec<usize> = (0..count).map(|position| tile(named, position)).collect();
    let each = (count / parts.iter().product::<usize>().max(1)).max(1);
    let in_order = tiles.iter().enumerate().all(|(position, tile)| *tile == position / each);
    while parts.last() == Some(&1) {
        parts.pop();
    }
    let order = if in_order { String::new() } else { format!(", parts {tiles:?}") };
    Some(format!("{parts:?} on {count} devices{order}"))
}

/// Which part the device at that position of the mesh has, counted row by row.
fn tile(named: &Sharding, position: usize) -> usize {
    let mut coordinates = IndexMap::new();
    let mut rest = position;
    for (axis, size) in named.mesh.iter().rev() {
        coordinates.insert(axis, rest % *size as usize);
        rest /= *size as usize;
    }
    let axes = named.spec.iter().flat_map(Split::axes);
    axes.fold(0, |tile, axis| {
        let size = named.mesh.get(axis).map_or(1, |size| *size as usize);
        tile * size + coordinates.get(axis).copied().unwrap_or_default()
    })
}

/// The devices that an argument asks the program to run on.
fn devices(placement: Option<&Placement>) -> Vec<u32> {
    placement.filter(|at| at.is_committed()).map_or_else(|| vec![0], Placement::devices)
}

impl fmt::Display for Facet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(shape) => write!(f, "{shape:?}"),
            Self::Dtype(dtype, prng, false) => match prng {
                Some(prng) => write!(f, "key<{}>", prng.tag()),
                None => write!(f, "{dtype}"),
            },
            Self::Dtype(dtype, prng, true) => write!(f, "Ref{{{}}}", Self::Dtype(*dtype, *prng, false)),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Device(device) => write!(f, "device {device}"),
            Self::Devices(devices) => write!(f, "{devices:?}"),
            Self::Place(Some(place)) => f.write_str(place),
            Self::Place(None) => f.write_str("none"),
        }
    }
}

/// The component of a leaf that is its shape.
pub(super) const SHAPE: &str = "shape";

pub(super) fn leaf_word(component: LeafComponent) -> &'static str {
    match component {
        LeafComponent::Shape => SHAPE,
        LeafComponent::CanonicalDtype => "dtype",
        LeafComponent::WeakType => "weak_type",
        LeafComponent::Sharding | LeafComponent::WrittenSharding => "sharding",
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
