//! Running a program: whether its arguments can be where they are, where what it returns is, and what of that raises.

use std::rc::Rc;
use std::sync::Arc;

use super::ambient::{Ambient, Mesh};
use super::arguments::Arguments;
use super::build::Output;
use super::called::body;
use super::facet::partition;
use super::key::{Ingredients, out_shardings};
use super::leaf::Leaf;
use super::library::is_unary;
use super::object::{Kind, Obj, Raised};
use super::predict::ModelError;
use super::python::has_arrays;
use crate::case::{Array, Call, Class, DefaultDevice, JitOptions, Library, Placement, Sharding, Shardings, Via};
use crate::spec::{ArgumentStyle, NonFinite, Profile};

/// What a call raises because of the numbers that it returns. The body that a case makes by default returns what it uses.
pub(super) fn returning_raises(call: &Ingredients<'_>) -> Option<Raised> {
    let unwanted = &call.ambient.returns_no;
    if unwanted.is_empty() || !returns_arguments(call) {
        return None;
    }
    let is_unwanted = |number: f64| {
        (number.is_nan() && unwanted.contains(&NonFinite::Nan))
            || (number.is_infinite() && unwanted.contains(&NonFinite::Inf))
    };
    let mut kept = call.arguments.leaves.iter().filter(|leaf| leaf.kept);
    kept.any(|leaf| numbers(&leaf).into_iter().any(is_unwanted)).then(|| Raised::new("FloatingPointError"))
}

/// Whether the body is the one that a case makes by default, which returns the array leaves that it uses, in a list: a value
/// that has no gradient.
pub(super) fn returns_arguments(call: &Ingredients<'_>) -> bool {
    !call.ambient.recorded && returns_what_it_uses(body(call.function))
}

/// The same of a function, and not of what wraps it.
pub(super) fn returns_what_it_uses(function: &Obj) -> bool {
    match &**function {
        Kind::Function(function) => !function.is_source && function.returns.is_none(),
        _ => false,
    }
}

/// Whether the function is one that a case makes whose body returns a list, however it is called.
pub(super) fn returns_a_list(function: &Obj) -> bool {
    match &**body(function) {
        Kind::Partial { func, .. } | Kind::TreePartial { func, .. } => returns_a_list(func),
        Kind::Record { class, .. } => matches!(class.root(), Class::Module { .. }),
        Kind::Instance { .. } | Kind::Method { name: None, .. } | Kind::ModuleMethod(_) => true,
        _ => returns_what_it_uses(body(function)),
    }
}

/// Whether such a function returns no array but those that it is called with.
pub(super) fn returns_nothing(function: &Obj) -> bool {
    match &**body(function) {
        Kind::Partial { func, args, .. } => !args.iter().any(has_arrays) && returns_nothing(func),
        _ => returns_a_list(function) && !has_arrays(body(function)),
    }
}

/// Whether it is an elementwise function of `jax.numpy`, which returns as much as it is given, and that is more than one number.
pub(super) fn is_elementwise_of_many(function: &Obj, call: &Ingredients<'_>) -> bool {
    let Kind::Global(name) = &**body(function) else { return false };
    let name = name.strip_prefix("jnp.").or_else(|| name.strip_prefix("jax.numpy."));
    name.is_some_and(is_unary) && call.arguments.leaves.iter().any(|leaf| !leaf.aval.shape.is_empty())
}

/// The meshes of what the body returns that a case makes by default: of arguments, and of what is bound to it.
fn returned_meshes(call: &Ingredients<'_>) -> Vec<Sharding> {
    let mut meshes = Vec::new();
    let mut function = body(call.function);
    while let Kind::Partial { func, args, .. } = &**function {
        meshes.extend(args.iter().filter_map(|bound| match &**bound {
            Kind::Array(array) => match &array.library {
                Library::Jax { placement, .. } | Library::Key { placement, .. } => {
                    placement.sharding.as_deref().cloned()
                }
                Library::Numpy { .. } => None,
            },
            _ => None,
        }));
        function = body(func);
    }
    match &**function {
        Kind::Function(function) if !function.is_source && function.returns.is_none() => {
            let kept = call.arguments.leaves.iter().filter(|leaf| leaf.kept);
            meshes.extend(kept.filter_map(|leaf| leaf.aval.placement.as_ref()?.sharding.as_deref().cloned()));
            meshes
        }
        _ => Vec::new(),
    }
}

/// The numbers that a leaf holds, as far as they can be anything but finite: an array of a case is filled with an integer.
fn numbers(leaf: &Leaf<'_>) -> Vec<f64> {
    let Some(mut object) = leaf.object else { return Vec::new() };
    while let Kind::Derived { base, .. } = &**object {
        object = base;
    }
    let stored = |number: f64| match leaf.aval.dtype.name() {
        "f64" | "c128" => number,
        "f16" if number.abs() >= 65520.0 => f64::INFINITY.copysign(number),
        _ => f64::from(number as f32),
    };
    match &**object {
        Kind::Float(number) | Kind::NumpyScalar(_, number) => vec![stored(*number)],
        Kind::Complex(re, im) => vec![stored(*re), stored(*im)],
        _ => Vec::new(),
    }
}

/// What `in_shardings` raise before a function is traced; an error where the model doesn't know what they or `out_shardings` do
/// to a call.
pub(super) fn shardings_are_known(
    profile: &Profile,
    call: &Call,
    function: &Obj,
    arguments: &Arguments,
    options: &JitOptions,
    ambient: &Ambient,
) -> Result<Option<Raised>, ModelError> {
    let unknown = |what: &str| Err(ModelError::Unsupported(format!("in_shardings and out_shardings {what}")));
    if profile.arguments != ArgumentStyle::AsWritten && !options.moves() {
        return unknown(&format!("of {}", profile.profile));
    }
    let is_split = |at: &Placement| at.sharding.is_some();
    let in_parts = arguments.leaves.iter().filter_map(|leaf| leaf.asked.clone()).any(|at| is_split(&at))
        || options.out_shardings.iter().flat_map(Shardings::iter).any(is_split);
    // A vmap puts a dimension in front of what is split.
    if in_parts && !matches!(call.via, Via::Call | Via::Trace | Via::Lower | Via::Compile) {
        return unknown("under a transformation");
    }
    if ambient.guarded {
        return unknown("under a transfer guard");
    }
    let special = |at: &Placement| at.layout.is_some() || at.memory_kind.is_some();
    if options.out_shardings.iter().flat_map(Shardings::iter).any(special) {
        return unknown("beside a layout or a memory kind");
    }
    let named = |at: &Placement| at.sharding.is_some();
    let returns_the_kept = ambient.recorded || returns_the_kept(function, options);
    if options.out_shardings.iter().flat_map(Shardings::iter).any(named) && !returns_the_kept {
        return unknown("of a body that returns something else than the arguments of its program");
    }
    // What a body of the user's returns has other shapes, perhaps.
    let kept = arguments.leaves.iter().filter(|leaf| leaf.kept).count();
    let returned = options.out_shardings.as_ref().filter(|places| match places {
        _ if ambient.recorded => false,
        Shardings::All(_) => true,
        Shardings::Tree(tree) => tree.leaves.len() == kept,
    });
    let mut returned_before = 0;
    let mut raised = None;
    for leaf in arguments.leaves.iter() {
        let out = returned.filter(|_| leaf.kept).and_then(|places| places.of_leaf(returned_before));
        returned_before += usize::from(leaf.kept);
        for at in leaf.asked.as_deref().into_iter().chain(out) {
            if special(at) || leaf.aval.placement.as_ref().is_some_and(special) {
                return unknown("beside a layout or a memory kind");
            }
        }
        let refused = |at: &Placement| misfit(at, &leaf.aval.shape, profile);
        raised = raised.or_else(|| leaf.asked.as_deref().and_then(refused));
        if call.via == Via::Trace && out.and_then(refused).is_some() {
            return unknown("that don't divide what is returned, where nothing is lowered");
        }
    }
    Ok(raised)
}

/// Whether a function that a case makes returns the arguments of its program, and has none besides.
fn returns_the_kept(function: &Obj, options: &JitOptions) -> bool {
    match &**body(function) {
        Kind::Function(function) => function.uses.is_none() || !options.keep_unused,
        _ => false,
    }
}

/// What `jax.jit` raises where an array of that shape can't have the sharding (`pjit_check_aval_sharding`).
fn misfit(at: &Placement, shape: &[u64], profile: &Profile) -> Option<Raised> {
    let named = at.sharding.as_ref()?;
    if named.spec.len() > shape.len() {
        return Some(Raised::new("ValueError"));
    }
    let is_divided = named.parts().zip(shape).all(|(parts, size)| size % parts as u64 == 0);
    (!is_divided).then(|| Raised::new(&profile.indivisible_sharding))
}

/// `out_shardings` are as many as what is returned (`flatten_axes`), the arguments of one program are where `in_shardings` say, and it
/// lives on one set of devices, those of `jax.set_mesh` if there are any (`DeviceAssignmentMismatchError`, a `ValueError`).
pub(super) fn placements_agree(call: &Ingredients<'_>, profile: &Profile) -> Result<(), Raised> {
    let mismatch = || Raised::new("ValueError");
    // What `in_shardings` do not fit is never traced.
    let kept = || call.arguments.leaves.iter().filter(|leaf| leaf.kept);
    let places = call.options.out_shardings.as_ref();
    let is_of_each = |places: &Shardings| match places {
        Shardings::All(_) => true,
        Shardings::Tree(tree) => tree.leaves.len() == kept().count(),
    };
    if returns_arguments(call) && returns_the_kept(call.function, call.options) && !places.is_none_or(is_of_each) {
        return Err(mismatch());
    }
    let out = |(i, leaf): (usize, Leaf<'_>)| misfit(places?.of_leaf(i)?, &leaf.aval.shape, profile);
    if let Some(raised) = kept().enumerate().find_map(out).filter(|_| returns_arguments(call)) {
        return Err(raised);
    }
    for leaf in call.arguments.leaves.iter().filter(|_| !call.options.moves()) {
        if let (Some(asked), Some(at)) = (&leaf.asked, &leaf.aval.placement)
            && at.is_committed()
            && split(asked) != split(at)
        {
            return Err(mismatch());
        }
    }
    let counted = |leaf: &Leaf<'_>| leaf.kept || profile.unused_arguments_have_devices;
    let mut devices: Vec<Vec<u32>> = call.ambient.set_mesh.iter().map(|mesh| mesh.devices.clone()).collect();
    for leaf in call.arguments.leaves.iter().filter(counted) {
        let own = leaf.aval.placement.as_ref().filter(|at| at.is_committed());
        let moved = leaf.asked.is_some() && (profile.in_shardings_move || call.options.moves());
        let own = own.filter(|_| !moved);
        devices.extend(own.into_iter().chain(leaf.asked.as_deref()).map(Placement::devices));
    }
    devices.extend(out_shardings(call.options, &call.arguments.leaves).flatten().map(Placement::devices));
    match devices.split_first() {
        Some((first, others)) if others.iter().any(|other| other != first) => Err(mismatch()),
        first => {
            let count = first.map_or(1, |(first, _)| first.len());
            let lies_elsewhere = |mesh: &Sharding| {
                mesh.mesh.keys().all(|axis| mesh.explicit.contains(axis))
                    && mesh.mesh.values().product::<u32>() as usize != count
            };
            let is_unfilled =
                profile.explicit_outputs_fill_their_mesh && returned_meshes(call).iter().any(lies_elsewhere);
            if is_unfilled { Err(mismatch()) } else { Ok(()) }
        }
    }
}

/// Into how many parts a sharding splits what it is for; none where it is on each device as a whole.
pub(super) fn split(at: &Placement) -> Option<String> {
    partition(at).filter(|words| !words.starts_with("[]"))
}

/// The devices that a program of these arguments runs on.
pub(super) fn devices(arguments: &Arguments, ambient: &Ambient) -> Vec<u32> {
    let kept = || arguments.leaves.iter().filter(|leaf| leaf.kept);
    if let Some(moved) = kept().find_map(|leaf| leaf.asked.clone().filter(|asked| asked.committed)) {
        return moved.devices();
    }
    let committed = kept().filter_map(|leaf| leaf.traits.aval.placement.as_ref()).find(|at| at.is_committed());
    let set = ambient.set_mesh.as_ref().map(|mesh| mesh.devices.clone());
    set.or_else(|| committed.map(Placement::devices)).unwrap_or_else(|| match ambient.default_device {
        Some(DefaultDevice::Number(number)) => vec![number],
        _ => vec![0],
    })
}

/// What the body that a case makes by default returns: the array leaves that it uses, in a list.
pub(super) fn body_output(arguments: &Arguments, options: &JitOptions, ambient: &Ambient) -> Output {
    let asked = options.out_shardings.clone();
    let returned = move |i| {
        let at = asked.as_ref()?.of_leaf(i)?.clone();
        Some(Placement { committed: at.sharding.is_none(), ..at })
    };
    // One committed argument commits the whole program.
    let kept = || arguments.leaves.iter().filter(|leaf| leaf.kept);
    let given = || kept().find_map(|leaf| leaf.lowered().placement.clone().filter(Placement::is_committed));
    let committed = given().or_else(|| {
        let Mesh { axes: mesh, explicit, devices } = ambient.set_mesh.clone()?;
        let sharding = Sharding { mesh, explicit, devices, spec: Vec::new() };
        Some(Placement { sharding: Some(Box::new(sharding)), ..Placement::default() })
    });
    let device = match (&ambient.default_device, &committed) {
        (Some(DefaultDevice::Number(number)), None) => *number,
        _ => 0,
    };
    let placement = committed.unwrap_or(Placement { device, ..Placement::default() });
    let leaves = Rc::clone(&arguments.leaves);
    Output::new(Box::new(move || {
        let array = |(i, leaf): (usize, Leaf<'_>)| -> Obj {
            let placement = returned(i).unwrap_or_else(|| placement.clone());
            let library = match leaf.aval.prng {
                Some(prng) => Library::Key { prng, placement },
                None => Library::Jax { weak: leaf.aval.weak && !leaf.aval.strong_when_missed, placement },
            };
            let (dtype, shape) = (leaf.aval.dtype, leaf.aval.shape.to_vec());
            Rc::new(Kind::Array(Arc::new(Array { library, dtype, shape, fill: None })))
        };
        Rc::new(Kind::List(leaves.iter().filter(|leaf| leaf.kept).enumerate().map(array).collect::<Vec<_>>().into()))
    }))
}
