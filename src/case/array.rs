//! Arrays and their text form, JAX's own short notation.
//!
//! | text            | what                                                              |
//! |-----------------|-------------------------------------------------------------------|
//! | `f32[3,4]`      | a `jax.Array`, uncommitted, on the default device                 |
//! | `~f32[]`        | the same with `weak_type=True`                                    |
//! | `np:f32[3]`     | a `numpy.ndarray`                                                 |
//! | `np:>f32[3]`    | a big-endian `numpy.ndarray`                                      |
//! | `key<fry>[2]`   | a typed PRNG key array (`fry`, `rbg` or `urbg`)                   |
//! | `f32[3]@1`      | a `jax.Array` committed to device 1                               |
//! | `f32[3]=2`      | filled with 2 (ones if not given; contents are never in a key)    |
//!
//! What the notation has no sign for (memory order, subclass, sharding, layout) is written as a map,
//! `{array: {aval: "np:f32[2,3]", order: fortran}}`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Placement, Split};

/// An element type, by JAX's short name (`jax/_src/dtypes.py`, `short_dtype_name`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dtype(u8);

/// Name and kind.
const DTYPES: &[(&str, DtypeKind)] = &[
    ("bool", DtypeKind::Bool),
    ("i2", DtypeKind::Int),
    ("i4", DtypeKind::Int),
    ("i8", DtypeKind::Int),
    ("i16", DtypeKind::Int),
    ("i32", DtypeKind::Int),
    ("i64", DtypeKind::Int),
    ("u2", DtypeKind::Uint),
    ("u4", DtypeKind::Uint),
    ("u8", DtypeKind::Uint),
    ("u16", DtypeKind::Uint),
    ("u32", DtypeKind::Uint),
    ("u64", DtypeKind::Uint),
    ("bf16", DtypeKind::Float),
    ("f16", DtypeKind::Float),
    ("f32", DtypeKind::Float),
    ("f64", DtypeKind::Float),
    ("f8_e4m3fn", DtypeKind::Float),
    ("f8_e5m2", DtypeKind::Float),
    ("f8_e4m3b11fnuz", DtypeKind::Float),
    ("f8_e4m3fnuz", DtypeKind::Float),
    ("f8_e5m2fnuz", DtypeKind::Float),
    ("f8_e3m4", DtypeKind::Float),
    ("f8_e4m3", DtypeKind::Float),
    ("f8_e8m0fnu", DtypeKind::Float),
    ("f6_e2m3fn", DtypeKind::Float),
    ("f6_e3m2fn", DtypeKind::Float),
    ("f4_e2m1fn", DtypeKind::Float),
    ("c64", DtypeKind::Complex),
    ("c128", DtypeKind::Complex),
    ("float0", DtypeKind::Void),
    // What NumPy has and no JAX array can hold.
    ("str", DtypeKind::Foreign),
    ("object", DtypeKind::Foreign),
    ("datetime64", DtypeKind::Foreign),
    ("timedelta64", DtypeKind::Foreign),
    ("longdouble", DtypeKind::Foreign),
    ("clongdouble", DtypeKind::Foreign),
    ("bytes", DtypeKind::Foreign),
    ("record", DtypeKind::Foreign),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DtypeKind {
    Bool,
    Int,
    Uint,
    Float,
    Complex,
    Void,
    Foreign,
}

impl Dtype {
    /// The dtype of that short name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        DTYPES.iter().position(|(known, _)| *known == name).map(|i| Self(i as u8))
    }

    /// Every dtype that a `jax.Array` can have with `jax_enable_x64` on.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..DTYPES.len() as u8).map(Self).filter(|dtype| !dtype.is_foreign())
    }

    /// JAX's short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        DTYPES[self.0 as usize].0
    }

    fn kind(self) -> DtypeKind {
        DTYPES[self.0 as usize].1
    }

    /// Whether NumPy knows no order of the bytes of an item, since it is one (`numpy.dtype(">u1").byteorder` is `|`).
    #[must_use]
    pub fn is_one_byte(self) -> bool {
        matches!(self.name(), "bool" | "i8" | "u8")
    }

    /// Whether NumPy has it through `ml_dtypes` only.
    #[must_use]
    pub fn is_extension(self) -> bool {
        self.is_narrow() || self.name() == "bf16" || self.name().contains('_')
    }

    /// An integer dtype of less than a byte, which NumPy doesn't know as an integer (its `kind` there is `V`).
    #[must_use]
    pub fn is_narrow(self) -> bool {
        matches!(self.name(), "i2" | "i4" | "u2" | "u4")
    }

    /// A floating dtype (not complex).
    #[must_use]
    pub fn is_float(self) -> bool {
        self.kind() == DtypeKind::Float
    }

    /// A signed or unsigned integer dtype.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), DtypeKind::Int | DtypeKind::Uint)
    }

    /// A complex dtype.
    #[must_use]
    pub fn is_complex(self) -> bool {
        self.kind() == DtypeKind::Complex
    }

    /// A dtype that a NumPy array can have and a JAX array can't (`jax/_src/dtypes.py`, `check_valid_dtype`).
    #[must_use]
    pub fn is_foreign(self) -> bool {
        self.kind() == DtypeKind::Foreign
    }

    /// The dtype of tangents of integers: an array of it holds nothing.
    #[must_use]
    pub fn is_float0(self) -> bool {
        self.kind() == DtypeKind::Void
    }

    /// A dtype that jax turns into a narrower one unless `jax_enable_x64` is on.
    #[must_use]
    pub fn is_64_bit(self) -> bool {
        matches!(self.name(), "i64" | "u64" | "f64" | "c128")
    }

    /// The dtype that jax gives the value (`jax/_src/dtypes.py`, `canonicalize_dtype`).
    #[must_use]
    pub fn canonical(self, x64: bool) -> Self {
        let narrow = match self.name() {
            "i64" => "i32",
            "u64" => "u32",
            "f64" => "f32",
            "c128" => "c64",
            _ => return self,
        };
        if x64 { self } else { Self::named(narrow).expect("the narrower dtype is in the table") }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Dtype {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Dtype {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| serde::de::Error::custom(ArrayError::Dtype(name)))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Dtype {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Dtype".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<_> = DTYPES.iter().map(|(name, _)| *name).collect();
        schemars::json_schema!({ "description": "An element type, by JAX's short name.", "enum": names })
    }
}

/// A PRNG implementation (`jax/_src/prng.py`), by the tag that JAX prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Prng {
    /// `threefry2x32`
    Fry,
    /// `rbg`
    Rbg,
    /// `unsafe_rbg`
    Urbg,
}

impl Prng {
    const ALL: [(Self, &'static str); 3] = [(Self::Fry, "fry"), (Self::Rbg, "rbg"), (Self::Urbg, "urbg")];

    /// The tag that JAX prints.
    #[must_use]
    pub fn tag(self) -> &'static str {
        Self::ALL.iter().find(|(prng, _)| *prng == self).expect("every implementation is listed").1
    }
}

/// Who made the array, and what only that library's arrays can be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Library {
    /// A `jax.Array`.
    Jax {
        /// `weak_type` of its aval.
        weak: bool,
        /// Where it lives.
        placement: Placement,
    },
    /// A typed PRNG key array, which is a `jax.Array` too; the dtype names nothing then.
    Key {
        /// The implementation of the keys.
        prng: Prng,
        /// Where it lives.
        placement: Placement,
    },
    /// A `numpy.ndarray`.
    Numpy {
        /// Whether the bytes of an element stand in big-endian order.
        big_endian: bool,
        /// How the elements lie in memory.
        order: MemoryOrder,
        /// The class of the array.
        subclass: Subclass,
    },
}

/// How the elements of a NumPy array lie in memory. No cache looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryOrder {
    /// Row-major and contiguous.
    #[default]
    C,
    /// Column-major.
    Fortran,
    /// Every second element of a larger array.
    Strided,
    /// A view with a negative stride.
    Reversed,
    /// Not writable.
    ReadOnly,
}

/// The class of a NumPy array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Subclass {
    /// `numpy.ndarray` itself.
    #[default]
    Ndarray,
    /// `numpy.ma.MaskedArray`.
    Masked,
    /// `numpy.matrix` (rank 2).
    Matrix,
    /// A subclass made by the user.
    User,
    /// No array at all, but an object with `__jax_array__`, which returns one.
    Converted,
}

/// An array: what it is, never what it holds (but for [`Array::fill`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Array {
    /// Who made it.
    pub library: Library,
    /// The element type (`u32` for PRNG keys).
    pub dtype: Dtype,
    /// The shape.
    pub shape: Vec<u64>,
    /// The number that fills it; 1 if not given.
    pub fill: Option<i64>,
}

/// Why a text or a map is not an [`Array`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArrayError {
    /// The text has another form.
    #[error(
        "`{0}` is not an array: write dtype and shape as in `f32[3,4]`, `~f32[]` (weak), `np:f32[3]` (NumPy), \
         `key<fry>[2]`, `f32[3]@1` (committed to device 1); a string is written `{{str: {0}}}`"
    )]
    Form(String),
    /// The dtype isn't one.
    #[error("`{0}` is not a dtype{hint}", hint = suggest(.0))]
    Dtype(String),
    /// The PRNG implementation isn't one.
    #[error("`{0}` is not a PRNG implementation: write `key<fry>[…]`, `key<rbg>[…]` or `key<urbg>[…]`")]
    Prng(String),
    /// A combination that no library can make.
    #[error("`{text}`: {why}")]
    Impossible {
        /// The array as it was written.
        text: String,
        /// What contradicts what.
        why: &'static str,
    },
}

fn suggest(name: &str) -> String {
    let near = DTYPES
        .iter()
        .map(|(known, _)| (strsim::damerau_levenshtein(known, name), *known))
        .chain(
            [
                ("float32", "f32"),
                ("float64", "f64"),
                ("int32", "i32"),
                ("int64", "i64"),
                ("float", "f32"),
                ("int", "i32"),
            ]
            .map(|(long, short)| (if long == name { 0 } else { usize::MAX }, short)),
        )
        .min();
    match near {
        Some((distance, known)) if distance <= 2 => format!("; did you mean `{known}`?"),
        _ => String::new(),
    }
}

impl FromStr for Array {
    type Err = ArrayError;

    fn from_str(text: &str) -> Result<Self, ArrayError> {
        let form = || ArrayError::Form(text.to_owned());
        let impossible = |why| ArrayError::Impossible { text: text.to_owned(), why };
        let (rest, fill) = match text.rsplit_once('=') {
            Some((rest, fill)) => (rest, Some(fill.parse().map_err(|_| form())?)),
            None => (text, None),
        };
        let (rest, device) = match rest.rsplit_once('@') {
            Some((rest, device)) => (rest, Some(device.parse::<u32>().map_err(|_| form())?)),
            None => (rest, None),
        };
        let (rest, weak) = strip(rest, "~");
        let (rest, numpy) = strip(rest, "np:");
        let (rest, big_endian) = strip(rest, ">");
        let (element, dims) = rest.strip_suffix(']').and_then(|rest| rest.split_once('[')).ok_or_else(form)?;
        let shape = match dims {
            "" => vec![],
            dims => dims.split(',').map(|dim| dim.trim().parse()).collect::<Result<_, _>>().map_err(|_| form())?,
        };
        if let Some(tag) = element.strip_prefix("key<").and_then(|tag| tag.strip_suffix('>')) {
            let prng = Prng::ALL.iter().find(|(_, known)| *known == tag);
            let prng = prng.ok_or_else(|| ArrayError::Prng(tag.to_owned()))?.0;
            if weak || numpy || big_endian {
                return Err(impossible("a PRNG key array is a plain jax.Array"));
            }
            let dtype = Dtype::named("u32").expect("u32 is in the table");
            return Ok(Self { library: Library::Key { prng, placement: Placement::on(device) }, dtype, shape, fill });
        }
        if element.is_empty() || !element.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(form());
        }
        let dtype = Dtype::named(element).ok_or_else(|| ArrayError::Dtype(element.to_owned()))?;
        let library = if numpy {
            if weak {
                return Err(impossible("NumPy arrays have no weak_type"));
            }
            if device.is_some() {
                return Err(impossible("NumPy arrays live on no device"));
            }
            Library::Numpy { big_endian, order: MemoryOrder::C, subclass: Subclass::Ndarray }
        } else {
            if big_endian {
                return Err(impossible("only NumPy arrays have a byte order: write `np:>…`"));
            }
            if dtype.is_foreign() {
                return Err(impossible("no jax.Array has that dtype: write `np:…`"));
            }
            if dtype.is_float0() {
                return Err(impossible("arrays of float0 are NumPy arrays: write `np:float0[…]`"));
            }
            Library::Jax { weak, placement: Placement::on(device) }
        };
        Ok(Self { library, dtype, shape, fill })
    }
}

fn strip<'t>(text: &'t str, prefix: &str) -> (&'t str, bool) {
    text.strip_prefix(prefix).map_or((text, false), |rest| (rest, true))
}

impl Array {
    /// The implementation of its keys, if it is an array of PRNG keys.
    #[must_use]
    pub fn prng(&self) -> Option<Prng> {
        match self.library {
            Library::Key { prng, .. } => Some(prng),
            _ => None,
        }
    }

    /// The text form, and whether it says everything.
    pub(super) fn text(&self) -> (String, bool) {
        let mut text = String::new();
        let whole;
        let mut device = None;
        let mut on = |placement: &Placement| {
            device = placement.committed.then_some(placement.device);
            Placement::on(device) == *placement
        };
        match &self.library {
            Library::Jax { weak, placement } => {
                text.push_str(if *weak { "~" } else { "" });
                text.push_str(self.dtype.name());
                whole = on(placement);
            }
            Library::Key { prng, placement } => {
                whole = on(placement);
                text.push_str("key<");
                text.push_str(prng.tag());
                text.push('>');
            }
            Library::Numpy { big_endian, order, subclass } => {
                text.push_str(if *big_endian { "np:>" } else { "np:" });
                text.push_str(self.dtype.name());
                whole = *order == MemoryOrder::C && *subclass == Subclass::Ndarray;
            }
        }
        let dims: Vec<_> = self.shape.iter().map(u64::to_string).collect();
        text.push('[');
        text.push_str(&dims.join(","));
        text.push(']');
        if let Some(device) = device {
            text.push_str(&format!("@{device}"));
        }
        if let Some(fill) = self.fill {
            text.push_str(&format!("={fill}"));
        }
        (text, whole)
    }
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, whole) = self.text();
        f.write_str(&text)?;
        if whole {
            return Ok(());
        }
        match &self.library {
            Library::Numpy { order, subclass, .. } => {
                if *subclass != Subclass::Ndarray {
                    write!(f, ":{}", format!("{subclass:?}").to_lowercase())?;
                }
                if *order != MemoryOrder::C {
                    write!(f, ":{}", format!("{order:?}").to_lowercase())?;
                }
            }
            Library::Jax { placement, .. } | Library::Key { placement, .. } => {
                if let Some(sharding) = &placement.sharding {
                    let axes: Vec<_> = sharding.axes().map(|axis| axis.replace(": ", ":")).collect();
                    let spec: Vec<_> = sharding.spec.iter().map(Split::to_string).collect();
                    let devices = match &sharding.devices[..] {
                        [] => String::new(),
                        devices => format!("{devices:?}"),
                    };
                    write!(f, "@mesh({}){devices}P({})", axes.join(","), spec.join(","))?;
                } else if !placement.committed && placement.device != 0 {
                    write!(f, " on device {}, uncommitted", placement.device)?;
                }
                if let Some(mesh) = &placement.moved_off {
                    write!(f, " moved off mesh({})", mesh.axes().collect::<Vec<_>>().join(", "))?;
                }
                if let Some(layout) = &placement.layout {
                    write!(f, " layout {layout:?}")?;
                }
                if let Some(kind) = &placement.memory_kind {
                    write!(f, " in {kind}")?;
                }
            }
        }
        Ok(())
    }
}

/// The map form of an array: the notation, and what it has no sign for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ArrayForm {
    /// dtype, shape, weak_type, library and byte order, in the short notation.
    aval: String,
    /// How a NumPy array lies in memory.
    #[serde(default, skip_serializing_if = "is_default")]
    order: MemoryOrder,
    /// The class of a NumPy array.
    #[serde(default, skip_serializing_if = "is_default")]
    subclass: Subclass,
    /// Where a jax.Array lives.
    #[serde(default, skip_serializing_if = "is_default")]
    placement: Placement,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl TryFrom<ArrayForm> for Array {
    type Error = ArrayError;

    fn try_from(form: ArrayForm) -> Result<Self, ArrayError> {
        let mut array: Self = form.aval.parse()?;
        let impossible = |why| ArrayError::Impossible { text: form.aval.clone(), why };
        match &mut array.library {
            Library::Numpy { order, subclass, .. } => {
                if form.placement != Placement::default() {
                    return Err(impossible("NumPy arrays live on no device"));
                }
                (*order, *subclass) = (form.order, form.subclass);
            }
            library => {
                if form.order != MemoryOrder::C || form.subclass != Subclass::Ndarray {
                    return Err(impossible("`order` and `subclass` belong to NumPy arrays: write `np:…`"));
                }
                if let Library::Jax { placement, .. } | Library::Key { placement, .. } = library
                    && form.placement != Placement::default()
                {
                    if placement.committed {
                        return Err(impossible("give the device once: `@` or `placement`"));
                    }
                    *placement = form.placement.clone();
                }
            }
        }
        Ok(array)
    }
}

impl From<&Array> for ArrayForm {
    fn from(array: &Array) -> Self {
        let mut bare = array.clone();
        let (order, subclass, placement) = match &mut bare.library {
            Library::Numpy { order, subclass, .. } => {
                (std::mem::take(order), std::mem::take(subclass), Placement::default())
            }
            Library::Jax { placement, .. } | Library::Key { placement, .. } => {
                (MemoryOrder::C, Subclass::Ndarray, std::mem::take(placement))
            }
        };
        Self { aval: bare.text().0, order, subclass, placement }
    }
}
