//! A second model, written without looking at the first: it has no keys, no hashes, no treedefs and no tables. It keeps the
//! calls themselves and compares each with everything that was called before, part by part, in the order in which people
//! think of them. It is slow, and there is nothing in it to be got wrong but the rules of jax themselves.
//!
//! It knows one implementation at one version, `jax.jit` 0.12 on one CPU device, and of that the heart: arrays, numbers,
//! containers, registered nodes, static arguments of builtin types. Of anything else it says that it doesn't know.

use crate::case::{
    Array, Call, Case, Class, DefForm, Dtype, Form, Library, Name, NewForm, Parsed, ParsedClass, Placement, Step,
    Subclass, Value, Verdict,
};

/// What each call does; `None` if something in the case is beyond this model.
#[must_use]
pub fn predict(case: &Case) -> Option<Vec<Verdict>> {
    let plain = Case { classes: case.classes.clone(), steps: case.steps.clone(), ..Case::default() };
    let plain = Case { options: case.options.clone(), function: case.function.clone(), ..plain };
    if plain != *case || !is_ordinary(&case.function) {
        return None;
    }
    let mut seen: Vec<&Call> = Vec::new();
    let mut verdicts = Vec::new();
    for step in &case.steps {
        let Step::Call(call) = step else { return None };
        let bare = Call { args: call.args.clone(), kwargs: call.kwargs.clone(), ..Call::default() };
        if bare != *call {
            return None;
        }
        let uses_all = case.options.keep_unused || case.function == Form::Def(DefForm::default()).into();
        let naive = Naive { case, uses_all };
        if !naive.statics_hash(call)? {
            verdicts.push(Verdict::Error("ValueError".to_owned()));
            continue;
        }
        let mut verdict = Verdict::TRACE;
        let found =
            [(Layer::Trace, Verdict::LOWER), (Layer::Lowered, Verdict::DISPATCH), (Layer::FastPath, Verdict::HIT)];
        for (layer, then) in found {
            for earlier in &seen {
                if naive.same(earlier, call, layer)? {
                    verdict = then.clone();
                }
            }
        }
        // What it can't compare with itself it doesn't know.
        naive.same(call, call, Layer::FastPath)?;
        seen.push(call);
        verdicts.push(verdict);
    }
    Some(verdicts)
}

/// A function of `*args, **kwargs` that returns what it is given, or nothing.
fn is_ordinary(function: &Value) -> bool {
    let idle = DefForm { uses: Some(Vec::new()), ..DefForm::default() };
    [DefForm::default(), idle].into_iter().any(|def| *function == Form::Def(def).into())
}

/// Which comparison: that of the fast path, that of the lowered program below it, or that of what was traced.
#[derive(Clone, Copy, PartialEq)]
enum Layer {
    FastPath,
    Lowered,
    Trace,
}

struct Naive<'c> {
    case: &'c Case,
    /// Whether the program has all of its arguments.
    uses_all: bool,
}

impl Naive<'_> {
    /// Whether two calls are the same.
    fn same(&self, a: &Call, b: &Call, layer: Layer) -> Option<bool> {
        if a.args.len() != b.args.len() || a.kwargs.len() != b.kwargs.len() {
            return Some(false);
        }
        let mut all = true;
        for (i, (x, y)) in a.args.iter().zip(&b.args).enumerate() {
            all &= if self.is_static_position(i, a.args.len())? { top(x, y)? } else { self.tree(x, y, layer)? };
        }
        for (name, x) in &a.kwargs {
            let Some(y) = b.kwargs.get(name) else { return Some(false) };
            all &= if self.case.options.static_argnames.contains(name) { top(x, y)? } else { self.tree(x, y, layer)? };
        }
        Some(all)
    }

    fn statics_hash(&self, call: &Call) -> Option<bool> {
        let mut all = true;
        for (i, value) in call.args.iter().enumerate() {
            if self.is_static_position(i, call.args.len())? {
                all &= hashes(value)?;
            } else {
                self.tree(value, value, Layer::FastPath)?;
            }
        }
        for (name, value) in &call.kwargs {
            if self.case.options.static_argnames.contains(name) {
                all &= hashes(value)?;
            } else {
                self.tree(value, value, Layer::FastPath)?;
            }
        }
        Some(all)
    }

    fn is_static_position(&self, i: usize, count: usize) -> Option<bool> {
        let numbers = &self.case.options.static_argnums;
        // Counted from the end, and of those that aren't there: another day.
        let fits = |n: &i32| usize::try_from(*n).is_ok_and(|n| n < count);
        numbers.iter().all(fits).then(|| numbers.iter().any(|n| usize::try_from(*n) == Ok(i)))
    }

    /// Whether two dynamic arguments have the same structure and the same leaves.
    fn tree(&self, a: &Value, b: &Value, layer: Layer) -> Option<bool> {
        if let (Some(x), Some(y)) = (leaf(a)?, leaf(b)?) {
            return Some(x.same(&y, layer, self.uses_all));
        }
        let children = |a: &[Value], b: &[Value]| self.trees(a, b, layer);
        match (a, b) {
            (Value::None, Value::None) => Some(true),
            (Value::List(x), Value::List(y)) => children(x, y),
            (Value::Form(x), Value::Form(y)) => match (&**x, &**y) {
                (Form::Tuple(x), Form::Tuple(y)) => children(x, y),
                (Form::Dict(x), Form::Dict(y)) => {
                    let (x, y) = (sorted(&x.0)?, sorted(&y.0)?);
                    let keys = x.iter().map(|(key, _)| key).eq(y.iter().map(|(key, _)| key));
                    Some(children(&values(&x), &values(&y))? && keys)
                }
                (Form::OrderedDict(x), Form::OrderedDict(y)) => {
                    if sorted(&x.0)?.len() != x.0.len() || sorted(&y.0)?.len() != y.0.len() {
                        return None;
                    }
                    let keys = x.0.iter().map(|(key, _)| key).eq(y.0.iter().map(|(key, _)| key));
                    Some(children(&values(&x.0), &values(&y.0))? && keys)
                }
                (Form::New(x), Form::New(y)) => self.instances(x, y, layer),
                _ => self.known(a)?.then(|| self.known(b))?.map(|_| false),
            },
            _ => self.known(a)?.then(|| self.known(b))?.map(|_| false),
        }
    }

    /// `Some(true)` if this model knows the value as a dynamic argument.
    fn known(&self, value: &Value) -> Option<bool> {
        if leaf(value)?.is_some() || *value == Value::None {
            return Some(true);
        }
        match value {
            Value::List(_) => {}
            Value::Form(form)
                if matches!(&**form, Form::Tuple(_) | Form::Dict(_) | Form::OrderedDict(_) | Form::New(_)) => {}
            _ => return None,
        }
        self.tree(value, value, Layer::FastPath).map(|_| true)
    }

    fn trees(&self, a: &[Value], b: &[Value], layer: Layer) -> Option<bool> {
        let mut all = a.len() == b.len();
        for (x, y) in a.iter().zip(b) {
            all &= self.tree(x, y, layer)?;
        }
        for rest in a.iter().skip(b.len()).chain(b.iter().skip(a.len())) {
            self.known(rest)?;
        }
        Some(all)
    }

    fn instances(&self, a: &NewForm, b: &NewForm, layer: Layer) -> Option<bool> {
        let class = self.case.classes.get(&a.class)?;
        let fields = |new: &NewForm, names: &[Name]| -> Option<Vec<Value>> {
            names.iter().map(|name| new.fields.as_ref()?.get(name).cloned()).collect()
        };
        if a.class != b.class {
            for new in [a, b] {
                self.instances(new, new, layer)?;
            }
            return Some(false);
        }
        match class {
            Class::Namedtuple(_) => self.trees(a.args.as_ref()?, b.args.as_ref()?, layer),
            Class::Node {} => {
                let aux = |new: &NewForm| new.aux.clone().unwrap_or(Value::None);
                let same_aux = equal(&aux(a), &aux(b))?;
                Some(self.trees(a.children.as_ref()?, b.children.as_ref()?, layer)? && same_aux)
            }
            Class::Dataclass { data, meta } => {
                let mut same = self.trees(&fields(a, data)?, &fields(b, data)?, layer)?;
                for (x, y) in fields(a, meta)?.iter().zip(&fields(b, meta)?) {
                    same &= equal(x, y)?;
                }
                Some(same)
            }
            _ => None,
        }
    }
}

/// A leaf that jax makes an array of.
struct Leaf {
    shape: Vec<u64>,
    dtype: Dtype,
    weak: bool,
    /// On the fast path every Python scalar is weakly typed; a bool is no such thing below.
    weak_on_fast_path: bool,
    /// A `jax.Array` has a sharding, which the fast path looks at; all else has none.
    is_jax: bool,
    /// Whether it was put on its device, which every layer looks at that has the argument, but for tracing.
    committed: bool,
}

impl Leaf {
    fn same(&self, other: &Self, layer: Layer, used: bool) -> bool {
        let aval = self.shape == other.shape && self.dtype == other.dtype;
        let (weak, placed) = (self.weak == other.weak, self.committed == other.committed);
        match layer {
            Layer::FastPath => {
                aval && self.weak_on_fast_path == other.weak_on_fast_path && self.is_jax == other.is_jax && placed
            }
            Layer::Lowered => aval && weak && (placed || !used),
            Layer::Trace => aval && weak,
        }
    }
}

/// `None` if this model doesn't know it, `Some(None)` if it is no leaf.
fn leaf(value: &Value) -> Option<Option<Leaf>> {
    let dtype = |name| Dtype::named(name).expect("a dtype");
    let scalar = |name, weak| Leaf {
        shape: Vec::new(),
        dtype: dtype(name),
        weak,
        weak_on_fast_path: true,
        is_jax: false,
        committed: false,
    };
    Some(Some(match value {
        Value::Bool(_) => scalar("bool", false),
        Value::Int(n) if i32::try_from(n.get()).is_ok() => scalar("i32", true),
        Value::Float(_) => scalar("f32", true),
        Value::Array(array) => self::array(array)?,
        Value::Int(_) => return None,
        Value::None | Value::List(_) => return Some(None),
        Value::Form(form) => match &**form {
            Form::Complex(_) => scalar("c64", true),
            Form::Tuple(_) | Form::Dict(_) | Form::OrderedDict(_) | Form::New(_) => return Some(None),
            _ => return None,
        },
    }))
}

fn array(array: &Array) -> Option<Leaf> {
    const USUAL: [&str; 12] = ["bool", "i8", "i16", "i32", "u8", "u16", "u32", "bf16", "f16", "f32", "c64", "f64"];
    let name = array.dtype.name();
    let (weak, is_jax, committed) = match &array.library {
        &Library::Jax { weak, ref placement } if name != "f64" => {
            let on_the_device = Placement { committed: placement.committed, ..Placement::default() };
            (*placement == on_the_device).then_some((weak, true, placement.committed))?
        }
        Library::Numpy { big_endian: false, subclass: Subclass::Ndarray, .. } => (false, false, false),
        _ => return None,
    };
    // Without x64 a double is single.
    let dtype = if name == "f64" { Dtype::named("f32")? } else { array.dtype };
    USUAL.contains(&name).then(|| Leaf {
        shape: array.shape.clone(),
        dtype,
        weak,
        weak_on_fast_path: weak,
        is_jax,
        committed,
    })
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Form(form) => match &**form {
            Form::Str(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// The items of a dict with texts as keys, in their order; of two with one key the second.
fn sorted(items: &[(Value, Value)]) -> Option<Vec<(Value, Value)>> {
    let mut all: Vec<(&str, &(Value, Value))> = Vec::new();
    for item in items {
        let key = text(&item.0)?;
        all.retain(|(other, _)| *other != key);
        all.push((key, item));
    }
    all.sort_by_key(|(key, _)| *key);
    Some(all.into_iter().map(|(_, item)| item.clone()).collect())
}

fn values(items: &[(Value, Value)]) -> Vec<Value> {
    items.iter().map(|(_, value)| value.clone()).collect()
}

/// Static arguments: the type of the argument itself counts, and then `==`.
fn top(a: &Value, b: &Value) -> Option<bool> {
    Some(kind(a)? == kind(b)? && equal(a, b)?)
}

fn kind(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::None => "NoneType",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Form(form) => match &**form {
            Form::Str(_) => "str",
            Form::Tuple(_) => "tuple",
            Form::Ellipsis {} => "ellipsis",
            Form::Parsed(parsed) => parsed.class().name(),
            _ => return None,
        },
        _ => return None,
    })
}

/// Python's `==` of two values that were made apart.
fn equal(a: &Value, b: &Value) -> Option<bool> {
    if [a, b]
        .into_iter()
        .any(|value| parsed(value).is_some_and(|it| whole(it).is_none() && !is_written_once(it.class())))
    {
        return None;
    }
    match (number(a), number(b)) {
        (Some(x), Some(y)) => return Some(x.same(y)),
        (Some(_), None) => return kind(b).map(|_| false),
        (None, Some(_)) => return kind(a).map(|_| false),
        (None, None) => {}
    }
    if kind(a)? != kind(b)? {
        return Some(false);
    }
    match (a, b) {
        (Value::Form(x), Value::Form(y)) => match (&**x, &**y) {
            (Form::Str(x), Form::Str(y)) => Some(x == y),
            (Form::Parsed(x), Form::Parsed(y)) => Some(x.text() == y.text()),
            (Form::Tuple(x), Form::Tuple(y)) => {
                let mut all = x.len() == y.len();
                for (x, y) in x.iter().zip(y) {
                    all &= equal(x, y)?;
                }
                for rest in x.iter().skip(y.len()).chain(y.iter().skip(x.len())) {
                    kind(rest)?;
                }
                Some(all)
            }
            _ => Some(true),
        },
        _ => Some(true),
    }
}

#[derive(Clone, Copy)]
enum Number {
    Whole(i128),
    Real(f64),
}

impl Number {
    fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a == b,
            (Self::Real(a), Self::Real(b)) => a == b,
            (Self::Whole(whole), Self::Real(real)) | (Self::Real(real), Self::Whole(whole)) => {
                real.fract() == 0.0 && real.abs() < 1e38 && real as i128 == whole
            }
        }
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Bool(b) => Some(Number::Whole((*b).into())),
        Value::Int(n) => Some(Number::Whole(n.get())),
        Value::Float(f) => Some(Number::Real(*f)),
        _ => parsed(value).and_then(whole).map(Number::Whole),
    }
}

fn parsed(value: &Value) -> Option<&Parsed> {
    match value {
        Value::Form(form) => match &**form {
            Form::Parsed(parsed) => Some(parsed),
            _ => None,
        },
        _ => None,
    }
}

/// A decimal number or a fraction that is whole and looks so.
fn whole(parsed: &Parsed) -> Option<i128> {
    let is_number = matches!(parsed.class(), ParsedClass::Decimal | ParsedClass::Fraction);
    is_number.then(|| parsed.text().split_once(".0").map_or(parsed.text(), |(whole, _)| whole).parse().ok())?
}

/// Whether equal values of the class have one text.
fn is_written_once(class: ParsedClass) -> bool {
    matches!(class, ParsedClass::Date | ParsedClass::Timedelta | ParsedClass::Uuid | ParsedClass::Pattern)
}

fn hashes(value: &Value) -> Option<bool> {
    match value {
        Value::List(_) => Some(false),
        Value::Form(form) => match &**form {
            Form::Tuple(items) => {
                let mut all = true;
                for item in items {
                    all &= hashes(item)?;
                }
                Some(all)
            }
            Form::Dict(_) | Form::Set(_) => Some(false),
            _ => kind(value).map(|_| true),
        },
        _ => kind(value).map(|_| true),
    }
}
