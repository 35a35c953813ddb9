//! A case's steps, one after the other: what each call does, and what the others change.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use smallvec::SmallVec;

use super::ambient::Ambient;
use super::arguments::{Invocation, sort};
use super::buffers::Gone;
use super::build::{BuildError, Namespace, Output};
use super::compiled::Compiled;
use super::difference::{Difference, Explanation};
use super::digest::Digest;
use super::generation::Generations;
use super::key::{Ingredients, Key, Primitive};
use super::looked_up::{Functions, Given};
use super::object::{Obj, Raised, Ways};
use super::persistent::File;
use super::table::{Entries, Program};
use super::view::Views;
use super::wrapper::{Options, Wrappers};
use crate::case::{Behaviour, Call, Case, Class, Context, JitOptions, Name, Step, Thread, Value, Verdict, Via};
use crate::spec::{Profile, Table};

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
    pub(super) function: Obj,
    pub(super) args: Vec<Obj>,
    pub(super) kwargs: Vec<(Name, Obj)>,
    pub(super) ambient: Rc<Ambient>,
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
    /// What else it has that the program was not traced from; empty unless asked for.
    pub stale_beside: Vec<Difference>,
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
    pub(super) compiled: HashMap<usize, Compiled>,
    pub(super) calls: usize,
    /// Whether no step comes after this one, so that nothing need be kept for it.
    pub(super) is_last: bool,
    pub(super) explains: bool,
    /// Those of the call that is being served.
    pub(super) explanations: Vec<Explanation>,
    /// The program whose key is nearest to that of the call that is being served, if that is traced.
    pub(super) nearest_trace: Option<Program>,
    /// The functions that loops were given, where misses are explained, and those of the loop that is called now.
    pub(super) given: Given,
    /// The calls that asked for a jaxpr and nothing below it.
    pub(super) traced_alone: HashSet<usize>,
    pub(super) given_now: Functions,
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
        // Two more than the profile names: the jaxprs of what `jax.checkpoint` wraps, and the signatures of what `jax.jit` does inside.
        let tables = (0..profile.tables.len() + 2).map(|_| Entries::default()).collect();
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
            nearest_trace: None,
            given: Given::default(),
            traced_alone: HashSet::default(),
            given_now: Functions::default(),
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
                if matches!(call.via, Via::Trace | Via::EvalShape | Via::MakeJaxpr) {
                    self.traced_alone.insert(self.calls);
                }
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
    pub(super) fn views(&self, x64: bool) -> &Rc<Views<'c>> {
        &self.views[usize::from(x64)]
    }

    /// What the function of `call` is wrapped with.
    pub(super) fn options_of(&self, call: &Call) -> Options {
        call.options.as_ref().map_or_else(|| self.options.clone(), |asked| Options::of(asked, self.profile))
    }

    /// Whether it matters to a call which objects its leaves are: for their buffers, or the numbers that they hold.
    pub(super) fn objects_matter(&self, options: &JitOptions, ambient: &Ambient) -> bool {
        let JitOptions { donate_argnums, donate_argnames, donate, .. } = options;
        let donates = !donate_argnums.is_empty() || !donate_argnames.is_empty() || donate.is_some();
        donates || !self.gone.is_empty() || !ambient.returns_no.is_empty()
    }

    /// What a call returns where the case says so.
    pub(super) fn stated(&self, returns: &Value) -> Result<Output, ModelError> {
        let object = self.names.build(returns)?;
        Ok(Output::new(Box::new(|| object)))
    }

    /// What was noted for the call. A key that isn't there is no miss of its layer where nothing is made for it, as when a
    /// wrapper's body is found in another table.
    pub(super) fn explanations(&mut self, verdict: &Verdict) -> Vec<Explanation> {
        self.nearest_trace = None;
        let mut explanations = std::mem::take(&mut self.explanations);
        if let Verdict::Missed(missed) = verdict {
            explanations.retain(|explanation| missed.contains(explanation.layer));
        }
        explanations
    }

    /// What is wrong with serving `call` with `program`: what it was not traced from, unless it is new and was traced for it, or
    /// that an empty cache would raise.
    pub(super) fn stale(
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
        if self.case.context.is_empty()
            && call.context.is_empty()
            && call.effect.is_none()
            && call.reads.is_empty()
            && call.reads_each.is_empty()
            && !call.fails_as_it_runs
            && call.fails_at.is_none()
            && !call.traced_with_any
            && !call.reads_no_gone
            && !call.loaded
        {
            return Ok(Rc::clone(&self.nothing));
        }
        let mut ambient = match call.thread {
            Thread::Main => Ambient::of(&self.case.context, &call.context, self.profile, &self.names)?,
            // A flag is set for the process, but for those that a context manager sets as well, which holds for its thread; and which
            // kinds of context there are is a matter of the process.
            Thread::Other => {
                let shared = |context: &Context| {
                    let is_the_threads = |name: &str| matches!(name, "jax_debug_nans" | "jax_debug_infs");
                    let flags = context.flags.iter().filter(|(name, _)| !is_the_threads(name));
                    let flags = flags.map(|(name, value)| (name.clone(), value.clone())).collect();
                    let (persistent_cache, contexts_made) = (context.persistent_cache, context.contexts_made);
                    Context { flags, persistent_cache, contexts_made, ..Context::default() }
                };
                Ambient::of(&shared(&self.case.context), &shared(&call.context), self.profile, &self.names)?
            }
        };
        ambient.recorded = self.nothing.recorded;
        ambient.reads = call.reads.clone().into_iter().collect();
        ambient.reads_each = call.reads_each.iter().map(|reads| reads.clone().into_iter().collect()).collect();
        ambient.reads_no_gone = call.reads_no_gone;
        ambient.loaded = call.loaded;
        ambient.traced_with_any = call.traced_with_any;
        ambient.fails_at.clone_from(&call.fails_at);
        ambient.never_fast |= call.fails_as_it_runs || call.effect.is_some_and(|effect| self.profile.is_slow(effect));
        Ok(Rc::new(ambient))
    }

    pub(super) fn digest(&self, Program(number): Program) -> &Rc<Digest> {
        &self.programs[number as usize - 1]
    }
}
