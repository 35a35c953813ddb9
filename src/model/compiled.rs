//! Compiled objects: what `f.lower(…).compile()` returned, called again.
//!
//! No table is looked up. The arguments have to fit the program: for `jax.jit` their trees, for `equinox.filter_jit` only
//! which of the leaves are arrays; then shapes and dtypes, and the devices of what is committed. Static arguments are not
//! compared at all: `jax.jit` doesn't take them, `filter_jit` overlooks them.
//!
//! Sources: `jax/_src/stages.py` (`Compiled.call`), `jax/_src/interpreters/pxla.py` (`check_arg_avals_for_call`,
//! `check_array_xla_sharding_layout_match`), `equinox/_jit.py` (`_preprocess`).

use std::rc::Rc;

use super::ambient::Ambient;
use super::arguments::{Arguments, Invocation, Item, sort};
use super::key::Ingredients;
use super::leaf::Leaf;
use super::object::Raised;
use super::predict::{ModelError, Objects, Prediction, Simulation};
use super::running::{body_output, devices, split};
use super::table::Program;
use super::wrapper::Options;
use crate::case::{Call, Class, Form, Name, Placement, Value, Verdict, Via};
use crate::spec::{ArgumentStyle, Equality, LeafKind, Profile};

/// A compiled object that a case made.
#[derive(Debug)]
pub struct Compiled {
    /// The form of its function; the case's own if there is none.
    pub function: Option<Value>,
    /// Whether the function lived on after the call that compiled it.
    pub kept: bool,
    pub options: Options,
    pub program: Program,
    /// Whether it was called, so that its own fast path has it.
    pub was_called: bool,
    arguments: Arguments,
    /// The names of what is not static.
    keywords: Vec<Name>,
}

impl Compiled {
    /// What a call with these arguments compiled.
    pub fn of(function: Option<Value>, kept: bool, options: &Options, program: Program, arguments: &Arguments) -> Self {
        let mut arguments = arguments.clone();
        let is_static = |name: &&Name| {
            let by_name =
                |item: &Item| matches!(item, Item::Static { keyword: true, path, .. } if path.root() == Some(*name));
            arguments.items.iter().any(by_name)
        };
        let keywords = arguments.form.keywords.iter().filter(|name| !is_static(name)).cloned().collect();
        // Nothing keeps the statics alive.
        let trees = arguments.items.iter().filter(|item| matches!(item, Item::Tree(_)));
        arguments.items = Rc::new(trees.cloned().collect());
        Self { function, kept, options: options.clone(), program, was_called: false, arguments, keywords }
    }

    /// What its calls are wrapped with: static arguments are not passed again.
    pub fn call_options(&self) -> Options {
        if self.sees_everything() {
            self.options.clone()
        } else {
            self.options.without_statics(&self.arguments.form.static_positions)
        }
    }

    /// Whether `call` has everything that a body could see: no argument is left out.
    pub fn sees_everything(&self) -> bool {
        self.options.static_argnums.is_empty() && self.options.static_argnames.is_empty()
    }

    /// Whether the program takes these arguments; otherwise what is raised.
    pub fn takes(&self, call: &Arguments, profile: &Profile) -> Result<Result<(), Raised>, ModelError> {
        let unknown = |what: &str| Err(ModelError::Unsupported(format!("{what} of a compiled object")));
        let special = |at: &Placement| at.layout.is_some() || at.memory_kind.is_some();
        let mut leaves = self.arguments.leaves.iter().chain(call.leaves.iter());
        if leaves.any(|leaf: Leaf<'_>| leaf.aval.placement.as_ref().is_some_and(special)) {
            return unknown("layouts and memory kinds");
        }
        if !self.same_structure(call, profile)? {
            return Ok(Err(Raised::new("TypeError")));
        }
        let pairs = || self.arguments.leaves.iter().zip(call.leaves.iter());
        let same_aval = |(ours, theirs): (Leaf<'_>, Leaf<'_>)| {
            let (ours, theirs) = (&ours.aval, &theirs.aval);
            (&ours.shape, ours.dtype, ours.prng) == (&theirs.shape, theirs.dtype, theirs.prng)
        };
        if !pairs().all(same_aval) {
            return Ok(Err(Raised::new("TypeError")));
        }
        let mut kept = pairs().filter(|(ours, _)| ours.kept).map(|(_, theirs)| theirs);
        if let Some(leaf) = kept.find(|leaf| leaf.never_fast || leaf.errors.is_some()) {
            if leaf.errors.as_ref().is_some_and(|errors| errors.kind == Some(LeafKind::ShapeDtypeStruct)) {
                return Ok(Err(Raised::new(&profile.compiled_without_value)));
            }
            // What has no value, or is taken for something else, is refused as it becomes an argument.
            return match leaf.error(|errors| &errors.missed) {
                Some(raised) if !leaf.never_fast => Ok(Err(raised)),
                _ => unknown("arguments that have no value"),
            };
        }
        let program = devices(&self.arguments, &Ambient::default());
        let here = pairs().filter(|(ours, _)| ours.kept).all(|(ours, theirs)| {
            let Some(at) = theirs.aval.placement.as_ref().filter(|at| at.is_committed()) else { return true };
            let ours = ours.lowered();
            let place = ours.placement.as_ref().filter(|at| at.is_committed());
            let devices = place.map_or_else(|| program.clone(), Placement::devices);
            split(at) == place.and_then(split) && (profile.compiled_overlooks_devices || at.devices() == devices)
        });
        Ok(if here { Ok(()) } else { Err(Raised::new("ValueError")) })
    }

    fn same_structure(&self, call: &Arguments, profile: &Profile) -> Result<bool, ModelError> {
        let ours = &self.arguments;
        if profile.arguments == ArgumentStyle::Partition {
            return Ok((&ours.form.mask, &ours.roots) == (&call.form.mask, &call.roots));
        }
        if self.keywords != call.form.keywords {
            return Ok(false);
        }
        let by = profile.tables.iter().find_map(|table| table.tree).unwrap_or_default();
        let by = Equality { identity: true, equal: true, ..by };
        let trees = |arguments: &Arguments| {
            let trees = arguments.items.iter().filter_map(|item| match item {
                Item::Tree(tree) => Some(tree.clone()),
                Item::Static { .. } => None,
            });
            trees.collect::<Vec<_>>()
        };
        let (ours, theirs) = (trees(ours), trees(call));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            match ours.same(theirs, by) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(_) => {
                    return Err(ModelError::Unsupported("a comparison that raises, of a compiled object".to_owned()));
                }
            }
        }
        Ok(ours.len() == theirs.len())
    }
}

impl Simulation<'_> {
    /// A call of a compiled object: no table is looked up.
    pub(super) fn call_compiled(
        &mut self,
        number: usize,
        call: &Call,
        objects: &Objects,
    ) -> Result<Prediction, ModelError> {
        let Objects { args, kwargs, ambient, .. } = objects;
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
        Ok(Prediction { explanations: self.explanations(&verdict), verdict, stale, stale_beside: Vec::new() })
    }
}
