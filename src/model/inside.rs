//! What is called inside of a function that is traced: a wrapper's body is the look-up of what it wraps.

use std::rc::Rc;

use super::arguments::{Invocation, is_mapped, sort};
use super::called::returned;
use super::flatten::{Flattening, flatten};
use super::key::{Ingredients, Key};
use super::library::not_held_weakly;
use super::object::{Kind, Obj, PARTITIONED, Raised};
use super::predict::Simulation;
use super::running::{is_elementwise_of_many, returns_a_list, returns_nothing};
use super::table::NEVER_FAST;
use super::transform::{Passed, has_no_gradient, passed, passed_inside, with_literals};
use super::treedef::Root;
use super::view::leaf_kind;
use super::walk::is_pure_callback;
use super::wrapper::Options;
use crate::case::{JitOptions, Via, Wrapper};
use crate::spec::{
    ArgumentStyle, CallComponent, FunctionBy, FunctionKey, Held, KeyedBy, LeafKind, ModuleHash, Profile, Role, Table,
    TableName,
};

impl Simulation<'_> {
    /// Whether the user's body runs when `function` is traced: a wrapper's body is the look-up of what it wraps. An error if
    /// the body raises, or the wrapper does.
    pub(super) fn body_runs(
        &mut self,
        function: &Obj,
        call: &Ingredients<'_>,
        raises: Option<&Raised>,
    ) -> Result<bool, Raised> {
        match &**function {
            Kind::Jitted(inner, options) => {
                let options = &Options::of(options, self.profile);
                self.inner_runs(function, inner, (options, passed_inside), call, raises)
            }
            Kind::Wrapper(inner, options) if self.profile.keyed_by == KeyedBy::Function => {
                // A transformation has made what it is called with.
                self.inner_runs(function, inner, (options, passed_under), call, raises)
            }
            Kind::ModuleWrapper("filter_jit", inner, _) => match call.invocation {
                Some(outer) if self.profile.arguments == ArgumentStyle::Partition => {
                    let called = Invocation { function: inner, ..*outer };
                    let arguments = sort(self.profile, &called)?;
                    let arguments = &if call.via == Via::Vmap { arguments.unbatched()? } else { arguments };
                    // The objects of a case are made before anything is cleared.
                    let inside = Ingredients { arguments, invocation: Some(&called), generation: 0, ..*call };
                    self.is_looked_up(inner, &Lookup::FilterJit, &inside, raises)
                }
                // It jits a function of its own, which has the wrapped one as an argument, and so keeps it.
                _ => {
                    let argument: Obj = Rc::new(Kind::ModuleWrapper(PARTITIONED, Rc::clone(inner), ModuleHash::Fields));
                    self.is_looked_up(inner, &Lookup::As(&argument), call, raises)
                }
            },
            // It takes arrays alone, whatever is static outside.
            Kind::Checkpointed(inner) => match (not_held_weakly(inner), self.as_written(call)) {
                (Some(raised), _) => Err(raised),
                (None, Some(outer)) => {
                    let called = Invocation { function: inner, options: &Options::default(), ..*outer };
                    let arguments = &sort(self.profile, &called)?;
                    let inside = Ingredients { arguments, invocation: Some(&called), ..*call };
                    self.is_looked_up(inner, &Lookup::Checkpoint, &inside, raises)
                }
                (None, None) => self.is_looked_up(inner, &Lookup::Checkpoint, call, raises),
            },
            // Nothing is mapped, and nothing returned that would have to be.
            Kind::ModuleWrapper("filter_vmap", inner, _) if !is_mapped(call.arguments) && returns_nothing(inner) => {
                self.body_runs(inner, call, raises)
            }
            Kind::Mapped(inner) | Kind::ModuleWrapper("filter_vmap", inner, _) => {
                let arguments = &call.arguments.clone().unbatched()?;
                if let Some(class) = &self.profile.transformations.pure_callback_under_vmap
                    && is_pure_callback(inner)
                {
                    return Err(Raised::new(class));
                }
                self.body_runs(inner, &Ingredients { arguments, invocation: None, ..*call }, raises)
            }
            // In a case it has no rule, which is looked for first.
            Kind::Opaque(_, Wrapper::CustomJvp) => {
                Err(raises.cloned().unwrap_or_else(|| Raised::new("AttributeError")))
            }
            // The others are gradients.
            Kind::Opaque(inner, _) | Kind::ModuleWrapper(_, inner, _) => {
                if matches!(**function, Kind::Opaque(..))
                    && call.invocation.is_some_and(|outer| has_no_gradient(self.profile, outer))
                {
                    return Err(Raised::new("TypeError"));
                }
                let runs = self.body_runs(inner, call, raises)?;
                let is_refused =
                    !call.ambient.recorded && (returns_a_list(inner) || is_elementwise_of_many(inner, call));
                if is_refused { Err(Raised::new("TypeError")) } else { Ok(runs) }
            }
            // It calls what it wraps.
            Kind::Wrapper(inner, _) => self.body_runs(inner, call, raises),
            Kind::Partial { func, args, kwargs } | Kind::TreePartial { func, args, kwargs } => {
                match call.invocation.filter(|_| call.via != Via::Vmap) {
                    Some(outer) if looks_up(func) => {
                        let args: Vec<Obj> = args.iter().chain(outer.args).cloned().collect();
                        let mut named = kwargs.clone();
                        named.retain(|(name, _)| !outer.kwargs.iter().any(|(given, _)| given == name));
                        named.extend_from_slice(outer.kwargs);
                        let options = &Options::default();
                        let called = Invocation { function: func, args: &args, kwargs: &named, options, ..*outer };
                        let arguments = &sort(self.profile, &called)?;
                        self.body_runs(func, &Ingredients { arguments, invocation: Some(&called), ..*call }, raises)
                    }
                    _ => raises.map_or(Ok(true), |raised| Err(raised.clone())),
                }
            }
            Kind::Function(function) => match (raises, &function.returns) {
                (Some(raised), _) => Err(raised.clone()),
                (None, Some(returned)) => self.takes_back(returned, call).map(|()| true),
                (None, None) => Ok(true),
            },
            Kind::Class(class) => {
                raises.map_or_else(|| returned(class, self.profile).map(|()| true), |raised| Err(raised.clone()))
            }
            _ => raises.map_or(Ok(true), |raised| Err(raised.clone())),
        }
    }

    /// What is raised of what a body returns; `filter_jit` passes on what is no array, and returns an array of its own first.
    fn takes_back(&self, returned: &Obj, call: &Ingredients<'_>) -> Result<(), Raised> {
        let passes = self.profile.arguments == ArgumentStyle::Partition;
        let views = self.views(call.ambient.x64);
        let flat = flatten(Root::Called("returned".into()), returned, &Flattening::of(self.profile));
        let flat = flat.map_err(|raised| self.profile.unsortable_returned.as_deref().map_or(raised, Raised::new))?;
        let is_array = |leaf: &Obj| matches!(**leaf, Kind::Array(_) | Kind::NumpyScalar(..));
        let leaves = flat.leaves.iter().map(|(_, leaf)| leaf).filter(|leaf| !passes || is_array(leaf));
        for (i, leaf) in leaves.enumerate() {
            let raised = match leaf_kind(leaf, call.ambient.x64) {
                LeafKind::ShapeDtypeStruct => Some("TypeError".to_owned()),
                _ => views.rule_of(leaf).and_then(|rule| match rule.role {
                    Role::Invalid => Some(rule.error.clone().unwrap_or_else(|| "TypeError".to_owned())),
                    _ => rule.error_when_missed.clone(),
                }),
            };
            let place = i + usize::from(passes);
            match (raised, &self.profile.misreported_returns) {
                (Some(class), Some(instead)) if class == "TypeError" && matches!(place, 2 | 3) => {
                    return Err(Raised::new(instead));
                }
                (Some(class), _) => return Err(Raised(class)),
                (None, _) => {}
            }
        }
        Ok(())
    }

    /// Whether it takes whatever it is called with, and what it wraps is bound when that is looked up.
    pub(super) fn binds_inside(&self, function: &Obj) -> bool {
        match &**function {
            Kind::Jitted(..) => true,
            Kind::Wrapper(..) => self.profile.keyed_by == KeyedBy::Function,
            _ => false,
        }
    }

    /// What the arguments were sorted from, where they are those of `jax.jit`. What is under `jax.vmap` has other avals.
    fn as_written<'a>(&self, call: &Ingredients<'a>) -> Option<&'a Invocation<'a>> {
        call.invocation.filter(|_| self.profile.arguments == ArgumentStyle::AsWritten && call.via != Via::Vmap)
    }

    /// The same for the function inside the `jax.jit` that is `wrapper`, with these options, which sorts its arguments itself.
    fn inner_runs(
        &mut self,
        wrapper: &Obj,
        inner: &Obj,
        (options, passed): (&Options, PassedOn),
        call: &Ingredients<'_>,
        raises: Option<&Raised>,
    ) -> Result<bool, Raised> {
        if call.ambient.bypasses {
            return self.body_runs(inner, call, raises);
        }
        if let Some(raised) = call.ambient.missing_raises() {
            return Err(raised);
        }
        if let Some(raised) = not_held_weakly(inner) {
            return Err(raised);
        }
        if let Some(runs) = self.jitted_runs {
            return raises.filter(|_| runs).map_or(Ok(runs), |raised| Err(raised.clone()));
        }
        let Some(outer) = self.as_written(call) else {
            let is_partition = self.profile.arguments == ArgumentStyle::Partition && call.via != Via::Vmap;
            let Some(outer) = call.invocation.filter(|_| is_partition) else {
                return self.is_looked_up(inner, &Lookup::Jit(wrapper), call, raises);
            };
            // To `jax.jit` a number that `filter_jit` keeps static is an array.
            let args = with_literals(outer)?;
            let arguments = &sort(self.profile, &Invocation { args: &args, ..*outer })?;
            return self.is_looked_up(inner, &Lookup::Jit(wrapper), &Ingredients { arguments, ..*call }, raises);
        };
        let (args, kwargs) = passed(self.profile, &Invocation { function: inner, options, ..*outer }, outer)?;
        let called = Invocation { function: inner, args: &args, kwargs: &kwargs, options, ..*outer };
        let arguments = &sort(self.profile, &called)?;
        self.hashes_beside_tracers(Via::Call, arguments)?;
        let inside = Ingredients { arguments, invocation: Some(&called), options, ..*call };
        let runs = self.is_looked_up(inner, &Lookup::Jit(wrapper), &inside, raises)?;
        self.refuses_options(call.via, options).map_or(Ok(runs), |class| Err(Raised::new(class)))
    }

    /// What a wrapper with options for XLA raises that is no outermost one under this use (`pjit_staging_rule`).
    pub(super) fn refuses_options(&self, via: Via, options: &JitOptions) -> Option<&'static str> {
        let asks = options.compiler_options.as_ref().is_some_and(|asked| !asked.is_empty());
        let refuses = || self.profile.transformations.refuse_compiler_options.contains(&via);
        (asks && refuses()).then_some("ValueError")
    }

    /// The same where the jaxpr of `inner` is looked up.
    fn is_looked_up(
        &mut self,
        inner: &Obj,
        by: &Lookup<'_>,
        call: &Ingredients<'_>,
        raises: Option<&Raised>,
    ) -> Result<bool, Raised> {
        let Some((trace, table)) = self.table(TableName::Trace) else { return Ok(true) };
        let (checkpoints, signatures) = (self.profile.tables.len(), self.profile.tables.len() + 1);
        let inside = &self.profile.inside;
        let (i, known, held, named) = match by {
            Lookup::Jit(_) => (trace, inner, Held::Weakly, inside.jit),
            Lookup::FilterJit => (trace, inner, Held::Weakly, None),
            Lookup::Checkpoint => (checkpoints, inner, Held::Weakly, inside.checkpoint),
            Lookup::As(known) => (checkpoints, *known, Held::Strongly, None),
        };
        let is_theirs = |part: &CallComponent| match part {
            CallComponent::ArgumentNames | CallComponent::ArgumentNamesAsInserted => false,
            // Those are what the outer wrapper asks for.
            CallComponent::Options => matches!(by, Lookup::FilterJit),
            _ => true,
        };
        let nameless: Vec<_> = table.call.iter().copied().filter(is_theirs).collect();
        // Where the function is an argument like any other, a wrapper inside has the key that it has on its own.
        let is_own = self.profile.arguments == ArgumentStyle::Partition && i == trace && call.invocation.is_some();
        let (key, table) = match is_own && matches!(function_of(call), Some(own) if Rc::ptr_eq(own, inner)) {
            true => (Key::of(table, call, None), table.clone()),
            false => {
                let function = Some(FunctionKey { by: FunctionBy::Equal, held });
                let parts = nameless.iter().copied().chain(named).collect();
                (Key::of_inner(table, call), Table { function, call: parts, ..table.clone() })
            }
        };
        let signature = match by {
            Lookup::Jit(wrapper) if inside.signatures && named.is_some() => {
                let function = Some(FunctionKey { by: FunctionBy::Identity, held: Held::Weakly });
                Some((*wrapper, Table { function, call: nameless, ..table.clone() }))
            }
            _ => None,
        };
        // A signature that was met is looked for first; whatever succeeds files it.
        if let Some((wrapper, of_wrapper)) = &signature
            && self.tables[signatures].find(of_wrapper, wrapper, &key)?.is_some()
        {
            return Ok(false);
        }
        let found = self.tables[i].find(&table, known, &key)?;
        let blocked = found == Some(NEVER_FAST);
        let (program, body_ran) = match found {
            Some(program) if !blocked => (program, false),
            _ if !call.arguments.bindable && !self.binds_inside(inner) => return Err(Raised::new("TypeError")),
            _ => match self.body_runs(inner, call, raises) {
                Ok(body_ran) => {
                    let program = self.traced(call);
                    if !blocked {
                        self.tables[i].file(known, &table, key.clone(), program, self.calls)?;
                    }
                    (program, body_ran)
                }
                Err(raised) => {
                    if self.profile.failed_trace_blocks_key && i == trace && !blocked {
                        self.tables[i].file(known, &table, key, NEVER_FAST, self.calls)?;
                    }
                    return Err(raised);
                }
            },
        };
        if let Some((wrapper, of_wrapper)) = signature {
            self.tables[signatures].file(wrapper, &of_wrapper, key, program, self.calls)?;
        }
        Ok(body_ran)
    }
}

/// By what a function inside of another is looked up.
enum Lookup<'l> {
    /// By this `jax.jit`, which finds the signatures that it has met.
    Jit(&'l Obj),
    FilterJit,
    /// By `jax.checkpoint`, in a table of its own.
    Checkpoint,
    /// There, too, where the function is this argument.
    As(&'l Obj),
}

/// What a function inside of another is called with.
type PassedOn = fn(&Profile, &Invocation<'_>, &Invocation<'_>) -> Result<Passed, Raised>;

/// What a wrapper under a transformation calls its function with: it is given tracers for all, and has no statics apart from it.
fn passed_under(profile: &Profile, call: &Invocation<'_>, _: &Invocation<'_>) -> Result<Passed, Raised> {
    passed(profile, Via::MakeJaxpr, call)
}

/// The function that the arguments were sorted for.
fn function_of<'a>(call: &Ingredients<'a>) -> Option<&'a Obj> {
    call.invocation.map(|invocation| invocation.function)
}

/// Whether calling the function is a look-up of what it wraps.
fn looks_up(function: &Obj) -> bool {
    match &**function {
        Kind::Jitted(..) | Kind::Checkpointed(_) => true,
        Kind::Opaque(inner, _) | Kind::Partial { func: inner, .. } | Kind::TreePartial { func: inner, .. } => {
            looks_up(inner)
        }
        _ => false,
    }
}
