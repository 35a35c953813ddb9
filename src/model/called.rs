//! Functions under test that no case defines: classes of a case, and what libraries hold.
//!
//! What calls one has no body that the case knows. An instance of a tree's class is a tree of what its constructor was given;
//! of what isn't written for tracers, as NumPy's functions and Python's own, nobody knows what it does with them.

use smallvec::SmallVec;

use super::arguments::Arguments;
use super::library::{called_with, not_held_weakly};
use super::object::{ClassObject, Kind, Obj, Raised};
use super::predict::ModelError;
use super::python;
use crate::case::{Call, Class, Dtype, EqPolicy, Name};
use crate::spec::{ArgumentStyle, Profile, Python};

/// The libraries whose functions take no tracers, or whose functions nobody knows to take them.
const NOT_FOR_TRACERS: [&str; 6] = ["builtins", "math", "cmath", "np", "numpy", "scipy"];

/// What calling `function` raises with these arguments, where no case has its body; what the model doesn't know of it, if `call`
/// doesn't say it.
pub fn raises(
    function: &Obj,
    call: &Call,
    args: &[Obj],
    arguments: &Arguments,
    profile: &Profile,
) -> Result<Option<Raised>, ModelError> {
    let called = innermost(function);
    let is_stated = call.raises.is_some() || call.returns.is_some();
    // It isn't called at all.
    let is_refused = profile.arguments == ArgumentStyle::AsWritten && not_held_weakly(function).is_some();
    let of_tracers = |name: &str| {
        let outcome = tracers(function, call, args, arguments).and_then(|given| called_with(called, &given));
        let unknown = || ModelError::Unsupported(format!("what {name} makes of tracers: say it in `returns`"));
        outcome.map(Result::err).ok_or_else(unknown)
    };
    let what = match &**called {
        Kind::Global(_) | Kind::ScalarType(_) if is_stated || is_refused => None,
        Kind::Global(name) => {
            let library = name.split_once('.').map_or("builtins", |(library, _)| library);
            if NOT_FOR_TRACERS.contains(&library) {
                return of_tracers(&format!("`{name}`"));
            }
            is_of_a_class(name).then(|| format!("what `{name}` makes of a tracer, which a class has"))
        }
        Kind::ScalarType(dtype) => return of_tracers(&format!("the scalar type of {dtype}")),
        Kind::Class(class) => match class.root() {
            Class::Namedtuple(_) | Class::Plain { .. } | Class::PlainDataclass { .. } => None,
            Class::Dataclass { meta: aux, .. } | Class::Module { static_: aux, .. } if aux.is_empty() => None,
            _ => Some(format!("what calling the class `{}` returns", class.name)),
        },
        _ => None,
    };
    what.map_or(Ok(None), |what| Err(ModelError::Unsupported(what)))
}

/// Shapes and dtypes of the arguments, if they are tracers of arrays and nothing else.
fn tracers(
    function: &Obj,
    call: &Call,
    args: &[Obj],
    arguments: &Arguments,
) -> Option<Vec<(SmallVec<[u64; 4]>, Dtype)>> {
    let mut bound = body(function);
    while let Kind::Partial { func, args, kwargs } | Kind::TreePartial { func, args, kwargs } = &**bound {
        if !args.is_empty() || !kwargs.is_empty() {
            return None;
        }
        bound = body(func);
    }
    let leaves = &arguments.leaves;
    let are_arrays = args.iter().all(|arg| arg.is_number()) && leaves.iter().all(|leaf| leaf.aval.prng.is_none());
    (call.kwargs.is_empty() && leaves.len() == args.len() && are_arrays)
        .then(|| leaves.iter().map(|leaf| (leaf.aval.shape.clone(), leaf.aval.dtype)).collect())
}

/// Whether it is found in a class of a library, as `jax.Array.sum` is: a function of an instance, which a tracer need not be.
fn is_of_a_class(name: &str) -> bool {
    let mut holders: Vec<&str> = name.split('.').skip(1).collect();
    holders.pop();
    holders.iter().any(|holder| holder.starts_with(char::is_uppercase) || matches!(*holder, "ndarray" | "ufunc"))
}

/// Whether what is called in the end is a library's own function.
pub fn is_of_a_library(function: &Obj) -> bool {
    matches!(**innermost(function), Kind::Global(_))
}

/// The function whose body runs: a wrapper adds nothing that could be seen.
pub(super) fn body(function: &Obj) -> &Obj {
    match &**function {
        Kind::Jitted(inner, _)
        | Kind::Wrapper(inner, _)
        | Kind::Checkpointed(inner)
        | Kind::Mapped(inner)
        | Kind::Opaque(inner, _)
        | Kind::ModuleWrapper(_, inner, _) => body(inner),
        _ => function,
    }
}

/// What is called in the end.
pub(super) fn innermost(function: &Obj) -> &Obj {
    match &**body(function) {
        Kind::Partial { func, .. } | Kind::TreePartial { func, .. } => innermost(func),
        _ => body(function),
    }
}

/// What returning an instance of the class raises: what is no tree is no array either, which `filter_jit` passes on.
pub fn returned(class: &ClassObject, profile: &Profile) -> Result<(), Raised> {
    let passes = profile.arguments == ArgumentStyle::Partition;
    match class.root() {
        Class::Plain { .. } | Class::PlainDataclass { .. } if !passes => Err(Raised::new("TypeError")),
        _ => Ok(()),
    }
}

/// What the constructor of the class takes; what the signature of others says is not known here.
pub fn parameters(class: &ClassObject) -> Option<Vec<&Name>> {
    match class.root() {
        Class::Namedtuple(fields) | Class::PlainDataclass { fields, .. } => Some(fields.iter().collect()),
        Class::Dataclass { data, meta } => Some(data.iter().chain(meta).collect()),
        Class::Module { fields, static_ } => Some(fields.iter().chain(static_).collect()),
        _ => None,
    }
}

/// What a table raises that compares the function with itself.
pub fn comparison_raises(function: &Obj, profile: &Profile) -> Result<(), Raised> {
    let compares = profile.compares_functions_with_themselves && matches!(**function, Kind::Instance { .. });
    if compares { python::equal(function, function).map(|_| ()) } else { Ok(()) }
}

/// What `inspect.signature` raises of a callable that it compares with `type` (`Lib/inspect.py`, `_signature_is_builtin`).
pub fn signature_raises(function: &Obj, python: &Python) -> Option<Raised> {
    match &**function {
        Kind::Instance { class, .. } if python.signatures_compare => match class.root() {
            Class::Plain { eq: EqPolicy::Raises, .. } => Some(Raised::new("RuntimeError")),
            Class::Plain { eq: EqPolicy::Array, .. } => Some(Raised::new("ValueError")),
            _ => None,
        },
        Kind::Partial { func, .. } | Kind::TreePartial { func, .. } => signature_raises(func, python),
        _ => None,
    }
}
