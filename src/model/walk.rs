//! The walk: each call consults the tables from the top, and a hit ends it.

use std::rc::Rc;

use super::arguments::Arguments;
use super::buffers::{given, uses_a_donated_one};
use super::called::{comparison_raises, innermost};
use super::difference::Explanation;
use super::digest::Digest;
use super::key::{Ingredients, Key, Primitive};
use super::leaf::Leaf;
use super::library::not_held_weakly;
use super::nearest::Nearest;
use super::object::{Kind, Obj, Raised};
use super::predict::{ModelError, Simulation};
use super::running::{devices, placements_agree, returning_raises};
use super::table::{NEVER_FAST, Program};
use super::transform::leaf_has_tangent;
use crate::case::{Effect, JitOptions, Layer, LayerSet, Name, Value, Via};
use crate::spec::{ArgumentStyle, KeyedBy, Profile, Table, TableName};

/// How a call was served.
pub(super) struct Served {
    pub missed: LayerSet,
    /// By which program; none where no cache was looked at.
    pub program: Option<Program>,
    /// Whether it was traced for this call.
    pub is_new: bool,
}

/// A jaxpr, and what was done for it.
struct Traced {
    program: Program,
    /// Whether the user's body ran.
    body_ran: bool,
    is_new: bool,
}

impl Served {
    /// The body ran as it stands.
    pub fn by_nothing() -> Self {
        Self { missed: LayerSet::NONE.with(Layer::Trace), program: None, is_new: true }
    }
}

impl<'c> Simulation<'c> {
    pub(super) fn table(&self, name: TableName) -> Option<(usize, &'c Table)> {
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
        if self.explains && found.is_none() {
            self.explain(i, table, function, &key)?;
        } else if self.explains
            && name == TableName::Trace
            && found == Some(NEVER_FAST)
            && let Some(nearest) = self.nearest(i, table, function, &key, |program| program != NEVER_FAST)?
            && !nearest.differences.is_empty()
        {
            // What raised is found under its key, but there is nothing to be served.
            self.note_nearest(Layer::Trace, nearest);
        }
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
            // A loop looks the functions of one call up after each other.
            _ if self.is_last && !matches!(self.profile.arguments, ArgumentStyle::ControlFlow(_)) => Ok(()),
            (Some((i, table)), Some(key)) => self.tables[i].file(function, table, key, program, self.calls),
            _ => Ok(()),
        }
    }

    /// Files a jaxpr, which is not kept where an attempt with its key has failed.
    pub(super) fn file_traced(
        &mut self,
        function: &Obj,
        key: Option<Key>,
        program: Program,
        blocked: bool,
    ) -> Result<(), Raised> {
        match (blocked, self.table(TableName::Trace), &key) {
            (true, Some((i, table)), Some(key)) => self.tables[i].note(function, table, key, program, self.calls),
            _ => self.file(TableName::Trace, function, key, program),
        }
    }

    /// Files that a body raised, where that keeps what is traced later from being filed.
    pub(super) fn file_failed(&mut self, function: &Obj, key: Option<Key>, blocked: bool) -> Result<(), Raised> {
        match self.profile.failed_trace_blocks_key && !blocked {
            true => self.file(TableName::Trace, function, key, NEVER_FAST),
            false => Ok(()),
        }
    }

    /// Consults the tables from the top. `fast` is the call as the fast path sees it, if it can.
    pub(super) fn walk(
        &mut self,
        call: &Ingredients<'_>,
        fast: Option<&Ingredients<'_>>,
        body_raises: Option<Raised>,
    ) -> Result<Served, Raised> {
        let deepest = match call.via {
            Via::Call => Layer::Compile,
            // Under a transformation the fast path hands every call to Python, and files none.
            Via::Vmap | Via::Grad | Via::Jvp => {
                if let Some(raised) = call.ambient.missing_raises() {
                    return Err(raised);
                }
                self.hashes_beside_tracers(call.via, call.arguments)?;
                if let Some(class) = self.no_rule_for(call).or_else(|| self.refuses_options(call.via, call.options)) {
                    self.walk_below(call, body_raises, Layer::Trace)?;
                    return Err(Raised::new(class));
                }
                let served = self.walk_below(call, body_raises, Layer::Compile)?;
                return Ok(Served { missed: served.missed.with(Layer::Dispatch), ..served });
            }
            Via::Trace | Via::EvalShape | Via::MakeJaxpr => {
                if call.via == Via::EvalShape && self.profile.keyed_by == KeyedBy::Wrapper {
                    self.hashes_beside_tracers(call.via, call.arguments)?;
                }
                let served = self.walk_below(call, body_raises, Layer::Trace)?;
                return self
                    .refuses_options(call.via, call.options)
                    .map_or(Ok(served), |class| Err(Raised::new(class)));
            }
            Via::Lower => return self.walk_below(call, body_raises, Layer::Lower),
            Via::Compile => return self.walk_below(call, body_raises, Layer::Compile),
        };
        let function = call.function;
        let fast = fast.filter(|fast| !fast.arguments.leaves.iter().any(|leaf| leaf.never_fast));
        let mut dispatch_key = None;
        if let Some(fast) = fast {
            if let Some(raised) = &fast.arguments.unhashable {
                return Err(raised.clone());
            }
            match self.consult(TableName::Dispatch, function, fast, None)? {
                (Some(NEVER_FAST), _) => {}
                (Some(program), _) => {
                    if fast.arguments.leaves.len() > call.arguments.leaves.len() && !are_shifted(fast, call) {
                        let what = "what the fast path hands on of more arguments than the program takes";
                        self.unknown = Some(ModelError::Unsupported(what.to_owned()));
                    }
                    let is_misfit = uses_a_donated_one(call.arguments, call.ambient) || are_shifted(fast, call);
                    let misfit = is_misfit.then(|| Raised::new("ValueError"));
                    let raised = call.arguments.leaves.iter().find_map(|leaf| leaf.error_when_fast()).or(misfit);
                    let raised = raised.or_else(|| self.copying_raises(call, true)).or_else(|| returning_raises(call));
                    return raised
                        .map_or(Ok(Served { missed: LayerSet::NONE, program: Some(program), is_new: false }), Err);
                }
                (None, key) => dispatch_key = key,
            }
        }
        let is_reserved = |name: &Name| self.profile.reserved_names.contains(name);
        let outcome = match call.ambient.missing_raises() {
            None if call.arguments.form.keywords.iter().any(is_reserved) => Err(Raised::new("TypeError")),
            None => self.walk_below(call, body_raises, deepest),
            Some(raised) => Err(raised),
        };
        self.explain_dispatch(function, dispatch_key.as_ref(), &outcome)?;
        // A call that fails leaves an entry in the fast path all the same, which then is never fast.
        let program = match &outcome {
            Ok(Served { program: Some(program), .. })
                if !call.ambient.never_fast && !self.has_effect(function) && !has_slow_key(call) =>
            {
                *program
            }
            _ => NEVER_FAST,
        };
        self.file(TableName::Dispatch, function, dispatch_key, program)?;
        outcome.map(|served| Served { missed: served.missed.with(Layer::Dispatch), ..served })
    }

    /// Raises for a static that can't be hashed, at a version where only the fast path hashes: it is asked if no leaf is a tracer. Where
    /// the static can be a tracer itself, which is compared with those of every call before, the outcome isn't known.
    pub(super) fn hashes_beside_tracers(&mut self, via: Via, arguments: &Arguments) -> Result<(), Raised> {
        let Some(raised) = &arguments.unhashable else { return Ok(()) };
        let is_traced = via != Via::Grad || arguments.form.static_positions.contains(&0);
        if arguments.leaves.is_empty() || via == Via::Grad && is_traced {
            return Err(raised.clone());
        }
        if is_traced {
            self.unknown = Some(ModelError::Unsupported("tracers that are static arguments and compared".to_owned()));
        }
        Ok(())
    }

    /// Notes of a call that missed the fast path alone, whose key is `key`, how it differs from those that led to the program
    /// which the tables below have for it: the keys of other programs say nothing. Of one that was lowered again, how it differs from
    /// those of the same trace. Of one that was traced, which of the calls that use the nearest program is nearest.
    pub(super) fn explain_dispatch(
        &mut self,
        function: &Obj,
        key: Option<&Key>,
        served: &Result<Served, Raised>,
    ) -> Result<(), Raised> {
        let traced = self.nearest_trace.take();
        if let (Some(program), Some(key), Some((i, table))) = (traced, key, self.table(TableName::Dispatch))
            && let Some(nearest) = self.nearest(i, table, function, key, |other| self.is_of_trace(other, program))?
        {
            let of_trace = self.explanations.iter_mut().find(|explanation| explanation.layer == Layer::Trace);
            of_trace.into_iter().for_each(|explanation| explanation.nearest = nearest.call);
        }
        let (true, Some(key), Ok(Served { program: Some(program), missed, .. })) = (self.explains, key, served) else {
            return Ok(());
        };
        let Some((i, table)) = self.table(TableName::Dispatch) else { return Ok(()) };
        let is_of_it = |other| if missed.is_empty() { other == *program } else { self.is_of_trace(other, *program) };
        let found = if missed.contains(Layer::Trace) { None } else { self.nearest(i, table, function, key, is_of_it)? };
        if missed.is_empty() || found.is_some() {
            self.explanations.retain(|explanation| explanation.layer != Layer::Dispatch);
        }
        if let Some(Nearest { call, differences, .. }) = found {
            self.explanations.insert(0, Explanation { layer: Layer::Dispatch, nearest: call, differences });
        }
        Ok(())
    }

    /// Notes why `key` was not found.
    fn explain(&mut self, i: usize, table: &Table, function: &Obj, key: &Key) -> Result<(), Raised> {
        let layer = match table.table {
            TableName::Dispatch => Layer::Dispatch,
            TableName::Trace => Layer::Trace,
            TableName::Lower => Layer::Lower,
            TableName::Compile => Layer::Compile,
            TableName::Infer | TableName::Resources | TableName::Persistent => return Ok(()),
        };
        if let Some(nearest) = self.nearest(i, table, function, key, |_| true)? {
            self.note_nearest(layer, nearest);
        }
        Ok(())
    }

    fn note_nearest(&mut self, layer: Layer, Nearest { call, program, differences }: Nearest) {
        self.explanations.push(Explanation { layer, nearest: call, differences });
        self.nearest_trace = Some(program).filter(|_| layer == Layer::Trace).or(self.nearest_trace);
    }

    fn nearest(
        &self,
        i: usize,
        table: &Table,
        function: &Obj,
        key: &Key,
        is_of: impl Fn(Program) -> bool,
    ) -> Result<Option<Nearest>, Raised> {
        let is_alone = |call| self.traced_alone.contains(&call);
        let standing = |call| (is_alone(call) && !is_alone(self.calls), self.shared_functions(call));
        self.tables[i].nearest(function, table, key, self.calls, standing, is_of)
    }

    /// The call that left `traced`, if no more than that, has left a program from now on.
    fn goes_on(&mut self, traced: Program) {
        if !self.traced_alone.is_empty()
            && let Some((i, _)) = self.table(TableName::Trace)
            && let Some(call) = self.tables[i].filed_by(traced)
        {
            self.traced_alone.remove(&call);
        }
    }

    /// Whether a program of the fast path was made from what was traced as `traced`.
    fn is_of_trace(&self, program: Program, traced: Program) -> bool {
        ![program, traced].contains(&NEVER_FAST) && Rc::ptr_eq(self.digest(program), self.digest(traced))
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
        // The fast path compares what it doesn't hash.
        if let Some(raised) = call.ambient.unhashable() {
            return Err(raised);
        }
        if let Some(raised) = call.arguments.leaves.iter().find_map(|leaf| leaf.refused(&call.ambient.passing)) {
            return Err(raised);
        }
        if let Some(raised) = not_held_weakly(function).filter(|_| self.profile.keyed_by == KeyedBy::Function) {
            return Err(raised);
        }
        let (inferred, infer_key) = self.consult(TableName::Infer, function, call, None)?;
        let (traced, is_new) = match inferred {
            Some(program) => (program, false),
            None => {
                let Traced { program, body_ran, is_new } = self.trace(call, body_raises)?;
                comparison_raises(function, self.profile)?;
                if body_ran {
                    missed = missed.with(Layer::Trace);
                }
                self.file(TableName::Infer, function, infer_key, program)?;
                (program, is_new)
            }
        };
        if deepest == Layer::Trace {
            return Ok(Served { missed, program: Some(traced), is_new });
        }
        Ok(Served { is_new, ..self.build(call, traced, missed, deepest)? })
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
        if let Some(raised) = looked_at.find_map(|leaf| leaf.refused_by_lowering(&call.ambient.passing)) {
            return Err(raised);
        }
        placements_agree(call, self.profile)?;
        let mut program = traced;
        for (name, layer) in [(TableName::Lower, Layer::Lower), (TableName::Compile, Layer::Compile)] {
            if layer > deepest {
                break;
            }
            if let Some((_, class)) = call.ambient.fails_at.as_ref().filter(|(at, _)| *at == layer) {
                return Err(Raised::new(class));
            }
            let (found, key) = self.consult(name, function, call, Some(program))?;
            program = match found {
                Some(program) => program,
                None if name == TableName::Lower
                    && is_ordered(function)
                    && devices(call.arguments, call.ambient).len() > 1 =>
                {
                    return Err(Raised::new("ValueError"));
                }
                None if name == TableName::Compile && has_unknown_option(call.options) => {
                    return Err(Raised::new(&self.profile.runtime_error));
                }
                None => {
                    if name == TableName::Lower || !self.is_loaded(call) {
                        missed = missed.with(layer);
                    }
                    if name == TableName::Lower {
                        self.goes_on(program);
                    }
                    let made = self.new_program(Rc::clone(self.digest(program)));
                    self.file(name, function, key, made)?;
                    made
                }
            };
        }
        // As a case has it, the tangents are the arguments once more.
        let is_given_twice = call.via == Via::Jvp && given(call.arguments, call.ambient).next().is_some();
        let twice = is_given_twice || uses_a_donated_one(call.arguments, call.ambient);
        let twice = twice.then(|| Raised::new(&self.profile.runtime_error));
        // What a transformation leaves has a fast path of its own.
        let is_fast = matches!(call.via, Via::Vmap | Via::Grad | Via::Jvp) && missed.is_empty();
        let error = |leaf: Leaf<'_>| {
            leaf.error(|errors| if is_fast && errors.fast.is_some() { &errors.fast } else { &errors.kept })
        };
        let raised = call.arguments.leaves.iter().find_map(error).or(twice);
        let raised = raised.or_else(|| self.copying_raises(call, false)).or_else(|| returning_raises(call));
        match raised.or_else(|| call.ambient.run_raises.as_deref().map(Raised::new)).filter(|_| runs) {
            Some(raised) => Err(raised),
            None => Ok(Served { missed, program: Some(program), is_new: false }),
        }
    }

    /// What a guard raises where an argument isn't where the program runs. A copy from one device to another is none for the
    /// fast path.
    pub(super) fn copying_raises(&self, call: &Ingredients<'_>, fast: bool) -> Option<Raised> {
        if !call.ambient.guarded {
            return None;
        }
        let devices = devices(call.arguments, call.ambient);
        let is_copied = |leaf: Leaf<'_>| match &leaf.aval.placement {
            None => true,
            Some(at) => !at.is_committed() && (devices.len() > 1 || (!fast && at.devices() != devices)),
        };
        let mut kept = call.arguments.leaves.iter().filter(|leaf| leaf.kept);
        kept.any(is_copied).then(|| Raised::new(&self.profile.runtime_error))
    }

    fn trace(&mut self, call: &Ingredients<'_>, body_raises: Option<Raised>) -> Result<Traced, Raised> {
        let function = call.function;
        if let Some(class) = self.profile.name_passed_twice.as_deref().filter(|_| call.arguments.names_twice) {
            return Err(Raised::new(class));
        }
        let (resources, resources_key) = self.consult(TableName::Resources, function, call, None)?;
        let (traced, trace_key) = self.consult(TableName::Trace, function, call, None)?;
        let blocked = traced == Some(NEVER_FAST);
        if let Some(program) = traced.filter(|_| !blocked) {
            return Ok(Traced { program, body_ran: false, is_new: false });
        }
        if !call.arguments.bindable && !self.binds_inside(function) {
            return Err(Raised::new("TypeError"));
        }
        let body_ran = match self.body_runs(function, call, body_raises.as_ref()) {
            Ok(body_ran) => body_ran || call.ambient.traced_with_any,
            Err(raised) => {
                self.file_failed(function, trace_key, blocked)?;
                return Err(raised);
            }
        };
        let program = self.traced(call);
        self.file_traced(function, trace_key, program, blocked)?;
        if resources.is_none() {
            self.file(TableName::Resources, function, resources_key, program)?;
        }
        Ok(Traced { program, body_ran, is_new: true })
    }

    /// Whether the body that runs has an effect which jax keeps off the fast path.
    fn has_effect(&self, function: &Obj) -> bool {
        let is_slow = |effect| self.profile.is_slow(effect);
        matches!(&**innermost(function), Kind::Function(function) if function.effect.is_some_and(is_slow))
    }

    /// What a transformation raises of a body that it has no rule for, which is traced before.
    fn no_rule_for(&self, call: &Ingredients<'_>) -> Option<&'c str> {
        let is_pure = is_pure_callback(call.function);
        let profile: &'c Profile = self.profile;
        match call.via {
            Via::Vmap => profile.transformations.pure_callback_under_vmap.as_deref(),
            _ => call.arguments.leaves.iter().any(leaf_has_tangent).then_some("ValueError"),
        }
        .filter(|_| is_pure)
    }

    /// The program of the primitive with these parameters.
    pub(super) fn primitive(&mut self, primitive: &Rc<Primitive>) -> Program {
        if let Some((_, program)) = self.primitives.iter().find(|(known, _)| known == primitive) {
            return *program;
        }
        let program = self.new_program(Rc::default());
        self.primitives.push((Rc::clone(primitive), program));
        program
    }

    /// A new program, traced from `call`.
    pub(super) fn traced(&mut self, call: &Ingredients<'_>) -> Program {
        self.new_program(if self.is_last { Rc::default() } else { Rc::new(Digest::of(call)) })
    }

    pub(super) fn new_program(&mut self, traced_from: Rc<Digest>) -> Program {
        self.programs.push(traced_from);
        Program(self.programs.len() as u64)
    }
}

/// Whether the fast path, which overlooks a static argument, hands the program others than it takes.
fn are_shifted(fast: &Ingredients<'_>, call: &Ingredients<'_>) -> bool {
    let mut pairs = fast.arguments.leaves.iter().zip(call.arguments.leaves.iter());
    let differs = |(given, taken): (Leaf<'_>, Leaf<'_>)| {
        let aval = |leaf: &Leaf<'_>| (leaf.aval.shape.clone(), leaf.aval.dtype, leaf.aval.prng);
        taken.kept && aval(&given) != aval(&taken)
    };
    !Rc::ptr_eq(&fast.arguments.leaves, &call.arguments.leaves) && pairs.any(differs)
}

/// Options that XLA has at all versions, each true or false, which 1 and 0 stand for.
const XLA_OPTIONS: [&str; 4] = [
    "xla_cpu_enable_fast_math",
    "xla_cpu_enable_fast_min_max",
    "xla_embed_ir_in_executable",
    "xla_llvm_disable_expensive_passes",
];

/// An option of which the model doesn't know whether XLA has it, or takes that value for it: what it has is called like that.
pub(super) fn doubtful_option(options: &JitOptions) -> Option<&str> {
    let is_truth = |value: &Value| match value {
        Value::Bool(_) => true,
        Value::Int(number) => (0..2).contains(&number.get()),
        _ => false,
    };
    let is_known = |name: &str, value: &Value| XLA_OPTIONS.contains(&name) && is_truth(value);
    let mut asked = options.compiler_options.iter().flatten();
    asked.find(|(name, value)| name.starts_with("xla_") && !is_known(name, value)).map(|(name, _)| name.as_str())
}

/// Whether XLA is asked for an option that it doesn't have: what it has is called like that.
fn has_unknown_option(options: &JitOptions) -> bool {
    options.compiler_options.iter().flatten().any(|(name, _)| !name.starts_with("xla_"))
}

/// Whether an argument is a PRNG key where calls with one are never fast.
fn has_slow_key(call: &Ingredients<'_>) -> bool {
    call.ambient.never_fast_with_keys && call.arguments.leaves.iter().any(|leaf| leaf.aval.prng.is_some())
}

/// Whether the body that runs has an effect that comes in order, which no program of several devices can have
/// (`jax/_src/interpreters/mlir.py`, `lower_jaxpr_to_module`).
fn is_ordered(function: &Obj) -> bool {
    matches!(&**innermost(function), Kind::Function(function) if function.effect == Some(Effect::Ordered))
}

/// Whether all that the body returns comes from a `jax.pure_callback`.
pub(super) fn is_pure_callback(function: &Obj) -> bool {
    matches!(&**innermost(function), Kind::Function(function) if function.effect == Some(Effect::Pure))
}
