//! What a case must keep beyond its types: every name it uses is defined, and instances have the parts of their class.

use std::fmt::Display;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::{
    ArgName, Call, Case, Class, Context, DefForm, Form, InShardings, JitOptions, Library, Name, NewForm, Param,
    Placement, Sharding, Shardings, Split, Step, Value, Via,
};

/// The deepest nest: CPython's default recursion limit.
const DEEPEST: u16 = 1000;

/// As many values can be made by one that is written once.
const MOST: u64 = 1_000_000;

/// How many values a value stands for, by the repeats that are in each other.
fn copies(value: &Value) -> u64 {
    let inside = value.children().into_iter().map(copies).max().unwrap_or(1);
    match value {
        Value::Form(form) => match &**form {
            Form::Repeat(repeat) => inside.saturating_mul(repeat.times.into()),
            _ => inside,
        },
        _ => inside,
    }
}

/// Why a case that can be read can't be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// A reference to an object that doesn't exist there.
    #[error("{place}: there is no object `{name}` here; declare it under `objects` (before its first use)")]
    Object {
        /// Where the reference stands.
        place: String,
        /// The name referred to.
        name: Name,
    },
    /// A class that doesn't exist.
    #[error("{place}: there is no class `{name}`; declare it under `classes` (before its first use)")]
    Class {
        /// Where the reference stands.
        place: String,
        /// The name referred to.
        name: Name,
    },
    /// An instance whose parts are not those of its class.
    #[error("{place}: `new {class}`: {why}")]
    Parts {
        /// Where the instance stands.
        place: String,
        /// Its class.
        class: Name,
        /// What is missing or too much.
        why: String,
    },
    /// An output of a call that comes later or never.
    #[error("{place}: call {call} has not happened yet here")]
    Output {
        /// Where the reference stands.
        place: String,
        /// The call referred to.
        call: usize,
    },
    /// A compiled object that no earlier call made.
    #[error("{place}: call {call} made no compiled object before; it needs `via: compile`")]
    Compiled {
        /// Where the reference stands.
        place: String,
        /// The call referred to.
        call: usize,
    },
    /// A compiled object with a function of its own.
    #[error("{place}: the compiled object of call {call} has its function and options from there; name none here")]
    CompiledOf {
        /// Where the reference stands.
        place: String,
        /// The call referred to.
        call: usize,
    },
    /// Other defaults than the function has.
    #[error(
        "{place}: `{object}` has {has} defaults; `defaults` of a mutation needs one for each, of a `def` with `params`"
    )]
    Defaults {
        /// Where the mutation stands.
        place: String,
        /// The object.
        object: Name,
        /// How many defaults it has.
        has: usize,
    },
    /// Contents that are none for the object.
    #[error(
        "{place}: `contents` of `{object}` must be another list, set or dict of its kind, with nothing in it that may hold `{object}`"
    )]
    Contents {
        /// Where the mutation stands.
        place: String,
        /// The object.
        object: Name,
    },
    /// A number of calls outside of a step that has many.
    #[error("{place}: `nth` stands in the call of a `fill` only")]
    Nth {
        /// Where it stands.
        place: String,
    },
    /// A NumPy scalar that is none.
    #[error("{place}: `numpy.object_(x)` is `x` itself: write the value")]
    ObjectScalar {
        /// Where it stands.
        place: String,
    },
    /// A nest that is deeper than Python can recurse.
    #[error("{place}: {levels} levels are more than Python can recurse; write at most {DEEPEST}")]
    Deep {
        /// Where the nest stands.
        place: String,
        /// Its levels.
        levels: u16,
    },
    /// More values that are alike than anybody compares.
    #[error("{place}: these are {copies} values that are alike; write at most {MOST}")]
    Many {
        /// Where the outermost stands.
        place: String,
        /// How many they are.
        copies: u64,
    },
    /// A device that the case doesn't ask for.
    #[error("{place}: device {device} needs `devices: {}` or more", device + 1)]
    Device {
        /// Where the array stands.
        place: String,
        /// The device.
        device: u32,
    },
    /// A placement that is more than a sharding.
    #[error("{place}: a sharding has no layout, and commits whatever it is for: leave `committed` and `layout` out")]
    Sharding {
        /// Where it stands.
        place: String,
    },
    /// An array that was moved off a mesh and isn't on a device.
    #[error(
        "{place}: what is `moved_off` a mesh is on a device: write `committed: true` and `device`, or nothing of these for one that isn't committed, and no more"
    )]
    MovedOff {
        /// Where it stands.
        place: String,
    },
    /// A spec or a list of explicit axes with an axis that the mesh doesn't have, or has used before.
    #[error("{place}: the mesh has no axis `{axis}`, or it is used twice")]
    Axis {
        /// Where the mesh stands.
        place: String,
        /// The axis.
        axis: Name,
    },
    /// A mesh whose devices don't fit its axes.
    #[error("{place}: a mesh of {count} has as many devices, each once, and here are {devices:?}")]
    Mesh {
        /// Where the mesh stands.
        place: String,
        /// The product of its axes.
        count: u32,
        /// The devices that were given.
        devices: Vec<u32>,
    },
}

/// What of a case is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A class.
    Class(Name),
    /// An object.
    Object(Name),
    /// A step, by its place among the steps.
    Step(usize),
    /// What all steps share: the function, its options, what surrounds it.
    Whole,
}

impl Case {
    /// Checks that names are defined, that instances fit their classes and that outputs exist.
    pub fn validate(&self) -> Result<(), CaseError> {
        self.faults().into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Every part that is wrong, in order; what names an object that is wrong is wrong as well.
    #[must_use]
    pub fn faults(&self) -> Vec<(Part, CaseError)> {
        let mut checker = Checker { case: self, alive: FxHashSet::default(), calls: 0, fills: false };
        let mut faults = Vec::new();
        let mut check = |part: Part, checked: Result<(), CaseError>| {
            let is_right = checked.is_ok();
            faults.extend(checked.err().map(|error| (part, error)));
            is_right
        };
        for (name, class) in &self.classes {
            check(Part::Class(name.clone()), checker.class(name, class));
        }
        for (name, value) in &self.objects {
            if check(Part::Object(name.clone()), checker.value(&format_args!("objects.{name}"), value)) {
                checker.alive.insert(name);
            }
        }
        check(Part::Whole, checker.value(&"function", &self.function));
        check(Part::Whole, checker.context(&"context", &self.context));
        check(Part::Whole, checker.options(&"options", &self.options));
        for (i, step) in self.steps.iter().enumerate() {
            check(Part::Step(i), checker.step(&format_args!("step {}", i + 1), step));
        }
        faults
    }
}

/// A mesh, and a spec whose axes are all of it, each at one place.
fn sharding(place: &dyn Display, named: &Sharding) -> Result<(), CaseError> {
    mesh(place, &named.mesh, &named.devices, &named.explicit)?;
    let mut used = FxHashSet::default();
    match named.spec.iter().flat_map(Split::axes).find(|axis| !used.insert(*axis) || !named.mesh.contains_key(*axis)) {
        Some(axis) => Err(CaseError::Axis { place: place.to_string(), axis: axis.clone() }),
        None => Ok(()),
    }
}

/// Whether a mesh of these axes can have these devices.
fn mesh(place: &dyn Display, axes: &IndexMap<Name, u32>, devices: &[u32], explicit: &[Name]) -> Result<(), CaseError> {
    if let Some(axis) = explicit.iter().find(|axis| !axes.contains_key(*axis)) {
        return Err(CaseError::Axis { place: place.to_string(), axis: axis.clone() });
    }
    let count: u32 = axes.values().product();
    let different: FxHashSet<_> = devices.iter().collect();
    if devices.is_empty() || (devices.len() == count as usize && different.len() == devices.len()) {
        return Ok(());
    }
    Err(CaseError::Mesh { place: place.to_string(), count, devices: devices.to_vec() })
}

struct Checker<'c> {
    case: &'c Case,
    alive: FxHashSet<&'c Name>,
    calls: usize,
    /// Whether it is in a step that fills caches.
    fills: bool,
}

impl<'c> Checker<'c> {
    fn class(&self, name: &Name, class: &Class) -> Result<(), CaseError> {
        const BUILTIN: [&str; 6] = ["str", "int", "float", "tuple", "list", "dict"];
        let Class::Subclass { of, .. } = class else { return Ok(()) };
        let place_of = |name: &Name| self.case.classes.get_index_of(name);
        let comes_before = place_of(of).is_some_and(|base| Some(base) < place_of(name));
        if comes_before || (BUILTIN.contains(&of.as_str()) && place_of(of).is_none()) {
            return Ok(());
        }
        Err(CaseError::Class { place: format!("classes.{name}"), name: of.clone() })
    }

    fn step(&mut self, place: &dyn Display, step: &'c Step) -> Result<(), CaseError> {
        match step {
            Step::Call(call) => {
                let checked = self.call(place, call);
                self.calls += 1;
                checked
            }
            Step::Drop(name) => {
                if self.alive.remove(name) {
                    Ok(())
                } else {
                    Err(CaseError::Object { place: place.to_string(), name: name.clone() })
                }
            }
            Step::Mutate(mutation) => {
                self.object(place, &mutation.object)?;
                if let Some(defaults) = &mutation.defaults {
                    self.defaults(place, &mutation.object, defaults.len())?;
                }
                if let Some(contents) = &mutation.contents {
                    self.contents(place, &mutation.object, contents)?;
                }
                mutation.values().try_for_each(|value| self.value(place, value))
            }
            Step::Delete(name) | Step::Donate(name) => self.object(place, name),
            Step::Clear(_) => Ok(()),
            Step::Fill(fill) => {
                self.fills = true;
                let checked = self.call(place, &fill.call);
                self.fills = false;
                checked
            }
        }
    }

    fn call(&self, place: &dyn Display, call: &Call) -> Result<(), CaseError> {
        if let Some(number) = call.compiled {
            let made = number.checked_sub(1).and_then(|i| self.case.calls().take(self.calls).nth(i));
            if made.is_none_or(|made| made.via != Via::Compile) {
                return Err(CaseError::Compiled { place: place.to_string(), call: number });
            }
            if call.function.is_some() || call.options.is_some() || call.wrapper.is_some() || call.via != Via::Call {
                return Err(CaseError::CompiledOf { place: place.to_string(), call: number });
            }
        }
        for (i, value) in call.args.iter().enumerate() {
            self.value(&format_args!("{place}, args[{i}]"), value)?;
        }
        for (name, value) in &call.kwargs {
            self.value(&format_args!("{place}, kwargs.{name}"), value)?;
        }
        for value in call.function.iter().chain(&call.returns) {
            self.value(place, value)?;
        }
        call.options.iter().try_for_each(|options| self.options(&format_args!("{place}, options"), options))?;
        self.context(&format_args!("{place}, context"), &self.case.context.around(&call.context))
    }

    fn options(&self, place: &dyn Display, options: &JitOptions) -> Result<(), CaseError> {
        let asked = options
            .in_shardings
            .iter()
            .flat_map(InShardings::iter)
            .chain(options.out_shardings.iter().flat_map(Shardings::iter));
        if let Some(device) = options.device.filter(|number| *number >= self.case.devices) {
            return Err(CaseError::Device { place: place.to_string(), device });
        }
        for at in asked {
            if at.committed || at.layout.is_some() || at.moved_off.is_some() {
                return Err(CaseError::Sharding { place: place.to_string() });
            }
            self.placement(place, at)?;
        }
        Ok(())
    }

    fn placement(&self, place: &dyn Display, at: &Placement) -> Result<(), CaseError> {
        if at.device >= self.case.devices {
            return Err(CaseError::Device { place: place.to_string(), device: at.device });
        }
        let Placement { device, committed, sharding: named, layout, memory_kind, moved_off } = at;
        let is_on_a_device =
            (*committed || *device == 0) && named.is_none() && layout.is_none() && memory_kind.is_none();
        if moved_off.is_some() && !is_on_a_device {
            return Err(CaseError::MovedOff { place: place.to_string() });
        }
        named.iter().chain(moved_off).try_for_each(|named| sharding(place, named))
    }

    fn context(&self, place: &dyn Display, context: &Context) -> Result<(), CaseError> {
        for axes in context.mesh.iter().chain(&context.set_mesh) {
            mesh(place, axes, &context.mesh_devices, &context.mesh_explicit)?;
        }
        let values = context.flags.values().chain(context.xla_metadata.values()).chain(&context.user);
        values.into_iter().try_for_each(|value| self.value(place, value))
    }

    /// Whether a container may hold that from now on: objects that were made before it, so that nothing comes to hold itself.
    fn contents(&self, place: &dyn Display, object: &Name, contents: &Value) -> Result<(), CaseError> {
        let place_of = |name: &Name| self.case.objects.get_index_of(name);
        let is_older = |value: &Value| match value {
            Value::Form(form) => match &**form {
                Form::Ref(name) => place_of(name) < place_of(object),
                Form::Output(_) => false,
                _ => true,
            },
            _ => true,
        };
        let was = self.case.objects.get(object);
        let changes = ["list", "set", "dict", "ordered_dict", "default_dict"].contains(&contents.kind());
        if changes && was.is_some_and(|was| was.kind() == contents.kind()) && contents.all(&is_older) {
            Ok(())
        } else {
            Err(CaseError::Contents { place: place.to_string(), object: object.clone() })
        }
    }

    /// Whether `__defaults__` of a function has that many.
    fn defaults(&self, place: &dyn Display, object: &Name, given: usize) -> Result<(), CaseError> {
        let form = match self.case.objects.get(object) {
            Some(Value::Form(form)) => Some(&**form),
            _ => None,
        };
        let Some(Form::Def(DefForm { params: Some(params), .. })) = form else {
            return Err(CaseError::Defaults { place: place.to_string(), object: object.clone(), has: 0 });
        };
        let positional = params.iter().take_while(|param| !matches!(param, Param::Plain(ArgName::Positional(_))));
        let has = positional.filter(|param| matches!(param, Param::Default { .. })).count();
        if has == given {
            Ok(())
        } else {
            Err(CaseError::Defaults { place: place.to_string(), object: object.clone(), has })
        }
    }

    fn object(&self, place: &dyn Display, name: &Name) -> Result<(), CaseError> {
        if self.alive.contains(name) {
            Ok(())
        } else {
            Err(CaseError::Object { place: place.to_string(), name: name.clone() })
        }
    }

    fn value(&self, place: &dyn Display, value: &Value) -> Result<(), CaseError> {
        self.itself(place, value)?;
        for child in value.children() {
            self.value(place, child)?;
        }
        Ok(())
    }

    /// The value without what is in it, apart from the recursion: no level of it has all this on the stack.
    fn itself(&self, place: &dyn Display, value: &Value) -> Result<(), CaseError> {
        match value {
            Value::Array(array) => {
                if let Library::Jax { placement, .. } = &array.library {
                    self.placement(place, placement)?;
                }
            }
            Value::Form(form) => match &**form {
                Form::Ref(name) => return self.object(place, name),
                Form::Class(name) if !self.case.classes.contains_key(name) => {
                    return Err(CaseError::Class { place: place.to_string(), name: name.clone() });
                }
                Form::New(new) => self.parts(place, new)?,
                Form::Nest(nest) if nest.levels > DEEPEST => {
                    return Err(CaseError::Deep { place: place.to_string(), levels: nest.levels });
                }
                Form::Repeat(_) if copies(value) > MOST => {
                    return Err(CaseError::Many { place: place.to_string(), copies: copies(value) });
                }
                Form::NumpyScalar(dtype, _) if dtype.name() == "object" => {
                    return Err(CaseError::ObjectScalar { place: place.to_string() });
                }
                Form::Nth(_) if !self.fills => return Err(CaseError::Nth { place: place.to_string() }),
                Form::Output(output) if output.call == 0 || output.call > self.calls => {
                    return Err(CaseError::Output { place: place.to_string(), call: output.call });
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    fn parts(&self, place: &dyn Display, new: &NewForm) -> Result<(), CaseError> {
        let Some(mut class) = self.case.classes.get(&new.class) else {
            return Err(CaseError::Class { place: place.to_string(), name: new.class.clone() });
        };
        // A class that is its own base is an error that is told of the class.
        for _ in 0..self.case.classes.len() {
            let Class::Subclass { of, .. } = class else { break };
            let Some(base) = self.case.classes.get(of) else { break };
            class = base;
        }
        let given = [
            ("args", new.args.is_some()),
            ("fields", new.fields.is_some()),
            ("children", new.children.is_some()),
            ("keys", new.keys.is_some()),
            ("aux", new.aux.is_some()),
            ("value", new.value.is_some()),
            ("hash", new.hash.is_some()),
            ("member", new.member.is_some()),
        ];
        let (needed, allowed): (&[&str], &[&str]) = match class {
            Class::Namedtuple(_) => (&["args"], &[]),
            Class::Node {} => (&["children"], &["keys", "aux"]),
            Class::Dataclass { .. } | Class::Module { .. } | Class::NnxModule { .. } | Class::PlainDataclass { .. } => {
                (&["fields"], &[])
            }
            Class::Plain { .. } => (&[], &["value", "hash"]),
            Class::Enum(_) | Class::IntEnum(_) => (&["member"], &[]),
            Class::Subclass { .. } => (&["value"], &[]),
        };
        let error = |why: String| Err(CaseError::Parts { place: place.to_string(), class: new.class.clone(), why });
        for (part, is_given) in given {
            if needed.contains(&part) && !is_given {
                return error(format!("`{part}` is missing"));
            }
            if is_given && !needed.contains(&part) && !allowed.contains(&part) {
                return error(format!("a class of this kind has no `{part}`"));
            }
        }
        match class {
            Class::Namedtuple(fields) if new.args.as_ref().is_some_and(|args| args.len() != fields.len()) => {
                error(format!("`args` must have {} elements", fields.len()))
            }
            Class::Node {} if new.keys.iter().any(|keys| Some(keys.len()) != new.children.as_ref().map(Vec::len)) => {
                error("`keys` must have one for each of `children`".to_owned())
            }
            Class::Dataclass { data, meta } => self.fields(new, data.iter().chain(meta)).or_else(error),
            Class::Module { fields, static_ } | Class::NnxModule { params: fields, static_ } => {
                self.fields(new, fields.iter().chain(static_)).or_else(error)
            }
            Class::PlainDataclass { fields, .. } => self.fields(new, fields.iter()).or_else(error),
            Class::Enum(members) | Class::IntEnum(members)
                if new.member.as_ref().is_some_and(|member| !members.contains(member)) =>
            {
                error("there is no such member".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn fields<'n>(&self, new: &NewForm, declared: impl Iterator<Item = &'n Name>) -> Result<(), String> {
        let given = new.fields.as_ref().expect("checked before");
        let declared: Vec<_> = declared.collect();
        if let Some(missing) = declared.iter().find(|name| !given.contains_key(**name)) {
            return Err(format!("field `{missing}` is missing"));
        }
        match given.keys().find(|name| !declared.contains(name)) {
            Some(extra) => Err(format!("there is no field `{extra}`")),
            None => Ok(()),
        }
    }
}

/// The values that stand directly inside of another.
pub type Children<'v> = SmallVec<[&'v Value; 8]>;

impl Value {
    /// The values that stand directly inside.
    #[must_use]
    pub fn children(&self) -> Children<'_> {
        match self {
            Self::List(items) => items.iter().collect(),
            Self::Form(form) => form.children(),
            _ => Children::new(),
        }
    }

    /// Whether that is so of the value and of all in it.
    pub(super) fn all(&self, is_so: &impl Fn(&Self) -> bool) -> bool {
        is_so(self) && self.children().into_iter().all(|child| child.all(is_so))
    }

    /// How many containers stand around the deepest value in it.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.children().into_iter().map(|child| child.depth() + 1).max().unwrap_or(0)
    }

    /// The name of its form, as a case writes it where the form has one.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Array(array) => match array.library {
                Library::Jax { .. } => "jax array",
                Library::Key { .. } => "PRNG key array",
                Library::Numpy { .. } => "numpy array",
            },
            Self::List(_) => "list",
            Self::Form(form) => (&**form).into(),
        }
    }
}

impl Form {
    /// The values that stand directly inside.
    #[must_use]
    pub fn children(&self) -> Children<'_> {
        match self {
            Self::Tuple(items) | Self::Set(items) | Self::Frozenset(items) | Self::Slice(items) => {
                items.iter().collect()
            }
            Self::Dict(items) | Self::OrderedDict(items) | Self::MappingProxy(items) => {
                items.0.iter().flat_map(|(key, value)| [key, value]).collect()
            }
            Self::DefaultDict(dict) => std::iter::once(&dict.factory)
                .chain(dict.items.0.iter().flat_map(|(key, value)| [key, value]))
                .collect(),
            Self::Treedef(value) => smallvec![value],
            Self::Nest(nest) => smallvec![&nest.value],
            Self::Repeat(repeat) => smallvec![&repeat.value],
            Self::New(new) => new.parts().collect(),
            Self::Def(def) => def.returns.iter().collect(),
            Self::Closure(closure) => smallvec![&closure.over],
            Self::Partial(partial) | Self::TreePartial(partial) => {
                std::iter::once(&partial.func).chain(&partial.args).chain(partial.kwargs.values()).collect()
            }
            Self::Method(method) => smallvec![&method.of],
            Self::Wrap(wrap) => smallvec![&wrap.func],
            Self::Make(make) => {
                make.args.iter().chain(make.kwargs.values()).chain(std::iter::once(&make.as_)).collect()
            }
            Self::Str(_)
            | Self::Bytes(_)
            | Self::Bytearray(_)
            | Self::Complex(_)
            | Self::Range(_)
            | Self::Ellipsis {}
            | Self::Object { .. }
            | Self::NumpyScalar(..)
            | Self::Parsed(_)
            | Self::Dtype(_)
            | Self::ScalarType(_)
            | Self::ShapeDtypeStruct(_)
            | Self::ArrayRef(_)
            | Self::PartitionSpec(_)
            | Self::Class(_)
            | Self::Ref(_)
            | Self::Nth(_)
            | Self::Output(_)
            | Self::Lambda(_)
            | Self::Global(_) => Children::new(),
        }
    }
}
