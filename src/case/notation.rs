//! Values, calls and cases as a person who knows JAX would write them.
//!
//! This is for reading only: `f({"a": (~f32[], None)}, s=1)`. The text that can be read back is [`super::text`].

use std::fmt::{self, Display, Write};

use super::value::LambdaForm;
use super::{
    Call, Context, DictItems, Form, InShardings, JitOptions, NewForm, PartialForm, Placement, Shardings, Thread, Value,
    Via, axes,
};

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) if value.is_nan() => f.write_str("nan"),
            Self::Float(value) if value.is_infinite() => f.write_str(if *value > 0.0 { "inf" } else { "-inf" }),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Array(array) => write!(f, "{array}"),
            Self::List(items) => bracket(f, "[", items, "]"),
            Self::Form(form) => write!(f, "{form}"),
        }
    }
}

impl Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Str(text) => write!(f, "{text:?}"),
            Self::Bytes(text) => write!(f, "b{text:?}"),
            Self::Bytearray(text) => write!(f, "bytearray(b{text:?})"),
            Self::Complex([re, im]) => write!(f, "({re}+{im}j)"),
            Self::Tuple(items) => bracket(f, "(", items, if items.len() == 1 { ",)" } else { ")" }),
            Self::Set(items) if items.is_empty() => f.write_str("set()"),
            Self::Set(items) => bracket(f, "{", items, "}"),
            Self::Frozenset(items) => bracket(f, "frozenset({", items, "})"),
            Self::Range(ends) => {
                let ends: Vec<_> = ends.iter().map(i64::to_string).collect();
                write!(f, "range({})", ends.join(", "))
            }
            Self::Slice(parts) => bracket(f, "slice(", parts, ")"),
            Self::Dict(items) => dict(f, "{", items, "}"),
            Self::OrderedDict(items) => dict(f, "OrderedDict({", items, "})"),
            Self::DefaultDict(form) => {
                write!(f, "defaultdict({}, ", form.factory)?;
                dict(f, "{", &form.items, "})")
            }
            Self::MappingProxy(items) => dict(f, "MappingProxyType({", items, "})"),
            Self::Nest(nest) => {
                write!(f, "<{} in {} {}s>", nest.value, nest.levels, format!("{:?}", nest.container).to_lowercase())
            }
            Self::Repeat(repeat) => {
                let container = format!("{:?}", repeat.container).to_lowercase();
                write!(f, "<{container} of {} × {}>", repeat.times, repeat.value)
            }
            Self::Ellipsis {} => f.write_str("..."),
            Self::Object { .. } => f.write_str("object()"),
            Self::NumpyScalar(dtype, value) => write!(f, "np.{dtype}({value})"),
            Self::Parsed(parsed) => f.write_str(&parsed.expression()),
            Self::Dtype(dtype) => write!(f, "np.dtype({dtype})"),
            Self::ScalarType(dtype) => write!(f, "np.{dtype}"),
            Self::ShapeDtypeStruct(array) => write!(f, "ShapeDtypeStruct({})", array.0),
            Self::ArrayRef(array) => write!(f, "new_ref({})", array.0),
            Self::PartitionSpec(axes) => {
                let axes: Vec<_> = axes
                    .iter()
                    .map(|axis| axis.as_ref().map_or("None".to_owned(), |axis| format!("'{axis}'")))
                    .collect();
                write!(f, "P({})", axes.join(", "))
            }
            Self::Treedef(value) => write!(f, "tree_structure({value})"),
            Self::Class(name) | Self::Ref(name) => write!(f, "{name}"),
            Self::New(new) => instance(f, new),
            Self::Nth(0) => f.write_str("nth"),
            Self::Nth(first) => write!(f, "{first} + nth"),
            Self::Output(output) => {
                write!(f, "out{}", output.call)?;
                output.path.iter().try_for_each(|i| write!(f, "[{i}]"))
            }
            Self::Lambda(LambdaForm {}) => f.write_str("<new lambda>"),
            Self::Def(_) => f.write_str("<new def>"),
            Self::Closure(closure) => write!(f, "<new closure over {}>", closure.over),
            Self::Global(name) => f.write_str(name),
            Self::Partial(partial) => partially(f, "functools.partial", partial),
            Self::TreePartial(partial) => partially(f, "Partial", partial),
            Self::Method(method) => write!(f, "{}.{}", method.of, method.kind.name()),
            Self::Wrap(wrap) => write!(f, "{}({}{})", wrap.by, wrap.func, wrap.keywords()),
            Self::Make(make) => {
                write!(f, "{}(", make.call)?;
                arguments(f, &make.args, make.kwargs.iter().map(|(name, value)| (name.as_str(), value)))?;
                f.write_char(')')
            }
        }
    }
}

fn bracket(f: &mut fmt::Formatter<'_>, open: &str, items: &[Value], close: &str) -> fmt::Result {
    f.write_str(open)?;
    arguments(f, items, std::iter::empty())?;
    f.write_str(close)
}

fn dict(f: &mut fmt::Formatter<'_>, open: &str, items: &DictItems, close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (i, (key, value)) in items.0.iter().enumerate() {
        write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
    }
    f.write_str(close)
}

fn arguments<'v>(
    f: &mut fmt::Formatter<'_>,
    args: &[Value],
    kwargs: impl Iterator<Item = (&'v str, &'v Value)>,
) -> fmt::Result {
    let mut separator = "";
    for value in args {
        write!(f, "{separator}{value}")?;
        separator = ", ";
    }
    for (name, value) in kwargs {
        write!(f, "{separator}{name}={value}")?;
        separator = ", ";
    }
    Ok(())
}

fn partially(f: &mut fmt::Formatter<'_>, what: &str, partial: &PartialForm) -> fmt::Result {
    write!(f, "{what}(")?;
    let args: Vec<_> = std::iter::once(&partial.func).chain(&partial.args).cloned().collect();
    arguments(f, &args, partial.kwargs.iter().map(|(name, value)| (name.as_str(), value)))?;
    f.write_char(')')
}

fn instance(f: &mut fmt::Formatter<'_>, new: &NewForm) -> fmt::Result {
    if let Some(member) = &new.member {
        return write!(f, "{}.{member}", new.class);
    }
    write!(f, "{}(", new.class)?;
    let positional: Vec<_> =
        new.args.iter().flatten().chain(new.children.iter().flatten()).chain(&new.value).cloned().collect();
    let named = new.fields.iter().flatten().map(|(name, value)| (name.as_str(), value));
    let aux = new.aux.iter().map(|aux| ("aux", aux));
    let hash = new.hash.map(|hash| Value::Int(hash.into()));
    arguments(f, &positional, named.chain(aux).chain(hash.iter().map(|hash| ("hash", hash))))?;
    f.write_char(')')
}

impl Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = self.options.as_ref().map(ToString::to_string);
        let function = match (self.compiled, &self.function, options.as_deref()) {
            (Some(call), ..) => format!("compiled{call}"),
            (None, None, None) => "f".to_owned(),
            (None, function, options) => {
                let function = function.as_ref().map_or_else(|| "f".to_owned(), ToString::to_string);
                let options = options.filter(|options| !options.is_empty()).map(|options| format!(", {options}"));
                format!("jit({function}{})", options.unwrap_or_default())
            }
        };
        match self.via {
            Via::Call => write!(f, "{function}(")?,
            Via::Trace => write!(f, "{function}.trace(")?,
            Via::Lower | Via::Compile => write!(f, "{function}.lower(")?,
            Via::EvalShape => write!(f, "eval_shape({function}, ")?,
            Via::Vmap => write!(f, "vmap({function})(")?,
            Via::Grad => write!(f, "vjp({function}, ")?,
            Via::Jvp => write!(f, "jvp({function})(")?,
            Via::MakeJaxpr => write!(f, "make_jaxpr({function})(")?,
        }
        arguments(f, &self.args, self.kwargs.iter().map(|(name, value)| (name.as_str(), value)))?;
        f.write_str(if self.via == Via::Compile { ").compile()" } else { ")" })?;
        if self.thread == Thread::Other {
            f.write_str(" in another thread")?;
        }
        if let Some(wrapper) = &self.wrapper {
            write!(f, " through the wrapper {wrapper}")?;
        }
        if self.context.is_empty() { Ok(()) } else { write!(f, " under {}", self.context) }
    }
}

impl Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            x64,
            flags,
            local_flags,
            default_device,
            mesh,
            set_mesh,
            abstract_mesh,
            mesh_devices,
            mesh_explicit,
            xla_metadata,
            compute_on,
            named_axes,
            user,
            contexts_made,
            transfer_guard,
            persistent_cache,
        } = self;
        let mut parts: Vec<_> = flags.iter().map(|(name, value)| format!("{name}={value}")).collect();
        parts.extend(local_flags.iter().map(|name| format!("{name} set again")));
        parts.extend(x64.map(|on| format!("jax_enable_x64={}", Value::Bool(on))));
        parts.extend(default_device.as_ref().map(|device| format!("default_device={device}")));
        let devices = if mesh_devices.is_empty() { String::new() } else { format!(" over {mesh_devices:?}") };
        for (name, mesh) in [("Mesh", mesh), ("set_mesh", set_mesh)] {
            parts.extend(mesh.as_ref().map(|mesh| {
                let axes: Vec<_> = axes(mesh, mesh_explicit).collect();
                format!("{name}({}{devices})", axes.join(", "))
            }));
        }
        parts.extend(
            abstract_mesh
                .as_ref()
                .map(|mesh| format!("use_abstract_mesh({})", axes(mesh, &[]).collect::<Vec<_>>().join(", "))),
        );
        if !xla_metadata.is_empty() {
            let items: Vec<_> = xla_metadata.iter().map(|(name, value)| format!("{name}={value}")).collect();
            parts.push(format!("set_xla_metadata({})", items.join(", ")));
        }
        parts.extend(compute_on.as_ref().map(|kind| format!("compute_on={kind}")));
        if !named_axes.is_empty() {
            parts.push(format!("named axes {}", axes(named_axes, &[]).collect::<Vec<_>>().join(", ")));
        }
        parts.extend(user.as_ref().map(|value| format!("user_context={value}")));
        parts.extend((*contexts_made > 0).then(|| format!("contexts_made={contexts_made}")));
        parts.extend(transfer_guard.map(|guard| format!("transfer_guard={}", guard.word())));
        parts.extend(persistent_cache.then(|| "a persistent cache".to_owned()));
        f.write_str(&parts.join(", "))
    }
}

impl Display for JitOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let tuple = |items: Vec<String>| match &items[..] {
            [one] => format!("({one},)"),
            several => format!("({})", several.join(", ")),
        };
        if !self.static_argnums.is_empty() {
            parts.push(format!("static_argnums={}", tuple(self.static_argnums.iter().map(i32::to_string).collect())));
        }
        if !self.static_argnames.is_empty() {
            parts.push(format!(
                "static_argnames={}",
                tuple(self.static_argnames.iter().map(|name| format!("'{name}'")).collect())
            ));
        }
        if !self.donate_argnums.is_empty() {
            parts.push(format!("donate_argnums={}", tuple(self.donate_argnums.iter().map(i32::to_string).collect())));
        }
        if self.keep_unused {
            parts.push("keep_unused=True".to_owned());
        }
        parts.extend(self.device.map(|number| format!("device={number}")));
        parts.extend(self.backend.as_ref().map(|name| format!("backend='{name}'")));
        if self.moves() {
            return f.write_str(&parts.join(", "));
        }
        parts.extend(self.in_shardings.as_ref().map(|places| match places {
            InShardings::All(place) => format!("in_shardings={}", place.as_sharding()),
            InShardings::Each(places) => {
                format!("in_shardings={}", tuple(places.iter().map(|place| or_none(place, shardings)).collect()))
            }
        }));
        parts.extend(self.out_shardings.as_ref().map(|places| format!("out_shardings={}", shardings(places))));
        f.write_str(&parts.join(", "))
    }
}

/// The shardings of one value, those of its leaves in brackets.
fn shardings(places: &Shardings) -> String {
    match places {
        Shardings::All(place) => place.as_sharding(),
        Shardings::Tree(tree) => {
            let leaves: Vec<_> = tree.leaves.iter().map(|place| or_none(place, Placement::as_sharding)).collect();
            format!("[{}]", leaves.join(", "))
        }
    }
}

fn or_none<T>(some: &Option<T>, text: impl Fn(&T) -> String) -> String {
    some.as_ref().map_or_else(|| "None".to_owned(), text)
}
