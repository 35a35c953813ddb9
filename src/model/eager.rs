//! Loops and conditionals of `jax.lax` that run eagerly, outside of `jit`.
//!
//! Each function among the arguments has its jaxpr looked up first, by the function and by what it is called with; then a
//! primitive is called whose parameters are those jaxprs and the number of steps, and which has a fast path, a lowered
//! module and an executable of its own, keyed on the flat operands.
//!
//! Sources: `jax/_src/lax/control_flow/{loops,conditionals,common}.py`, `jax/_src/dispatch.py` (`apply_primitive`).

use std::rc::Rc;

use super::arguments::{Arguments, Invocation, Item, sort};
use super::called::innermost;
use super::difference::Difference;
use super::digest::Digest;
use super::flatten::{Flattening, flatten};
use super::key::{Ingredients, Primitive};
use super::leaf::{Aval, Leaf, Traits};
use super::looked_up::{Functions, LookedUp};
use super::loop_arguments::{
    Argument, Given, Parts, Stopped, bind, given, has_no_shape, is_leaf, length, options, type_error, unknown,
};
use super::object::{Function, Kind, Obj, Raised};
use super::predict::{ModelError, Objects, Prediction, Simulation};
use super::python;
use super::running::returning_raises;
use super::signature::Signature;
use super::table::{NEVER_FAST, Program};
use super::treedef::Root;
use super::walk::Served;
use crate::case::{Call, Dtype, JitOptions, Layer, LayerSet, Name, Placement, Verdict};
use crate::spec::{Parameter, TableName};

/// What an eager call missed, and what a jaxpr that it found was traced from and is another now.
struct Done {
    missed: LayerSet,
    stale: Vec<Difference>,
}

impl Simulation<'_> {
    /// A call of a loop or a conditional, whose functions are arguments.
    pub(super) fn call_eagerly(
        &mut self,
        parameters: &[Parameter],
        call: &Call,
        objects: &Objects,
    ) -> Result<Prediction, ModelError> {
        let Objects { function, args, kwargs, ambient } = objects;
        let options = &self.options_of(call);
        if !options.is_empty() {
            return Err(ModelError::Unsupported("options of jit for a loop".to_owned()));
        }
        let arguments = Arguments::default();
        if ambient.guarded {
            return Err(ModelError::Unsupported("a transfer guard around a loop".to_owned()));
        }
        if ambient.persistent_cache {
            return Err(ModelError::Unsupported("the files of a persistent cache for a loop".to_owned()));
        }
        let whole = Ingredients {
            function,
            arguments: &arguments,
            invocation: None,
            options,
            ambient,
            via: call.via,
            wrapper: None,
            generation: 0,
            primitive: None,
        };
        let outcome = match ambient.unhashable() {
            // Which takes slices and stacks them by operations, each with a program of its own.
            _ if ambient.bypasses && maps(parameters, args, kwargs) => {
                unknown("what the operations of Python's own loop compile")
            }
            // Python's own loop, which calls the functions.
            _ if ambient.bypasses => Ok(Done { missed: Served::by_nothing().missed, stale: Vec::new() }),
            Some(raised) => Err(Stopped::Raised(raised)),
            None => self.eager(parameters, &whole, args, kwargs, call),
        };
        // A loop returns its carry, which doesn't say which trace it is from: what is stale is what a recording says was read.
        let (verdict, stale) = match outcome {
            Ok(Done { missed, stale }) => (Verdict::Missed(missed), stale),
            Err(Stopped::Raised(Raised(class))) => (Verdict::Error(class), Vec::new()),
            Err(Stopped::Unknown(error)) => return Err(error),
        };
        let returned = call.returns.as_ref().map(|returns| self.stated(returns)).transpose()?;
        self.names.returned(returned);
        let mut stale = stale.into_iter();
        let (stale, stale_beside) = (stale.next(), stale.collect());
        Ok(Prediction { explanations: self.explanations(&verdict), verdict, stale, stale_beside })
    }

    /// What an eager call does.
    fn eager(
        &mut self,
        parameters: &[Parameter],
        call: &Ingredients<'_>,
        args: &[Obj],
        kwargs: &[(Name, Obj)],
        Call { raises, carried, .. }: &Call,
    ) -> Result<Done, Stopped> {
        let raises = raises.as_deref();
        let (args, others) = bind(parameters, args, kwargs)?;
        let parts = Parts::of(parameters, &args)?;
        let (given, steps) = given(&parts, call.ambient.x64)?;
        if let (Some(class), Some((_, mapped))) = (&self.profile.mapped_without_shape, &parts.mapped) {
            let flat = flatten(Root::Called("xs".into()), mapped, &Flattening::of(self.profile))?;
            if flat.leaves.iter().any(|(_, leaf)| has_no_shape(leaf, call.ambient.x64)) {
                return Err(Raised::new(class).into());
            }
        }
        // What says which branch it is is looked at before any is traced.
        let number = Rc::new(Kind::Int(0.into()));
        let choice = parts.choice.as_ref().map(|(called, choice)| match &***choice {
            // It is converted, however big.
            Kind::Int(_) => self.seen_alone(call.function, &(called.clone(), &number), call),
            _ => self.seen_alone(call.function, &(called.clone(), choice), call),
        });
        let choice = choice.transpose()?;
        let is_predicate = parameters.contains(&Parameter::Predicate);
        let chosen = choice.as_ref().map(|choice| index(choice, is_predicate)).transpose()?;
        let Some((_, (_, first))) = parts.functions.last() else { return Err(Raised::new("ValueError").into()) };
        // Whatever its operands are.
        if parts.functions.len() == 1 && parameters.contains(&Parameter::Branches) {
            if !call.ambient.returns_no.is_empty() {
                return unknown("which operations check what a branch that is called as it is returns");
            }
            return called(first, &given, raises).map(|missed| Done { missed, stale: Vec::new() });
        }
        let mut arguments = self.seen(first, &given, call)?;
        let sliced = match &parts.mapped {
            Some(mapped) => self.seen_alone(first, mapped, call)?.leaves.len(),
            None => 0,
        };
        if arguments.leaves.iter().any(|leaf| self.profile.uncompilable.contains(&leaf.aval.dtype)) {
            return unknown("how the compiler refuses a dtype");
        }
        let steps = steps.map_or_else(
            || length(&parts, &arguments, sliced, call.ambient.x64, self.profile),
            |steps| Ok(Some(steps)),
        )?;
        let unchanged = parts.functions.iter().any(|(role, (_, function))| {
            let uses = inside(function).and_then(|function| function.uses.as_deref());
            *role != Parameter::Condition && uses.is_some_and(<[_]>::is_empty)
        });
        if unchanged && self.profile.forwards_unchanged && parts.carry.is_none() {
            return unknown("what becomes of operands and slices that a body returns as they are");
        }
        if !self.profile.forwards_unchanged {
            Rc::make_mut(&mut arguments.leaves).change_all(|leaf| leaf.kept = true);
        }

        let mut done = Done { missed: LayerSet::NONE, stale: Vec::new() };
        let mut jaxprs = self.jaxprs(&parts, call, &given, &slice(&arguments, sliced), raises, &mut done)?;
        // That its functions don't fit together is seen when all are traced.
        if let Some(class) = raises {
            return Err(Raised::new(class).into());
        }
        if parts.carry.is_some() {
            if self.promote(&parts, call, &mut arguments, (sliced, carried))? {
                jaxprs = self.jaxprs(&parts, call, &given, &slice(&arguments, sliced), None, &mut done)?;
                if self.promote(&parts, call, &mut arguments, (sliced, carried))? {
                    return Err(type_error());
                }
            }
        } else {
            self.branches_agree(&parts, call, &given.values)?;
        }
        let primitive =
            Rc::new(Primitive { jaxprs, steps, options: options(parameters, &others, steps, self.profile)? });
        let anew = call.ambient.makes_loops_anew;
        let program = if anew { self.new_program(Rc::default()) } else { self.primitive(&primitive) };
        if let Some((leaf, traits)) = chosen {
            Rc::make_mut(&mut arguments.leaves).prepend(leaf, traits);
        }
        self.gone.mark(&mut arguments, self.profile, call.ambient);
        let applied = Ingredients { arguments: &arguments, primitive: Some(&primitive), ..*call };
        done.missed = self.apply(&applied, program, done.missed)?;
        self.agree_on_the_nearest();
        Ok(done)
    }

    /// The jaxprs of the functions, the first of which that is traced raises if one does; `done` learns whether a body ran, and which
    /// of them is of something that was read otherwise.
    fn jaxprs(
        &mut self,
        parts: &Parts<'_>,
        call: &Ingredients<'_>,
        given: &Given,
        arguments: &Arguments,
        raises: Option<&str>,
        done: &mut Done,
    ) -> Result<Vec<Program>, Stopped> {
        let (mut jaxprs, mut looked_up) = (Vec::new(), Vec::new());
        let raises = raises.map(Raised::new);
        if self.explains {
            let asked = parts.functions.iter().filter(|(role, _)| *role != Parameter::WrappedBody);
            let named = asked.map(|(_, (name, function))| (name.clone(), python::repr(function))).collect();
            let avals = arguments.leaves.iter().map(|leaf| Rc::clone(&leaf.aval)).collect();
            self.given_now = Functions { named, avals };
        }
        for (i, (role, (_, function))) in parts.functions.iter().enumerate() {
            let reads = || call.ambient.reads_each.get(i).cloned().unwrap_or_default();
            if matches!(&***function, Kind::Global(_)) {
                return unknown("whether the body of a library's function ran");
            }
            // The lambda that `lax.map` makes hands on what is mapped over, without a carry.
            let element = match (role, &parts.mapped) {
                (Parameter::WrappedBody, Some(mapped)) => {
                    let mapped = self.seen_alone(function, mapped, call)?;
                    Some(slice(&mapped, mapped.leaves.len()))
                }
                _ => None,
            };
            let call = Ingredients { function, arguments: element.as_ref().unwrap_or(arguments), ..*call };
            let noted = self.explanations.len();
            let (found, key) = match role {
                Parameter::WrappedBody => (None, None),
                _ => self.consult(TableName::Trace, function, &call, None)?,
            };
            let blocked = found == Some(NEVER_FAST);
            let found = found.filter(|_| !blocked);
            if self.explains && *role != Parameter::WrappedBody {
                let explanation = self.explanations.drain(noted..).next();
                looked_up.push(LookedUp { found: found.is_some(), explanation });
            }
            let program = match found {
                Some(program) => {
                    let read = Digest::of_reads(reads());
                    let said = if self.explains { usize::MAX } else { 1 };
                    for changed in read.changes(self.digest(program)).take(said) {
                        // Two functions of a loop can read one thing.
                        if !done.stale.contains(&changed) {
                            done.stale.push(changed);
                        }
                    }
                    program
                }
                None => {
                    // What jax wraps takes other arguments.
                    let is_called_so = parts.bounds.is_empty() && *role != Parameter::WrappedBody;
                    if is_called_so && !self.seen(function, given, &call)?.bindable {
                        return Err(type_error());
                    }
                    let missing = call.ambient.missing_raises();
                    let runs = match missing.filter(|_| self.profile.functions_traced_as_jit) {
                        Some(raised) => Err(raised),
                        None => self.body_runs(function, &call, raises.as_ref()),
                    };
                    match runs {
                        Ok(true) => done.missed = done.missed.with(Layer::Trace),
                        Ok(false) => {}
                        Err(raised) => {
                            self.file_failed(function, key, blocked)?;
                            return Err(raised.into());
                        }
                    }
                    let program = self.new_program(Rc::new(Digest::of_reads(reads())));
                    self.file_traced(function, key, program, blocked)?;
                    program
                }
            };
            jaxprs.push(program);
        }
        self.explain_functions(looked_up);
        Ok(jaxprs)
    }

    /// Whether a leaf of the carry is weakly typed and comes out with another dtype, which it then starts with.
    /// `TypeError` where the carry comes out otherwise than it went in.
    fn promote(
        &self,
        parts: &Parts<'_>,
        call: &Ingredients<'_>,
        arguments: &mut Arguments,
        (sliced, carried): (usize, &[Option<Dtype>]),
    ) -> Result<bool, Stopped> {
        let mut changed = false;
        for (role, (_, function)) in &parts.functions {
            let stated = inside(function).and_then(|function| function.returns.as_ref());
            if *role == Parameter::Condition {
                let out = match (stated, inside(function)) {
                    (Some(returned), _) => &self.returned(function, returned, call)?,
                    (None, Some(_)) => &*arguments,
                    // Of a bound method nothing is said but that it can be called.
                    (None, None) => continue,
                };
                if scalar(out).is_none_or(|leaf| leaf.aval.dtype.name() != "bool") {
                    return Err(type_error());
                }
                continue;
            }
            let Some(returned) = stated else {
                let Some(start) = parts.carry.as_ref().filter(|_| !carried.is_empty()) else { continue };
                let first = arguments.leaves.len() - sliced - self.seen_alone(function, start, call)?.leaves.len();
                for (i, dtype) in (first..).zip(carried).filter_map(|(i, dtype)| Some((i, (*dtype)?))) {
                    changed |= i < arguments.leaves.len() && gives_way(arguments, i, dtype);
                }
                continue;
            };
            let carry = match &**returned {
                Kind::Tuple(pair) if parts.scans && pair.len() == 2 => &pair[0],
                Kind::List(pair) if parts.scans && pair.len() == 2 => &pair[0],
                Kind::Namedtuple(_, pair) if parts.scans && self.profile.pairs_are_of_any_class && pair.len() == 2 => {
                    &pair[0]
                }
                Kind::Tuple(_) | Kind::List(_) | Kind::Namedtuple(..) if parts.scans => return Err(type_error()),
                _ if parts.scans && self.profile.pairs_are_of_any_class && !is_leaf(returned) => {
                    return unknown("a scan whose body returns another pair than a tuple or a list");
                }
                _ if parts.scans => return Err(type_error()),
                _ => returned,
            };
            let out = self.returned(function, carry, call)?;
            let Some(start) = &parts.carry else { continue };
            let carried = self.seen_alone(function, start, call)?;
            if !same_trees(&carried.items, &out.items)? {
                return Err(type_error());
            }
            // A counter may stand before the carry, and slices after it.
            let first = arguments.leaves.len() - sliced - carried.leaves.len();
            for (i, out) in (first..arguments.leaves.len()).zip(out.leaves.iter()) {
                let (before, after) = (Rc::clone(&arguments.leaves.get(i).aval), &out.aval);
                if before.shape == after.shape && before.dtype == after.dtype && before.prng == after.prng {
                    continue;
                }
                let may = before.shape == after.shape && rank(&before) <= rank(after);
                if !may || !gives_way(arguments, i, after.dtype) {
                    return Err(type_error());
                }
                changed = true;
            }
        }
        Ok(changed)
    }

    /// `TypeError` where two branches return different things.
    fn branches_agree(&self, parts: &Parts<'_>, call: &Ingredients<'_>, given: &[Obj]) -> Result<(), Stopped> {
        let whole = |given: &[Obj]| match given {
            [only] => only.clone(),
            several => Rc::new(Kind::Tuple(several.to_vec())),
        };
        let mut outputs = Vec::new();
        for (_, (_, function)) in &parts.functions {
            let stated = inside(function).and_then(|function| function.returns.clone());
            let output = stated.unwrap_or_else(|| whole(given));
            outputs.push(self.returned(function, &output, call)?);
        }
        for pair in outputs.windows(2) {
            let alike = |(a, b): (Leaf<'_>, Leaf<'_>)| a.aval.shape == b.aval.shape && a.aval.dtype == b.aval.dtype;
            if !same_trees(&pair[0].items, &pair[1].items)?
                || !pair[0].leaves.iter().zip(pair[1].leaves.iter()).all(alike)
            {
                return Err(type_error());
            }
        }
        Ok(())
    }

    /// What `function` sees when it is called with these arguments.
    fn seen(&self, function: &Obj, given: &Given, call: &Ingredients<'_>) -> Result<Arguments, Raised> {
        let (options, views) = (&JitOptions::default(), self.views(call.ambient.x64));
        let (args, called, objects) = (&given.values, &given.called, self.objects_matter(options, call.ambient));
        let invocation = Invocation { function, args, kwargs: &[], options, views, called, objects };
        sort(self.profile, &invocation)
    }

    fn seen_alone(&self, function: &Obj, argument: &Argument<'_>, call: &Ingredients<'_>) -> Result<Arguments, Raised> {
        self.seen(function, &Given::default().argument(argument), call)
    }

    /// What `function` returns, as its caller sees it.
    fn returned(&self, function: &Obj, value: &Obj, call: &Ingredients<'_>) -> Result<Arguments, Raised> {
        self.seen(function, &Given::default().with(value.clone(), "out"), call)
    }

    /// Calls the primitive: its fast path, then what is below.
    fn apply(&mut self, call: &Ingredients<'_>, program: Program, missed: LayerSet) -> Result<LayerSet, Raised> {
        let leaves = &call.arguments.leaves;
        let mut dispatch_key = None;
        if !leaves.iter().any(|leaf| leaf.never_fast) {
            match self.consult(TableName::Dispatch, call.function, call, Some(program))? {
                (Some(NEVER_FAST), _) => {}
                (Some(_), _) => {
                    let raised = leaves.iter().find_map(|leaf| leaf.error(|errors| &errors.kept));
                    return raised.or_else(|| returning_raises(call)).map_or(Ok(missed), Err);
                }
                (None, key) => dispatch_key = key,
            }
        }
        let refused = || leaves.iter().find_map(|leaf| leaf.error(|errors| &errors.missed));
        let outcome = match call.ambient.missing_raises().or_else(refused) {
            Some(raised) => Err(raised),
            None => self.build(call, program, missed.with(Layer::Dispatch), Layer::Compile),
        };
        let made = outcome.as_ref().ok().and_then(|served| served.program).filter(|_| !call.ambient.never_fast);
        let made = made.unwrap_or(NEVER_FAST);
        self.file(TableName::Dispatch, call.function, dispatch_key, made)?;
        outcome.map(|served| served.missed)
    }
}

/// Whether there is something to map over.
fn maps(parameters: &[Parameter], args: &[Obj], kwargs: &[(Name, Obj)]) -> bool {
    let bound = bind(parameters, args, kwargs);
    bound.is_ok_and(|(args, _)| Parts::of(parameters, &args).is_ok_and(|parts| parts.mapped.is_some()))
}

/// Gives a leaf of the carry the dtype that it comes out with, if it is weakly typed and has another.
fn gives_way(arguments: &mut Arguments, i: usize, dtype: Dtype) -> bool {
    let before = Rc::clone(&arguments.leaves.get(i).aval);
    if !before.weak || before.strong_when_missed || before.dtype == dtype {
        return false;
    }
    let placement = before.placement.clone().or_else(|| Some(Placement::default()));
    let aval = Rc::new(Aval { weak: false, dtype, placement, ..Aval::clone(&before) });
    Rc::make_mut(&mut arguments.leaves).change(i, |leaf| leaf.aval = aval);
    true
}

/// The arguments as the body sees them: the last `sliced` leaves without their leading axis.
fn slice(arguments: &Arguments, sliced: usize) -> Arguments {
    let mut seen = arguments.clone();
    let leaves = Rc::make_mut(&mut seen.leaves);
    for i in leaves.len() - sliced..leaves.len() {
        leaves.change(i, |leaf| _ = Rc::make_mut(&mut leaf.aval).shape.remove(0));
    }
    seen
}

/// The index of a branch, and its traits: it is converted to an `i32` array before it is an operand.
fn index(choice: &Arguments, is_predicate: bool) -> Result<(Leaf<'_>, Traits), Stopped> {
    let leaf = scalar(choice).ok_or_else(type_error)?;
    let Aval { dtype, prng, .. } = &*leaf.aval;
    if prng.is_some() {
        return Err(Raised::new("AttributeError").into());
    }
    let (is_bool, is_integer) = (dtype.name() == "bool", dtype.is_integer() && !dtype.is_narrow());
    let is_number = is_bool || is_integer || dtype.is_float() && dtype.name() != "bf16";
    if !(is_integer || is_predicate && is_number) {
        return Err(type_error());
    }
    if is_predicate && !is_bool && leaf.aval.placement.is_some() {
        return unknown("a predicate that an operation of its own makes a truth value");
    }
    let placement = leaf.aval.placement.clone().or_else(|| Some(Placement::default()));
    let dtype = Dtype::named("i32").expect("a literal dtype");
    let aval = Rc::new(Aval { dtype, weak: false, placement, ..(*leaf.aval).clone() });
    Ok((leaf, Traits { aval, kept: true, errors: None, ..leaf.traits.clone() }))
}

/// The `def` that is called in the end.
fn inside(function: &Obj) -> Option<&Function> {
    if let Kind::Function(function) = &**innermost(function) { Some(function) } else { None }
}

/// A function that is called as it is, and runs: what `lax.switch` makes of a single branch.
fn called(function: &Obj, given: &Given, raises: Option<&str>) -> Result<LayerSet, Stopped> {
    if !is_plain(function) {
        return unknown("a switch with one branch, which is a call of what looks for itself");
    }
    if !Signature::of(function).accepts(given.values.len(), &[]) {
        return Err(type_error());
    }
    match raises {
        Some(class) => Err(Raised::new(class).into()),
        None => Ok(LayerSet::NONE.with(Layer::Trace)),
    }
}

/// Whether calling it is a call of a body and no look-up.
fn is_plain(function: &Obj) -> bool {
    match &**function {
        Kind::Partial { func, .. } | Kind::TreePartial { func, .. } => is_plain(func),
        Kind::Function(_) | Kind::Method { .. } | Kind::Object { .. } => true,
        _ => false,
    }
}

/// The only leaf, with nothing around it, if it is a scalar.
fn scalar(arguments: &Arguments) -> Option<Leaf<'_>> {
    let bare = matches!(&arguments.items[..], [Item::Tree(tree)] if tree.nodes().len() == 1);
    let only = (arguments.leaves.len() == 1).then(|| arguments.leaves.get(0));
    only.filter(|leaf| bare && leaf.aval.shape.is_empty())
}

/// The order in which Python's numbers give way: bool, int, float, complex.
fn rank(aval: &Aval) -> u8 {
    match aval.dtype.name().as_bytes() {
        b"bool" => 0,
        [b'i' | b'u', ..] => 1,
        [b'c', ..] => 3,
        _ => 2,
    }
}

fn same_trees(a: &[Item], b: &[Item]) -> Result<bool, Raised> {
    let by = crate::spec::Equality { identity: true, equal: true, ..crate::spec::Equality::default() };
    for pair in a.iter().zip(b) {
        if let (Item::Tree(a), Item::Tree(b)) = pair
            && !a.same(b, by)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}
