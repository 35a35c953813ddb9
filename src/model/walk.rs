//! The walk: each call consults the tables from the top, and a hit ends it.

use std::rc::Rc;

use super::buffers::uses_a_donated_one;
use super::difference::Explanation;
use super::digest::{Digest, body};
use super::key::{Ingredients, Key};
use super::leaf::Leaf;
use super::object::{Kind, Obj, Raised};
use super::predict::Simulation;
use super::running::{devices, placements_agree, returning_raises};
use super::table::{NEVER_FAST, Program};
use crate::case::{Layer, LayerSet, Via};
use crate::spec::{FunctionBy, FunctionKey, Held, Table, TableName};

/// How a call was served.
pub(super) struct Served {
    pub missed: LayerSet,
    /// By which program; none where no cache was looked at.
    pub program: Option<Program>,
}

impl Served {
    /// The body ran as it stands.
    pub fn by_nothing() -> Self {
        Self { missed: LayerSet::NONE.with(Layer::Trace), program: None }
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
        if found.is_none() && self.explains {
            self.explain(i, table, function, &key)?;
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
            (Some((i, table)), Some(key)) => self.tables[i].file(function, table, key, program, self.calls),
            _ => Ok(()),
        }
    }

    /// Consults the tables from the top. `fast` is the call as the fast path sees it, if it can.
    pub(super) fn walk(
        &mut self,
        call: &Ingredients<'_>,
        fast: Option<&Ingredients<'_>>,
        body_raises: Option<Raised>,
    ) -> Result<Served, Raised> {
        let missing_raises = || call.ambient.miss_raises.as_deref().map(Raised::new);
        let deepest = match call.via {
            Via::Call => Layer::Compile,
            // Under a transformation the fast path hands every call to Python, and files none.
            Via::Vmap | Via::Grad | Via::Jvp => {
                if let Some(raised) = missing_raises() {
                    return Err(raised);
                }
                let served = self.walk_below(call, body_raises, Layer::Compile)?;
                return Ok(Served { missed: served.missed.with(Layer::Dispatch), ..served });
            }
            Via::EvalShape if !self.profile.evaluates_shapes_itself && call.ambient.miss_raises.is_some() => {
                return Err(missing_raises().expect("it was a moment ago"));
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
                    let raised = call.arguments.leaves.iter().find_map(|leaf| leaf.error_when_fast()).or(twice);
                    let raised = raised.or_else(|| self.copying_raises(call, true)).or_else(|| returning_raises(call));
                    return raised.map_or(Ok(Served { missed: LayerSet::NONE, program: Some(program) }), Err);
                }
                (None, key) => dispatch_key = key,
            }
        }
        let outcome = match missing_raises() {
            None => self.walk_below(call, body_raises, deepest),
            Some(raised) => Err(raised),
        };
        // A call that fails leaves an entry in the fast path all the same, which then is never fast.
        let program = match &outcome {
            Ok(Served { program: Some(program), .. }) if !call.ambient.never_fast && !has_effect(function) => *program,
            _ => NEVER_FAST,
        };
        self.file(TableName::Dispatch, function, dispatch_key, program)?;
        outcome.map(|served| Served { missed: served.missed.with(Layer::Dispatch), ..served })
    }

    /// Notes why `key` was not found.
    fn explain(&mut self, i: usize, table: &Table, function: &Obj, key: &Key) -> Result<(), Raised> {
        let layer = match table.table {
            TableName::Dispatch => Layer::Dispatch,
            TableName::Trace => Layer::Trace,
            TableName::Lower => Layer::Lower,
            TableName::Compile => Layer::Compile,
            TableName::Infer | TableName::Resources => return Ok(()),
        };
        if let Some((nearest, differences)) = self.tables[i].nearest(function, table.function, key)? {
            self.explanations.push(Explanation { layer, nearest, differences });
        }
        Ok(())
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
        if let Some(raised) = call.arguments.leaves.iter().find_map(|leaf| leaf.error(|errors| &errors.missed)) {
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
        if let Some(raised) = looked_at.find_map(|leaf| leaf.error(|errors| &errors.lowered)) {
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
        let raised = call.arguments.leaves.iter().find_map(|leaf| leaf.error(|errors| &errors.kept)).or(twice);
        let raised = raised.or_else(|| self.copying_raises(call, false)).or_else(|| returning_raises(call));
        match raised.or_else(|| call.ambient.run_raises.as_deref().map(Raised::new)).filter(|_| runs) {
            Some(raised) => Err(raised),
            None => Ok(Served { missed, program: Some(program) }),
        }
    }

    /// What a guard raises where an argument isn't where the program runs. A copy from one device to another is none for the
    /// fast path.
    pub(super) fn copying_raises(&self, call: &Ingredients<'_>, fast: bool) -> Option<Raised> {
        if !call.ambient.guarded {
            return None;
        }
        let devices = devices(call);
        let is_copied = |leaf: Leaf<'_>| match &leaf.aval.placement {
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
            Kind::Opaque(inner) => return self.body_runs(inner, call),
            _ => return Ok(true),
        };
        let by = Some(FunctionKey { by: FunctionBy::Equal, held: Held::Weakly });
        let key = Key::of_inner(table, call);
        let table = Table { function: by, ..table.clone() };
        if self.tables[i].find(&table, inner, &key)?.is_some() {
            return Ok(false);
        }
        let program = self.new_program(Rc::new(Digest::of(call)));
        self.tables[i].file(inner, &table, key, program, self.calls)?;
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

/// Whether the body that runs has an effect, which jax keeps off the fast path.
fn has_effect(function: &Obj) -> bool {
    matches!(&**body(function), Kind::Function(function) if function.has_effect)
}
