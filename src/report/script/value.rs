//! Values as Python expressions.

use super::array::{numpy, partition_spec, scalar_type};
use super::{ScriptError, Writer, array, attribute};
use crate::case::{
    Class, DefaultDictForm, DictItems, Dtype, Form, Name, NestContainer, NestForm, NewForm, OutputForm, PartialForm,
    Split, Value,
};
use indexmap::IndexMap;

/// Python's own classes, as which an object of a recording is written.
const CLASSES: [&str; 8] = ["bool", "dict", "float", "int", "list", "set", "str", "tuple"];

impl Writer<'_> {
    /// The expression that makes the value, as `src/python/jitkey/build.py` makes it.
    pub(super) fn value(&mut self, value: &Value) -> Result<String, ScriptError> {
        Ok(match value {
            Value::None => "None".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => float(*value),
            Value::Array(array) => self.array(array),
            Value::List(items) => format!("[{}]", self.values(items)?),
            Value::Form(form) => self.form(form)?,
        })
    }

    fn form(&mut self, form: &Form) -> Result<String, ScriptError> {
        Ok(match form {
            Form::Str(text) => string(text),
            Form::Bytes(text) => format!("b\"{}\"", text.as_bytes().escape_ascii()),
            Form::Bytearray(text) => format!("bytearray(b\"{}\")", text.as_bytes().escape_ascii()),
            Form::Complex([re, im]) => format!("complex({}, {})", float(re.0), float(im.0)),
            Form::Tuple(items) => array::tuple(&self.each(items)?),
            Form::Set(items) if items.is_empty() => "set()".to_owned(),
            Form::Set(items) => format!("{{{}}}", self.values(items)?),
            Form::Frozenset(items) => format!("frozenset([{}])", self.values(items)?),
            Form::Range(ends) => {
                format!("range({})", ends.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
            }
            Form::Slice(parts) => format!("slice({})", self.values(parts)?),
            Form::Dict(items) => self.dict(items)?,
            Form::OrderedDict(items) => format!("collections.OrderedDict({})", self.dict(items)?),
            Form::DefaultDict(dict) => {
                format!("collections.defaultdict({}, {})", self.value(&dict.factory)?, self.dict(&dict.items)?)
            }
            Form::MappingProxy(items) => format!("types.MappingProxyType({})", self.dict(items)?),
            Form::Nest(nest) => self.nest(nest)?,
            Form::Repeat(repeat) => {
                let items = format!("{} for _ in range({})", self.value(&repeat.value)?, repeat.times);
                match repeat.container {
                    NestContainer::Tuple => format!("tuple({items})"),
                    NestContainer::List => format!("[{items}]"),
                }
            }
            Form::Ellipsis {} => "...".to_owned(),
            Form::Object { called, .. } => {
                let class = called.as_deref().and_then(|called| called.strip_prefix("<class '")?.strip_suffix("'>"));
                class.filter(|class| CLASSES.contains(class)).unwrap_or("object()").to_owned()
            }
            Form::NumpyScalar(dtype, number) => numpy_scalar(*dtype, number.0),
            Form::Parsed(parsed) => {
                self.imports.extend(parsed.expression().split_once('.').map(|(module, _)| format!("import {module}")));
                parsed.expression()
            }
            Form::Dtype(dtype) if dtype.is_float0() => numpy(*dtype),
            Form::Dtype(dtype) => format!("np.dtype({})", numpy(*dtype)),
            Form::ScalarType(dtype) => scalar_type(*dtype),
            Form::ShapeDtypeStruct(text) => Self::shape_dtype_struct(&text.0),
            Form::ArrayRef(text) => format!("jax.new_ref({})", self.array(&text.0)),
            Form::PartitionSpec(axes) => partition_spec(&axes.iter().map(Split::from).collect::<Vec<_>>()),
            Form::Treedef(value) => format!("jax.tree_util.tree_structure({})", self.value(value)?),
            Form::Class(name) | Form::Ref(name) => self.name(name)?,
            Form::New(new) => self.instance(new)?,
            Form::Nth(0) => "nth".to_owned(),
            Form::Nth(first) => format!("{first} + nth"),
            Form::Output(output) => self.output(output)?,
            Form::Lambda(_) if self.is_repeated(form) => format!("{}()", self.helper("new_lambda")),
            Form::Lambda(_) => "lambda *args, **kwargs: body(args, kwargs)".to_owned(),
            Form::Def(def) => format!("{}()", self.factory(def)?),
            Form::Closure(closure) => format!("{}({})", self.helper("closing_over"), self.value(&closure.over)?),
            Form::Global(name) => self.global(name),
            Form::Partial(partial) => self.partial("functools.partial", partial)?,
            Form::TreePartial(partial) => self.partial("jax.tree_util.Partial", partial)?,
            Form::Method(method) if method.name.is_some() && self.has_modules() => {
                format!("{}({}, {:?})", self.helper("plain_method"), self.value(&method.of)?, attribute(method))
            }
            Form::Method(method) => format!("{}.{}", self.value(&method.of)?, attribute(method)),
            Form::Wrap(wrap) => format!("{}({}{})", wrap.by, self.value(&wrap.func)?, wrap.keywords()),
            Form::Make(make) => {
                let (head, rest) = make.call.split_once('.').unwrap_or((&make.call, ""));
                let function = match self.case.objects.get_key_value(head) {
                    Some((name, _)) if rest.is_empty() => self.name(name)?,
                    Some((name, _)) => format!("{}.{rest}", self.name(name)?),
                    None => self.global(&make.call),
                };
                let made = format!("{function}({})", self.arguments(&make.args, &make.kwargs)?.join(", "));
                let context = self.context(&self.case.context)?;
                context
                    .into_iter()
                    .rev()
                    .fold(made, |made, entered| format!("{}({entered}, lambda: {made})", self.helper("within")))
            }
        })
    }

    pub(super) fn each(&mut self, values: &[Value]) -> Result<Vec<String>, ScriptError> {
        values.iter().map(|value| self.value(value)).collect()
    }

    fn values(&mut self, values: &[Value]) -> Result<String, ScriptError> {
        Ok(self.each(values)?.join(", "))
    }

    /// Arguments as they stand in a call.
    pub(super) fn arguments(
        &mut self,
        args: &[Value],
        kwargs: &IndexMap<Name, Value>,
    ) -> Result<Vec<String>, ScriptError> {
        let mut written = self.each(args)?;
        for (name, value) in kwargs {
            let value = self.value(value)?;
            // No identifier of a case can be wrong here but for Python's own words.
            written.push(if super::is_keyword(name.as_str()) {
                format!("**{{\"{name}\": {value}}}")
            } else {
                format!("{name}={value}")
            });
        }
        Ok(written)
    }

    fn dict(&mut self, items: &DictItems) -> Result<String, ScriptError> {
        let written: Result<Vec<_>, _> =
            items.0.iter().map(|(key, value)| Ok(format!("{}: {}", self.value(key)?, self.value(value)?))).collect();
        Ok(format!("{{{}}}", written?.join(", ")))
    }

    fn nest(&mut self, nest: &NestForm) -> Result<String, ScriptError> {
        let value = self.value(&nest.value)?;
        let around = |inner: &str| match nest.container {
            NestContainer::Tuple => format!("({inner},)"),
            NestContainer::List => format!("[{inner}]"),
        };
        if nest.levels <= 8 {
            return Ok((0..nest.levels).fold(value, |inner, _| around(&inner)));
        }
        Ok(format!("functools.reduce(lambda inner, _: {}, range({}), {value})", around("inner"), nest.levels))
    }

    fn instance(&mut self, new: &NewForm) -> Result<String, ScriptError> {
        let class = self.name(&new.class)?;
        if let Some(member) = &new.member {
            return Ok(format!("{class}.{member}"));
        }
        let mut parts = self.each(new.args.as_deref().unwrap_or_default())?;
        if let Some(children) = &new.children {
            parts.push(format!("[{}]", self.values(children)?));
        }
        parts.extend(new.value.as_ref().map(|value| self.value(value)).transpose()?);
        let none = IndexMap::new();
        parts.extend(self.arguments(&[], new.fields.as_ref().unwrap_or(&none))?);
        if let Some(aux) = &new.aux {
            parts.push(format!("aux={}", self.value(aux)?));
        }
        parts.extend(new.hash.map(|hash| format!("hash={hash}")));
        Ok(format!("{class}({})", parts.join(", ")))
    }

    fn partial(&mut self, function: &str, partial: &PartialForm) -> Result<String, ScriptError> {
        let mut parts = vec![self.value(&partial.func)?];
        parts.extend(self.arguments(&partial.args, &partial.kwargs)?);
        Ok(format!("{function}({})", parts.join(", ")))
    }

    /// A part of an output. The path counts what stands side by side; Python's way there depends on the container.
    fn output(&mut self, output: &OutputForm) -> Result<String, ScriptError> {
        let call = self.case.calls().nth(output.call - 1);
        let mut shape = call.and_then(|call| call.returns.as_ref());
        let mut text = format!("out{}", output.call);
        for step in &output.path {
            shape = shape.map(|value| self.resolved(value));
            let form = match shape {
                Some(Value::Form(form)) => Some(&**form),
                _ => None,
            };
            (text, shape) = match form {
                Some(
                    Form::Dict(items) | Form::OrderedDict(items) | Form::DefaultDict(DefaultDictForm { items, .. }),
                ) => (format!("list({text}.values())[{step}]"), items.0.get(*step).map(|(_, value)| value)),
                Some(Form::New(new)) if new.fields.is_some() => {
                    let fields = new.fields.as_ref().expect("just looked at");
                    let name = self
                        .fields(&new.class)
                        .nth(*step)
                        .ok_or_else(|| ScriptError::new(format!("{} has no field {step}", new.class)))?;
                    (format!("{text}.{name}"), fields.get(name))
                }
                Some(Form::New(new)) => (format!("{text}[{step}]"), new.args.as_ref().and_then(|args| args.get(*step))),
                Some(Form::Tuple(items)) => (format!("{text}[{step}]"), items.get(*step)),
                _ => (
                    format!("{text}[{step}]"),
                    match shape {
                        Some(Value::List(items)) => items.get(*step),
                        _ => None,
                    },
                ),
            };
        }
        Ok(text)
    }

    /// The fields of a class, in order.
    fn fields(&self, class: &Name) -> impl Iterator<Item = &Name> {
        let (first, second): (&[Name], &[Name]) = match self.case.classes.get(class) {
            Some(Class::Dataclass { data, meta }) => (data, meta),
            Some(Class::Module { fields, static_ }) => (fields, static_),
            Some(Class::PlainDataclass { fields, .. }) => (fields, &[]),
            _ => (&[], &[]),
        };
        first.iter().chain(second)
    }

    /// The value that a chain of references ends at.
    pub(super) fn resolved<'v>(&self, mut value: &'v Value) -> &'v Value
    where
        Self: 'v,
    {
        while let Value::Form(form) = value
            && let Form::Ref(name) = &**form
            && let Some(object) = self.case.objects.get(name)
        {
            value = object;
        }
        value
    }

    /// Whether a later step needs what the call of that number returned.
    pub(super) fn is_output_used(&self, number: usize) -> bool {
        super::anywhere(self.case, |form| matches!(form, Form::Output(output) if output.call == number))
            || self.case.calls().any(|call| call.compiled == Some(number))
    }

    /// A library's object by the name that the script's imports give it.
    fn global(&mut self, dotted: &str) -> String {
        const ALIASES: [(&str, &str); 7] = [
            ("jax.numpy.", "jnp."),
            ("numpy.", "np."),
            ("equinox.", "eqx."),
            ("lax.", "jax.lax."),
            ("jtu.", "jax.tree_util."),
            ("ft.", "functools."),
            ("jax.experimental.", "jax.experimental."),
        ];
        let alias = ALIASES.iter().find_map(|(long, short)| Some(format!("{short}{}", dotted.strip_prefix(long)?)));
        let name = alias.unwrap_or_else(|| dotted.to_owned());
        if let Some((head, rest)) = name.split_once('.') {
            // A module inside a library has to be imported itself, unless the library is one that does so.
            let module = rest.rsplit_once('.').filter(|(path, _)| path.chars().all(|c| !c.is_uppercase()));
            match module {
                Some((path, _))
                    if !["jax", "jnp", "np", "eqx", "optax"].contains(&head) || path.starts_with("experimental") =>
                {
                    self.imports.insert(format!("import {head}.{path}"));
                }
                _ if !["jax", "jnp", "np", "eqx", "functools"].contains(&head) => {
                    self.imports.insert(format!("import {head}"));
                }
                _ => {}
            }
        }
        name
    }
}

fn float(value: f64) -> String {
    if value.is_nan() {
        "float(\"nan\")".to_owned()
    } else if value.is_infinite() {
        format!("float(\"{}inf\")", if value > 0.0 { "" } else { "-" })
    } else {
        format!("{value:?}")
    }
}

/// A literal. JSON's escapes are all Python's too.
pub(super) fn string(text: &str) -> String {
    serde_json::to_string(text).expect("a string has a JSON form")
}

fn numpy_scalar(dtype: Dtype, number: f64) -> String {
    match dtype.name() {
        "datetime64" | "timedelta64" => format!("np.{dtype}({}, \"D\")", number as i64),
        name if name == "bool" || dtype.is_integer() => format!("{}({})", scalar_type(dtype), number as i128),
        _ => format!("{}({})", scalar_type(dtype), float(number)),
    }
}
