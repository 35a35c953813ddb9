//! Versions of implementations, and requirements on them.

use std::fmt;
use std::str::FromStr;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A release, as in `0.12.0.1`: numbers compared from the left, missing ones as zero. It may know which Python it runs on, as in
/// `0.12.0.1+python3.13`, which is no part of their order.
#[derive(Debug, Clone, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[serde(try_from = "String")]
pub struct Version {
    release: Vec<u64>,
    python: Option<Box<Version>>,
}

impl Version {
    /// The same release on that version of Python.
    #[must_use]
    pub fn on_python(self, python: Self) -> Self {
        Self { python: Some(Box::new(python)), ..self }
    }

    /// The version that `text` is, on the Python that is named among all that can change a verdict.
    ///
    /// # Errors
    /// If it is none.
    pub fn told(text: &str, about: &IndexMap<String, Option<String>>) -> Result<Self, VersionError> {
        let python = about.get("python").and_then(Option::as_deref).and_then(|python| python.parse().ok());
        let version: Self = text.parse()?;
        Ok(match python {
            Some(python) => version.on_python(python),
            None => version,
        })
    }

    /// The Python that it runs on; where that isn't known, the newest is meant.
    #[must_use]
    pub fn python(&self) -> Option<&Self> {
        self.python.as_deref()
    }

    /// Whether it is one of the releases that begin so, as 3.13.2 is one of 3.13.
    #[must_use]
    pub fn is_of(&self, series: &Self) -> bool {
        self.release.starts_with(&series.release)
    }

    fn part(&self, i: usize) -> u64 {
        self.release.get(i).copied().unwrap_or(0)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let len = self.release.len().max(other.release.len());
        (0..len)
            .map(|i| self.part(i).cmp(&other.part(i)))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

/// Why a text is no version or requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not {1}")]
pub struct VersionError(String, &'static str);

impl FromStr for Version {
    type Err = VersionError;
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let wrong = || VersionError(text.to_owned(), "a version, such as 0.12.0");
        let (of_release, label) = text.trim().split_once('+').unwrap_or((text.trim(), ""));
        let python = match label.strip_prefix(PYTHON) {
            Some(python) => Some(Box::new(python.parse().map_err(|_| wrong())?)),
            None => None,
        };
        // `0.5.3.dev1+gpu` counts as 0.5.3: a development version behaves like the release it leads to.
        let release: Vec<u64> = of_release.split('.').map_while(|part| part.parse().ok()).collect();
        if release.is_empty() { Err(wrong()) } else { Ok(Self { release, python }) }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.release.iter().map(u64::to_string).collect();
        f.write_str(&parts.join("."))?;
        self.python().map_or(Ok(()), |python| write!(f, "+{PYTHON}{python}"))
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;
    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparator {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
}

const COMPARATORS: [(&str, Comparator); 5] = [
    ("<=", Comparator::LessEqual),
    (">=", Comparator::GreaterEqual),
    ("==", Comparator::Equal),
    ("<", Comparator::Less),
    (">", Comparator::Greater),
];

impl Comparator {
    fn holds(self, version: &Version, bound: &Version) -> bool {
        match self {
            Self::Less => version < bound,
            Self::LessEqual => version <= bound,
            Self::Equal => version == bound,
            Self::GreaterEqual => version >= bound,
            Self::Greater => version > bound,
        }
    }

    fn is_lower(self) -> bool {
        matches!(self, Self::Greater | Self::GreaterEqual)
    }
}

/// How a part of a requirement begins that is about the Python.
const PYTHON: &str = "python";

/// A requirement on a version: `>=0.5,<0.10`, or `*` for every version. `python<3.13` is one on the Python that it runs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[serde(try_from = "String", into = "String")]
pub struct Requirement {
    release: Vec<(Comparator, Version)>,
    python: Vec<(Comparator, Version)>,
}

impl Requirement {
    /// The requirement that every version satisfies.
    #[must_use]
    pub fn every() -> Self {
        Self { release: Vec::new(), python: Vec::new() }
    }

    /// Whether `text` begins as a requirement does.
    pub(super) fn is_begun_by(text: &str) -> bool {
        text.strip_prefix(PYTHON).unwrap_or(text).starts_with(['<', '>', '='])
    }

    /// The lowest version that it asks for, or 0.
    #[must_use]
    pub fn lowest(&self) -> Version {
        let lower = |comparator: &Comparator| !matches!(comparator, Comparator::Less | Comparator::LessEqual);
        let bounds = self.release.iter().filter(|(comparator, _)| lower(comparator)).map(|(_, bound)| bound.clone());
        bounds.max().unwrap_or_default()
    }

    /// The requirement in two parts, where `other` changes its mind among its versions.
    #[must_use]
    pub fn divided_by(&self, other: &Self) -> Option<[Self; 2]> {
        let (_, bound) = other.release.iter().find(|(_, bound)| self.matches(bound) && *bound != self.lowest())?;
        let and = |comparator: Comparator| {
            let others = self.release.iter().filter(|(other, _)| other.is_lower() != comparator.is_lower()).cloned();
            let mut release: Vec<_> = others.chain([(comparator, bound.clone())]).collect();
            release.sort_by_key(|(comparator, _)| !comparator.is_lower());
            Self { release, python: self.python.clone() }
        };
        Some([and(Comparator::Less), and(Comparator::GreaterEqual)])
    }

    /// Whether `version` satisfies it.
    #[must_use]
    pub fn matches(&self, version: &Version) -> bool {
        let python = |(comparator, bound): &(Comparator, Version)| match version.python() {
            Some(python) => comparator.holds(python, bound),
            None => comparator.is_lower(),
        };
        self.release.iter().all(|(comparator, bound)| comparator.holds(version, bound))
            && self.python.iter().all(python)
    }
}

impl TryFrom<String> for Requirement {
    type Error = VersionError;
    fn try_from(text: String) -> Result<Self, VersionError> {
        if text == "*" {
            return Ok(Self::every());
        }
        let bound = |part: &str| {
            COMPARATORS
                .iter()
                .find_map(|(sign, comparator)| part.strip_prefix(sign).map(|rest| (*comparator, rest)))
                .filter(|(_, rest)| rest.split('.').all(|part| part.parse::<u64>().is_ok()))
                .and_then(|(comparator, rest)| Some((comparator, rest.parse().ok()?)))
        };
        let mut requirement = Self::every();
        for part in text.split(',').map(str::trim) {
            let (bounds, part) = match part.strip_prefix(PYTHON) {
                Some(part) => (&mut requirement.python, part),
                None => (&mut requirement.release, part),
            };
            match bound(part) {
                Some(bound) => bounds.push(bound),
                None => return Err(VersionError(text, "a version requirement, such as `>=0.5,<0.10` or `*`")),
            }
        }
        Ok(requirement)
    }
}

impl From<Requirement> for String {
    fn from(requirement: Requirement) -> Self {
        requirement.to_string()
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::every() {
            return f.write_str("*");
        }
        let of_release = self.release.iter().map(|bound| ("", bound));
        let all = of_release.chain(self.python.iter().map(|bound| (PYTHON, bound)));
        let parts: Vec<_> = all
            .map(|(of, (comparator, version))| {
                let sign = COMPARATORS.iter().find(|(_, known)| known == comparator).expect("every sign is listed").0;
                format!("{of}{sign}{version}")
            })
            .collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(">=0.5,<0.10", "0.6.2", true)]
    #[case(">=0.5,<0.10", "0.10.0", false)]
    #[case("<0.10", "0.9", true)]
    #[case("==0.4.30", "0.4.30", true)]
    #[case("<=0.12", "0.12.0.1", false)]
    #[case("*", "1", true)]
    fn requirements_match(#[case] requirement: &str, #[case] version: &str, #[case] expect: bool) {
        let requirement = Requirement::try_from(requirement.to_owned()).unwrap();
        assert_eq!(requirement.matches(&version.parse().unwrap()), expect);
    }

    #[rstest]
    #[case("0.5.3.dev1+gpu", "0.5.3")]
    #[case("0.6.2+python3.11", "0.6.2+python3.11")]
    #[case("0.6.2+python3.11.7rc1", "0.6.2+python3.11")]
    fn versions_are_read(#[case] text: &str, #[case] expect: &str) {
        assert_eq!(text.parse::<Version>().unwrap().to_string(), expect);
    }

    #[rstest]
    fn what_is_no_version_is_refused(#[values("", "dev", "+python3.11", "0.6.2+python", "0.6.2+pythonx")] text: &str) {
        assert!(text.parse::<Version>().is_err());
    }

    /// Which Python isn't said is the newest.
    #[rstest]
    #[case("python<3.12.4", Some("3.12.1"), true)]
    #[case("python<3.12.4", Some("3.13"), false)]
    #[case("python<3.12.4", None, false)]
    #[case(">=0.10,python>=3.13", None, true)]
    #[case(">=0.10,python>=3.13", Some("3.14.10"), true)]
    #[case(">=0.12,python>=3.13", Some("3.14.10"), false)]
    fn requirements_ask_for_a_python(#[case] requirement: &str, #[case] python: Option<&str>, #[case] expect: bool) {
        let parsed = Requirement::try_from(requirement.to_owned()).unwrap();
        assert_eq!(parsed.to_string(), requirement);
        let version: Version = "0.11.2".parse().unwrap();
        let version = match python {
            Some(python) => version.on_python(python.parse().unwrap()),
            None => version,
        };
        assert_eq!(parsed.matches(&version), expect);
    }
}
