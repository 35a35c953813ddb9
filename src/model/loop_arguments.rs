//! The arguments of a loop or a conditional, by what they are: its functions, carry, operands, bounds and options.

use std::rc::Rc;

use super::arguments::Arguments;
use super::object::{Kind, Obj, Raised};
use super::predict::ModelError;
use super::view::leaf_kind;
use crate::case::{Dtype, Library, Name};
use crate::spec::{LeafKind, Parameter, Profile};

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

pub(super) fn type_error() -> Stopped {
    Stopped::Raised(Raised::new("TypeError"))
}

pub(super) fn unknown<T>(what: &str) -> Result<T, Stopped> {
    Err(Stopped::Unknown(ModelError::Unsupported(what.to_owned())))
}

/// An argument, and what its parameter is called.
pub(super) type Argument<'c> = (String, &'c Obj);

/// The arguments of a call, by what they are.
#[derive(Default)]
pub(super) struct Parts<'c> {
    pub functions: Vec<(Parameter, Argument<'c>)>,
    pub carry: Option<Argument<'c>>,
    pub mapped: Option<Argument<'c>>,
    pub operands: Vec<Argument<'c>>,
    pub choice: Option<Argument<'c>>,
    pub bounds: Vec<&'c Obj>,
    pub length: Option<&'c Obj>,
    /// Whether there is something to map over, even if it is nothing.
    pub scans: bool,
}

impl<'c> Parts<'c> {
    pub fn of(parameters: &[Parameter], args: &'c [Obj]) -> Result<Self, Stopped> {
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
pub(super) type Setting = (&'static str, Obj);

/// The arguments by position, and those that are options of the loop. `TypeError` where the signature hasn't got them.
pub(super) fn bind(
    parameters: &[Parameter],
    args: &[Obj],
    kwargs: &[(Name, Obj)],
) -> Result<(Vec<Obj>, Vec<Setting>), Stopped> {
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
pub(super) fn is_leaf(object: &Obj) -> bool {
    object.is_number()
        || matches!(**object, Kind::None | Kind::Str(_) | Kind::Parsed(_) | Kind::Object { .. } | Kind::Function(_))
}

/// Whether a leaf has no `shape`, as Python's own numbers have none.
pub(super) fn has_no_shape(leaf: &Obj, x64: bool) -> bool {
    use LeafKind::{BigInt, NumberSubclass, Other, PythonBool, PythonNumber};
    matches!(leaf_kind(leaf, x64), BigInt | NumberSubclass | Other | PythonBool | PythonNumber)
}

/// What the functions are called with.
#[derive(Default)]
pub(super) struct Given {
    pub values: Vec<Obj>,
    /// What the values are in the call.
    pub called: Vec<String>,
}

impl Given {
    pub fn with(mut self, value: Obj, called: impl Into<String>) -> Self {
        self.values.push(value);
        self.called.push(called.into());
        self
    }

    pub fn argument(self, (called, value): &Argument<'_>) -> Self {
        self.with((*value).clone(), called)
    }
}

/// What the functions are called with; and the number of steps, where bounds say it.
pub(super) fn given(parts: &Parts<'_>, x64: bool) -> Result<(Given, Option<u64>), Stopped> {
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
pub(super) fn length(
    parts: &Parts<'_>,
    arguments: &Arguments,
    sliced: usize,
    x64: bool,
    profile: &Profile,
) -> Result<Option<u64>, Stopped> {
    let stated = match parts.length {
        None => None,
        // Whatever `int()` makes of it.
        Some(length) => match &**length {
            Kind::Str(text) => Some(text.trim().parse().map_err(|_| Raised::new("ValueError"))?),
            _ => Some(Bound::of(length, x64)?.number.ok_or_else(type_error)?),
        },
    };
    let Ok(stated) = stated.map(u64::try_from).transpose() else { return unknown("a negative length") };
    let mut sizes = Vec::new();
    for leaf in arguments.leaves.iter().skip(arguments.leaves.len() - sliced) {
        // Python scalars have no shape at all, others an empty one.
        let has_none = leaf.aval.placement.is_none() && leaf.aval.weak;
        let without = if has_none { "ValueError" } else { "IndexError" };
        sizes.push(*leaf.aval.shape.first().ok_or_else(|| Raised::new(without))?);
    }
    let contradicted = stated.and(profile.contradicted_length.as_deref()).unwrap_or("ValueError");
    let length = stated.or(sizes.first().copied());
    if sizes.iter().any(|size| Some(*size) != length) {
        return Err(Raised::new(contradicted).into());
    }
    match length {
        None if parts.scans => Err(Raised::new("ValueError").into()),
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
pub(super) fn options(
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
