//! What a difference means: the first of the spec's causes that fits it.

use globset::{Glob, GlobMatcher};
use serde::Serialize;

use super::outside::{OBJECT, is_built_otherwise, is_of_a_choice, is_of_a_number, is_of_an_array};
use super::{ExplainedCall, Further, RecordingError, listed};
use crate::case::{Dtype, Layer};
use crate::model::{Difference, X64, dtype_called};
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

/// By API, component, path, before, after and where the call is made; and what is beside it.
type Patterns = [Vec<GlobMatcher>; 7];

impl<'s> Advisor<'s> {
    pub fn of(spec: &'s Spec) -> Result<Self, RecordingError> {
        let compiled = |cause: &'s Cause| {
            let when = &cause.when;
            let parts = [&when.api, &when.component, &when.path, &when.before, &when.after, &when.from, &when.beside];
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
        self.each(call, call.below().into_iter().filter(|found| !call.costs_the_fast_path_alone(found)))
    }

    /// What each of these differences of a layer below means.
    pub fn each<'d>(&self, call: &ExplainedCall, found: impl IntoIterator<Item = &'d Difference>) -> Vec<Further> {
        let further = |difference: &Difference| {
            let advice = self.advise(call, difference);
            Further { difference: difference.clone(), advice }
        };
        found.into_iter().map(further).collect()
    }

    /// What each of the differences that matter means; what follows from a flag, or the length of a loop, is mended as that is.
    pub fn of_call(&self, call: &ExplainedCall) -> Vec<Option<Advice>> {
        let differences = call.differences();
        let decides = |other: &Difference, found: &Difference| {
            (other.component == X64 && found.is_of_width()) || found.follows_from(other)
        };
        let advise = |found| self.advise(call, differences.iter().find(|other| decides(other, found)).unwrap_or(found));
        differences.iter().map(advise).collect()
    }

    /// What `difference` means to who made the call.
    fn advise(&self, call: &ExplainedCall, difference: &Difference) -> Option<Advice> {
        let Difference { component, path, before, after, .. } = difference;
        let from = call.from.clone().unwrap_or_default();
        let texts = [&call.api, component, path, before, after, &from];
        let mut did_miss = super::missed(&call.observed);
        if call.compiles() {
            did_miss = did_miss.with(Layer::Compile);
        }
        let at_path = call.differences().iter().filter(|found| found.path == difference.path);
        let beside: Vec<_> =
            at_path.map(|found| format!("{}: {} was {}", found.component, found.after, found.before)).collect();
        let fits = |([patterns @ .., all], cause): &&(Patterns, &Cause)| {
            let mut pairs = patterns.iter().zip(texts);
            pairs.all(|(globs, text)| globs.is_empty() || globs.iter().any(|glob| glob.is_match(text)))
                && all.iter().all(|glob| beside.iter().any(|text| glob.is_match(text)))
                && (!cause.when.one_dtype || dtype_in(before).is_some_and(|dtype| dtype_in(after) == Some(dtype)))
                && (!cause.when.comes_again || call.nearest_comes_again)
                && (cause.when.missed.is_empty() || did_miss == cause.when.missed.iter().copied().collect())
        };
        let (_, cause) = self.0.iter().find(fits)?;
        // One that looks otherwise is meant perhaps, as the next model of several is.
        let is_anew = |found: &&Difference| {
            // What the same function makes beside it is there once if that is called once.
            let is_sibling = maker(&found.after).is_some_and(|made| maker(&difference.after) == Some(made));
            found.component == OBJECT && found.after.starts_with("another ") && !is_sibling
        };
        let paths = |is_it: &dyn Fn(&&Difference) -> bool| {
            let paths: Vec<_> = call.outside.iter().filter(is_it).map(|it| it.path.clone()).collect();
            (!paths.is_empty()).then(|| listed(&paths, 3))
        };
        let (anew, numbers, arrays) =
            (paths(&is_anew), paths(&|found| is_of_a_number(found)), paths(&|found| is_of_an_array(found)));
        let choices = paths(&|found| is_of_a_choice(found));
        let otherwise = paths(&|found| is_built_otherwise(found));
        let alike = call.alike.map(|number| number.to_string()).unwrap_or_default();
        let filled = |text: &str| {
            let Difference { path, before, after, .. } = difference;
            let class = owner(before);
            let texts = [
                ("{path}", &**path),
                ("{before}", before),
                ("{after}", after),
                ("{class}", class),
                ("{otherwise}", otherwise.as_deref().unwrap_or_default()),
                ("{outside}", anew.as_deref().unwrap_or_default()),
                ("{numbers}", numbers.as_deref().unwrap_or_default()),
                ("{choices}", choices.as_deref().unwrap_or_default()),
                ("{arrays}", arrays.as_deref().unwrap_or_default()),
                ("{alike}", &alike),
            ];
            texts.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
        };
        let besides = [(&cause.fix_numbers, &numbers), (&cause.fix_choices, &choices), (&cause.fix_arrays, &arrays)];
        let besides = besides.into_iter().filter(|(_, paths)| paths.is_some()).filter_map(|(text, _)| text.as_ref());
        let fix = cause.fix_otherwise.as_ref().filter(|_| otherwise.is_some()).unwrap_or(&cause.fix);
        let fix = cause.fix_beside.as_ref().filter(|_| anew.is_some()).unwrap_or(fix);
        let fix = cause.fix_alike.as_ref().filter(|_| call.alike.is_some()).unwrap_or(fix);
        let fixes: Vec<_> = [fix].into_iter().chain(besides).map(|text| filled(text)).collect();
        Some(Advice {
            cause: cause.id.clone(),
            says: filled(&cause.says),
            fix: fixes.join(" "),
            rule: cause.rule.clone(),
        })
    }
}

/// The dtype that a text writes in any of its forms: `jnp.f32`, `dtype(f32)`, `'float32'`.
fn dtype_in(text: &str) -> Option<Dtype> {
    let module = text.strip_prefix("jnp.").or_else(|| text.strip_prefix("np."));
    let made = || text.strip_prefix("dtype(").and_then(|rest| rest.strip_suffix(')'));
    let name = module.or_else(made).unwrap_or_else(|| text.trim_matches('\''));
    Dtype::named(name).or_else(|| dtype_called(name))
}

/// The class of the object of which `method` is one, as it is called where it is defined; what isn't written so has none.
fn owner(method: &str) -> &str {
    let Some(rest) = method.strip_prefix("<bound method ") else { return "object" };
    // Its own class may have it from another one.
    let written = rest.split_once(" of ").and_then(|(_, object)| object.split_once('(')).map(|(class, _)| class);
    let is_name = |class: &&str| !class.is_empty() && class.chars().all(|c| c.is_alphanumeric() || c == '_');
    let defined = || rest.split(' ').next()?.trim_end_matches('>').rsplit_once('.').map(|(class, _)| class);
    written.filter(is_name).or_else(defined).map_or("object", |class| class.rsplit('.').next().unwrap_or(class))
}

/// The function inside of which one is defined: `make` of `<function make.<locals>.step at a.py:1>`.
fn maker(function: &str) -> Option<&str> {
    function.rsplit_once(".<locals>.").and_then(|(before, _)| before.rsplit(' ').next())
}

/// `*` alone is no plain character: paths and texts are full of brackets.
fn glob(text: &str) -> Result<GlobMatcher, globset::Error> {
    let escaped: Vec<_> = text.split('*').map(globset::escape).collect();
    Ok(Glob::new(&escaped.join("*"))?.compile_matcher())
}
