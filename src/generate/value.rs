//! Any value at all, whatever the rules speak of: what text forms and keys must get along with.

use super::Source;
use crate::case::{Array, Content, DictItems, Dtype, Form, Library, Parsed, ParsedClass, Value};

/// How many containers stand in each other at most.
const DEPTH: u32 = 4;
/// What a text may be made of: signs that YAML, Python or the notation of arrays could take for their own.
const SIGNS: [char; 20] =
    ['a', 'b', 'z', '0', '~', ':', '>', '[', ']', '{', '}', '#', '\'', '"', ' ', '\n', '\\', 'é', '𝄞', '\u{7f}'];

impl Source {
    /// A value that needs no class and no object of a case: numbers, texts, arrays of all dtypes, and containers of them.
    pub fn value(&mut self) -> Value {
        self.value_within(DEPTH)
    }

    fn value_within(&mut self, depth: u32) -> Value {
        if depth == 0 || self.below(3) != 2 {
            return self.scalar();
        }
        let count = self.below(4);
        let items = |source: &mut Self| (0..count).map(|_| source.value_within(depth - 1)).collect();
        match self.below(4) {
            0 => Form::Tuple(items(self)).into(),
            1 => Value::List(items(self)),
            2 => {
                let pairs = (0..count).map(|_| (self.key(), self.value_within(depth - 1))).collect();
                Form::Dict(DictItems(pairs)).into()
            }
            _ => Form::Frozenset(items(self)).into(),
        }
    }

    fn scalar(&mut self) -> Value {
        match self.below(10) {
            0 => self.array(),
            1 => Value::None,
            2 => Value::Bool(self.one_in(2)),
            3 => Value::Int((i128::from(self.below(4)) - 1).into()),
            4 => Value::Float(f64::from(self.below(5)) / 2.0 - 1.0),
            5 => Form::Str(self.text()).into(),
            6 => Value::Int((i128::from(self.bits().cast_signed()) << self.below(64)).into()),
            7 => Value::Float(Some(f64::from_bits(self.bits())).filter(|float| !float.is_nan()).unwrap_or(-0.0)),
            8 => Form::Range(vec![i64::from(self.below(8)) - 4, i64::from(self.below(8)) - 4]).into(),
            _ => self.parsed(),
        }
    }

    /// A value of a class of the standard library, from few texts, so that numbers among them are often equal.
    fn parsed(&mut self) -> Value {
        use ParsedClass::{Date, Datetime, Decimal, Fraction, Path, Pattern, PurePosixPath, Timedelta, Uuid};
        const TEXTS: [(ParsedClass, &[&str]); 9] = [
            (Decimal, &["1", "1.0", "0.5", "0.1", "2", "-0", "1E+2", "Infinity"]),
            (Fraction, &["1", "1/2", "1/10", "2", "0", "100", "-1/3"]),
            (Date, &["2024-02-29", "1970-01-01"]),
            (Datetime, &["2024-02-29T00:00:00", "2024-02-29T00:00:00+00:00", "2024-02-29T01:30:00+01:30"]),
            (Timedelta, &["0", "0.5", "90"]),
            (Path, &["a", "/a/b", "."]),
            (PurePosixPath, &["a", "/a/b", "."]),
            (Uuid, &["00000000-0000-0000-0000-00000000000a"]),
            (Pattern, &["a+", "a|b"]),
        ];
        let (class, texts) = *self.pick(&TEXTS);
        Form::Parsed(Parsed::new(class, *self.pick(texts)).expect("a text of the class")).into()
    }

    /// A key of a dict: mostly a short name, as in real programs.
    fn key(&mut self) -> Value {
        if self.one_in(4) { self.scalar() } else { Form::Str(char::from(b'a' + self.below(5) as u8).into()).into() }
    }

    fn text(&mut self) -> String {
        (0..self.below(6)).map(|_| *self.pick(&SIGNS)).collect()
    }

    fn array(&mut self) -> Value {
        let dtypes: Vec<Dtype> = Dtype::all().collect();
        let plain = Dtype::named("f32").expect("a dtype");
        let dtype = if self.one_in(2) { *self.pick(&dtypes) } else { plain };
        let shape: Vec<String> = (0..self.below(4)).map(|_| self.below(5).to_string()).collect();
        let (prefix, suffix) = *self.pick(&[("", ""), ("~", ""), ("np:", ""), ("", "@0")]);
        let text = format!("{prefix}{dtype}[{}]{suffix}", shape.join(","));
        // No library makes some of them, such as a weakly typed bool.
        let array: Array = text.parse().unwrap_or_else(|_| "f32[]".parse().expect("an array"));
        array.into()
    }
}

/// A value that is often equal to this one: numbers take another type, dicts another order, arrays are committed or no longer.
#[must_use]
pub fn near(value: &Value) -> Value {
    match value {
        Value::Bool(b) => Value::Int(i64::from(*b).into()),
        Value::Int(n) if n.get() == 0 => Value::Float(-0.0),
        Value::Int(n) if (1..100).contains(&n.get()) => Value::Float(n.get() as f64),
        Value::Array(array) => {
            let mut array = Array::clone(array);
            if let Library::Jax { placement, .. } = &mut array.library {
                placement.committed ^= true;
            }
            array.into()
        }
        Value::List(items) => Value::List(items.iter().map(near).collect()),
        Value::Form(form) => match &**form {
            Form::Tuple(items) => Form::Tuple(items.iter().map(near).collect()).into(),
            Form::Frozenset(items) => Form::Frozenset(items.iter().rev().map(near).collect()).into(),
            Form::Dict(items) => Form::Dict(DictItems(items.0.iter().rev().cloned().collect())).into(),
            Form::Parsed(parsed) => match parsed.content() {
                Content::Ratio(number, 1) => Value::Int((*number).into()),
                _ => value.clone(),
            },
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}
