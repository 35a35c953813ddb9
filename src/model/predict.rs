//! The walk: each call consults the tables from the top, and a hit ends it.

use std::collections::HashMap;
use std::rc::Rc;

use super::ambient::{Ambient, Mesh};
use super::arguments::{Arguments, Invocation, Leaf, sort};
use super::buffers::{Gone, uses_a_donated_one};
use super::build::{BuildError, Namespace};
use super::compiled::Compiled;
use super::digest::{Digest, body};
use super::eager::Stopped;
use super::generation::{Generations, is_kept};
use super::key::{Difference, Ingredients, Key, out_sharding, partition};
use super::object::{Kind, Obj, Raised};
use super::table::{Entries, NEVER_FAST, Program};
use super::wrapper::Wrappers;
use crate::case::{
    Array, Behaviour, Call, Case, Class, ClearScope, Context, DefaultDevice, Fill, Form, JitOptions, Layer, LayerSet,
    Library, Mutation, Name, Placement, Sharding, Step, Thread, Value, Verdict, Via,
};
use crate::spec::{ArgumentStyle, FunctionBy, FunctionKey, Held, NonFinite, Parameter, Profile, Table, TableName};

/// How a call was served.
pub(super) struct Served {
    pub missed: LayerSet,
    /// By which program; none where no cache was looked at.
    pub program: Option<Program>,
}

impl Served {
    /// The body ran as it stands.
    fn by_nothing() -> Self {
        Self { missed: LayerSet::NONE.with(Layer::Trace), program: None }
    }
}

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

/// What the model says of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// How deep it goes.
    pub verdict: Verdict,
    /// For a call that misses the fast path: how its key differs from the one filed there last.
    pub differences: Vec<Difference>,
    /// What the call has that the program which serves it was not traced from.
    pub stale: Option<Difference>,
}

impl Prediction {
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
    for step in &case.steps {
        predictions.extend(simulation.step(step)?);
    }
    Ok(predictions)
}

/// A cache, simulated over the steps of a case.
#[derive(Debug)]
pub struct Simulation<'c> {
    case: &'c Case,
    pub(super) profile: &'c Profile,
    names: Namespace,
    function: Obj,
    wrappers: Wrappers,
    generations: Generations,
    tables: Vec<Entries>,
    /// What each program was traced from, in the order of their numbers.
    programs: Vec<Rc<Digest>>,
    /// The primitives that eager loops made: the jaxprs and the number of steps that are their parameters.
    primitives: Vec<(Vec<Program>, Option<u64>, Program)>,
    gone: Gone,
    /// The compiled objects, by the numbers of the calls that made them.
    compiled: HashMap<usize, Compiled>,
    calls: usize,
    explains: bool,
}

impl<'c> Simulation<'c> {
    /// An empty cache, and the objects of `case`.
    pub fn new(case: &'c Case, profile: &'c Profile) -> Result<Self, ModelError> {
        let is_module = |class: &Class| matches!(class, Class::NnxModule { .. });
        if !profile.takes_nnx_modules && case.classes.values().any(is_module) {
            return Err(ModelError::Unsupported(format!("what an nnx.Module is to {}", profile.profile)));
        }
        let treedefs = profile.tables.iter().find_map(|table| table.tree).unwrap_or_default();
        let names = Namespace::of(case, treedefs)?;
        let function = names.build(&case.function)?;
        // One more than the profile names: the jaxprs of what `jax.checkpoint` wraps.
        let tables = (0..=profile.tables.len()).map(|_| Entries::default()).collect();
        let (programs, primitives, gone) = (Vec::new(), Vec::new(), Gone::default());
        let (wrappers, generations) = (Wrappers::default(), Generations::default());
        let (compiled, calls, explains) = (HashMap::new(), 0, false);
        Ok(Self {
            case,
            profile,
            names,
            function,
            wrappers,
            generations,
            tables,
            programs,
            primitives,
            gone,
            compiled,
            calls,
            explains,
        })
    }

    /// The same, and each prediction says how the keys differ.
    pub fn explaining(case: &'c Case, profile: &'c Profile) -> Result<Self, ModelError> {
        Ok(Self { explains: true, ..Self::new(case, profile)? })
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
            Step::Clear(scope) => self.clear(*scope)?,
            Step::Fill(fill) => self.fill(fill)?,
        }
        Ok(None)
    }

    fn fill(&mut self, fill: &Fill) -> Result<(), ModelError> {
        // Its calls have no numbers.
        let calls = std::mem::take(&mut self.calls);
        for nth in 0..fill.calls {
            self.names.nth = nth;
            if let Verdict::Error(class) = self.call(&fill.call)?.verdict {
                return Err(ModelError::Unsupported(format!("a call that fills caches and raises {class}")));
            }
            self.names.not_returned();
        }
        self.calls = calls;
        Ok(())
    }

    fn mutate(&mut self, mutation: &Mutation) -> Result<(), ModelError> {
        let value = mutation.value.as_ref().map(|value| self.names.build(value)).transpose()?;
        let new_defaults = mutation.defaults.iter().flatten().map(|value| self.names.build(value));
        let new_defaults: Vec<Obj> = new_defaults.collect::<Result<_, _>>()?;
        match self.names.object(&mutation.object).map(|object| &**object) {
            Some(Kind::Instance { value: held, hash, .. }) => {
                if let Some(value) = value {
                    held.replace(value);
                }
                if let Some(new) = mutation.hash {
                    hash.set(new);
                }
                Ok(())
            }
            Some(Kind::Function(function)) if mutation.value.is_none() && mutation.hash.is_none() => {
                let mut defaults = function.defaults.borrow_mut();
                for ((_, held), new) in defaults.iter_mut().zip(new_defaults) {
                    *held = new;
                }
                Ok(())
            }
            _ => Err(ModelError::Unsupported("mutation of anything but an instance of a plain class".to_owned())),
        }
    }

    fn clear(&mut self, scope: ClearScope) -> Result<(), ModelError> {
        match scope {
            ClearScope::Jax => {
                self.tables.iter_mut().for_each(|entries| entries.clear(None));
                if self.profile.clearing_detaches_wrappers {
                    self.generations.part();
                }
            }
            // Its own wrappers alone have anything that equinox clears.
            ClearScope::Equinox if self.profile.arguments == ArgumentStyle::Partition => self.generations.part(),
            ClearScope::Equinox => {}
            ClearScope::Function => {
                let owner = self.wrappers.of(self.profile.keyed_by, None, None, &self.function, &self.case.options);
                for (table, entries) in self.profile.tables.iter().zip(&mut self.tables) {
                    match table.table {
                        // Cleared for every function (`jit_evict_fn`).
                        TableName::Infer => entries.clear(None),
                        _ => entries.clear(Some(&owner)),
                    }
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<Prediction, ModelError> {
        let function = match &call.function {
            None => self.function.clone(),
            Some(function) => self.names.build(function)?,
        };
        let args: Vec<Obj> = call.args.iter().map(|value| self.names.build(value)).collect::<Result<_, _>>()?;
        let kwargs: Vec<(Name, Obj)> = call
            .kwargs
            .iter()
            .map(|(name, value)| Ok::<_, BuildError>((name.clone(), self.names.build(value)?)))
            .collect::<Result<_, _>>()?;
        let ambient = self.ambient(call)?;
        if ambient.guarded && self.profile.runs_operations {
            return Err(ModelError::Unsupported(
                "what a transfer guard does to operations beside the program".to_owned(),
            ));
        }
        if let Some(number) = call.compiled {
            return self.call_compiled(number, call, &args, &kwargs, &ambient);
        }
        let options = call.options.as_ref().unwrap_or(&self.case.options);
        let x64 = ambient.x64;
        let invocation = Invocation { function: &function, args: &args, kwargs: &kwargs, options, x64 };
        if let ArgumentStyle::ControlFlow(parameters) = &self.profile.arguments {
            return self.call_eagerly(parameters, call, &invocation);
        }
        let generation = self.generations.generation(call, &function, options);
        let mut sorted = sort(self.profile, &invocation);
        if let Ok(arguments) = &mut sorted {
            self.gone.mark(arguments, self.profile);
            if options.in_shardings.is_some() || options.out_shardings.is_some() {
                shardings_are_known(self.profile, call, arguments, options, &ambient)?;
            }
        }
        let (form, name) = (call.function.as_ref(), call.wrapper.as_ref());
        let owner = self.wrappers.of(self.profile.keyed_by, form, name, &function, options);
        let sorted = if call.via == Via::Vmap { sorted.and_then(Arguments::unbatched) } else { sorted };
        let fast = self.fast_arguments(&invocation);
        let mut differences = Vec::new();
        let outcome = match &sorted {
            _ if ambient.bypasses => Ok(Served::by_nothing()),
            Err(raised) => Err(raised.clone()),
            _ if ambient.user.is_some() && ambient.unhashable().is_some() => {
                Err(ambient.unhashable().expect("it was a moment ago"))
            }
            Ok(arguments) => {
                let raises = call.raises.as_deref().or(ambient.trace_raises.as_deref()).map(Raised::new);
                let whole = Ingredients {
                    function: &owner,
                    arguments,
                    options,
                    ambient: &ambient,
                    via: call.via,
                    wrapper: name,
                    generation,
                };
                let fast = match &fast {
                    None => Some(whole),
                    Some(Ok(arguments)) => Some(Ingredients { arguments, ..whole }),
                    Some(Err(_)) => None,
                };
                self.walk(&whole, fast.as_ref(), raises, &mut differences)
            }
        };
        let stale = match (&outcome, &sorted) {
            (Ok(Served { program: Some(program), .. }), Ok(arguments)) => {
                let now = Ingredients {
                    function: &function,
                    arguments,
                    options,
                    ambient: &ambient,
                    via: call.via,
                    wrapper: name,
                    generation,
                };
                self.stale(*program, &now, call.raises.as_deref())
            }
            _ => None,
        };
        if let (Ok(arguments), Ok(_), Via::Call) = (&sorted, &outcome, call.via) {
            self.gone.donate(arguments);
        }
        if let (Ok(arguments), Ok(Served { program: Some(program), .. }), Via::Compile) = (&sorted, &outcome, call.via)
        {
            let compiled = Compiled::of(call.function.clone(), is_kept(call), options, *program, arguments);
            self.compiled.insert(self.calls, compiled);
        }
        let returned = match (&call.returns, &outcome, &sorted) {
            (Some(returns), _, _) => Some(self.names.build(returns)?),
            (None, Ok(_), Ok(arguments)) => Some(body_output(arguments, options, &ambient)),
            _ => None,
        };
        self.names.returned(returned);
        let verdict =
            outcome.map_or_else(|Raised(class)| Verdict::Error(class), |Served { missed, .. }| Verdict::Missed(missed));
        Ok(Prediction { verdict, differences, stale })
    }

    /// What is wrong with serving `call` with `program`: what it was not traced from, or that an empty cache would raise.
    fn stale(&self, program: Program, call: &Ingredients<'_>, body_raises: Option<&str>) -> Option<Difference> {
        let cold = |path: String, class: &str| Difference {
            path,
            component: "error on an empty cache".to_owned(),
            before: "none".to_owned(),
            after: class.to_owned(),
        };
        let leaf =
            call.arguments.leaves.iter().find_map(|leaf| {
                leaf.error_when_missed.as_ref().map(|Raised(class)| cold(leaf.path.to_string(), class))
            });
        leaf.or_else(|| body_raises.map(|class| cold(String::new(), class)))
            .or_else(|| Digest::of(call).difference(self.digest(program)))
    }

    /// What surrounds the call, in the thread that makes it.
    fn ambient(&self, call: &Call) -> Result<Ambient, ModelError> {
        match call.thread {
            Thread::Main => Ambient::of(&self.case.context, &call.context, self.profile, &self.names),
            // A flag is set for the process, but for those that a context manager sets as well, which holds for its thread.
            Thread::Other => {
                let shared = |context: &Context| {
                    let is_the_threads = |name: &str| matches!(name, "jax_debug_nans" | "jax_debug_infs");
                    let flags = context.flags.iter().filter(|(name, _)| !is_the_threads(name));
                    let flags = flags.map(|(name, value)| (name.clone(), value.clone())).collect();
                    Context { flags, ..Context::default() }
                };
                Ambient::of(&shared(&self.case.context), &shared(&call.context), self.profile, &self.names)
            }
        }
    }

    /// A call of a compiled object: no table is looked up.
    fn call_compiled(
        &mut self,
        number: usize,
        call: &Call,
        args: &[Obj],
        kwargs: &[(Name, Obj)],
        ambient: &Ambient,
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
        let x64 = ambient.x64;
        let sorted = sort(self.profile, &Invocation { function: &function, args, kwargs, options: &options, x64 });
        let outcome = match &sorted {
            Err(raised) => Err(raised.clone()),
            Ok(arguments) => compiled.takes(arguments, self.profile)?,
        };
        let stale = match (&outcome, &sorted) {
            (Ok(()), Ok(arguments)) if compiled.sees_everything() => {
                let (options, via) = (&options, Via::Call);
                let function = &function;
                let now = Ingredients { function, arguments, options, ambient, via, wrapper: None, generation: 0 };
                self.stale(compiled.program, &now, call.raises.as_deref())
            }
            _ => None,
        };
        let returned = match (&call.returns, &outcome, &sorted) {
            (Some(returns), _, _) => Some(self.names.build(returns)?),
            (None, Ok(()), Ok(arguments)) => Some(body_output(arguments, &options, ambient)),
            _ => None,
        };
        self.names.returned(returned);
        let verdict = outcome.map_or_else(|Raised(class)| Verdict::Error(class), |()| Verdict::HIT);
        Ok(Prediction { verdict, differences: Vec::new(), stale })
    }

    fn digest(&self, Program(number): Program) -> &Rc<Digest> {
        &self.programs[number as usize - 1]
    }

    /// A call of a loop or a conditional, whose functions are arguments.
    fn call_eagerly(
        &mut self,
        parameters: &[Parameter],
        call: &Call,
        invocation: &Invocation<'_>,
    ) -> Result<Prediction, ModelError> {
        if !call.kwargs.is_empty() || *invocation.options != JitOptions::default() {
            return Err(ModelError::Unsupported("keyword arguments and options of loops".to_owned()));
        }
        let arguments = Arguments::default();
        if call.compiled.is_some() {
            return Err(ModelError::Unsupported("compiled objects of loops".to_owned()));
        }
        let ambient = self.ambient(call)?;
        if ambient.is_more_than_flags() {
            return Err(ModelError::Unsupported("what surrounds a loop, but for flags, devices and meshes".to_owned()));
        }
        let Invocation { function, args, options, .. } = *invocation;
        let whole = Ingredients {
            function,
            arguments: &arguments,
            options,
            ambient: &ambient,
            via: call.via,
            wrapper: None,
            generation: 0,
        };
        let mut differences = Vec::new();
        let verdict = match self.eager(parameters, &whole, args, &mut differences) {
            Ok(missed) => Verdict::Missed(missed),
            Err(Stopped::Raised(Raised(class))) => Verdict::Error(class),
            Err(Stopped::Unknown(error)) => return Err(error),
        };
        let returned = call.returns.as_ref().map(|returns| self.names.build(returns)).transpose()?;
        self.names.returned(returned);
        // What a loop returns is its carry, which doesn't say which trace it is from: no target compares it.
        Ok(Prediction { verdict, differences, stale: None })
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

    fn table(&self, name: TableName) -> Option<(usize, &'c Table)> {
        self.profile.tables.iter().enumerate().find(|(_, table)| table.table == name)
    }

    /// Looks `name` up; the key comes back for filing if it is not there.
    pub(super) fn consult(
        &mut self,
        name: TableName,
        function: &Obj,
        call: &Ingredients<'_>,
        above: Option<Program>,
    ) -> Result<(Option<Program>, Option<Key>), Raised> {
        let Some((i, table)) = self.table(name) else { return Ok((None, None)) };
        let key = Key::of(table, call, above);
        let found = self.tables[i].find(table, function, &key)?;
        Ok((found, Some(key)))
    }

    pub(super) fn file(
        &mut self,
        name: TableName,
        function: &Obj,
        key: Option<Key>,
        program: Program,
    ) -> Result<(), Raised> {
        match (self.table(name), key) {
            (Some((i, table)), Some(key)) => self.tables[i].file(function, table, key, program),
            _ => Ok(()),
        }
    }

    /// Consults the tables from the top. `fast` is the call as the fast path sees it, if it can.
    fn walk(
        &mut self,
        call: &Ingredients<'_>,
        fast: Option<&Ingredients<'_>>,
        body_raises: Option<Raised>,
        differences: &mut Vec<Difference>,
    ) -> Result<Served, Raised> {
        let deepest = match call.via {
            Via::Call => Layer::Compile,
            // Under a transformation the fast path hands every call to Python, and files none.
            Via::Vmap | Via::Grad | Via::Jvp => {
                let served = self.walk_below(call, body_raises, Layer::Compile)?;
                return Ok(Served { missed: served.missed.with(Layer::Dispatch), ..served });
            }
            Via::Trace | Via::EvalShape | Via::MakeJaxpr => return self.walk_below(call, body_raises, Layer::Trace),
            Via::Lower => return self.walk_below(call, body_raises, Layer::Lower),
            Via::Compile => return self.walk_below(call, body_raises, Layer::Compile),
        };
        let function = call.function;
        let fast = fast.filter(|fast| !fast.arguments.leaves.iter().any(|leaf| leaf.never_fast));
        let mut dispatch_key = None;
        if let Some(fast) = fast {
            match self.consult(TableName::Dispatch, function, fast, None)? {
                (Some(NEVER_FAST), _) => {}
                (Some(program), _) => {
                    let twice = uses_a_donated_one(call.arguments).then(|| Raised::new("ValueError"));
                    let raised = call.arguments.leaves.iter().find_map(Leaf::error_when_fast).or(twice);
                    let raised = raised.or_else(|| self.copying_raises(call, true)).or_else(|| returning_raises(call));
                    return raised.map_or(Ok(Served { missed: LayerSet::NONE, program: Some(program) }), Err);
                }
                (None, key) => dispatch_key = key,
            }
        }
        self.explain(TableName::Dispatch, dispatch_key.as_ref(), differences);
        let outcome = self.walk_below(call, body_raises, deepest);
        // A call that fails leaves an entry in the fast path all the same, which then is never fast.
        let program = match &outcome {
            Ok(Served { program: Some(program), .. }) if !call.ambient.never_fast && !has_effect(function) => *program,
            _ => NEVER_FAST,
        };
        self.file(TableName::Dispatch, function, dispatch_key, program)?;
        outcome.map(|served| Served { missed: served.missed.with(Layer::Dispatch), ..served })
    }

    /// How a key that was not found differs from the one filed last.
    pub(super) fn explain(&self, name: TableName, key: Option<&Key>, differences: &mut Vec<Difference>) {
        if self.explains
            && let (Some((i, _)), Some(key)) = (self.table(name), key)
            && let Some(earlier) = self.tables[i].latest()
        {
            *differences = key.differences(earlier);
        }
    }

    /// The tables below the fast path, down to the deepest that is asked for.
    fn walk_below(
        &mut self,
        call: &Ingredients<'_>,
        body_raises: Option<Raised>,
        deepest: Layer,
    ) -> Result<Served, Raised> {
        let function = call.function;
        let mut missed = LayerSet::NONE;
        if let Some(raised) = call.arguments.leaves.iter().find_map(|leaf| leaf.error_when_missed.clone()) {
            return Err(raised);
        }
        let (inferred, infer_key) = self.consult(TableName::Infer, function, call, None)?;
        let traced = match inferred {
            Some(program) => program,
            None => {
                let (program, body_ran) = self.trace(call, body_raises)?;
                if body_ran {
                    missed = missed.with(Layer::Trace);
                }
                self.file(TableName::Infer, function, infer_key, program)?;
                program
            }
        };
        if deepest == Layer::Trace {
            return Ok(Served { missed, program: Some(traced) });
        }
        self.build(call, traced, missed, deepest)
    }

    /// Lowers and compiles what was traced, as far as the deepest layer that is asked for.
    pub(super) fn build(
        &mut self,
        call: &Ingredients<'_>,
        traced: Program,
        mut missed: LayerSet,
        deepest: Layer,
    ) -> Result<Served, Raised> {
        let function = call.function;
        let runs = matches!(call.via, Via::Call | Via::Vmap | Via::Grad | Via::Jvp);
        let mut looked_at = call.arguments.leaves.iter().filter(|leaf| runs || leaf.kept);
        if let Some(raised) = looked_at.find_map(|leaf| leaf.error_when_lowered.clone()) {
            return Err(raised);
        }
        placements_agree(call, self.profile)?;
        let mut program = traced;
        for (name, layer) in [(TableName::Lower, Layer::Lower), (TableName::Compile, Layer::Compile)] {
            if layer > deepest {
                break;
            }
            let (found, key) = self.consult(name, function, call, Some(program))?;
            program = match found {
                Some(program) => program,
                None => {
                    missed = missed.with(layer);
                    let made = self.new_program(Rc::clone(self.digest(program)));
                    self.file(name, function, key, made)?;
                    made
                }
            };
        }
        let twice = uses_a_donated_one(call.arguments).then(|| Raised::new(&self.profile.runtime_error));
        let raised = call.arguments.leaves.iter().find_map(|leaf| leaf.error_when_kept.clone()).or(twice);
        let raised = raised.or_else(|| self.copying_raises(call, false)).or_else(|| returning_raises(call));
        match raised.or_else(|| call.ambient.run_raises.as_deref().map(Raised::new)).filter(|_| runs) {
            Some(raised) => Err(raised),
            None => Ok(Served { missed, program: Some(program) }),
        }
    }

    /// What a guard raises where an argument isn't where the program runs. A copy from one device to another is none for the
    /// fast path.
    fn copying_raises(&self, call: &Ingredients<'_>, fast: bool) -> Option<Raised> {
        if !call.ambient.guarded {
            return None;
        }
        let devices = devices(call);
        let is_copied = |leaf: &Leaf| match &leaf.aval.placement {
            None => true,
            Some(at) => !at.is_committed() && (devices.len() > 1 || (!fast && at.devices() != devices)),
        };
        let mut kept = call.arguments.leaves.iter().filter(|leaf| leaf.kept);
        kept.any(is_copied).then(|| Raised::new(&self.profile.runtime_error))
    }

    /// The jaxpr, and whether the body ran for it.
    fn trace(&mut self, call: &Ingredients<'_>, body_raises: Option<Raised>) -> Result<(Program, bool), Raised> {
        let function = call.function;
        let (resources, resources_key) = self.consult(TableName::Resources, function, call, None)?;
        let (traced, trace_key) = self.consult(TableName::Trace, function, call, None)?;
        let blocked = traced == Some(NEVER_FAST);
        if let Some(program) = traced.filter(|_| !blocked) {
            return Ok((program, false));
        }
        if !call.arguments.bindable {
            return Err(Raised::new("TypeError"));
        }
        if let Some(raised) = body_raises {
            if self.profile.failed_trace_blocks_key && !blocked {
                self.file(TableName::Trace, function, trace_key, NEVER_FAST)?;
            }
            return Err(raised);
        }
        let body_ran = self.body_runs(function, call)?;
        let program = self.new_program(Rc::new(Digest::of(call)));
        if !blocked {
            self.file(TableName::Trace, function, trace_key, program)?;
        }
        if resources.is_none() {
            self.file(TableName::Resources, function, resources_key, program)?;
        }
        Ok((program, body_ran))
    }

    /// Whether the user's body runs when `function` is traced: a wrapper's body is the look-up of what it wraps.
    pub(super) fn body_runs(&mut self, function: &Obj, call: &Ingredients<'_>) -> Result<bool, Raised> {
        let Some((trace, table)) = self.table(TableName::Trace) else { return Ok(true) };
        let (inner, i) = match &**function {
            Kind::Jitted(inner) | Kind::ModuleWrapper("filter_jit", inner) => (inner, trace),
            Kind::Checkpointed(inner) => (inner, self.tables.len() - 1),
            // These call what they wrap.
            Kind::Opaque(Some(inner)) => return self.body_runs(inner, call),
            _ => return Ok(true),
        };
        let by = Some(FunctionKey { by: FunctionBy::Equal, held: Held::Weakly });
        let key = Key::of_inner(table, call);
        let table = Table { function: by, ..table.clone() };
        if self.tables[i].find(&table, inner, &key)?.is_some() {
            return Ok(false);
        }
        let program = self.new_program(Rc::new(Digest::of(call)));
        self.tables[i].file(inner, &table, key, program)?;
        self.body_runs(inner, call)
    }

    /// The primitive with these parameters.
    pub(super) fn primitive(&mut self, jaxprs: Vec<Program>, steps: Option<u64>) -> Program {
        let same = |known: &&(Vec<Program>, Option<u64>, Program)| known.0 == jaxprs && known.1 == steps;
        if let Some((_, _, program)) = self.primitives.iter().find(same) {
            return *program;
        }
        let program = self.new_program(Rc::default());
        self.primitives.push((jaxprs, steps, program));
        program
    }

    pub(super) fn new_program(&mut self, traced_from: Rc<Digest>) -> Program {
        self.programs.push(traced_from);
        Program(self.programs.len() as u64)
    }
}

/// What a call raises because of the numbers that it returns. The body that a case makes by default returns what it uses.
fn returning_raises(call: &Ingredients<'_>) -> Option<Raised> {
    let unwanted = &call.ambient.returns_no;
    let returns_arguments = match &**body(call.function) {
        Kind::Function(function) => !function.is_source && function.returns.is_none(),
        _ => false,
    };
    if unwanted.is_empty() || !returns_arguments {
        return None;
    }
    let is_unwanted = |number: f64| {
        (number.is_nan() && unwanted.contains(&NonFinite::Nan))
            || (number.is_infinite() && unwanted.contains(&NonFinite::Inf))
    };
    let mut kept = call.arguments.leaves.iter().filter(|leaf| leaf.kept);
    kept.any(|leaf| numbers(leaf).into_iter().any(is_unwanted)).then(|| Raised::new("FloatingPointError"))
}

/// The numbers that a leaf holds, as far as they can be anything but finite: an array of a case is filled with an integer.
fn numbers(leaf: &Leaf) -> Vec<f64> {
    let mut object = &leaf.object;
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

/// Whether the body that runs has an effect, which jax keeps off the fast path.
fn has_effect(function: &Obj) -> bool {
    matches!(&**body(function), Kind::Function(function) if function.has_effect)
}

/// Whether the model knows what `in_shardings` and `out_shardings` do to a call.
fn shardings_are_known(
    profile: &Profile,
    call: &Call,
    arguments: &Arguments,
    options: &JitOptions,
    ambient: &Ambient,
) -> Result<(), ModelError> {
    let unknown = |what: &str| Err(ModelError::Unsupported(format!("in_shardings and out_shardings {what}")));
    if profile.arguments != ArgumentStyle::AsWritten {
        return unknown(&format!("of {}", profile.profile));
    }
    if !matches!(call.via, Via::Call | Via::Trace | Via::Lower | Via::Compile) {
        return unknown("under a transformation");
    }
    if ambient.set_mesh.is_some() || ambient.mesh.is_some() || ambient.guarded {
        return unknown("under a mesh or a transfer guard");
    }
    for leaf in &arguments.leaves {
        let special = |at: &Placement| at.layout.is_some() || at.memory_kind.is_some();
        let asked = leaf.asked.iter().chain(options.out_shardings.iter().filter(|_| leaf.kept));
        for at in asked {
            if special(at) || leaf.aval.placement.as_ref().is_some_and(special) {
                return unknown("beside a layout or a memory kind");
            }
            if !divides(at, &leaf.aval.shape) {
                return unknown("that don't divide an array");
            }
        }
    }
    Ok(())
}

/// Whether an array of that shape can have the sharding.
fn divides(at: &Placement, shape: &[u64]) -> bool {
    let Some(named) = &at.sharding else { return true };
    named.spec.len() <= shape.len()
        && named.spec.iter().zip(shape).all(|(axis, size)| {
            axis.as_ref().is_none_or(|axis| named.mesh.get(axis).is_some_and(|parts| size % u64::from(*parts) == 0))
        })
}

/// The arguments of one program are where `in_shardings` say, and it lives on one set of devices, those of `jax.set_mesh` if
/// there are any (`DeviceAssignmentMismatchError`, a `ValueError`).
fn placements_agree(call: &Ingredients<'_>, profile: &Profile) -> Result<(), Raised> {
    let mismatch = || Raised::new("ValueError");
    for leaf in &call.arguments.leaves {
        if let (Some(asked), Some(at)) = (&leaf.asked, &leaf.aval.placement)
            && at.is_committed()
            && split(asked) != split(at)
        {
            return Err(mismatch());
        }
    }
    let counted = |leaf: &&Leaf| leaf.kept || profile.unused_arguments_have_devices;
    let mut devices: Vec<Vec<u32>> = call.ambient.set_mesh.iter().map(|mesh| mesh.devices.clone()).collect();
    for leaf in call.arguments.leaves.iter().filter(counted) {
        let own = leaf.aval.placement.as_ref().filter(|at| at.is_committed());
        let own = own.filter(|_| leaf.asked.is_none() || !profile.in_shardings_move);
        devices.extend(own.into_iter().chain(&leaf.asked).map(Placement::devices));
    }
    devices.extend(out_sharding(call).map(Placement::devices));
    match devices.split_first() {
        Some((first, others)) if others.iter().any(|other| other != first) => Err(mismatch()),
        _ => Ok(()),
    }
}

/// Into how many parts a sharding splits what it is for; none where it is on each device as a whole.
fn split(at: &Placement) -> Option<String> {
    partition(at).filter(|words| !words.starts_with("[]"))
}

/// The devices that the program of a call runs on.
fn devices(call: &Ingredients<'_>) -> Vec<u32> {
    let kept = call.arguments.leaves.iter().filter(|leaf| leaf.kept);
    let mut committed = kept.filter_map(|leaf| leaf.aval.placement.as_ref()).filter(|at| at.is_committed());
    let set = call.ambient.set_mesh.as_ref().map(|mesh| mesh.devices.clone());
    set.or_else(|| committed.next().map(Placement::devices)).unwrap_or_else(|| match call.ambient.default_device {
        Some(DefaultDevice::Number(number)) => vec![number],
        _ => vec![0],
    })
}

/// What the body that a case makes by default returns: the array leaves that it uses, in a list.
fn body_output(arguments: &Arguments, options: &JitOptions, ambient: &Ambient) -> Obj {
    // One committed argument commits the whole program.
    let returned = options.out_shardings.clone().map(|at| Placement { committed: at.sharding.is_none(), ..at });
    let kept = || arguments.leaves.iter().filter(|leaf| leaf.kept);
    let given = || kept().find_map(|leaf| leaf.lowered().placement.clone().filter(Placement::is_committed));
    let committed = returned.or_else(given).or_else(|| {
        let Mesh { axes, devices } = ambient.set_mesh.clone()?;
        let sharding = Sharding { mesh: axes.into_iter().collect(), devices, spec: Vec::new() };
        Some(Placement { sharding: Some(sharding), ..Placement::default() })
    });
    let array = |leaf: &Leaf| -> Obj {
        let library = match leaf.aval.prng {
            Some(prng) => Library::Key { prng },
            None => Library::Jax { weak: leaf.aval.weak, placement: committed.clone().unwrap_or_default() },
        };
        Rc::new(Kind::Array(Array { library, dtype: leaf.aval.dtype, shape: leaf.aval.shape.clone(), fill: None }))
    };
    Rc::new(Kind::List(arguments.leaves.iter().filter(|leaf| leaf.kept).map(array).collect()))
}
