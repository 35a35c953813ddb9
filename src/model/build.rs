//! Makes Python objects of a case's values. Each meeting with a value makes a new object, but for references.

use std::cell::{Cell, LazyCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::object::{ClassObject, Function, Kind, Obj, Raised, Ways};
use super::python;
use super::treedef::Label;
use super::view::FEW;
use crate::case::{
    ArgName, Array, Case, Class, DictItems, Dtype, Form, JitOptions, MethodKind, Name, NestContainer, NewForm,
    OutputForm, Param, PartialForm, Value, Wrapper,
};

/// Why an object can't be made.
#[derive(Debug, Clone)]
pub enum BuildError {
    /// Python raises while the value is built: the case can't be run at all.
    Raised(Raised),
    /// The model doesn't know the value.
    Unsupported(String),
}

impl From<Raised> for BuildError {
    fn from(raised: Raised) -> Self {
        Self::Raised(raised)
    }
}

/// What a call returned, made when somebody asks for it.
pub type Output = LazyCell<Obj, Box<dyn FnOnce() -> Obj>>;

/// The names of a case, and what they stand for at the moment.
#[derive(Debug)]
pub struct Namespace {
    classes: FxHashMap<Name, Rc<ClassObject>>,
    /// The classes as objects, each one however it is reached.
    class_objects: FxHashMap<Name, Obj>,
    /// The functions that are their methods, by the class that defines them.
    class_methods: RefCell<FxHashMap<(Name, MethodKind), Obj>>,
    objects: FxHashMap<Name, Obj>,
    /// The objects that can't be made, in order.
    unmade: IndexMap<Name, BuildError>,
    outputs: Vec<Option<Output>>,
    /// In a step that fills caches: how many calls were before.
    pub nth: u16,
    ways: Ways,
    /// What libraries hold, and keep alive.
    globals: RefCell<FxHashMap<String, Obj>>,
    /// How many arrays were made, up to [`FEW`], and the descriptions of the others, each once.
    made: Cell<usize>,
    arrays: RefCell<FxHashSet<Arc<Array>>>,
}

impl Namespace {
    /// Makes the classes and objects of `case`, which must be valid. An object that can't be made is none that a value can name.
    pub fn of(case: &Case, ways: Ways) -> Self {
        let mut namespace = Self {
            classes: FxHashMap::default(),
            class_objects: FxHashMap::default(),
            class_methods: RefCell::default(),
            objects: FxHashMap::default(),
            unmade: IndexMap::new(),
            outputs: Vec::new(),
            nth: 0,
            ways,
            globals: RefCell::default(),
            made: Cell::default(),
            arrays: RefCell::default(),
        };
        for (name, class) in &case.classes {
            let base = match class {
                Class::Subclass { of, .. } => namespace.classes.get(of).cloned(),
                _ => None,
            };
            let class = Rc::new(ClassObject { name: name.clone(), class: class.clone(), base, ways });
            namespace.class_objects.insert(name.clone(), Rc::new(Kind::Class(Rc::clone(&class))));
            namespace.classes.insert(name.clone(), class);
        }
        for (name, value) in &case.objects {
            match namespace.build(value) {
                Ok(object) => drop(namespace.objects.insert(name.clone(), object)),
                Err(error) => drop(namespace.unmade.insert(name.clone(), error)),
            }
        }
        namespace
    }

    /// The same, if every object can be made.
    pub fn complete(self) -> Result<Self, BuildError> {
        match self.unmade.values().next() {
            Some(error) => Err(error.clone()),
            None => Ok(self),
        }
    }

    /// The object of that name.
    pub fn object(&self, name: &Name) -> Option<&Obj> {
        self.objects.get(name)
    }

    /// Forgets the object of that name.
    pub fn forget(&mut self, name: &Name) {
        self.objects.remove(name);
    }

    /// Keeps what a call returned; `None` where nobody can know.
    pub fn returned(&mut self, output: Option<Output>) {
        self.outputs.push(output);
    }

    /// Forgets what the last call returned.
    pub fn not_returned(&mut self) {
        self.outputs.pop();
    }

    /// Makes the object that `value` says.
    pub fn build(&self, value: &Value) -> Result<Obj, BuildError> {
        Ok(Rc::new(match value {
            Value::None => Kind::None,
            Value::Bool(value) => Kind::Bool(*value),
            Value::Int(value) => Kind::Int(*value),
            Value::Float(value) => Kind::Float(*value),
            Value::Array(array) => Kind::Array(self.array(array)),
            Value::List(items) => Kind::List(self.all(items)?.into()),
            Value::Form(form) => return self.form(form),
        }))
    }

    /// What all arrays of one description share, where there are many: keys of large trees look up each only by its address.
    fn array(&self, array: &Arc<Array>) -> Arc<Array> {
        if self.made.get() < FEW {
            self.made.set(self.made.get() + 1);
            return Arc::clone(array);
        }
        let mut arrays = self.arrays.borrow_mut();
        let known = arrays.get(array).map(Arc::clone);
        known.unwrap_or_else(|| {
            arrays.insert(Arc::clone(array));
            Arc::clone(array)
        })
    }

    fn all(&self, values: &[Value]) -> Result<Vec<Obj>, BuildError> {
        let mut all = Vec::with_capacity(values.len());
        for value in values {
            all.push(self.build(value)?);
        }
        Ok(all)
    }

    fn named(&self, values: &IndexMap<Name, Value>) -> Result<Vec<(Name, Obj)>, BuildError> {
        values.iter().map(|(name, value)| Ok((name.clone(), self.build(value)?))).collect()
    }

    fn items(&self, items: &DictItems) -> Result<Vec<(Obj, Obj)>, BuildError> {
        let items: Vec<_> = items
            .0
            .iter()
            .map(|(key, value)| Ok::<_, BuildError>((self.build(key)?, self.build(value)?)))
            .collect::<Result<_, _>>()?;
        Ok(python::collapse(items)?)
    }

    fn set(&self, values: &[Value]) -> Result<Vec<Obj>, BuildError> {
        let items = self.all(values)?.into_iter().map(|item| (item, ())).collect();
        Ok(python::collapse(items)?.into_iter().map(|(item, ())| item).collect())
    }

    fn form(&self, form: &Form) -> Result<Obj, BuildError> {
        Ok(Rc::new(match form {
            Form::Str(text) => Kind::Str(text.clone()),
            Form::Bytes(text) => Kind::Bytes(text.clone()),
            Form::Bytearray(text) => Kind::Bytearray(text.clone()),
            Form::Complex([re, im]) => Kind::Complex(re.0, im.0),
            Form::Tuple(items) => Kind::Tuple(self.all(items)?),
            Form::Set(items) => Kind::Set(self.set(items)?.into()),
            Form::Frozenset(items) => Kind::Frozenset(self.set(items)?.into()),
            Form::Range(ends) => match ends[..] {
                [stop] => Kind::Range(0, stop, 1),
                [start, stop] => Kind::Range(start, stop, 1),
                [start, stop, step] if step != 0 => Kind::Range(start, stop, step),
                _ => return Err(Raised::new(if ends.len() == 3 { "ValueError" } else { "TypeError" }).into()),
            },
            Form::Slice(parts) => {
                let none = || Rc::new(Kind::None);
                let parts = match &self.all(parts)?[..] {
                    [stop] => [none(), Rc::clone(stop), none()],
                    [start, stop] => [Rc::clone(start), Rc::clone(stop), none()],
                    [start, stop, step] => [start, stop, step].map(Rc::clone),
                    _ => return Err(Raised::new("TypeError").into()),
                };
                Kind::Slice(parts, self.ways.slices_hash)
            }
            Form::Dict(items) => Kind::Dict(self.items(items)?.into()),
            Form::OrderedDict(items) => Kind::OrderedDict(self.items(items)?.into()),
            Form::DefaultDict(form) => Kind::DefaultDict(self.build(&form.factory)?, self.items(&form.items)?.into()),
            Form::MappingProxy(items) => Kind::MappingProxy(self.items(items)?.into()),
            Form::Nest(nest) => {
                let mut value = self.build(&nest.value)?;
                for _ in 0..nest.levels {
                    value = Rc::new(match nest.container {
                        NestContainer::Tuple => Kind::Tuple(vec![value]),
                        NestContainer::List => Kind::List(vec![value].into()),
                    });
                }
                return Ok(value);
            }
            Form::Repeat(repeat) => {
                let items: Vec<_> = (0..repeat.times).map(|_| self.build(&repeat.value)).collect::<Result<_, _>>()?;
                match repeat.container {
                    NestContainer::Tuple => Kind::Tuple(items),
                    NestContainer::List => Kind::List(items.into()),
                }
            }
            Form::Ellipsis {} => Kind::Ellipsis,
            Form::Object { called, params, .. } => Kind::Object { called: called.clone(), params: params.clone() },
            Form::NumpyScalar(dtype, value) => Kind::NumpyScalar(*dtype, rounded(*dtype, value.0)),
            Form::Parsed(parsed) => Kind::Parsed(parsed.clone()),
            Form::Dtype(dtype) => Kind::Dtype(*dtype),
            Form::ScalarType(dtype) => Kind::ScalarType(*dtype),
            Form::ShapeDtypeStruct(array) => Kind::ShapeDtypeStruct(Arc::new(array.0.clone())),
            Form::ArrayRef(array) => Kind::ArrayRef(Arc::new(array.0.clone())),
            Form::PartitionSpec(axes) => Kind::PartitionSpec(axes.clone(), self.ways.specs),
            Form::Treedef(value) => {
                let errors = super::flatten::Flattening::raising("ValueError", "ValueError");
                let value = self.build(value)?;
                let treedef =
                    super::flatten::flatten(super::treedef::Root::Called("tree".into()), &value, &errors)?.treedef;
                Kind::Treedef(super::treedef::Treedef { by: self.ways.treedefs, ..treedef })
            }
            Form::Class(name) => {
                let unknown = || BuildError::Unsupported(format!("there is no class `{name}`"));
                return self.class_objects.get(name).cloned().ok_or_else(unknown);
            }
            Form::New(new) => self.instance(new)?,
            Form::Ref(name) => {
                let dropped = || BuildError::Unsupported(format!("object `{name}` was dropped"));
                let object = self.objects.get(name).cloned();
                return object.ok_or_else(|| self.unmade.get(name).cloned().unwrap_or_else(dropped));
            }
            Form::Nth(first) => Kind::Int((i128::from(*first) + i128::from(self.nth)).into()),
            Form::Output(output) => return self.output(output),
            Form::Lambda(_) => function("lambda"),
            Form::Closure(_) => function("closure"),
            Form::Def(def) => Kind::Function(Box::new(Function {
                name: def.name.clone(),
                definition: crate::case::text::to_json(def).into(),
                params: def.params.clone(),
                defaults: def
                    .params
                    .iter()
                    .flatten()
                    .filter_map(|param| match param {
                        Param::Default { name, default } => Some((name, default)),
                        Param::Plain(_) => None,
                    })
                    .map(|(name, default)| Ok::<_, BuildError>((name.clone(), self.build(default)?)))
                    .collect::<Result<Vec<_>, _>>()?
                    .into(),
                uses: def.uses.clone(),
                effect: def.effect,
                is_source: def.source.is_some(),
                computes: def.computes.clone(),
                returns: def.returns.as_ref().map(|value| self.build(value)).transpose()?,
            })),
            Form::Global(name) => match (scalar_type("jax.numpy.", name), scalar_type("numpy.", name)) {
                (Some(dtype), _) => Kind::JaxScalarType(dtype),
                (_, Some(dtype)) => Kind::ScalarType(dtype),
                _ => {
                    let mut globals = self.globals.borrow_mut();
                    let global = globals.entry(in_full(name)).or_insert_with(|| Rc::new(Kind::Global(name.clone())));
                    return Ok(global.clone());
                }
            },
            Form::Partial(PartialForm { func, args, kwargs }) => {
                Kind::Partial { func: self.build(func)?, args: self.all(args)?, kwargs: self.named(kwargs)? }
            }
            Form::TreePartial(PartialForm { func, args, kwargs }) => {
                Kind::TreePartial { func: self.build(func)?, args: self.all(args)?, kwargs: self.named(kwargs)? }
            }
            Form::Method(method) => {
                let of = self.build(&method.of)?;
                match &*of {
                    _ if method.kind == MethodKind::Class => {
                        let class = method_class(&of)?;
                        let of = Rc::clone(&self.class_objects[&class.name]);
                        Kind::Method { of, name: Some(method.kind.name().to_owned()), params: None }
                    }
                    _ if method.kind == MethodKind::Static => {
                        return Ok(self.unbound(method_class(&of)?, method.kind));
                    }
                    Kind::Class(class) if !matches!(class.root(), Class::Subclass { .. }) && method.name.is_none() => {
                        return Ok(self.unbound(class, method.kind));
                    }
                    // What a Module has of its own, `__call__` and its like, is a plain method (`equinox/_module/_module.py`, `_is_magic`).
                    Kind::Record { class, .. }
                        if matches!(class.root(), Class::Module { .. }) && method.name.is_none() =>
                    {
                        Kind::ModuleMethod(of)
                    }
                    _ => Kind::Method { of, name: method.name.clone(), params: method.params.clone() },
                }
            }
            Form::Wrap(wrap) => {
                let func = self.build(&wrap.func)?;
                match wrap.by {
                    Wrapper::FilterJit => Kind::ModuleWrapper("filter_jit", func, self.ways.modules),
                    Wrapper::FilterGrad => Kind::ModuleWrapper("filter_grad", func, self.ways.modules),
                    Wrapper::FilterVmap => Kind::ModuleWrapper("filter_vmap", func, self.ways.modules),
                    Wrapper::Jit => {
                        let (static_argnums, static_argnames) =
                            (wrap.static_argnums.clone(), wrap.static_argnames.clone());
                        Kind::Jitted(
                            func,
                            Rc::new(JitOptions { static_argnums, static_argnames, ..JitOptions::default() }),
                        )
                    }
                    Wrapper::Checkpoint => Kind::Checkpointed(func),
                    Wrapper::Vmap => Kind::Mapped(func),
                    Wrapper::Grad | Wrapper::CustomJvp => Kind::Opaque(func, wrap.by),
                }
            }
            Form::Make(make) => return self.build(&make.as_),
        }))
    }

    /// What is no instance's is a plain function, the same one for whoever inherits it.
    fn unbound(&self, class: &ClassObject, kind: MethodKind) -> Obj {
        let mut methods = self.class_methods.borrow_mut();
        let made = methods.entry((class.defining().name.clone(), kind));
        Rc::clone(made.or_insert_with(|| Rc::new(unbound_method(kind))))
    }

    fn class(&self, name: &Name) -> Result<Rc<ClassObject>, BuildError> {
        self.classes.get(name).cloned().ok_or_else(|| BuildError::Unsupported(format!("there is no class `{name}`")))
    }

    fn instance(&self, new: &NewForm) -> Result<Kind, BuildError> {
        let class = self.class(&new.class)?;
        let part = |value: &Option<Value>| value.as_ref().map_or(Ok(Rc::new(Kind::None)), |value| self.build(value));
        Ok(match class.root() {
            Class::Namedtuple(_) => {
                let args = self.all(new.args.as_deref().unwrap_or_default())?;
                Kind::Namedtuple(class, args)
            }
            Class::Node {} => Kind::Node {
                children: self.all(new.children.as_deref().unwrap_or_default())?,
                keys: new.keys.iter().flatten().map(|key| Label::Written(key.as_str().into())).collect(),
                aux: part(&new.aux)?,
                class,
            },
            Class::Dataclass { .. } | Class::Module { .. } | Class::NnxModule { .. } | Class::PlainDataclass { .. } => {
                Kind::Record { fields: self.named(new.fields.as_ref().unwrap_or(&IndexMap::new()))?, class }
            }
            Class::Plain { .. } => {
                Kind::Instance { class, value: RefCell::new(part(&new.value)?), hash: Cell::new(new.hash.unwrap_or(0)) }
            }
            Class::Enum(members) | Class::IntEnum(members) => {
                let member = members.iter().position(|member| Some(member) == new.member.as_ref());
                let number = member.and_then(|i| u32::try_from(i + 1).ok()).unwrap_or(0);
                Kind::Member { class, number }
            }
            Class::Subclass { .. } => Kind::Derived { base: part(&new.value)?, class },
        })
    }

    fn output(&self, output: &OutputForm) -> Result<Obj, BuildError> {
        let unknown =
            || BuildError::Unsupported(format!("what call {} returned is not known: say it in `returns`", output.call));
        let whole = self.outputs.get(output.call - 1).and_then(Option::as_ref).ok_or_else(unknown)?;
        let mut object = Rc::clone(whole);
        for step in &output.path {
            let child = match &*object {
                Kind::Tuple(items) | Kind::Namedtuple(_, items) => items.get(*step).cloned(),
                Kind::List(items) => items.get(*step).cloned(),
                Kind::Dict(items) | Kind::OrderedDict(items) | Kind::DefaultDict(_, items) => {
                    items.get(*step).map(|(_, value)| value.clone())
                }
                Kind::Record { fields, .. } => fields.get(*step).map(|(_, value)| value.clone()),
                _ => None,
            };
            object = child
                .ok_or_else(|| BuildError::Unsupported(format!("output of call {} has no part {step}", output.call)))?;
        }
        Ok(object)
    }
}

/// The class that a method is found in: the object itself, or its class.
fn method_class(of: &Obj) -> Result<&Rc<ClassObject>, BuildError> {
    match &**of {
        Kind::Class(class) => Some(class),
        other => python::class_of(other),
    }
    .ok_or_else(|| BuildError::Unsupported("a method of what is no class of the case".to_owned()))
}

/// A method that every class of a case has, as the class has it.
fn unbound_method(kind: MethodKind) -> Kind {
    let params = ["self", "*args", "**kwargs"]
        .into_iter()
        .skip(usize::from(kind == MethodKind::Static))
        .map(|name| ArgName::try_from(name.to_owned()).map(Param::Plain).expect("the name of a parameter"));
    Kind::Function(Box::new(Function {
        name: Some(kind.name().to_owned()),
        definition: kind.name().into(),
        params: Some(params.collect()),
        ..Function::default()
    }))
}

fn function(definition: &str) -> Kind {
    Kind::Function(Box::new(Function { definition: definition.into(), ..Function::default() }))
}

/// The name of what a library holds, with the library's own name: `np.sin` is `numpy.sin`. What has two names there gets one.
fn in_full(name: &str) -> String {
    let (library, rest) = name.split_once('.').unwrap_or((name, ""));
    let library = match library {
        "jnp" => "jax.numpy",
        "np" => "numpy",
        "lax" => "jax.lax",
        "jtu" => "jax.tree_util",
        "eqx" => "equinox",
        "ft" => "functools",
        library => library,
    };
    let name = format!("{library}.{rest}");
    match name.as_str() {
        "jax.nn.tanh" => "jax.numpy.tanh".to_owned(),
        "jax.nn.swish" => "jax.nn.silu".to_owned(),
        "jax.nn.hard_swish" => "jax.nn.hard_silu".to_owned(),
        "jax.nn.logsumexp" => "jax.scipy.special.logsumexp".to_owned(),
        _ => name,
    }
}

/// The dtype of `jnp.float32` and its like (`jax/_src/numpy/scalar_types.py`), or of `np.float32`.
fn scalar_type(library: &str, name: &str) -> Option<Dtype> {
    python::dtype_called(in_full(name).strip_prefix(library)?)
}

/// The number that a scalar of that dtype holds.
pub(super) fn rounded(dtype: Dtype, value: f64) -> f64 {
    let bits = match dtype.name() {
        "f32" | "c64" => 24,
        "f16" => 11,
        "bf16" => 8,
        "f8_e3m4" => 5,
        "f8_e4m3" | "f8_e4m3fn" | "f8_e4m3b11fnuz" | "f8_e4m3fnuz" | "f6_e2m3fn" => 4,
        "f8_e5m2" | "f8_e5m2fnuz" | "f6_e3m2fn" => 3,
        "f4_e2m1fn" => 2,
        "f8_e8m0fnu" => 1,
        _ => return value,
    };
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = (f64::from(bits - 1) - value.abs().log2().floor()).exp2();
    (value * scale).round_ties_even() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise a key costs a miss in the processor's cache for each leaf (`key_of_leaves` in `benches/model.rs`).
    #[test]
    fn of_many_arrays_those_that_are_alike_share_what_they_are() {
        let array = |i: usize| Value::from(["f32[2]", "~f32[]"][i % 2].parse::<Array>().unwrap());
        let list = Value::List((0..FEW + 100).map(array).collect());
        let made = Namespace::of(&Case::default(), Ways::default()).build(&list).unwrap();
        let Kind::List(items) = &*made else { panic!("it is a list") };
        let description = |item: &Obj| if let Kind::Array(array) = &**item { Arc::as_ptr(array) } else { panic!() };
        let descriptions: FxHashSet<_> = items.iter().skip(FEW).map(description).collect();
        assert_eq!(descriptions.len(), 2);
    }
}
