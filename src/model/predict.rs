//! A case's steps, one after the other: what each call does, and what the others change.

use std::collections::HashMap;
use std::rc::Rc;

use smallvec::SmallVec;

use super::ambient::Ambient;
use super::arguments::{Arguments, Invocation, is_mapped, is_split_explicitly, refused, sort};
use super::buffers::Gone;
use super::build::{BuildError, Namespace, Output};
use super::called;
use super::compiled::Compiled;
use super::difference::{Difference, Explanation};
use super::digest::Digest;
use super::eager::Stopped;
use super::flatten::is_unsortable;
use super::generation::{Generations, is_kept};
use super::key::{Ingredients, Key, Primitive};
use super::looked_up::Given;
use super::object::{Kind, Obj, Raised, Ways};
use super::persistent::File;
use super::running::{body_output, returns_nothing, returns_what_it_uses, shardings_are_known};
use super::signature::Signature;
use super::table::{Entries, Program};
use super::transform::{differentiated, filtered, passed};
use super::view::Views;
use super::walk::{Served, doubtful_option};
use super::wrapper::{Options, Wrappers};
use crate::case::{Behaviour, Call, Case, Class, Context, Form, JitOptions, Name, Step, Thread, Value, Verdict, Via};
use crate::spec::{ArgumentStyle, KeyedBy, NonFinite, Parameter, Profile, Table, WithoutTangents};

/// Why the model can't predict a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The case uses something that the model doesn't know.
    #[error("the model does not know {0}")]
    Unsupported(String),
    /// Python raises while the case's values are built, before anything is called.
    #[error("the case can't be built: {0}")]
    Unbuildable(String),
}

impl From<BuildError> for ModelError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Raised(Raised(class)) => Self::Unbuildable(class),
            BuildError::Unsupported(what) => Self::Unsupported(what),
        }
    }
}

/// The objects of a call: its function, its arguments, and what surrounds it.
#[derive(Debug)]
pub struct Objects {
    function: Obj,
    args: Vec<Obj>,
    kwargs: Vec<(Name, Obj)>,
    ambient: Rc<Ambient>,
}

/// What the model says of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// How deep it goes.
    pub verdict: Verdict,
    /// Why each layer was missed that has a key nearby, from the top; empty unless asked for.
    pub explanations: Vec<Explanation>,
    /// What the call has that the program which serves it was not traced from.
    pub stale: Option<Difference>,
}

impl Prediction {
    /// How the key of the topmost layer that was missed differs from the nearest one.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        let differences = self.explanations.iter().map(|explanation| &explanation.differences[..]);
        differences.into_iter().find(|differences| !differences.is_empty()).unwrap_or_default()
    }

    /// What a target that sees everything would observe.
    #[must_use]
    pub fn behaviour(&self) -> Behaviour {
        Behaviour { verdict: self.verdict.clone(), stale: self.stale.is_some() }
    }
}

/// What the calls of `case` do, in order.
pub fn predict(case: &Case, profile: &Profile) -> Result<Vec<Prediction>, ModelError> {
    let mut simulation = Simulation::new(case, profile)?;
    let mut predictions = Vec::new();
    for (i, step) in case.steps.iter().enumerate() {
        simulation.is_last = i + 1 == case.steps.len();
        predictions.extend(simulation.step(step)?);
    }
    Ok(predictions)
}

/// The same, as a target that sees everything would observe it.
pub fn behaviour(case: &Case, profile: &Profile) -> Result<Vec<Behaviour>, ModelError> {
    Ok(predict(case, profile)?.iter().map(Prediction::behaviour).collect())
}

/// A cache, simulated over the steps of a case.
#[derive(Debug)]
pub struct Simulation<'c> {
    pub(super) case: &'c Case,
    pub(super) profile: &'c Profile,
    pub(super) names: Namespace,
    pub(super) function: Obj,
    /// What arrays are as leaves, without and with `jax_enable_x64`.
    views: [Rc<Views<'c>>; 2],
    /// What the function is wrapped with, where a call says nothing else.
    pub(super) options: Options,
    pub(super) wrappers: Wrappers,
    pub(super) generations: Generations,
    pub(super) tables: SmallVec<[Entries; 8]>,
    /// What each program was traced from, in the order of their numbers.
    pub(super) programs: Vec<Rc<Digest>>,
    /// The primitives that eager loops made.
    pub(super) primitives: Vec<(Rc<Primitive>, Program)>,
    pub(super) gone: Gone,
    /// What surrounds a call that nothing surrounds.
    nothing: Rc<Ambient>,
    /// The files of the persistent cache.
    pub(super) files: Vec<File>,
    /// Whether the body of a jitted function runs that the next call calls, where that is known from the cache of `jax.jit`,
    /// which this one is not.
    pub(super) jitted_runs: Option<bool>,
    /// What the call that is being served does that the model doesn't know.
    pub(super) unknown: Option<ModelError>,
    /// The compiled objects, by the numbers of the calls that made them.
    compiled: HashMap<usize, Compiled>,
    pub(super) calls: usize,
    /// Whether no step comes after this one, so that nothing need be kept for it.
    pub(super) is_last: bool,
    pub(super) explains: bool,
    /// Those of the call that is being served.
    pub(super) explanations: Vec<Explanation>,
    /// The functions that loops were given, where misses are explained.
    pub(super) given: Given,
}

impl<'c> Simulation<'c> {
    /// An empty cache, and the objects of `case`.
    pub fn new(case: &'c Case, profile: &'c Profile) -> Result<Self, ModelError> {
        let names = Self::names(case, profile).complete()?;
        Self::among(names, case, profile)
    }

    fn names(case: &Case, profile: &Profile) -> Namespace {
        Namespace::of(case, Ways::of(profile))
    }

    fn among(names: Namespace, case: &'c Case, profile: &'c Profile) -> Result<Self, ModelError> {
        let is_module = |class: &Class| matches!(class, Class::NnxModule { .. });
        if !profile.takes_nnx_modules && case.classes.values().any(is_module) {
            return Err(ModelError::Unsupported(format!("what an nnx.Module is to {}", profile.profile)));
        }
        let function = names.build(&case.function)?;
        // One more than the profile names: the jaxprs of what `jax.checkpoint` wraps.
        let tables = (0..=profile.tables.len()).map(|_| Entries::default()).collect();
        let (programs, primitives, gone) = (Vec::new(), Vec::new(), Gone::default());
        let (wrappers, generations) = (Wrappers::default(), Generations::default());
        let (compiled, calls, explains, explanations) = (HashMap::new(), 0, false, Vec::new());
        Ok(Self {
            case,
            profile,
            names,
            function,
            views: [false, true].map(|x64| Rc::new(Views::of(profile, x64))),
            options: Options::of(&case.options, profile),
            wrappers,
            generations,
            tables,
            programs,
            primitives,
            gone,
            nothing: Rc::default(),
            files: Vec::new(),
            jitted_runs: None,
            unknown: None,
            compiled,
            calls,
            is_last: false,
            explains,
            explanations,
            given: Given::default(),
        })
    }

    /// The same, and each prediction says how the keys differ.
    pub fn explaining(case: &'c Case, profile: &'c Profile) -> Result<Self, ModelError> {
        Ok(Self::new(case, profile)?.explained())
    }

    /// The same of what a program did: an object that can't be made fails those calls only that name it.
    pub fn of_recording(case: &'c Case, profile: &'c Profile) -> Result<Self, ModelError> {
        let mut simulation = Self::among(Self::names(case, profile), case, profile)?.explained();
        simulation.nothing = Rc::new(Ambient { recorded: true, ..Ambient::default() });
        Ok(simulation)
    }

    fn explained(self) -> Self {
        let mut simulation = Self { explains: true, ..self };
        simulation.tables.iter_mut().for_each(Entries::remember);
        simulation
    }

    /// Does one step; a call gives a prediction.
    pub fn step(&mut self, step: &Step) -> Result<Option<Prediction>, ModelError> {
        match step {
            Step::Call(call) => {
                self.calls += 1;
                return self.call(call).map(Some);
            }
            Step::Drop(name) => {
                self.names.forget(name);
                self.wrappers.forget_dropped();
            }
            Step::Mutate(mutation) => self.mutate(mutation)?,
            Step::Delete(name) => self.gone.delete(self.names.object(name)),
            Step::Donate(name) => self.gone.give_away(self.names.object(name)),
            Step::Clear(scope) => self.clear(scope)?,
            Step::Fill(fill) => self.fill(fill)?,
        }
        Ok(None)
    }

    /// Says of the next call whether the body of a jitted function inside of it runs, as the cache of `jax.jit` has it.
    pub fn jitted_runs(&mut self, runs: Option<bool>) {
        self.jitted_runs = runs;
    }

    /// Builds the objects of `call`.
    pub fn objects(&self, call: &Call) -> Result<Objects, ModelError> {
        let function = match &call.function {
            None => self.function.clone(),
            Some(function) => self.names.build(function)?,
        };
        let args = call.args.iter().map(|value| self.names.build(value)).collect::<Result<_, _>>()?;
        let kwargs = call
            .kwargs
            .iter()
            .map(|(name, value)| Ok::<_, BuildError>((name.clone(), self.names.build(value)?)))
            .collect::<Result<_, _>>()?;
        Ok(Objects { function, args, kwargs, ambient: self.ambient(call)? })
    }

    /// The key that `call` has in a table of the profile, whatever was called before.
    ///
    /// # Errors
    /// What the arguments raise before a key is looked up.
    pub fn key(&self, table: &Table, call: &Call, objects: &Objects) -> Result<Key, Raised> {
        let options = &self.options_of(call);
        let Objects { function, args, kwargs, ambient } = objects;
        let views = self.views(ambient.x64);
        let objects = self.objects_matter(options, ambient);
        let invocation = Invocation { function, args, kwargs, options, views, called: &[], objects };
        let arguments = &sort(self.profile, &invocation)?;
        let (via, wrapper) = (call.via, call.wrapper.as_ref());
        Ok(Key::of(
            table,
            &Ingredients {
                function,
                arguments,
                invocation: None,
                options,
                ambient,
                via,
                wrapper,
                generation: 0,
                primitive: None,
            },
            None,
        ))
    }

    /// What arrays are as leaves, where `jax_enable_x64` is on or off.
    pub(super) fn views(&self, x64: bool) -> &Views<'c> {
        &self.views[usize::from(x64)]
    }

    /// What the function of `call` is wrapped with.
    fn options_of(&self, call: &Call) -> Options {
        call.options.as_ref().map_or_else(|| self.options.clone(), |asked| Options::of(asked, self.profile))
    }

    /// Whether it matters to a call which objects its leaves are: for their buffers, or the numbers that they hold.
    pub(super) fn objects_matter(&self, options: &JitOptions, ambient: &Ambient) -> bool {
        let JitOptions { donate_argnums, donate_argnames, donate, .. } = options;
        let donates = !donate_argnums.is_empty() || !donate_argnames.is_empty() || donate.is_some();
        donates || !self.gone.is_empty() || !ambient.returns_no.is_empty()
    }

    pub(super) fn call(&mut self, call: &Call) -> Result<Prediction, ModelError> {
        let Objects { function, args, kwargs, ambient } = self.objects(call)?;
        if ambient.guarded && self.profile.runs_operations {
            return Err(ModelError::Unsupported(
                "what a transfer guard does to operations beside the program".to_owned(),
            ));
        }
        if let Some(number) = call.compiled {
            return self.call_compiled(number, call, &args, &kwargs, &ambient);
        }
        let asked = call.options.as_ref().unwrap_or(&self.case.options);
        let options = &self.options_of(call);
        let views = Rc::clone(&self.views[usize::from(ambient.x64)]);
        let views = &*views;
        let objects = self.objects_matter(options, &ambient);
        let (function, args, kwargs) = (&function, &args, &kwargs);
        let invocation = Invocation { function, args, kwargs, options, views, called: &[], objects };
        if let ArgumentStyle::ControlFlow(parameters) = &self.profile.arguments {
            return self.call_eagerly(parameters, call, &invocation, options);
        }
        if self.profile.statics_as_written && !options.static_argnums.is_sorted() {
            return Err(ModelError::Unsupported("static arguments that change places".to_owned()));
        }
        let takes_options = !self.profile.without_compiler_options;
        if let Some(option) = doubtful_option(asked).filter(|_| takes_options) {
            return Err(ModelError::Unsupported(format!("whether XLA takes `{option}` with that value")));
        }
        let unmade = if asked.compiler_options.is_some() && !takes_options {
            Some(Raised::new("TypeError"))
        } else if asked.contradict() || self.profile.always_gives_shardings && asked.moves() {
            Some(Raised::new("ValueError"))
        } else {
            refused(self.profile, &invocation)
        };
        let generation = self.generations.generation(call, function, options);
        let fast = self.fast_arguments(&invocation);
        let (form, name) = (call.function.as_ref(), call.wrapper.as_ref());
        // What is traced may be the wrapper, as a function like any other.
        let itself = self.traces_the_wrapper(call.via).then(|| self.wrappers.itself(form, name, function, options));
        let (function, options, written) = match &itself {
            Some(wrapper) => (wrapper, &Options::default(), options),
            None => (function, options, options),
        };
        let passed_on = match call.via {
            Via::Vmap | Via::Grad | Via::Jvp if self.profile.arguments == ArgumentStyle::AsWritten => {
                Some(passed(self.profile, call.via, &invocation))
            }
            // What nnx.jit makes of the function is called inside of a trace, with tracers for its statics.
            Via::EvalShape if self.profile.keyed_by == KeyedBy::Wrapper && has_statics(options) => {
                Some(passed(self.profile, Via::MakeJaxpr, &invocation))
            }
            _ => None,
        };
        let (args, kwargs, refused) = match &passed_on {
            Some(Ok((args, kwargs))) => (args, kwargs, None),
            Some(Err(raised)) => (args, kwargs, Some(raised.clone())),
            None if matches!(call.via, Via::Vmap | Via::Grad) && self.profile.arguments == ArgumentStyle::Partition => {
                (args, kwargs, filtered(self.profile, call.via, &invocation)?)
            }
            None => (args, kwargs, None),
        };
        let invocation = Invocation { function, args, kwargs, options, views, called: &[], objects };
        let is_made = unmade.is_none();
        let mut sorted = unmade.or(refused).map_or_else(|| sort(self.profile, &invocation), Err);
        let is_ahead = matches!(call.via, Via::Trace | Via::Lower | Via::Compile | Via::EvalShape | Via::MakeJaxpr);
        if let (Err(_), Some(class), true) =
            (&sorted, &self.profile.unsortable_ahead, is_ahead && !has_statics(options))
            && args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(is_unsortable)
        {
            sorted = Err(Raised::new(class));
        }
        let mut unfit = None;
        if let Ok(arguments) = &mut sorted {
            // What a nan came from may be asked for.
            if ambient.returns_no.contains(&NonFinite::Nan) && arguments.leaves.iter().any(|leaf| leaf.donated) {
                Rc::make_mut(&mut arguments.leaves).change_all(|leaf| leaf.donated = false);
            }
            self.gone.mark(arguments, self.profile, &ambient);
            if written.in_shardings.is_some() || written.out_shardings.is_some() {
                unfit = shardings_are_known(self.profile, call, function, arguments, written, &ambient)?;
            }
        }
        if let Some(raised) = unfit {
            sorted = Err(raised);
        }
        // Which is looked for in each call.
        if sorted.is_ok() && asked.backend.as_deref().is_some_and(|platform| platform != "cpu") {
            sorted = Err(Raised::new("RuntimeError"));
        }
        let owner = match &itself {
            Some(wrapper) => Rc::clone(wrapper),
            None => self.wrappers.of(self.profile.keyed_by, form, name, function, options),
        };
        let is_called_plainly = self.profile.arguments == ArgumentStyle::Partition && call.via == Via::Vmap;
        let sorted = match (call.via, sorted) {
            (Via::Vmap, Ok(arguments)) if arguments.leaves.iter().any(is_split_explicitly) => {
                return Err(ModelError::Unsupported("vmap over an axis that is split explicitly".to_owned()));
            }
            (Via::Vmap, Ok(arguments)) if is_called_plainly && !is_mapped(&arguments) => {
                if !returns_nothing(function) {
                    return Err(ModelError::Unsupported("filter_vmap without an array to map over".to_owned()));
                }
                Ok(arguments)
            }
            (Via::Vmap, sorted) => sorted.and_then(Arguments::unbatched),
            (Via::Grad | Via::Jvp, Ok(arguments))
                if matches!(self.profile.arguments, ArgumentStyle::AsWritten | ArgumentStyle::Partition) =>
            {
                let is_forwarded = call.via == Via::Grad && !options.keep_unused && returns_what_it_uses(function);
                differentiated(self.profile, call.via, arguments)?.map(|mut arguments| {
                    // What is returned as it was given is no argument of the program that is left.
                    if is_forwarded && !arguments.without_tangents {
                        Rc::make_mut(&mut arguments.leaves).change_all(|leaf| {
                            leaf.kept = false;
                            leaf.errors.iter_mut().for_each(|errors| errors.kept = None);
                        });
                    }
                    arguments
                })
            }
            (_, sorted) => sorted,
        };
        let body_raises = match &sorted {
            Ok(arguments) => called::raises(function, call, args, arguments, self.profile)?,
            Err(_) => None,
        };
        let invocation = Some(&invocation);
        let is_bound = || Signature::of(function).accepts(args.len(), kwargs);
        let is_as_called = self.profile.transformations.without_tangents == WithoutTangents::Called;
        let via = match &sorted {
            Ok(arguments) if arguments.without_tangents && is_as_called => Via::Call,
            Ok(arguments) if is_called_plainly && arguments.batch.is_none() => Via::Call,
            _ => call.via,
        };
        let bypassed = is_made && ambient.bypasses && self.calls_the_wrapper(call.via);
        if bypassed && called::is_of_a_library(function) {
            return Err(ModelError::Unsupported("whether the body of a library's function ran".to_owned()));
        }
        let outcome = match &sorted {
            Ok(arguments) if bypassed && !arguments.bindable => Err(Raised::new("TypeError")),
            // Equinox binds the arguments itself.
            Err(raised) if bypassed && self.profile.arguments == ArgumentStyle::Partition && !is_bound() => {
                Err(raised.clone())
            }
            _ if bypassed => Ok(Served::by_nothing()),
            Ok(_) if asked.moves() && self.profile.device_excludes_mesh && ambient.set_mesh.is_some() => {
                Err(Raised::new("ValueError"))
            }
            Err(raised) => Err(raised.clone()),
            _ if ambient.user.is_some() && ambient.unhashable().is_some() => {
                Err(ambient.unhashable().expect("it was a moment ago"))
            }
            Ok(arguments) => {
                let raises =
                    call.raises.as_deref().or(ambient.trace_raises.as_deref()).map(Raised::new).or(body_raises);
                let whole = Ingredients {
                    function: &owner,
                    arguments,
                    invocation,
                    options,
                    ambient: &ambient,
                    via,
                    wrapper: name,
                    generation,
                    primitive: None,
                };
                let fast = match &fast {
                    None => Some(whole),
                    Some(Ok(arguments)) => Some(Ingredients { arguments, ..whole }),
                    Some(Err(_)) => None,
                };
                self.walk(&whole, fast.as_ref(), raises)
            }
        };
        if let Some(unknown) = self.unknown.take() {
            return Err(unknown);
        }
        let stale = match (&outcome, &sorted) {
            (Ok(Served { program: Some(program), is_new, .. }), Ok(arguments)) => {
                let now = Ingredients {
                    function,
                    arguments,
                    invocation,
                    options,
                    ambient: &ambient,
                    via,
                    wrapper: name,
                    generation,
                    primitive: None,
                };
                self.stale(*program, *is_new, &now, call.raises.as_deref())
            }
            _ => None,
        };
        if let (Ok(arguments), Ok(_), Via::Call | Via::Vmap, false) = (&sorted, &outcome, call.via, bypassed) {
            self.gone.donate(arguments, &ambient);
        }
        if let (Ok(arguments), Ok(Served { program: Some(program), .. }), Via::Compile) = (&sorted, &outcome, call.via)
        {
            let compiled = Compiled::of(call.function.clone(), is_kept(call), options, *program, arguments);
            self.compiled.insert(self.calls, compiled);
        }
        let returned = match (&call.returns, &outcome, &sorted) {
            (Some(returns), _, _) => Some(self.stated(returns)?),
            (None, Ok(_), Ok(arguments))
                if !self.is_last && !matches!(**function, Kind::Class(_)) && !called::is_of_a_library(function) =>
            {
                Some(body_output(arguments, options, &ambient))
            }
            _ => None,
        };
        self.names.returned(returned);
        let verdict =
            outcome.map_or_else(|Raised(class)| Verdict::Error(class), |Served { missed, .. }| Verdict::Missed(missed));
        Ok(Prediction { explanations: self.explanations(&verdict), verdict, stale })
    }

    /// What a call returns where the case says so.
    fn stated(&self, returns: &Value) -> Result<Output, ModelError> {
        let object = self.names.build(returns)?;
        Ok(Output::new(Box::new(|| object)))
    }

    /// What was noted for the call. A key that isn't there is no miss of its layer where nothing is made for it, as when a
    /// wrapper's body is found in another table.
    fn explanations(&mut self, verdict: &Verdict) -> Vec<Explanation> {
        let mut explanations = std::mem::take(&mut self.explanations);
        if let Verdict::Missed(missed) = verdict {
            explanations.retain(|explanation| missed.contains(explanation.layer));
        }
        explanations
    }

    /// Whether the wrapper itself is called, and not one of its methods.
    fn calls_the_wrapper(&self, via: Via) -> bool {
        match via {
            Via::Call | Via::Vmap | Via::Grad | Via::Jvp => true,
            Via::MakeJaxpr | Via::EvalShape => !self.traces_the_wrapper(via) && !self.evaluates_shapes_itself(via),
            Via::Trace | Via::Lower | Via::Compile => false,
        }
    }

    fn evaluates_shapes_itself(&self, via: Via) -> bool {
        via == Via::EvalShape && self.profile.evaluates_shapes_itself
    }

    /// Whether the wrapper is traced as a function like any other, in a `jax.jit` of its own.
    fn traces_the_wrapper(&self, via: Via) -> bool {
        self.profile.arguments == ArgumentStyle::AsWritten
            && self.profile.keyed_by == KeyedBy::Function
            && matches!(via, Via::MakeJaxpr | Via::EvalShape)
            && !self.evaluates_shapes_itself(via)
    }

    /// What is wrong with serving `call` with `program`: what it was not traced from, unless it is new and was traced for it, or
    /// that an empty cache would raise.
    fn stale(
        &self,
        program: Program,
        is_new: bool,
        call: &Ingredients<'_>,
        body_raises: Option<&str>,
    ) -> Option<Difference> {
        let cold = |path: String, class: &str| Difference {
            path,
            component: "error on an empty cache".to_owned(),
            before: "none".to_owned(),
            after: class.to_owned(),
        };
        let leaf = call.arguments.leaves.iter().find_map(|leaf| {
            leaf.refused(&call.ambient.passing).map(|Raised(class)| cold(leaf.path().to_string(), &class))
        });
        let unbound = || (!call.arguments.bindable).then(|| cold(String::new(), "TypeError"));
        leaf.or_else(unbound)
            .or_else(|| body_raises.map(|class| cold(String::new(), class)))
            .or_else(|| if is_new { None } else { Digest::of(call).difference(self.digest(program)) })
    }

    /// What surrounds the call, in the thread that makes it.
    fn ambient(&self, call: &Call) -> Result<Rc<Ambient>, ModelError> {
        if self.case.context.is_empty() && call.context.is_empty() && call.effect.is_none() && call.reads.is_empty() {
            return Ok(Rc::clone(&self.nothing));
        }
        let mut ambient = match call.thread {
            Thread::Main => Ambient::of(&self.case.context, &call.context, self.profile, &self.names)?,
            // A flag is set for the process, but for those that a context manager sets as well, which holds for its thread.
            Thread::Other => {
                let shared = |context: &Context| {
                    let is_the_threads = |name: &str| matches!(name, "jax_debug_nans" | "jax_debug_infs");
                    let flags = context.flags.iter().filter(|(name, _)| !is_the_threads(name));
                    let flags = flags.map(|(name, value)| (name.clone(), value.clone())).collect();
                    Context { flags, persistent_cache: context.persistent_cache, ..Context::default() }
                };
                Ambient::of(&shared(&self.case.context), &shared(&call.context), self.profile, &self.names)?
            }
        };
        ambient.recorded = self.nothing.recorded;
        ambient.reads = call.reads.clone().into_iter().collect();
        ambient.never_fast |= call.effect.is_some_and(|effect| self.profile.is_slow(effect));
        Ok(Rc::new(ambient))
    }

    /// A call of a compiled object: no table is looked up.
    fn call_compiled(
        &mut self,
        number: usize,
        call: &Call,
        args: &[Obj],
        kwargs: &[(Name, Obj)],
        ambient: &Rc<Ambient>,
    ) -> Result<Prediction, ModelError> {
        if self.case.classes.values().any(|class| matches!(class, Class::NnxModule { .. })) {
            return Err(ModelError::Unsupported("what a compiled object makes of an nnx.Module".to_owned()));
        }
        if ambient.is_more_than_flags() {
            return Err(ModelError::Unsupported(
                "what surrounds a compiled object, but for flags and devices".to_owned(),
            ));
        }
        let Some(compiled) = self.compiled.get(&number) else {
            return Err(ModelError::Unsupported(format!("the compiled object of call {number}, which failed")));
        };
        let function = match &compiled.function {
            _ if !compiled.kept => None,
            None => Some(self.function.clone()),
            Some(Value::Form(form)) => match &**form {
                Form::Ref(name) => self.names.object(name).cloned(),
                _ => None,
            },
            Some(_) => None,
        };
        let function =
            function.ok_or_else(|| ModelError::Unsupported("compiled objects of lost functions".to_owned()))?;
        let options = compiled.call_options();
        let views = self.views(ambient.x64);
        let objects = self.objects_matter(&options, ambient);
        let (function, options) = (&function, &options);
        let sorted = sort(self.profile, &Invocation { function, args, kwargs, options, views, called: &[], objects });
        let outcome = match &sorted {
            Err(raised) => Err(raised.clone()),
            // What was compiled can't be run as it stands.
            Ok(_) if ambient.bypasses => Err(Raised::new("ValueError")),
            Ok(arguments) => match &ambient.compiled_raises {
                Some(class) => Err(Raised::new(class)),
                None => compiled.takes(arguments, self.profile)?.and_then(|()| {
                    let gone = self.gone.refused(arguments, self.profile, compiled.was_called);
                    gone.or_else(|| ambient.run_raises.as_deref().map(Raised::new)).map_or(Ok(()), Err)
                }),
            },
        };
        let stale = match (&outcome, &sorted) {
            (Ok(()), Ok(arguments)) if compiled.sees_everything() => {
                let now = Ingredients {
                    function,
                    arguments,
                    invocation: None,
                    options,
                    ambient,
                    via: Via::Call,
                    wrapper: None,
                    generation: 0,
                    primitive: None,
                };
                self.stale(compiled.program, false, &now, call.raises.as_deref())
            }
            _ => None,
        };
        let returned = match (&call.returns, &outcome, &sorted) {
            (Some(returns), _, _) => Some(self.stated(returns)?),
            (None, Ok(()), Ok(arguments)) => Some(body_output(arguments, options, ambient)),
            _ => None,
        };
        if let (Ok(()), Ok(arguments)) = (&outcome, &sorted) {
            self.gone.donate(arguments, ambient);
            self.compiled.entry(number).and_modify(|compiled| compiled.was_called = true);
        }
        self.names.returned(returned);
        let verdict = outcome.map_or_else(|Raised(class)| Verdict::Error(class), |()| Verdict::HIT);
        Ok(Prediction { explanations: self.explanations(&verdict), verdict, stale })
    }

    pub(super) fn digest(&self, Program(number): Program) -> &Rc<Digest> {
        &self.programs[number as usize - 1]
    }

    /// A call of a loop or a conditional, whose functions are arguments.
    fn call_eagerly(
        &mut self,
        parameters: &[Parameter],
        call: &Call,
        invocation: &Invocation<'_>,
        options: &Options,
    ) -> Result<Prediction, ModelError> {
        if !options.is_empty() {
            return Err(ModelError::Unsupported("options of jit for a loop".to_owned()));
        }
        let arguments = Arguments::default();
        if call.compiled.is_some() {
            return Err(ModelError::Unsupported("compiled objects of loops".to_owned()));
        }
        let ambient = self.ambient(call)?;
        if ambient.guarded {
            return Err(ModelError::Unsupported("a transfer guard around a loop".to_owned()));
        }
        if ambient.persistent_cache {
            return Err(ModelError::Unsupported("the files of a persistent cache for a loop".to_owned()));
        }
        let Invocation { function, args, .. } = *invocation;
        let whole = Ingredients {
            function,
            arguments: &arguments,
            invocation: None,
            options,
            ambient: &ambient,
            via: call.via,
            wrapper: None,
            generation: 0,
            primitive: None,
        };
        let outcome = match ambient.unhashable() {
            // Python's own loop, which calls the functions.
            _ if ambient.bypasses => Ok(Served::by_nothing().missed),
            Some(raised) => Err(Stopped::Raised(raised)),
            None => self.eager(parameters, &whole, args, invocation.kwargs, call.raises.as_deref()),
        };
        let verdict = match outcome {
            Ok(missed) => Verdict::Missed(missed),
            Err(Stopped::Raised(Raised(class))) => Verdict::Error(class),
            Err(Stopped::Unknown(error)) => return Err(error),
        };
        let returned = call.returns.as_ref().map(|returns| self.stated(returns)).transpose()?;
        self.names.returned(returned);
        // What a loop returns is its carry, which doesn't say which trace it is from: no target compares it.
        Ok(Prediction { explanations: self.explanations(&verdict), verdict, stale: None })
    }

    /// The arguments as the fast path sorts them, where it sorts them otherwise; an error where it can't describe them.
    fn fast_arguments(&self, call: &Invocation<'_>) -> Option<Result<Arguments, Raised>> {
        let negative = call.options.static_argnums.iter().any(|number| *number < 0);
        if !negative || !self.profile.fast_path_overlooks_negative_argnums {
            return None;
        }
        let mut options = call.options.clone();
        options.static_argnums.retain(|number| *number >= 0);
        Some(sort(self.profile, &Invocation { options: &options, ..*call }))
    }
}

/// Whether a wrapper with these options has static arguments.
fn has_statics(options: &JitOptions) -> bool {
    !options.static_argnums.is_empty() || !options.static_argnames.is_empty()
}
