//! Versions of implementations, and requirements on them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A release, as in `0.12.0.1`: numbers compared from the left, missing ones as zero.
#[derive(Debug, Clone, Eq, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[serde(try_from = "String")]
pub struct Version(Vec<u64>);

impl Version {
    fn part(&self, i: usize) -> u64 {
        self.0.get(i).copied().unwrap_or(0)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let len = self.0.len().max(other.0.len());
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
        // `0.5.3.dev1+gpu` counts as 0.5.3: a development version behaves like the release it leads to.
        let parts: Vec<u64> = text.trim().split(['.', '+']).map_while(|part| part.parse().ok()).collect();
        if parts.is_empty() { Err(VersionError(text.to_owned(), "a version, such as 0.12.0")) } else { Ok(Self(parts)) }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&parts.join("."))
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

/// A requirement on a version: `>=0.5,<0.10`, or `*` for every version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[serde(try_from = "String", into = "String")]
pub struct Requirement(Vec<(Comparator, Version)>);

impl Requirement {
    /// The requirement that every version satisfies.
    #[must_use]
    pub fn every() -> Self {
        Self(Vec::new())
    }

    /// The lowest version that it asks for, or 0.
    #[must_use]
    pub fn lowest(&self) -> Version {
        let lower = |comparator: &Comparator| !matches!(comparator, Comparator::Less | Comparator::LessEqual);
        let bounds = self.0.iter().filter(|(comparator, _)| lower(comparator)).map(|(_, bound)| bound.clone());
        bounds.max().unwrap_or_default()
    }

    /// The requirement in two parts, where `other` changes its mind among its versions.
    #[must_use]
    pub fn divided_by(&self, other: &Self) -> Option<[Self; 2]> {
        let (_, bound) = other.0.iter().find(|(_, bound)| self.matches(bound) && *bound != self.lowest())?;
        let lower = |comparator: &Comparator| matches!(comparator, Comparator::Greater | Comparator::GreaterEqual);
        let and = |comparator| {
            let others = self.0.iter().filter(|(other, _)| lower(other) != lower(&comparator)).cloned();
            let mut all: Vec<_> = others.chain([(comparator, bound.clone())]).collect();
            all.sort_by_key(|(comparator, _)| !lower(comparator));
            Self(all)
        };
        Some([and(Comparator::Less), and(Comparator::GreaterEqual)])
    }

    /// Whether `version` satisfies it.
    #[must_use]
    pub fn matches(&self, version: &Version) -> bool {
        self.0.iter().all(|(comparator, bound)| match comparator {
            Comparator::Less => version < bound,
            Comparator::LessEqual => version <= bound,
            Comparator::Equal => version == bound,
            Comparator::GreaterEqual => version >= bound,
            Comparator::Greater => version > bound,
        })
    }
}

impl TryFrom<String> for Requirement {
    type Error = VersionError;
    fn try_from(text: String) -> Result<Self, VersionError> {
        if text == "*" {
            return Ok(Self::every());
        }
        let part = |part: &str| {
            let part = part.trim();
            COMPARATORS
                .iter()
                .find_map(|(sign, comparator)| part.strip_prefix(sign).map(|rest| (*comparator, rest)))
                .filter(|(_, rest)| rest.split('.').all(|part| part.parse::<u64>().is_ok()))
                .and_then(|(comparator, rest)| Some((comparator, rest.parse().ok()?)))
        };
        let parts: Option<Vec<_>> = text.split(',').map(part).collect();
        parts.map(Self).ok_or(VersionError(text, "a version requirement, such as `>=0.5,<0.10` or `*`"))
    }
}

impl From<Requirement> for String {
    fn from(requirement: Requirement) -> Self {
        requirement.to_string()
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("*");
        }
        let parts: Vec<_> = self
            .0
            .iter()
            .map(|(comparator, version)| {
                let sign = COMPARATORS.iter().find(|(_, known)| known == comparator).expect("every sign is listed").0;
                format!("{sign}{version}")
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
}
