//! Objects, the function under test, and what happens, in order.

use indexmap::IndexMap;

use super::array::{device, mesh, sharding, tuple};
use super::frame::part;
use super::value::string;
use super::{Block, Claim, ScriptError, Writer, anywhere, indented, is_form, mentions, uses_own};
use crate::case::{
    Call, ClearScope, Context, DefaultDevice, Donate, Fill, Form, InShardings, JitOptions, Name, Placement, Shardings,
    Step, Thread, Value, Verdict, Via,
};

/// A line longer than this is broken.
const WIDTH: usize = 100;

/// The function under test where a call names none.
const OWN: &str = "f";

/// What is alive between the steps.
struct State<'c> {
    /// The objects.
    objects: Vec<&'c Name>,
    /// The wrappers: of which function, with which options, and by which name.
    wrappers: IndexMap<(String, String), String>,
    blocks: Vec<Block>,
}

impl State<'_> {
    fn push(&mut self, text: String) {
        self.blocks.push(Block::of(text));
    }
}

impl<'c> Writer<'c> {
    /// Everything from the first object on.
    pub(super) fn program(&mut self, claim: &Claim<'_>) -> Result<Vec<Block>, ScriptError> {
        let mut state = State { objects: Vec::new(), wrappers: IndexMap::new(), blocks: Vec::new() };
        for (name, value) in &self.case.objects {
            let bound = self.bound(&self.name(name)?, value)?;
            state.push(bound);
            state.objects.push(name);
        }
        if uses_own(self.case) && !is_form(&self.case.function, |form| matches!(form, Form::Ref(_))) {
            let bound = self.bound(OWN, &self.case.function)?;
            state.push(bound);
        }
        let mut number = 0;
        for step in &self.case.steps {
            match step {
                Step::Call(call) => {
                    self.call(&mut state, claim, call, number)?;
                    number += 1;
                }
                Step::Fill(fill) => self.fill(&mut state, fill)?,
                Step::Drop(name) => self.drop_object(&mut state, name)?,
                Step::Delete(name) => {
                    let object = self.name(name)?;
                    state.push(format!("{object}.delete()"));
                }
                Step::Donate(name) => {
                    let object = self.name(name)?;
                    state.push(format!("jax.block_until_ready(jax.jit(jax.numpy.copy, donate_argnums=0)({object}))"));
                }
                Step::Mutate(mutation) => {
                    let object = self.name(&mutation.object)?;
                    match &mutation.contents {
                        Some(contents @ Value::List(_)) => {
                            state.push(format!("{object}[:] = {}", self.value(contents)?))
                        }
                        Some(contents) => {
                            state.push(format!("{object}.clear()\n{object}.update({})", self.value(contents)?));
                        }
                        None => {}
                    }
                    if let Some(value) = &mutation.value {
                        state.push(format!("{object}.value = {}", self.value(value)?));
                    }
                    if let Some(hash) = mutation.hash {
                        state.push(format!("{object}.hash = {hash}"));
                    }
                    if let Some(defaults) = &mutation.defaults {
                        let defaults = tuple(&self.each(defaults)?);
                        state.push(format!("{object}.__defaults__ = {defaults}"));
                    }
                }
                Step::Clear(ClearScope::Jax) => state.push("jax.clear_caches()".to_owned()),
                Step::Clear(ClearScope::Equinox) => state.push("eqx.clear_caches()".to_owned()),
                Step::Clear(ClearScope::Function) if self.api.clears => {
                    let wrapper = self.wrapper(&mut state, None, &self.case.options, None)?;
                    state.push(format!("{wrapper}.clear_cache()"));
                }
                Step::Clear(ClearScope::Function | ClearScope::Wrapper(_)) => {
                    return Err(ScriptError::new(format!("clearing one function of {}", self.api.name)));
                }
            }
        }
        state.push(part(if self.stale { "stale" } else { "differences" }).to_owned());
        Ok(state.blocks)
    }

    /// Many calls that nobody looks at.
    fn fill(&mut self, state: &mut State<'c>, fill: &Fill) -> Result<(), ScriptError> {
        let Call { function, args, kwargs, options, via, compiled, thread, wrapper, .. } = &fill.call;
        let is_kept = function.as_ref().is_none_or(|value| is_form(value, |form| matches!(form, Form::Ref(_))));
        if !is_kept || compiled.is_some() || *thread != Thread::Main || !fill.call.context.is_empty() {
            return Err(ScriptError::new(
                "calls that fill caches, of a function, in a thread or in a context of their own",
            ));
        }
        let options = options.as_ref().unwrap_or(&self.case.options);
        let wrapper = self.wrapper(state, function.as_ref(), options, wrapper.as_ref())?;
        let function = self.via(wrapper, *via)?;
        let call = statement(&function, &self.arguments(args, kwargs)?);
        state.push(format!("for nth in range({}):\n{}", fill.calls, indented(&call)));
        Ok(())
    }

    /// A name bound to a value; a function that a `def` can make is written as one.
    fn bound(&mut self, name: &str, value: &Value) -> Result<String, ScriptError> {
        match value {
            Value::Form(form) => match &**form {
                // Source defines `f`.
                Form::Def(def) if !self.is_repeated(form) && (def.source.is_none() || name == OWN) => {
                    self.def(name, def)
                }
                _ => Ok(format!("{name} = {}", self.value(value)?)),
            },
            _ => Ok(format!("{name} = {}", self.value(value)?)),
        }
    }

    /// Whether the script makes the body that runs in the end.
    fn is_made(&self, function: &Value) -> bool {
        let Value::Form(form) = self.resolved(function) else { return false };
        match &**form {
            Form::Def(def) => def.source.is_none(),
            Form::Lambda(_) | Form::Closure(_) | Form::Method(_) => true,
            Form::Partial(partial) | Form::TreePartial(partial) => self.is_made(&partial.func),
            Form::Wrap(wrap) => self.is_made(&wrap.func),
            _ => false,
        }
    }

    fn call(
        &mut self,
        state: &mut State<'c>,
        claim: &Claim<'_>,
        call: &Call,
        number: usize,
    ) -> Result<(), ScriptError> {
        let expected = claim.expected.get(number);
        let options = call.options.as_ref().unwrap_or(&self.case.options);
        if call.raises.is_some() && self.is_made(call.function.as_ref().unwrap_or(&self.case.function)) {
            return Err(ScriptError::new("a body that raises in one call, and isn't given as source"));
        }
        let is_kept = call.function.as_ref().is_none_or(|value| is_form(value, |form| matches!(form, Form::Ref(_))));
        let context = self.context(&self.case.context.around(&call.context))?;
        let mut arguments = self.arguments(&call.args, &call.kwargs)?;
        let is_last = number + 1 == self.case.calls().count();
        let checked = self.stale && is_last;
        let hoisted = checked || !context.is_empty() && arguments.iter().any(|argument| argument.contains('('));
        if hoisted {
            let positional = tuple(&arguments[..call.args.len()]);
            state.push(format!("args = {positional}"));
            let mut names = vec!["*args".to_owned()];
            if !call.kwargs.is_empty() {
                state.push(format!("kwargs = dict({})", arguments[call.args.len()..].join(", ")));
                names.push("**kwargs".to_owned());
            }
            arguments = names;
        }
        let fails = matches!(expected, Some(Verdict::Error(_)));
        let mut function = if let Some(number) = call.compiled {
            self.via(format!("out{number}"), call.via)?
        } else if !is_kept {
            let function = self.value(call.function.as_ref().expect("in place"))?;
            if fails {
                self.wrapping(&function, options, call.via)?
            } else {
                self.wrapped(&function, options, call.via)?
            }
        } else if fails && (!options.is_empty() || !self.is_a_def(call)) && self.always_fails(claim, call) {
            let function = self.function(call.function.as_ref())?;
            self.wrapping(&function, options, call.via)?
        } else {
            let wrapper = self.wrapper(state, call.function.as_ref(), options, call.wrapper.as_ref())?;
            self.via(wrapper, call.via)?
        };
        if call.thread == Thread::Other {
            function = format!("{}({function})", self.helper("in_thread"));
        }
        let mut parts = if self.stale {
            Vec::new()
        } else {
            vec![expected.map_or_else(|| "None".to_owned(), |verdict| string(&self.word(verdict)))]
        };
        parts.push(function);
        parts.extend(arguments.iter().cloned());
        let result = match (checked, self.is_output_used(number + 1)) {
            (true, _) => "served = ".to_owned(),
            (false, true) => format!("out{} = ", number + 1),
            (false, false) => String::new(),
        };
        let within = |text: String| match &context[..] {
            [] => text,
            context => format!("with {}:\n{}", context.join(", "), indented(&text)),
        };
        if self.has_unused() {
            let unused = call.unused.iter().map(ToString::to_string).collect::<Vec<_>>();
            state.push(format!("unused = {}", tuple(&unused)));
        }
        state.push(within(statement(&format!("{result}call"), &parts)));
        if checked {
            let fresh = self.fresh(call, options)?;
            let parts: Vec<_> = std::iter::once(fresh).chain(arguments).collect();
            state.push(within(statement("fresh = call", &parts)));
        } else if hoisted {
            state.push(format!("del args{}", if call.kwargs.is_empty() { "" } else { ", kwargs" }));
        }
        if fails && !is_kept && !is_last {
            // Up to 0.6 an error's traceback and the function form a cycle, in which it would outlive the call.
            state.push("gc.collect()".to_owned());
        }
        Ok(())
    }

    /// A new wrapper of a new function like the call's.
    fn fresh(&mut self, call: &Call, options: &JitOptions) -> Result<String, ScriptError> {
        if call.compiled.is_some() {
            return Err(ScriptError::new("a stale hit of a compiled object"));
        }
        if self.case.steps.iter().any(|step| matches!(step, Step::Mutate(mutation) if mutation.defaults.is_some())) {
            return Err(ScriptError::new("a stale hit of a function whose defaults were changed"));
        }
        let recipe = self.resolved(call.function.as_ref().unwrap_or(&self.case.function)).clone();
        if !self.is_counted(&recipe) {
            return Err(ScriptError::new("a stale hit of a function that can't be made anew"));
        }
        let function = self.value(&recipe)?;
        self.wrapped(&function, options, call.via)
    }

    /// Whether it calls a plain function, of which a wrapper can be made.
    fn is_a_def(&self, call: &Call) -> bool {
        let function = self.resolved(call.function.as_ref().unwrap_or(&self.case.function));
        is_form(function, |form| matches!(form, Form::Def(_)))
    }

    /// Whether every call of that function with these options is expected to fail, as it does if wrapping it does.
    fn always_fails(&self, claim: &Claim<'_>, like: &Call) -> bool {
        self.case.calls().zip(&claim.expected).all(|(call, expected)| {
            matches!(expected, Verdict::Error(_)) || (&call.function, &call.options) != (&like.function, &like.options)
        })
    }

    fn drop_object(&mut self, state: &mut State<'c>, name: &Name) -> Result<(), ScriptError> {
        if anywhere(self.case, |form| mentions(form, name.as_str())) {
            return Err(ScriptError::new(format!("dropping `{name}`, which source uses")));
        }
        let mut names = vec![self.name(name)?];
        let root = self.root(name)?;
        state.objects.retain(|object| *object != name);
        let mut is_held = false;
        for other in &state.objects {
            is_held |= self.root(other)? == root;
        }
        if !is_held {
            let (dropped, kept) = std::mem::take(&mut state.wrappers).into_iter().partition(|((of, _), _)| *of == root);
            let dropped: IndexMap<_, _> = dropped;
            state.wrappers = kept;
            names.extend(dropped.into_values());
        }
        state.push(format!("del {}\ngc.collect()", names.join(", ")));
        Ok(())
    }

    /// The name of the object that a name refers to, through those that are the same object.
    fn root(&self, name: &Name) -> Result<String, ScriptError> {
        let mut root = name;
        while let Some(Value::Form(form)) = self.case.objects.get(root)
            && let Form::Ref(other) = &**form
        {
            root = other;
        }
        self.name(root)
    }

    /// The name of the function that lives on: an object, or the case's own.
    fn function(&self, function: Option<&Value>) -> Result<String, ScriptError> {
        match function.unwrap_or(&self.case.function) {
            Value::Form(form) => match &**form {
                Form::Ref(name) => self.root(name),
                _ => Ok(OWN.to_owned()),
            },
            _ => Ok(OWN.to_owned()),
        }
    }

    /// The name of the wrapper of a function that lives on, which is made once; `known_as` tells those apart that are alike.
    fn wrapper(
        &mut self,
        state: &mut State<'c>,
        function: Option<&Value>,
        options: &JitOptions,
        known_as: Option<&Name>,
    ) -> Result<String, ScriptError> {
        let function = self.function(function)?;
        let wrapped = self.wrapped(&function, options, Via::Call)?;
        let key = (function.clone(), known_as.map_or_else(|| wrapped.clone(), |name| format!("{wrapped} {name}")));
        if let Some(name) = state.wrappers.get(&key) {
            return Ok(name.clone());
        }
        let name = match state.wrappers.keys().filter(|(of, _)| *of == function).count() {
            0 => format!("jit_{function}"),
            n => format!("jit_{function}{}", n + 1),
        };
        state.push(format!("{name} = {wrapped}"));
        state.wrappers.insert(key, name.clone());
        Ok(name)
    }

    /// The function, wrapped, and what is called of the wrapper.
    fn wrapped(&mut self, function: &str, options: &JitOptions, via: Via) -> Result<String, ScriptError> {
        let mut parts = vec![function.to_owned()];
        parts.extend(self.options(options)?);
        self.via(format!("{}({})", self.api.wrap, parts.join(", ")), via)
    }

    /// A function that wraps the function when it is called, and calls it.
    fn wrapping(&mut self, function: &str, options: &JitOptions, via: Via) -> Result<String, ScriptError> {
        Ok(format!("lambda *args, **kwargs: {}(*args, **kwargs)", self.wrapped(function, options, via)?))
    }

    fn via(&mut self, wrapper: String, via: Via) -> Result<String, ScriptError> {
        let text = match via {
            Via::Call => return Ok(wrapper),
            Via::Vmap => return Ok(format!("{}({wrapper})", self.api.vmap)),
            Via::Grad | Via::Jvp | Via::MakeJaxpr => {
                return Err(ScriptError::new("a use under grad, jvp or make_jaxpr"));
            }
            Via::Trace if !self.api.traces => {
                return Err(ScriptError::new(format!("a trace alone, which {} hasn't", self.api.wrap)));
            }
            Via::Trace => format!("{wrapper}.trace"),
            Via::Lower => format!("{wrapper}.lower"),
            Via::Compile => format!("{}({wrapper})", self.helper("compiled")),
            Via::EvalShape => format!("functools.partial({}, {wrapper})", self.api.eval_shape),
        };
        Ok(if self.dispatch { format!("{}({text})", self.helper("ahead_of_time")) } else { text })
    }

    fn options(&mut self, options: &JitOptions) -> Result<Vec<String>, ScriptError> {
        let names = |names: &[Name]| tuple(&names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>());
        let JitOptions {
            static_argnums,
            static_argnames,
            donate_argnums,
            donate_argnames,
            donate,
            keep_unused,
            inline,
            compiler_options,
            in_shardings,
            out_shardings,
            device,
            backend,
        } = options;
        let mut parts = Vec::new();
        parts.extend((!static_argnums.is_empty()).then(|| format!("static_argnums={}", tuple(static_argnums))));
        parts.extend((!static_argnames.is_empty()).then(|| format!("static_argnames={}", names(static_argnames))));
        parts.extend((!donate_argnums.is_empty()).then(|| format!("donate_argnums={}", tuple(donate_argnums))));
        parts.extend((!donate_argnames.is_empty()).then(|| format!("donate_argnames={}", names(donate_argnames))));
        parts.extend(donate.map(|donate| {
            let word = match donate {
                Donate::All => "all",
                Donate::AllExceptFirst => "all-except-first",
                Donate::Warn => "warn",
                Donate::WarnExceptFirst => "warn-except-first",
                Donate::Bogus => "bogus",
            };
            format!("donate=\"{word}\"")
        }));
        parts.extend(keep_unused.then(|| "keep_unused=True".to_owned()));
        parts.extend(inline.then(|| "inline=True".to_owned()));
        if let Some(compiler_options) = compiler_options {
            let mut items = Vec::new();
            for (name, value) in compiler_options {
                items.push(format!("{}: {}", string(name), self.value(value)?));
            }
            parts.push(format!("compiler_options={{{}}}", items.join(", ")));
        }
        parts.extend(in_shardings.as_ref().map(|places| match places {
            InShardings::All(place) => format!("in_shardings={}", sharding(place)),
            InShardings::Each(places) => {
                let places: Vec<_> = places.iter().map(Option::as_ref).map(shardings).collect();
                format!("in_shardings={}", tuple(&places))
            }
        }));
        parts.extend(out_shardings.as_ref().map(|places| format!("out_shardings={}", shardings(Some(places)))));
        parts.extend(device.map(|number| format!("device=jax.devices()[{number}]")));
        parts.extend(backend.as_ref().map(|name| format!("backend={}", string(name))));
        Ok(parts)
    }

    /// The context managers around a call, the outermost first.
    pub(super) fn context(&mut self, context: &Context) -> Result<Vec<String>, ScriptError> {
        let Context {
            x64,
            flags,
            local_flags,
            default_device,
            mesh: axes,
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
        } = context;
        let mut managers = Vec::new();
        // First, since flags may say which programs are kept.
        if *persistent_cache {
            self.helper("flag");
            managers.push(format!("{}()", self.helper("persistent_cache")));
        }
        for (name, value) in flags {
            if name == "jax_disable_jit" && self.api.wrap == "eqx.filter_jit" {
                return Err(ScriptError::new("eqx.filter_jit where jit is off, whose own operations compile"));
            }
            // The managers hold for their thread, where libraries enter the same.
            if let ("jax_debug_nans" | "jax_debug_infs", Value::Bool(on)) = (&**name, value) {
                managers.push(format!("jax.{}({})", &name["jax_".len()..], if *on { "True" } else { "False" }));
                continue;
            }
            managers.push(format!("{}({}, {})", self.helper("flag"), string(name), self.value(value)?));
        }
        managers.extend(local_flags.iter().map(|name| format!("{}({})", self.helper("local_flag"), string(name))));
        if let Some(x64) = x64 {
            managers.push(format!("{}({})", self.helper("enable_x64"), if *x64 { "True" } else { "False" }));
        }
        managers.extend(default_device.as_ref().map(|at| match at {
            DefaultDevice::Number(number) => format!("jax.default_device({})", device(*number)),
            DefaultDevice::Platform(name) => format!("jax.default_device({})", string(name)),
        }));
        managers.extend(axes.as_ref().map(|axes| mesh(axes, mesh_devices, mesh_explicit)));
        managers
            .extend(set_mesh.as_ref().map(|axes| format!("jax.set_mesh({})", mesh(axes, mesh_devices, mesh_explicit))));
        managers.extend(abstract_mesh.as_ref().map(|axes| {
            let parts: Vec<_> = axes.iter().map(|(axis, size)| format!("{}: {size}", string(axis.as_str()))).collect();
            format!("{}({{{}}})", self.helper("abstract_mesh"), parts.join(", "))
        }));
        if !xla_metadata.is_empty() {
            self.imports.insert("from jax.experimental.xla_metadata import set_xla_metadata".to_owned());
            let mut items = Vec::new();
            for (name, value) in xla_metadata {
                items.push(format!("{name}={}", self.value(value)?));
            }
            managers.push(format!("set_xla_metadata({})", items.join(", ")));
        }
        if let Some(kind) = compute_on {
            self.imports.insert("from jax.experimental.compute_on import compute_on".to_owned());
            managers.push(format!("compute_on({})", string(kind)));
        }
        if !named_axes.is_empty() {
            self.imports.insert("from jax._src.core import extend_axis_env_nd".to_owned());
            let axes = named_axes.iter().map(|(name, size)| format!("({}, {size})", string(name.as_str())));
            managers.push(format!("extend_axis_env_nd([{}])", axes.collect::<Vec<_>>().join(", ")));
        }
        if let Some(value) = user {
            if self.stale {
                return Err(ScriptError::new("a stale hit beside a user context, which the body would have to read"));
            }
            managers.push(format!("{}({})", self.helper("user_context"), self.value(value)?));
        }
        if *contexts_made > 0 {
            return Err(ScriptError::new("a call after a context was made, which stays for good"));
        }
        managers.extend(transfer_guard.map(|guard| format!("jax.transfer_guard(\"{}\")", guard.word())));
        Ok(managers)
    }
}

/// A call, over several lines if one would be too long.
fn statement(function: &str, parts: &[String]) -> String {
    let line = format!("{function}({})", parts.join(", "));
    if line.chars().count() <= WIDTH {
        return line;
    }
    format!("{function}(\n{},\n)", indented(&parts.join(",\n")))
}

/// The shardings of one value; those of its leaves are in a list, which is what a script's body returns.
fn shardings(places: Option<&Shardings>) -> String {
    match places {
        None => "None".to_owned(),
        Some(Shardings::All(place)) => sharding(place),
        Some(Shardings::Tree(tree)) => {
            let leaf = |place: &Option<Placement>| place.as_ref().map_or("None".to_owned(), sharding);
            format!("[{}]", tree.leaves.iter().map(leaf).collect::<Vec<_>>().join(", "))
        }
    }
}
