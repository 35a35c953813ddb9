//! Values of classes of Python's standard library, as these write them.
//!
//! A case has such a value as text; what its class compares and hashes is read here, so that nothing else knows the classes:
//! `decimal.Decimal` and `fractions.Fraction` are numbers (`Lib/numbers.py`, "Notes for type implementors"), paths are their
//! text (`Lib/pathlib.py`), a `datetime` with a time zone is a moment (`Lib/_pydatetime.py`).

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

const EPOCH: Date = Date::constant(1970, 1, 1);

/// A value of a class of the standard library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(ParsedClass, String)", into = "(ParsedClass, String)")]
pub struct Parsed {
    class: ParsedClass,
    text: String,
    content: Content,
}

/// The classes of the standard library whose values are written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ParsedClass {
    /// A decimal number: `0.10`, `1E+2`, `NaN`.
    #[serde(rename = "decimal.Decimal")]
    #[strum(serialize = "decimal.Decimal")]
    Decimal,
    /// A fraction in lowest terms: `1/3`, `2`.
    #[serde(rename = "fractions.Fraction")]
    #[strum(serialize = "fractions.Fraction")]
    Fraction,
    /// A day: `2024-02-29`.
    #[serde(rename = "datetime.date")]
    #[strum(serialize = "datetime.date")]
    Date,
    /// A moment, or a time of an unknown zone: `2024-02-29T12:00:00`, `2024-02-29T12:00:00+01:00`.
    #[serde(rename = "datetime.datetime")]
    #[strum(serialize = "datetime.datetime")]
    Datetime,
    /// A number of seconds: `90`, `0.5`.
    #[serde(rename = "datetime.timedelta")]
    #[strum(serialize = "datetime.timedelta")]
    Timedelta,
    /// A path of the system's, which is POSIX here.
    #[serde(rename = "pathlib.Path")]
    #[strum(serialize = "pathlib.Path")]
    Path,
    /// A path of POSIX on whatever system.
    #[serde(rename = "pathlib.PurePosixPath")]
    #[strum(serialize = "pathlib.PurePosixPath")]
    PurePosixPath,
    /// A UUID, in lower case.
    #[serde(rename = "uuid.UUID")]
    #[strum(serialize = "uuid.UUID")]
    Uuid,
    /// A compiled regular expression, without flags.
    #[serde(rename = "re.Pattern")]
    #[strum(serialize = "re.Pattern")]
    Pattern,
}

impl ParsedClass {
    /// Its dotted name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What `==` and `hash` look at, whatever the class.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Content {
    /// A numerator and a positive denominator without a common divisor.
    Ratio(i128, i128),
    /// A decimal infinity.
    Infinity {
        /// Whether it is the negative one.
        negative: bool,
    },
    /// A decimal NaN, which is equal to nothing.
    Nan,
    /// Days since 1970.
    Day(i64),
    /// Microseconds since 1970, of whatever zone.
    Naive(i64),
    /// Microseconds since 1970 in UTC.
    Moment(i64),
    /// Microseconds.
    Span(i64),
    /// A path.
    Path(String),
    /// A UUID.
    Uuid(String),
    /// A regular expression.
    Pattern(String),
}

/// Why a text is no value of the class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not how a `{class}` is written: {expected}")]
pub struct ParsedError {
    text: String,
    class: &'static str,
    expected: &'static str,
}

impl Parsed {
    /// Reads the text as the class writes it.
    pub fn new(class: ParsedClass, text: impl Into<String>) -> Result<Self, ParsedError> {
        let text = text.into();
        let (content, expected) = match class {
            ParsedClass::Decimal => (decimal(&text), "as in 0.10, -3, 1E+2 or NaN, with up to 30 digits"),
            ParsedClass::Fraction => (fraction(&text), "as in 1/3 or -2, in lowest terms"),
            ParsedClass::Date => (day(&text), "as in 2024-02-29"),
            ParsedClass::Datetime => (moment(&text), "as in 2024-02-29T12:00:00, with +01:00 for a zone"),
            ParsedClass::Timedelta => (span(&text), "a number of seconds, as in 90 or 0.5"),
            ParsedClass::Path | ParsedClass::PurePosixPath => {
                (is_path(&text).then(|| Content::Path(text.clone())), "as in /a/b, without empty parts and dots")
            }
            ParsedClass::Uuid => (is_uuid(&text).then(|| Content::Uuid(text.clone())), "32 digits in five groups"),
            ParsedClass::Pattern => (Some(Content::Pattern(text.clone())), "a regular expression"),
        };
        match content {
            Some(content) => Ok(Self { class, text, content }),
            None => Err(ParsedError { text, class: class.name(), expected }),
        }
    }

    /// Its class.
    #[must_use]
    pub fn class(&self) -> ParsedClass {
        self.class
    }

    /// How the class writes it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What `==` and `hash` look at.
    #[must_use]
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The expression that makes it. Texts are quoted as JSON quotes them, which Python reads too.
    #[must_use]
    pub fn expression(&self) -> String {
        let text = serde_json::Value::from(self.text.as_str());
        match self.class {
            ParsedClass::Date | ParsedClass::Datetime => format!("{}.fromisoformat({text})", self.class.name()),
            ParsedClass::Timedelta => format!("datetime.timedelta(seconds={})", self.text),
            ParsedClass::Pattern => format!("re.compile({text})"),
            class => format!("{}({text})", class.name()),
        }
    }
}

impl TryFrom<(ParsedClass, String)> for Parsed {
    type Error = ParsedError;

    fn try_from((class, text): (ParsedClass, String)) -> Result<Self, ParsedError> {
        Self::new(class, text)
    }
}

impl From<Parsed> for (ParsedClass, String) {
    fn from(parsed: Parsed) -> Self {
        (parsed.class, parsed.text)
    }
}

/// Digits as a number, and nothing else.
fn digits(text: &str) -> Option<i128> {
    (!text.is_empty() && text.len() <= 30 && text.bytes().all(|c| c.is_ascii_digit())).then(|| text.parse().ok())?
}

fn ratio(above: i128, below: i128) -> Content {
    let (mut a, mut b) = (above.abs(), below);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Content::Ratio(above / a, below / a)
}

fn decimal(text: &str) -> Option<Content> {
    let (sign, unsigned) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    match unsigned {
        "Infinity" => return Some(Content::Infinity { negative: sign < 0 }),
        "NaN" if sign > 0 => return Some(Content::Nan),
        _ => {}
    }
    let (mantissa, exponent) = unsigned.split_once('E').unwrap_or((unsigned, "+0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if mantissa.ends_with('.') {
        return None;
    }
    let number = digits(&format!("{whole}{fraction}"))? * sign;
    digits(whole)?;
    let exponent: i32 = exponent.parse().ok().filter(|_| exponent.starts_with(['+', '-']))?;
    let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let scale = 10_i128.checked_pow(exponent.unsigned_abs())?;
    Some(if exponent < 0 { ratio(number, scale) } else { Content::Ratio(number.checked_mul(scale)?, 1) })
}

fn fraction(text: &str) -> Option<Content> {
    let (sign, unsigned) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (above, below) = unsigned.split_once('/').unwrap_or((unsigned, "1"));
    let (above, below) = (digits(above)? * sign, digits(below).filter(|below| *below > 0)?);
    let read = ratio(above, below);
    // As `str` writes it.
    (read == Content::Ratio(above, below) && !text.ends_with("/1")).then_some(read)
}

fn day(text: &str) -> Option<Content> {
    let date: Date = text.parse().ok().filter(|date: &Date| date.year() > 0 && date.to_string() == text)?;
    Some(Content::Day(date.duration_since(EPOCH).as_hours() / 24))
}

fn moment(text: &str) -> Option<Content> {
    // There are dashes in the date as well.
    let (_, time) = text.split_once('T')?;
    let zone = time.find(['+', '-']).map_or("", |at| &time[at..]);
    let local = text.strip_suffix(zone)?;
    let time: DateTime = local.parse().ok()?;
    let written = if local.contains('.') { format!("{time:.6}") } else { time.to_string() };
    match zone.len() {
        _ if time.year() < 1 || written != local => None,
        0 => i64::try_from(time.duration_since(EPOCH.into()).as_micros()).ok().map(Content::Naive),
        6 => text.parse().ok().map(|moment: Timestamp| Content::Moment(moment.as_microsecond())),
        _ => None,
    }
}

fn span(text: &str) -> Option<Content> {
    let seconds: f64 = text.parse().ok()?;
    let micros = (seconds * 1e6).round_ties_even();
    let is_exact = seconds.abs() < 1e9 && micros / 1e6 == seconds;
    (is_exact && text == seconds.to_string() && text != "-0").then_some(Content::Span(micros as i64))
}

/// Whether `pathlib` writes the path so: without empty parts, dots that stand alone, and a slash at its end.
fn is_path(text: &str) -> bool {
    let (root, rest) = match text.strip_prefix("//").filter(|rest| !rest.starts_with('/')) {
        Some(rest) => ("//", rest),
        None => text.strip_prefix('/').map_or(("", text), |rest| ("/", rest)),
    };
    text == "." || (rest.is_empty() && !root.is_empty()) || rest.split('/').all(|part| !part.is_empty() && part != ".")
}

fn is_uuid(text: &str) -> bool {
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    let groups = [8, 4, 4, 4, 12];
    text.split('-').map(str::len).eq(groups) && text.bytes().all(|c| c == b'-' || is_digit(c))
}

#[cfg(test)]
mod tests {
    use super::{Content, Parsed, ParsedClass};

    const HOUR: i64 = 3_600_000_000;

    #[rstest::rstest]
    #[case(ParsedClass::Decimal, "0.10", Some(Content::Ratio(1, 10)))]
    #[case(ParsedClass::Decimal, "-1E+2", Some(Content::Ratio(-100, 1)))]
    #[case(ParsedClass::Decimal, "1E-7", Some(Content::Ratio(1, 10_000_000)))]
    #[case(ParsedClass::Decimal, "-0", Some(Content::Ratio(0, 1)))]
    #[case(ParsedClass::Decimal, "1.", None)]
    #[case(ParsedClass::Decimal, ".5", None)]
    #[case(ParsedClass::Decimal, "one", None)]
    #[case(ParsedClass::Fraction, "1/3", Some(Content::Ratio(1, 3)))]
    #[case(ParsedClass::Fraction, "-2", Some(Content::Ratio(-2, 1)))]
    #[case(ParsedClass::Fraction, "2/4", None)]
    #[case(ParsedClass::Fraction, "1/0", None)]
    #[case(ParsedClass::Date, "1970-01-02", Some(Content::Day(1)))]
    #[case(ParsedClass::Date, "2024-02-29", Some(Content::Day(19_782)))]
    #[case(ParsedClass::Date, "2023-02-29", None)]
    #[case(ParsedClass::Datetime, "1970-01-01T01:00:00", Some(Content::Naive(HOUR)))]
    #[case(ParsedClass::Datetime, "1970-01-01T01:00:00.000001", Some(Content::Naive(HOUR + 1)))]
    #[case(ParsedClass::Datetime, "1970-01-01T02:00:00+01:00", Some(Content::Moment(HOUR)))]
    #[case(ParsedClass::Datetime, "1970-01-01T00:00:00-01:00", Some(Content::Moment(HOUR)))]
    #[case(ParsedClass::Datetime, "1970-01-01", None)]
    #[case(ParsedClass::Datetime, "1970-01-01T24:00:00", None)]
    #[case(ParsedClass::Timedelta, "0.5", Some(Content::Span(500_000)))]
    #[case(ParsedClass::Timedelta, "0", Some(Content::Span(0)))]
    #[case(ParsedClass::Timedelta, "1.50", None)]
    #[case(ParsedClass::Path, "a/b", Some(Content::Path("a/b".to_owned())))]
    #[case(ParsedClass::Path, "//", Some(Content::Path("//".to_owned())))]
    #[case(ParsedClass::Path, "", None)]
    #[case(ParsedClass::Path, "///a", None)]
    #[case(ParsedClass::Path, "./a", None)]
    #[case(ParsedClass::Path, "a/", None)]
    #[case(ParsedClass::Uuid, "00000000-0000-0000-0000-00000000000A", None)]
    fn texts_are_read_as_the_class_writes_them(
        #[case] class: ParsedClass,
        #[case] text: &str,
        #[case] expected: Option<Content>,
    ) {
        assert_eq!(Parsed::new(class, text).ok().map(|parsed| parsed.content), expected);
    }
}
