//! Loops and conditionals of `jax.lax` that run eagerly, outside of `jit`.
//!
//! Each function among the arguments has its jaxpr looked up first, by the function and by what it is called with; then a
//! primitive is called whose parameters are those jaxprs and the number of steps, and which has a fast path, a lowered
//! module and an executable of its own, keyed on the flat operands.
//!
//! Sources: `jax/_src/lax/control_flow/{loops,conditionals,common}.py`, `jax/_src/dispatch.py` (`apply_primitive`).

use std::rc::Rc;

use super::arguments::{Arguments, Invocation, Item, sort};
use super::flatten::{FlattenErrors, flatten};
use super::key::{Ingredients, Primitive};
use super::leaf::{Aval, Leaf, Traits};
use super::looked_up::LookedUp;
use super::object::{Function, Kind, Obj, Raised};
use super::predict::{ModelError, Simulation};
use super::python;
use super::signature::Signature;
use super::table::{NEVER_FAST, Program};
use super::treedef::Root;
use super::view::leaf_kind;
use crate::case::{Dtype, JitOptions, Layer, LayerSet, Library, Name, Placement};
use crate::spec::{LeafKind, Parameter, Profile, TableName};

/// Why a call has no set of missed layers.
pub enum Stopped {
    Raised(Raised),
    Unknown(ModelError),
}

impl From<Raised> for Stopped {
    fn from(raised: Raised) -> Self {
        Self::Raised(raised)
    }
}

fn type_error() -> Stopped {
    Stopped::Raised(Raised::new("TypeError"))
}

fn unknown<T>(what: &str) -> Result<T, Stopped> {
    Err(Stopped::Unknown(ModelError::Unsupported(what.to_owned())))
}

/// An argument, and what its parameter is called.
type Argument<'c> = (String, &'c Obj);

/// The arguments of a call, by what they are.
#[derive(Default)]
struct Parts<'c> {
    functions: Vec<(Parameter, Argument<'c>)>,
    carry: Option<Argument<'c>>,
    mapped: Option<Argument<'c>>,
    operands: Vec<Argument<'c>>,
    choice: Option<Argument<'c>>,
    bounds: Vec<&'c Obj>,
    length: Option<&'c Obj>,
    /// Whether there is something to map over, even if it is nothing.
    scans: bool,
}

impl<'c> Parts<'c> {
    fn of(parameters: &[Parameter], args: &'c [Obj]) -> Result<Self, Stopped> {
        let mut parts = Self { scans: parameters.contains(&Parameter::Mapped), ..Self::default() };
        for (i, parameter) in parameters.iter().enumerate() {
            let given = args.get(i).filter(|value| !matches!(***value, Kind::None));
            let called = || Parameter::name(parameters, i);
            match parameter {
                Parameter::Branch if args.len() == 5 && args[1..3].iter().any(|it| !is_callable(it)) => {
                    return unknown("a conditional with an operand for each branch");
                }
                Parameter::Condition | Parameter::Body | Parameter::WrappedBody | Parameter::Branch => {
                    let function = given.filter(|value| is_callable(value));
                    parts.functions.push((*parameter, (called(), function.ok_or_else(type_error)?)));
                }
                Parameter::Branches => match given.map(|value| &**value) {
                    Some(Kind::Tuple(branches)) if branches.iter().all(is_callable) => {
                        parts.functions.extend(numbered(&called(), branches.iter()));
                    }
                    Some(Kind::List(branches)) if branches.iter().all(is_callable) => {
                        parts.functions.extend(numbered(&called(), branches.iter()));
                    }
                    _ => return Err(type_error()),
                },
                Parameter::Predicate | Parameter::Index => {
                    parts.choice = Some((called(), given.ok_or_else(type_error)?))
                }
                Parameter::Carry => parts.carry = Some((called(), args.get(i).ok_or_else(type_error)?)),
                Parameter::Mapped => parts.mapped = given.map(|mapped| (called(), mapped)),
                Parameter::Length => parts.length = given,
                Parameter::Lower | Parameter::Upper => parts.bounds.push(args.get(i).ok_or_else(type_error)?),
                Parameter::Operands => {
                    let operands = args.iter().enumerate().skip(i);
                    parts.operands = operands.map(|(i, operand)| (Parameter::name(parameters, i), operand)).collect();
                }
            }
        }
        Ok(parts)
    }
}

/// The branches of a switch, named by their places.
fn numbered<'c>(
    called: &str,
    branches: impl Iterator<Item = &'c Obj>,
) -> impl Iterator<Item = (Parameter, Argument<'c>)> {
    branches.enumerate().map(move |(i, branch)| (Parameter::Branch, (format!("{called}[{i}]"), branch)))
}

/// The options of a scan, which can be given by position.
const OF_SCANS: [&str; 3] = ["reverse", "unroll", "_split_transpose"];

/// What an option of a loop is set to, by its name.
type Setting = (&'static str, Obj);

/// The arguments by position, and those that are options of the loop. `TypeError` where the signature hasn't got them.
fn bind(parameters: &[Parameter], args: &[Obj], kwargs: &[(Name, Obj)]) -> Result<(Vec<Obj>, Vec<Setting>), Stopped> {
    let has = |parameter| parameters.contains(&parameter);
    let names: Vec<_> = (0..parameters.len()).map(|i| Parameter::name(parameters, i)).collect();
    let named = if has(Parameter::Operands) { names.len() - 1 } else { names.len() };
    let known: &[&'static str] = match () {
        () if has(Parameter::Length) => &OF_SCANS,
        () if has(Parameter::Lower) => &["unroll"],
        () if has(Parameter::Mapped) => &["batch_size"],
        () => &[],
    };
    let (first, rest) = args.split_at(args.len().min(named));
    let mut bound: Vec<_> = first.iter().cloned().map(Some).collect();
    bound.resize(named, None);
    let (mut operands, mut options) = (Vec::new(), Vec::new());
    match rest {
        rest if has(Parameter::Operands) => operands = rest.to_vec(),
        rest if rest.is_empty() || has(Parameter::Length) && rest.len() <= known.len() => {
            options = known.iter().copied().zip(rest.iter().cloned()).collect();
        }
        _ => return Err(type_error()),
    }
    for (name, value) in kwargs {
        let name = name.as_str();
        let is_given = if let Some(i) = names[..named].iter().position(|known| known == name) {
            bound[i].replace(value.clone()).is_some()
        } else if let Some(known) = known.iter().find(|known| **known == name) {
            let is_given = options.iter().any(|(given, _)| given == known);
            options.push((known, value.clone()));
            is_given
        } else if has(Parameter::Operands) && name == "operand" {
            operands.push(value.clone());
            operands.len() > 1
        } else if has(Parameter::Operands) && name == "linear" {
            return unknown("linear operands");
        } else {
            true
        };
        if is_given {
            return Err(type_error());
        }
    }
    let is_optional =
        |i: usize| has(Parameter::Length) && matches!(parameters[i], Parameter::Mapped | Parameter::Length);
    let given = |(i, value): (usize, Option<Obj>)| match value {
        None if is_optional(i) => Ok(Rc::new(Kind::None)),
        value => value.ok_or_else(type_error),
    };
    let mut bound = bound.into_iter().enumerate().map(given).collect::<Result<Vec<_>, _>>()?;
    bound.extend(operands);
    Ok((bound, options))
}

/// Whether it may be called: what can't be is no function.
fn is_callable(object: &Obj) -> bool {
    let is_data = matches!(
        **object,
        Kind::None
            | Kind::Ellipsis
            | Kind::Str(_)
            | Kind::Bytes(_)
            | Kind::Parsed(_)
            | Kind::Tuple(_)
            | Kind::List(_)
            | Kind::Dict(_)
            | Kind::Set(_)
            | Kind::Namedtuple(..)
    );
    !is_data && !object.is_number()
}

/// Whether it has no children, whatever they are.
fn is_leaf(object: &Obj) -> bool {
    object.is_number()
        || matches!(**object, Kind::None | Kind::Str(_) | Kind::Parsed(_) | Kind::Object { .. } | Kind::Function(_))
}

/// Whether a leaf has no `shape`, as Python's own numbers have none.
fn has_no_shape(leaf: &Obj, x64: bool) -> bool {
    use LeafKind::{BigInt, NumberSubclass, Other, PythonBool, PythonNumber};
    matches!(leaf_kind(leaf, x64), BigInt | NumberSubclass | Other | PythonBool | PythonNumber)
}

impl Simulation<'_> {
    /// The layers that an eager call misses.
    pub(super) fn eager(
        &mut self,
        parameters: &[Parameter],
        call: &Ingredients<'_>,
        args: &[Obj],
        kwargs: &[(Name, Obj)],
        raises: Option<&str>,
    ) -> Result<LayerSet, Stopped> {
        let (args, others) = bind(parameters, args, kwargs)?;
        let parts = Parts::of(parameters, &args)?;
        let (given, steps) = given(&parts, call.ambient.x64)?;
        if let (Some(class), Some((_, mapped))) = (&self.profile.mapped_without_shape, &parts.mapped) {
            let flat = flatten(Root::Called("xs".into()), mapped, &FlattenErrors::of(self.profile))?;
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
            return called(first, &given, raises);
        }
        let mut arguments = self.seen(first, &given, call)?;
        let sliced = match &parts.mapped {
            Some(mapped) => self.seen_alone(first, mapped, call)?.leaves.len(),
            None => 0,
        };
        if arguments.leaves.iter().any(|leaf| self.profile.uncompilable.contains(&leaf.aval.dtype)) {
            return unknown("how the compiler refuses a dtype");
        }
        let steps =
            steps.map_or_else(|| length(&parts, &arguments, sliced, call.ambient.x64), |steps| Ok(Some(steps)))?;
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

        let mut missed = LayerSet::NONE;
        let mut jaxprs = self.jaxprs(&parts, call, &given, &slice(&arguments, sliced), &mut missed)?;
        // That its functions don't fit together is seen as they are traced.
        if let Some(class) = raises {
            return Err(Raised::new(class).into());
        }
        if parts.carry.is_some() {
            if self.promote(&parts, call, &mut arguments, sliced)? {
                jaxprs = self.jaxprs(&parts, call, &given, &slice(&arguments, sliced), &mut missed)?;
                if self.promote(&parts, call, &mut arguments, sliced)? {
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
        Ok(self.apply(&Ingredients { arguments: &arguments, primitive: Some(&primitive), ..*call }, program, missed)?)
    }

    /// The jaxprs of the functions; `missed` learns whether a body ran.
    fn jaxprs(
        &mut self,
        parts: &Parts<'_>,
        call: &Ingredients<'_>,
        given: &Given,
        arguments: &Arguments,
        missed: &mut LayerSet,
    ) -> Result<Vec<Program>, Stopped> {
        let (mut jaxprs, mut looked_up) = (Vec::new(), Vec::new());
        for (role, (name, function)) in &parts.functions {
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
            if self.explains && *role != Parameter::WrappedBody {
                looked_up.push(LookedUp {
                    name: name.clone(),
                    text: python::repr(function),
                    found: found.is_some(),
                    explanation: self.explanations.drain(noted..).next(),
                });
            }
            let program = match found {
                Some(program) => program,
                None => {
                    // What jax wraps takes other arguments.
                    let is_called_so = parts.bounds.is_empty() && *role != Parameter::WrappedBody;
                    if is_called_so && !self.seen(function, given, &call)?.bindable {
                        return Err(type_error());
                    }
                    if self.body_runs(function, &call, None)? {
                        *missed = missed.with(Layer::Trace);
                    }
                    let program = self.new_program(Rc::default());
                    self.file(TableName::Trace, function, key, program)?;
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
        sliced: usize,
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
            let Some(returned) = stated else { continue };
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
            let leaves = Rc::make_mut(&mut arguments.leaves);
            for (i, out) in (first..leaves.len()).zip(out.leaves.iter()) {
                let (before, after) = (Rc::clone(&leaves.get(i).aval), &out.aval);
                if before.shape == after.shape && before.dtype == after.dtype && before.prng == after.prng {
                    continue;
                }
                let weak = before.weak && !before.strong_when_missed;
                let gives_way = weak && before.shape == after.shape && rank(&before) <= rank(after);
                if !gives_way {
                    return Err(type_error());
                }
                let placement = before.placement.clone().or_else(|| Some(Placement::default()));
                let aval = Rc::new(Aval { weak: false, dtype: after.dtype, placement, ..Aval::clone(&before) });
                leaves.change(i, |leaf| leaf.aval = aval);
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
                    return raised.map_or(Ok(missed), Err);
                }
                (None, key) => dispatch_key = key,
            }
        }
        let outcome = match leaves.iter().find_map(|leaf| leaf.error(|errors| &errors.missed)) {
            Some(raised) => Err(raised),
            None => self.build(call, program, missed.with(Layer::Dispatch), Layer::Compile),
        };
        let made = outcome.as_ref().ok().and_then(|served| served.program).unwrap_or(NEVER_FAST);
        self.file(TableName::Dispatch, call.function, dispatch_key, made)?;
        outcome.map(|served| served.missed)
    }
}

/// What the functions are called with.
#[derive(Default)]
struct Given {
    values: Vec<Obj>,
    /// What the values are in the call.
    called: Vec<String>,
}

impl Given {
    fn with(mut self, value: Obj, called: impl Into<String>) -> Self {
        self.values.push(value);
        self.called.push(called.into());
        self
    }

    fn argument(self, (called, value): &Argument<'_>) -> Self {
        self.with((*value).clone(), called)
    }
}

/// What the functions are called with; and the number of steps, where bounds say it.
fn given(parts: &Parts<'_>, x64: bool) -> Result<(Given, Option<u64>), Stopped> {
    let given = Given::default();
    let mapped = |given: Given| match &parts.mapped {
        Some(mapped) => given.argument(mapped),
        None => given.with(Rc::new(Kind::None), "None"),
    };
    let Some((called, carry)) = &parts.carry else {
        return Ok(match parts.mapped {
            // `lax.map` is a scan without a carry.
            Some(_) => (mapped(given.with(Rc::new(Kind::Tuple(Vec::new())), "()")), None),
            None => (parts.operands.iter().fold(given, |given, operand| given.argument(operand)), None),
        });
    };
    if let [lower, upper] = parts.bounds[..] {
        let counted = Kind::Tuple(vec![Rc::new(Kind::Int(0.into())), Obj::clone(carry)]);
        return Ok((mapped(given.with(Rc::new(counted), format!("(i, {called})"))), Some(steps(lower, upper, x64)?)));
    }
    let given = given.argument(&(called.clone(), carry));
    Ok((if parts.scans { mapped(given) } else { given }, None))
}

/// A bound of a loop: its dtype, whether it gives way to another, and what `int()` makes of it.
struct Bound {
    dtype: &'static str,
    weak: bool,
    number: Option<i128>,
}

impl Bound {
    fn of(bound: &Obj, x64: bool) -> Result<Self, Stopped> {
        let typed = |dtype: Dtype, weak, number| Ok(Self { dtype: dtype.canonical(x64).name(), weak, number });
        let of_python = |wide, number| typed(Dtype::named(wide).expect("a literal dtype"), true, number);
        let whole = |number: f64| match number.is_finite() {
            true => Ok(Some(number as i128)),
            false => unknown("bounds that aren't finite"),
        };
        match &**bound {
            Kind::Bool(value) => of_python("bool", Some(i128::from(*value))),
            Kind::Int(value) => of_python("i64", Some(value.get())),
            Kind::Float(value) => of_python("f64", whole(*value)?),
            Kind::Complex(..) => of_python("c128", None),
            Kind::NumpyScalar(dtype, value) => typed(*dtype, false, whole(*value)?.filter(|_| !dtype.is_complex())),
            Kind::Array(array) if !matches!(array.library, Library::Key { .. }) && !array.dtype.is_foreign() => {
                let weak = matches!(array.library, Library::Jax { weak: true, .. });
                let is_number = array.shape.is_empty() && !array.dtype.is_complex() && !array.dtype.is_float0();
                let number = i128::from(array.fill.unwrap_or(1));
                typed(array.dtype, weak, is_number.then_some(number))
            }
            Kind::None => Err(Raised::new("ValueError").into()),
            Kind::Array(_) | Kind::Str(_) | Kind::Tuple(_) | Kind::List(_) | Kind::Dict(_) => Err(type_error()),
            _ => unknown("bounds other than Python's, NumPy's and jax's numbers"),
        }
    }

    fn is_signed(&self) -> bool {
        self.dtype.starts_with('i')
    }
}

/// The number of steps between two bounds of one dtype; one signed integer gives way to another. Where there is no number,
/// there is a `while_loop`, whose condition fails.
fn steps(lower: &Obj, upper: &Obj, x64: bool) -> Result<u64, Stopped> {
    let (lower, upper) = (Bound::of(lower, x64)?, Bound::of(upper, x64)?);
    let gives_way = lower.weak != upper.weak && lower.is_signed() && upper.is_signed();
    match (lower.number, upper.number) {
        (Some(first), Some(last)) if lower.dtype == upper.dtype || gives_way => {
            Ok(u64::try_from(last - first).unwrap_or(0))
        }
        _ => Err(type_error()),
    }
}

/// The number of steps of a scan; `None` where there are no steps at all, as in a conditional.
fn length(parts: &Parts<'_>, arguments: &Arguments, sliced: usize, x64: bool) -> Result<Option<u64>, Stopped> {
    let stated = match parts.length {
        None => None,
        // Whatever `int()` makes of it.
        Some(length) => match &**length {
            Kind::Str(text) => Some(text.trim().parse().map_err(|_| Raised::new("ValueError"))?),
            _ => Some(Bound::of(length, x64)?.number.ok_or_else(type_error)?),
        },
    };
    let Ok(stated) = stated.map(u64::try_from).transpose() else { return unknown("a negative length") };
    let value_error = || Stopped::Raised(Raised::new("ValueError"));
    let mut length = stated;
    for leaf in arguments.leaves.iter().skip(arguments.leaves.len() - sliced) {
        let Some(size) = leaf.aval.shape.first() else {
            // Python scalars have no shape at all, others an empty one.
            return Err(Raised::new(if leaf.aval.placement.is_none() && leaf.aval.weak {
                "ValueError"
            } else {
                "IndexError"
            })
            .into());
        };
        if length.is_some_and(|length| length != *size) {
            return Err(value_error());
        }
        length = Some(*size);
    }
    match length {
        None if parts.scans => Err(value_error()),
        length => Ok(length),
    }
}

/// What equals True or False, where it is a plain number.
fn truth(value: &Kind) -> Option<bool> {
    match value {
        Kind::Bool(value) => Some(*value),
        Kind::Int(value) => [false, true].into_iter().find(|truth| i128::from(*truth) == value.get()),
        _ => None,
    }
}

/// The parameters that options of a loop set otherwise than usual. They are looked at when the body was traced.
fn options(
    parameters: &[Parameter],
    given: &[Setting],
    steps: Option<u64>,
    profile: &Profile,
) -> Result<Vec<String>, Stopped> {
    let mut options = Vec::new();
    for (name, value) in given {
        let unroll = match (*name, &**value) {
            ("_split_transpose", Kind::Bool(false)) => continue,
            ("reverse", value) if truth(value).is_some() => {
                options.extend(truth(value).filter(|reverse| *reverse).map(|_| "reverse".to_owned()));
                continue;
            }
            ("unroll", Kind::None) if parameters.contains(&Parameter::Lower) => continue,
            // Equal to 1, which is all that is asked.
            ("unroll", Kind::Float(1.0)) => 1,
            ("unroll", Kind::None | Kind::Float(_) | Kind::Str(_)) => return Err(type_error()),
            ("unroll", Kind::Bool(whole)) => whole.then_some(steps).flatten().unwrap_or(1).max(1).into(),
            ("unroll", Kind::Int(n)) => n.get(),
            ("unroll", Kind::NumpyScalar(dtype, n)) if dtype.is_integer() => *n as i128,
            _ => return unknown("options of a loop other than reverse and unroll"),
        };
        match unroll {
            1 => {}
            n if n < profile.least_unroll.into() => return Err(Raised::new("ValueError").into()),
            n => options.push(format!("unroll={n}")),
        }
    }
    options.sort_unstable();
    Ok(options)
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
    match &**function {
        Kind::Function(function) => Some(function),
        Kind::Jitted(inner)
        | Kind::Wrapper(inner, _)
        | Kind::Checkpointed(inner)
        | Kind::Mapped(inner)
        | Kind::Opaque(inner, _) => inside(inner),
        Kind::Partial { func, .. } | Kind::TreePartial { func, .. } => inside(func),
        _ => None,
    }
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
