//! A written case of the spec.

use serde::{Deserialize, Serialize};

use super::read::{Errors, Reader, key};
use super::spans::Step;
use super::{Diagnostics, Expectation, SourceRef, SpecFile};
use crate::case::{Behaviour, Case};

/// A case with a name, and what is expected of it: a file under `spec/cases/`, or a frozen finding.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a case, which says of which `api` it is")]
pub struct CaseFile {
    /// The stable id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// What the case shows, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
    /// The implementation that is called.
    pub api: String,
    /// The version that the expectation was made for, where it is not for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The program.
    pub case: Case,
    /// What happens, by call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
    /// Of a finding: what the target did instead, by call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Vec<Behaviour>>,
    /// The id of the case whose program this one repairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<String>,
    /// What somebody does whose program recompiles because of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRef>,
}

impl CaseFile {
    /// The cases of `file`, one with its name, a list of them, or a bare case, which is about `api` and can't be read without
    /// it; `before` so many lines stand above its text. One of many that can't be read is an error in its place.
    pub fn all_of(
        file: &SpecFile,
        before: usize,
        api: Option<&str>,
    ) -> Result<Vec<Result<Self, Diagnostics>>, Diagnostics> {
        let reader = Reader::of_another(file, before);
        match &reader.tree {
            serde_yaml::Value::Null if reader.syntax.is_none() => Ok(Vec::new()),
            tree if reader.syntax.is_some() => Self::one_of(&reader, &[], tree, api).map(|file| vec![Ok(file)]),
            serde_yaml::Value::Sequence(trees) => {
                let one = |(i, tree)| Self::one_of(&reader, &[Step::Index(i)], tree, api);
                Ok(trees.iter().enumerate().map(one).collect())
            }
            tree => Ok(vec![Self::one_of(&reader, &[], tree, api)]),
        }
    }

    /// The case at `path`, which is valid.
    fn one_of(
        reader: &Reader<'_>,
        path: &[Step],
        tree: &serde_yaml::Value,
        api: Option<&str>,
    ) -> Result<Self, Diagnostics> {
        let mut errors = Errors::default();
        let inside = |name| path.iter().cloned().chain([key(name)]).collect::<Vec<Step>>();
        let has = |name| tree.get(name).is_some();
        let is_bare = has("steps") && !["id", "api", "case"].into_iter().any(has);
        let read = match api {
            _ if has("steps") && !is_bare => {
                let (reason, help) =
                    ("`steps` are a part of a `case`".to_owned(), "write them under `case:`".to_owned());
                errors.at(reader, &inside("steps"), None, reason, Some(help));
                None
            }
            _ if !is_bare => errors.read::<Self>(reader, path, tree),
            Some(api) => errors.read::<Case>(reader, path, tree).map(|case| Self::bare(api, case)),
            None => {
                let reason = "this is a bare case: say which implementation it calls, with --api or --target";
                errors.at(reader, path, None, reason.to_owned(), None);
                None
            }
        };
        let Some(file) = read else { return Err(Diagnostics(errors.0)) };
        if let Err(error) = file.case.validate() {
            let place = if is_bare { path.to_vec() } else { inside("case") };
            let subject = (!file.id.is_empty()).then_some(&*file.id);
            errors.at(reader, &place, subject, error.to_string(), None);
            return Err(Diagnostics(errors.0));
        }
        Ok(file)
    }

    /// A case of which nothing else is known.
    #[must_use]
    pub fn bare(api: &str, case: Case) -> Self {
        Self {
            id: String::new(),
            says: String::new(),
            api: api.to_owned(),
            version: None,
            case,
            expect: None,
            observed: None,
            repairs: None,
            fix: None,
            sources: Vec::new(),
        }
    }
}
