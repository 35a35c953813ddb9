//! What a difference means: the first of the spec's causes that fits it.

use globset::{Glob, GlobMatcher};
use serde::Serialize;

use super::{ExplainedCall, Further, RecordingError};
use crate::model::Difference;
use crate::spec::{Cause, Spec};

/// A cause, as it is stated of one difference.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Advice {
    /// The id of the cause.
    pub cause: String,
    /// What is the matter.
    pub says: String,
    /// What to do.
    pub fix: String,
    /// The rule that says so.
    pub rule: String,
}

/// The causes, ready to be asked.
pub(super) struct Advisor<'s>(Vec<(Patterns, &'s Cause)>);

/// By API, component, path, before and after.
type Patterns = [Vec<GlobMatcher>; 5];

impl<'s> Advisor<'s> {
    pub fn of(spec: &'s Spec) -> Result<Self, RecordingError> {
        let compiled = |cause: &'s Cause| {
            let when = &cause.when;
            let parts = [&when.api, &when.component, &when.path, &when.before, &when.after];
            let mut patterns = Patterns::default();
            for (place, texts) in patterns.iter_mut().zip(parts) {
                for text in texts {
                    place.push(glob(text).map_err(|error| RecordingError::Cause(error.to_string()))?);
                }
            }
            Ok((patterns, cause))
        };
        Ok(Self(spec.causes.iter().map(compiled).collect::<Result<_, _>>()?))
    }

    /// What the layers below would miss by, if what is stated of a call was mended.
    pub fn further(&self, call: &ExplainedCall) -> Vec<Further> {
        let further = |difference: &Difference| {
            let advice = self.advise(&call.api, difference);
            Further { difference: difference.clone(), advice }
        };
        call.below().into_iter().map(further).collect()
    }

    /// What `difference` means to who calls `api`.
    pub fn advise(&self, api: &str, difference: &Difference) -> Option<Advice> {
        let texts = [api, &difference.component, &difference.path, &difference.before, &difference.after];
        let fits = |patterns: &Patterns| {
            let mut pairs = patterns.iter().zip(texts);
            pairs.all(|(globs, text)| globs.is_empty() || globs.iter().any(|glob| glob.is_match(text)))
        };
        let (_, cause) = self.0.iter().find(|(patterns, _)| fits(patterns))?;
        let filled = |text: &str| {
            let texts =
                [("{path}", &difference.path), ("{before}", &difference.before), ("{after}", &difference.after)];
            texts.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
        };
        Some(Advice {
            cause: cause.id.clone(),
            says: filled(&cause.says),
            fix: filled(&cause.fix),
            rule: cause.rule.clone(),
        })
    }
}

/// `*` alone is no plain character: paths and texts are full of brackets.
fn glob(text: &str) -> Result<GlobMatcher, globset::Error> {
    let escaped: Vec<_> = text.split('*').map(globset::escape).collect();
    Ok(Glob::new(&escaped.join("*"))?.compile_matcher())
}
