//! What Python's and NumPy's own functions do when they are called with a tracer, and which of them can be held weakly.
//!
//! They are not written for tracers, so what they do is what the methods do that they call (`jax/_src/core.py`, `Tracer`):
//! `abs`, `len` and iteration work, a conversion to a Python number or a NumPy array raises.

use smallvec::SmallVec;

use super::object::{Kind, Obj, Raised};
use crate::case::Dtype;

/// The ufuncs of NumPy that take one array.
const UNARY: &str = " abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh \
    bitwise_count bitwise_invert bitwise_not cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs floor \
    frexp invert isfinite isinf isnan isnat log log10 log1p log2 logical_not modf negative positive rad2deg radians \
    reciprocal rint sign signbit sin sinh spacing sqrt square tan tanh trunc ";

/// Those that take two.
const BINARY: &str = " add arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor \
    copysign divide divmod equal float_power floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot lcm \
    ldexp left_shift less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor matmul matvec maximum minimum \
    mod multiply nextafter not_equal pow power remainder right_shift subtract true_divide vecdot vecmat ";

/// What makes an array of what it is given: these can be held weakly.
const CONVERSIONS: &str = " array asanyarray asarray ascontiguousarray ";

/// What NumPy dispatches by `__array_function__`: objects of a class that has no slot for weak references, as ufuncs are.
const DISPATCHED: &str = " all allclose amax amin angle any append apply_along_axis apply_over_axes argmax argmin \
    argpartition argsort argwhere around array_equal array_equiv array_repr array_split array_str astype atleast_1d \
    atleast_2d atleast_3d average bincount block broadcast_arrays broadcast_to can_cast choose clip column_stack \
    common_type compress concat concatenate convolve copy copyto corrcoef correlate count_nonzero cov cross cumprod cumsum \
    delete diag diagflat diagonal diff digitize dot dsplit dstack einsum einsum_path empty_like expand_dims extract \
    fill_diagonal flatnonzero flip fliplr flipud full_like geomspace gradient histogram histogram2d histogramdd hsplit \
    hstack imag inner insert interp intersect1d isclose iscomplex iscomplexobj isin isneginf isposinf isreal isrealobj \
    kron lexsort linspace logspace max mean median meshgrid min min_scalar_type moveaxis nan_to_num nanargmax nanargmin \
    nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim \
    nonzero ones_like outer packbits pad partition percentile piecewise place polyadd polyder polydiv polyfit polyint \
    polymul polysub polyval prod ptp put put_along_axis putmask quantile ravel ravel_multi_index real repeat reshape \
    resize result_type roll rollaxis roots rot90 round searchsorted select setdiff1d setxor1d shape sinc size sort split \
    squeeze stack std sum swapaxes take take_along_axis tensordot tile trace transpose tril trim_zeros triu union1d unique \
    unpackbits unravel_index unwrap vander var vdot vsplit vstack where zeros_like ";

fn is_among(names: &str, name: &str) -> bool {
    names.contains(&format!(" {name} "))
}

/// Whether the ufunc of that name takes one array, as the function of `jax.numpy` does that is called like it.
pub fn is_unary(name: &str) -> bool {
    is_among(UNARY, name)
}

/// The name of a function that stands in NumPy itself.
fn in_numpy(name: &str) -> Option<&str> {
    name.strip_prefix("np.").or_else(|| name.strip_prefix("numpy."))
}

/// What a table raises that has to hold the function weakly.
pub fn not_held_weakly(function: &Obj) -> Option<Raised> {
    let Kind::Global(name) = &**function else { return None };
    let name = in_numpy(name)?;
    [UNARY, BINARY, DISPATCHED].iter().any(|names| is_among(names, name)).then(|| Raised::new("TypeError"))
}

/// What calling `function` with these tracers does: nothing that is of interest here, or raise; `None` where that isn't known.
/// A tracer is its shape and dtype.
pub fn called_with(function: &Obj, tracers: &[(SmallVec<[u64; 4]>, Dtype)]) -> Option<Result<(), Raised>> {
    let raises = |class: &str| Some(Err(Raised::new(class)));
    let name = match &**function {
        Kind::Global(name) => name,
        // NumPy's scalar types call `__array__`.
        Kind::ScalarType(_) if tracers.len() == 1 => return raises("TracerArrayConversionError"),
        _ => return None,
    };
    let name = name.strip_prefix("builtins.").unwrap_or(name);
    if let Some(ufunc) = in_numpy(name) {
        let fits = match tracers {
            [_] => is_among(UNARY, ufunc) || is_among(CONVERSIONS, ufunc),
            [_, _] => is_among(BINARY, ufunc),
            _ => false,
        };
        return if fits { raises("TracerArrayConversionError") } else { None };
    }
    let [(shape, dtype)] = tracers else { return None };
    let sequence = || if shape.is_empty() { raises("TypeError") } else { Some(Ok(())) };
    match name {
        "abs" | "callable" => Some(Ok(())),
        "round" if dtype.is_float() || dtype.is_integer() => Some(Ok(())),
        "len" | "list" | "tuple" | "sum" => sequence(),
        // What they return is no array.
        "str" | "repr" | "iter" | "enumerate" | "set" | "frozenset" => raises("TypeError"),
        "bool" if shape.iter().product::<u64>() == 1 => raises("TracerBoolConversionError"),
        "bool" => raises("ValueError"),
        "max" | "min" => match shape[..] {
            [] => raises("TypeError"),
            [0] => raises("ValueError"),
            [1] => Some(Ok(())),
            [_] => raises("TracerBoolConversionError"),
            _ => None,
        },
        "int" | "float" | "complex" | "math.sin" | "math.cos" | "math.tan" | "math.exp" | "math.log" | "math.sqrt"
        | "math.floor" | "math.ceil" | "math.isnan" | "math.isinf" | "math.isfinite" | "cmath.sin" | "cmath.exp" => {
            raises(if shape.is_empty() { "ConcretizationTypeError" } else { "TypeError" })
        }
        _ => None,
    }
}
