//! The names by which a person asks for a target.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::environment::{self, Progress};
use super::{Limits, Reference, Subprocess, Target, TargetError};
use crate::spec::Spec;

/// A target, as it is asked for: `jax.jit`, `jax.jit@0.6.2`, `reference`, `reference:jax.jit@0.6.2`, `cmd:./mine --flag`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetName {
    /// The reference model of an implementation.
    Reference {
        /// The implementation.
        implementation: String,
        /// The version; the newest that is known if not given.
        version: Option<String>,
    },
    /// A Python library in a private environment, or in a Python that is named.
    Python {
        /// The implementation.
        implementation: String,
        /// The version; the newest that runs here if not given.
        version: Option<String>,
    },
    /// A program that speaks the protocol.
    Command(Vec<String>),
}

/// Why a text names no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no target: write {known}, each with a version if you like (`jax.jit@0.6.2`), `reference`, or `cmd:PROGRAM ARGUMENTS`"
)]
pub struct TargetNameError {
    text: String,
    known: String,
}

impl FromStr for TargetName {
    type Err = TargetNameError;

    fn from_str(text: &str) -> Result<Self, TargetNameError> {
        let known = environment::implementations();
        let error = || TargetNameError {
            text: text.to_owned(),
            known: known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "),
        };
        if let Some(command) = text.strip_prefix("cmd:") {
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            return if words.is_empty() { Err(error()) } else { Ok(Self::Command(words)) };
        }
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version.to_owned())),
            None => (text, None),
        };
        let implementation = match name.strip_prefix("reference") {
            Some("") => known.first().map(|name| (*name).to_owned()),
            // One that no library stands for can have a profile.
            Some(rest) => rest.strip_prefix(':').filter(|name| !name.is_empty()).map(str::to_owned),
            None if known.contains(&name) => {
                return Ok(Self::Python { implementation: name.to_owned(), version });
            }
            None => None,
        };
        implementation.map(|implementation| Self::Reference { implementation, version }).ok_or_else(error)
    }
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, version) = match self {
            Self::Reference { implementation, version } => (format!("reference:{implementation}"), version),
            Self::Python { implementation, version } => (implementation.clone(), version),
            Self::Command(words) => return write!(f, "cmd:{}", words.join(" ")),
        };
        f.write_str(&name)?;
        version.iter().try_for_each(|version| write!(f, "@{version}"))
    }
}

impl TargetName {
    /// The same target with the version that it turned out to have, by which it can be asked for again.
    #[must_use]
    pub fn at(&self, found: &str) -> Self {
        let mut name = self.clone();
        if let Self::Reference { version, .. } | Self::Python { version, .. } = &mut name {
            *version = Some(found.to_owned());
        }
        name
    }

    /// The implementation and the version that are asked for, as far as the name says them.
    #[must_use]
    pub fn parts(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Self::Reference { implementation, version } | Self::Python { implementation, version } => {
                (Some(implementation), version.as_deref())
            }
            Self::Command(_) => (None, None),
        }
    }

    /// Every implementation that can be set up, at every version that has a profile: the newest first.
    #[must_use]
    pub fn known(spec: &Spec) -> Vec<Self> {
        let has_profile =
            |name: &str, version: &str| version.parse().is_ok_and(|version| spec.profile(name, &version).is_some());
        let of = |implementation: &'static str| {
            environment::versions().into_iter().filter(move |version| has_profile(implementation, version)).map(
                move |version| Self::Python {
                    implementation: implementation.to_owned(),
                    version: Some(version.to_owned()),
                },
            )
        };
        environment::implementations().iter().flat_map(|implementation| of(implementation)).collect()
    }
}

/// Opens the target; a private Python environment is set up first if it has to be.
///
/// `python` names an interpreter that has the libraries already, and is used as it is.
pub fn open<'s>(
    spec: &'s Spec,
    name: &TargetName,
    python: Option<&PathBuf>,
    limits: Limits,
    progress: &mut dyn Progress,
) -> Result<Box<dyn Target + 's>, TargetError> {
    let target: Box<dyn Target + 's> = match name {
        TargetName::Reference { implementation, version } => {
            let version = version.clone().or_else(|| newest(implementation, spec)).unwrap_or_default();
            Box::new(Reference::new(spec, implementation, &version)?)
        }
        TargetName::Command(words) => Box::new(Subprocess::start(words.clone(), Vec::new(), limits)?),
        TargetName::Python { implementation, version } => {
            let (command, env) = environment::command(implementation, version.as_deref(), python, progress)?;
            Box::new(Subprocess::start(command, env, limits)?)
        }
    };
    let about = target.about();
    let known = about.runs().and_then(|version| spec.profile(&about.implementation, &version));
    if known.is_none() {
        return Err(no_profile(spec, &about.implementation, &about.version));
    }
    Ok(target)
}

/// The newest version of an implementation that can be set up, or else that has a profile.
pub fn newest(implementation: &str, spec: &Spec) -> Option<String> {
    let of_profiles = || spec.newest_profile(implementation).map(|profile| profile.versions.lowest().to_string());
    environment::newest(implementation).or_else(of_profiles)
}

pub(super) fn no_profile(spec: &Spec, implementation: &str, version: &str) -> TargetError {
    let is_known = spec.implementations().contains(&implementation);
    TargetError::NoProfile {
        implementation: implementation.to_owned(),
        version: version.to_owned(),
        known: if is_known { spec.versions_of(implementation) } else { spec.implementations().join(", ") },
    }
}
