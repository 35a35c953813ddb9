//! Arrays as Python expressions.

use indexmap::IndexMap;

use super::Writer;
use crate::case::{Array, Dtype, Library, MemoryOrder, Name, Placement, Prng, Sharding, Split, Subclass};

impl Writer<'_> {
    /// The array, made as `src/python/jitkey/arrays.py` makes it.
    pub(super) fn array(&mut self, array: &Array) -> String {
        match &array.library {
            Library::Jax { weak, placement } => self.jax_array(array, *weak, placement),
            Library::Key { prng, placement } => match self.place(placement) {
                Some(place) => format!("jax.device_put({}, {place})", key(array, *prng)),
                None => key(array, *prng),
            },
            Library::Numpy { big_endian, order, subclass } => {
                let dtype = if *big_endian { big(array.dtype) } else { numpy(array.dtype) };
                let made = ordered(array, &dtype, *order);
                match subclass {
                    Subclass::Ndarray => made,
                    Subclass::Masked => format!("np.ma.masked_array({made}, mask=True)"),
                    Subclass::Matrix => format!("np.asmatrix({made})"),
                    Subclass::User => format!("{made}.view({})", self.helper("UserArray")),
                    Subclass::Converted => format!("{}({made})", self.helper("Converted")),
                }
            }
        }
    }

    fn jax_array(&mut self, array: &Array, weak: bool, placement: &Placement) -> String {
        let (dtype, fill) = (long(array.dtype), array.fill.unwrap_or(1));
        let shape = shape(&array.shape);
        // What Python's own numbers make is weak, and there is no public way to another array that is.
        let number = match array.dtype.canonical(false).name() {
            "i32" => Some(format!("{fill}")),
            "f32" => Some(format!("{fill}.0")),
            "c64" => Some(format!("{fill} + 0j")),
            _ => None,
        };
        let mut made = match number.filter(|_| weak) {
            Some(number) if array.shape.is_empty() => format!("jnp.asarray({number})"),
            Some(number) => format!("jnp.full({shape}, {number})"),
            None => {
                let strong = filled("jnp", &shape, array, &format!("jnp.{dtype}"));
                if weak { format!("{}({strong})", self.helper("weak")) } else { strong }
            }
        };
        if placement.device > 0 && !placement.committed {
            let device = format!("jax.default_device({})", device(placement.device));
            made = format!("{}({device}, lambda: {made})", self.helper("within"));
        }
        if let Some(mesh) = &placement.moved_off {
            let before = Placement { sharding: Some(mesh.clone()), ..Placement::default() };
            made = format!("jax.device_put({made}, {})", sharding(&before));
            if !placement.committed {
                made = format!("jax.jit(jnp.zeros_like)({made})");
            }
        }
        if let Some(place) = self.place(placement) {
            made = format!("jax.device_put({made}, {place})");
        }
        if array.dtype.is_64_bit() {
            made = format!("{}({}(True), lambda: {made})", self.helper("within"), self.helper("enable_x64"));
        }
        made
    }

    /// Where the array is put, which commits it.
    fn place(&mut self, placement: &Placement) -> Option<String> {
        let is_more = placement.sharding.is_some() || placement.memory_kind.is_some() || placement.layout.is_some();
        let mut place =
            if is_more { Some(sharding(placement)) } else { placement.committed.then(|| device(placement.device)) };
        if let (Some(order), Some(sharding)) = (&placement.layout, &mut place) {
            *sharding = format!("{}({}, {sharding})", self.helper("with_layout"), tuple(order));
        }
        place
    }

    /// `jax.ShapeDtypeStruct` of the array.
    pub(super) fn shape_dtype_struct(array: &Array) -> String {
        let mut text = format!("jax.ShapeDtypeStruct({}, ", shape(&array.shape));
        match &array.library {
            Library::Key { prng, .. } => text += &format!("{}.dtype", one_key(1, *prng)),
            _ => text += &numpy(array.dtype),
        }
        if let Library::Jax { weak, placement } = &array.library {
            text += if *weak { ", weak_type=True" } else { "" };
            if placement.is_committed() {
                text += &format!(", sharding={}", sharding(placement));
            }
        }
        text + ")"
    }
}

/// The sharding of what is placed so.
pub(super) fn sharding(placement: &Placement) -> String {
    let kind = placement.memory_kind.as_ref().map(|kind| format!(", memory_kind=\"{kind}\"")).unwrap_or_default();
    match placement.sharding.as_deref() {
        Some(Sharding { mesh: axes, explicit, devices, spec }) => {
            format!("jax.sharding.NamedSharding({}, {}{kind})", mesh(axes, devices, explicit), partition_spec(spec))
        }
        None => format!("jax.sharding.SingleDeviceSharding({}{kind})", device(placement.device)),
    }
}

/// The device of that number.
pub(super) fn device(number: u32) -> String {
    format!("jax.devices()[{number}]")
}

/// A mesh of these axes over these devices, the first ones if none are given.
pub(super) fn mesh(axes: &IndexMap<Name, u32>, devices: &[u32], explicit: &[Name]) -> String {
    let kind = |axis| format!("jax.sharding.AxisType.{}", if explicit.contains(axis) { "Explicit" } else { "Auto" });
    let kinds: Vec<_> = axes.keys().map(kind).collect();
    let kinds = if explicit.is_empty() { String::new() } else { format!(", axis_types={}", tuple(&kinds)) };
    let (names, sizes): (Vec<_>, Vec<_>) = axes.into_iter().map(|(name, size)| (format!("\"{name}\""), *size)).unzip();
    let count: u32 = sizes.iter().product();
    let devices = match devices {
        [] => format!("jax.devices()[:{count}]"),
        devices => format!("[{}]", devices.iter().map(|number| device(*number)).collect::<Vec<_>>().join(", ")),
    };
    let devices = match &sizes[..] {
        [_] => devices,
        _ => format!("np.array({devices}).reshape({})", tuple(&sizes)),
    };
    format!("jax.sharding.Mesh({devices}, {}{kinds})", tuple(&names))
}

/// `jax.sharding.PartitionSpec` of these axes.
pub(super) fn partition_spec(splits: &[Split]) -> String {
    let quoted = |axis: &Name| format!("\"{axis}\"");
    let text = |split: &Split| match split {
        Split::Whole => "None".to_owned(),
        Split::Over(axis) => quoted(axis),
        Split::OverAll(axes) => tuple(&axes.iter().map(quoted).collect::<Vec<_>>()),
    };
    format!("jax.sharding.PartitionSpec({})", splits.iter().map(text).collect::<Vec<_>>().join(", "))
}

/// A tuple of what is written already.
pub(super) fn tuple<T: ToString>(items: &[T]) -> String {
    match items {
        [one] => format!("({},)", one.to_string()),
        several => format!("({})", several.iter().map(T::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn shape(dims: &[u64]) -> String {
    tuple(dims)
}

fn key(array: &Array, prng: Prng) -> String {
    let one = one_key(array.fill.unwrap_or(1), prng);
    if array.shape.is_empty() { one } else { format!("jnp.broadcast_to({one}, {})", shape(&array.shape)) }
}

fn one_key(seed: i64, prng: Prng) -> String {
    match prng {
        Prng::Fry => format!("jax.random.key({seed})"),
        Prng::Rbg => format!("jax.random.key({seed}, impl=\"rbg\")"),
        Prng::Urbg => format!("jax.random.key({seed}, impl=\"unsafe_rbg\")"),
    }
}

/// A full array of `library` (`jnp` or `np`), whose dtype is written `dtype` there.
fn filled(library: &str, shape: &str, array: &Array, dtype: &str) -> String {
    let fill = array.fill.unwrap_or(1);
    match (array.dtype.name(), fill) {
        ("str" | "bytes" | "object", _) => format!("{library}.full({shape}, \"{fill}\", {dtype})"),
        ("datetime64" | "timedelta64", _) => {
            format!("{library}.full({shape}, np.{}({fill}, \"D\"), {dtype})", array.dtype)
        }
        ("float0" | "record", _) | (_, 0) => format!("{library}.zeros({shape}, {dtype})"),
        ("bool", _) | (_, 1) => format!("{library}.ones({shape}, {dtype})"),
        _ => format!("{library}.full({shape}, {fill}, {dtype})"),
    }
}

fn ordered(array: &Array, dtype: &str, order: MemoryOrder) -> String {
    let made = |dims: &[u64]| filled("np", &shape(dims), array, dtype);
    let plain = made(&array.shape);
    match order {
        MemoryOrder::Fortran => format!("np.asfortranarray({plain})"),
        MemoryOrder::ReadOnly => format!("np.broadcast_to({plain}, {})", shape(&array.shape)),
        MemoryOrder::Strided if let Some((last, rest)) = array.shape.split_last() => {
            let wide: Vec<_> = rest.iter().copied().chain([last * 2]).collect();
            format!("{}[..., ::2]", made(&wide))
        }
        MemoryOrder::Reversed if !array.shape.is_empty() => format!("{plain}[::-1]"),
        _ => plain,
    }
}

/// The dtype's name in NumPy, `ml_dtypes` and `jax.numpy`.
fn long(dtype: Dtype) -> String {
    match dtype.name() {
        "bool" => "bool_".to_owned(),
        "bf16" => "bfloat16".to_owned(),
        "str" => "str_".to_owned(),
        "bytes" => "bytes_".to_owned(),
        "object" => "object_".to_owned(),
        "record" => "void".to_owned(),
        name if name.contains('_') => name.replacen('f', "float", 1),
        name if dtype.is_foreign() || dtype.is_float0() => name.to_owned(),
        name => {
            let (kind, bits) = name.split_at(1);
            let kind = match kind {
                "i" => "int",
                "u" => "uint",
                "f" => "float",
                _ => "complex",
            };
            format!("{kind}{bits}")
        }
    }
}

/// The dtype as NumPy's functions take it.
pub(super) fn numpy(dtype: Dtype) -> String {
    match dtype.name() {
        "bool" => "bool".to_owned(),
        "object" => "object".to_owned(),
        "str" => "\"<U1\"".to_owned(),
        "bytes" => "\"S1\"".to_owned(),
        "datetime64" | "timedelta64" => format!("\"{dtype}[D]\""),
        "record" => "[(\"a\", \"float32\")]".to_owned(),
        "float0" => "jax.dtypes.float0".to_owned(),
        _ => scalar_type(dtype),
    }
}

/// The dtype's scalar type.
pub(super) fn scalar_type(dtype: Dtype) -> String {
    match dtype.name() {
        "float0" => "jax.dtypes.float0.type".to_owned(),
        _ if dtype.is_extension() => format!("ml_dtypes.{}", long(dtype)),
        _ => format!("np.{}", long(dtype)),
    }
}

/// The dtype in big-endian byte order.
fn big(dtype: Dtype) -> String {
    let bits = |name: &str| name[1..].parse::<u32>().ok().filter(|bits| *bits >= 16);
    let name = dtype.name();
    match bits(name) {
        Some(bits) if name.starts_with(['i', 'u', 'f', 'c']) => format!("\">{}{}\"", &name[..1], bits / 8),
        _ => format!("np.dtype({}).newbyteorder(\">\")", numpy(dtype)),
    }
}
