//! What has to hold whatever comes in: each an equation that panics where it doesn't hold. The fuzz targets feed them bytes,
//! the tests random choices and what fuzzers found before.
//!
//! The types of inputs print as the case that they are about (`cargo fuzz fmt`), and refuse bytes that make none.

pub mod naive;
mod yaml;

use std::fmt;
use std::sync::LazyLock;

pub use yaml::mutated;

use crate::case::{Behaviour, Call, Case, JitOptions, Layer, LayerSet, Step, Value, Verdict, text};
use crate::generate::{Discard, Generator, Source, near};
use crate::model::{Explanation, ModelError, Prediction, Simulation, behaviour, predict};
use crate::spec::{ArgumentStyle, Parameter, Profile, Spec, SpecFile, lines};
use crate::target::protocol::{HelloReply, Reply, Request};

static SPEC: LazyLock<Spec> = LazyLock::new(Spec::embedded);

/// The newest profiles of the implementations that pairs are made for.
static NEWEST: LazyLock<Vec<(Generator<'static>, &'static Profile)>> = LazyLock::new(|| {
    let newest = |name: &&'static str| {
        let profile = SPEC.newest_profile(name)?;
        Some((Generator::new(&SPEC, name, &profile.versions.lowest(), |_| true)?, profile))
    };
    SPEC.implementations().iter().filter_map(newest).collect()
});

fn jax_jit() -> &'static Profile {
    SPEC.newest_profile("jax.jit").expect("there is a profile")
}

/// What makes an input of choices.
pub trait FromChoices: Sized {
    /// The input, if the choices make one.
    fn from_choices(source: &mut Source) -> Result<Self, Discard>;
}

/// `read(write(read(text))) = read(text)`, and no text makes the reader, the check or the model panic.
pub fn case_text(input: &str) {
    let Ok(case) = text::from_yaml::<Case>(input) else { return };
    let yaml = text::to_yaml(&case);
    let json = text::to_json(&case);
    let from_yaml: Case = text::from_yaml(&yaml).expect("what was written as YAML can be read");
    let from_json: Case = text::from_json(&json).expect("what was written as JSON can be read");
    assert_eq!(text::to_yaml(&from_yaml), yaml);
    assert_eq!(text::to_json(&from_json), json);
    assert_eq!(text::to_json(&from_yaml), json, "YAML and JSON say different things");
    if case.validate().is_ok() {
        for profile in &SPEC.profiles {
            let _ = predict(&case, profile);
        }
    }
}

/// A file of the spec is read, or refused with places that are in it, and never makes the loader panic. The first line says
/// which file it is: `# rules/x.yaml`. The files beside it are as few as a rule of `jax.jit` needs.
pub fn spec_text(input: &str) {
    static BESIDE: LazyLock<Vec<SpecFile>> = LazyLock::new(|| {
        let needed = ["contexts.yaml", "python.yaml", "profiles/jax_jit.yaml"];
        Spec::embedded_files().into_iter().filter(|file| needed.contains(&file.name.as_str())).collect()
    });
    let name = input.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or("rules/fuzzed.yaml").trim();
    let fuzzed = SpecFile { name: name.to_owned(), text: input.to_owned() };
    let files = BESIDE.iter().filter(|file| file.name != name).cloned().chain([fuzzed]).collect();
    let Err(errors) = Spec::from_files(files) else { return };
    assert!(!errors.0.is_empty(), "refused without a reason");
    for error in errors.0.iter().filter(|error| error.file.ends_with(name)) {
        let there = error.line >= 1 && error.column >= 1 && error.line <= lines(input).count().max(1) + 1;
        assert!(there, "no such place: {error}");
    }
    assert!(!errors.to_string().is_empty());
}

/// No line makes the readers of the protocol panic, and `read(write(read(line))) = read(line)`.
pub fn protocol_line(input: &str) {
    for line in input.lines() {
        if let Ok(reply) = text::from_json::<Reply>(line) {
            let written = text::to_json(&reply);
            let again: Reply = text::from_json(&written).expect("a reply that was written can be read");
            assert_eq!(text::to_json(&again), written);
            assert!(!written.contains('\n'), "a reply of two lines");
        }
        if let Ok(hello) = text::from_json::<HelloReply>(line) {
            let written = text::to_json(&hello);
            assert!(text::from_json::<HelloReply>(&written).is_ok(), "{written}");
        }
        if let Ok(request) = text::from_json::<Request>(line) {
            let written = text::to_json(&request);
            let again: Request = text::from_json(&written).expect("a request that was written can be read");
            assert_eq!(text::to_json(&again), written);
        }
    }
}

/// A generated pair, of any implementation.
pub struct RuledPair {
    rules: String,
    profile: &'static Profile,
    pair: crate::generate::Pair,
}

impl FromChoices for RuledPair {
    fn from_choices(source: &mut Source) -> Result<Self, Discard> {
        let (generator, profile) = source.pick(&NEWEST);
        let (plan, pair) = generator.any(source)?;
        Ok(Self { rules: plan.name(), profile, pair })
    }
}

impl fmt::Debug for RuledPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}\n{}", self.rules, self.profile.profile, text::to_yaml(&self.pair.case))
    }
}

impl RuledPair {
    /// `rule(pair) = model(pair)`
    pub fn rule_is_model(&self) {
        let expected = &self.pair.expected.calls;
        // What a rule leaves to the model is the campaign's business.
        if let Ok(model) = behaviour(&self.pair.case, self.profile)
            && !expected.is_empty()
        {
            assert_eq!(&model, expected, "{self:?}");
        }
    }

    /// `naive(pair) = model(pair)`, for what the naive model knows of `jax.jit`.
    pub fn naive_is_model(&self) {
        naive_is_model(&self.pair.case);
    }

    /// Explanations are of misses only, and complete: a second call whose arguments are taken from the first where the
    /// explanation of a layer says that they differ doesn't miss it, if the first call, made again, wouldn't.
    pub fn is_explained(&self) {
        let Ok(predictions) = explained(&self.pair.case, self.profile) else { return };
        for call in predictions.iter().filter(|call| call.verdict == Verdict::HIT) {
            assert!(call.explanations.is_empty(), "a hit that is explained: {self:?}");
        }
        for (explanation, repaired) in self.repaired() {
            let calls = behaviour(&repaired, self.profile).expect("the model knows the calls that it is made of");
            // A call that raises misses no layer.
            let raises = matches!(calls[1].verdict, Verdict::Error(_));
            assert!(raises || serves(&calls[1], explanation.layer), "{explanation:?} is not all: {self:?}");
        }
    }

    /// The explanations of the second call, and for each the two calls with those arguments taken from the first that it
    /// names; without those that name anything else, and those of layers that the first call itself would miss again. What
    /// differs in a leaf because of the options or the context isn't mended so: there are none if these differ.
    #[must_use]
    pub fn repaired(&self) -> Vec<(Explanation, Case)> {
        let case = &self.pair.case;
        let ([Step::Call(first), Step::Call(second)], Ok(predictions)) =
            (&case.steps[..], explained(case, self.profile))
        else {
            return Vec::new();
        };
        if first.options != second.options || first.context != second.context {
            return Vec::new();
        }
        let beside_first =
            |call: Call| Case { steps: vec![Step::Call(first.clone()), Step::Call(call)], ..case.clone() };
        let again = behaviour(&beside_first(first.clone()), self.profile);
        let repaired = |explanation: &Explanation| {
            let mut repaired = second.clone();
            for difference in &explanation.differences {
                let argument = self.argument(&difference.path)?;
                repaired.args.get_mut(argument)?.clone_from(first.args.get(argument)?);
            }
            Some(beside_first(repaired))
        };
        let of_second = predictions.into_iter().skip(1).flat_map(|call| call.explanations);
        of_second
            .filter(|explanation| !explanation.differences.is_empty())
            .filter(|explanation| again.as_ref().is_ok_and(|calls| serves(&calls[1], explanation.layer)))
            .filter_map(|explanation| Some((explanation.clone(), repaired(&explanation)?)))
            .collect()
    }

    /// The position of the argument in which a path begins.
    fn argument(&self, path: &str) -> Option<usize> {
        if let ArgumentStyle::ControlFlow(parameters) = &self.profile.arguments {
            // The carry of a fori_loop has the index beside it.
            let path = path.strip_prefix("(i, ").unwrap_or(path);
            let begins = |i: &usize| path.starts_with(&Parameter::name(parameters, *i));
            return (0..self.pair.case.calls().map(|call| call.args.len()).max()?).rev().find(begins);
        }
        path.strip_prefix("args[")?.split(']').next()?.parse().ok()
    }
}

/// Whether a call finds what it looks for in `layer`.
fn serves(call: &Behaviour, layer: Layer) -> bool {
    matches!(&call.verdict, Verdict::Missed(missed) if !missed.contains(layer))
}

/// What the model says of the calls, with its explanations.
fn explained(case: &Case, profile: &Profile) -> Result<Vec<Prediction>, ModelError> {
    let mut simulation = Simulation::explaining(case, profile)?;
    case.steps.iter().filter_map(|step| simulation.step(step).transpose()).collect()
}

fn naive_is_model(case: &Case) {
    if let (Some(naive), Ok(predictions)) = (naive::predict(case), predict(case, jax_jit())) {
        let model: Vec<Verdict> = predictions.into_iter().map(|call| call.verdict).collect();
        assert_eq!(naive, model, "the naive model and the model differ in\n{}", text::to_yaml(case));
    }
}

/// Calls of `jax.jit` with arbitrary arguments, in any order and again and again.
pub struct Calls {
    case: Case,
}

impl FromChoices for Calls {
    fn from_choices(source: &mut Source) -> Result<Self, Discard> {
        let options = match source.below(3) {
            0 => JitOptions::default(),
            _ => JitOptions { static_argnums: vec![0], ..JitOptions::default() },
        };
        let mut pool: Vec<Vec<Value>> =
            (0..=source.below(3)).map(|_| (0..=source.below(2)).map(|_| source.value()).collect()).collect();
        // Values that are made apart are rarely equal.
        for _ in 0..source.below(3) {
            let close = source.pick(&pool).iter().map(near).collect();
            pool.push(close);
        }
        // Each of them once, so that none is without meaning, and then any.
        let mut args = pool.clone();
        args.extend((0..source.below(5)).map(|_| source.pick(&pool).clone()));
        let call = |args| Step::Call(Call { args, ..Call::default() });
        let case = Case { options, steps: args.into_iter().map(call).collect(), ..Case::default() };
        case.validate().map_err(|error| Discard::Broken(error.to_string()))?;
        Ok(Self { case })
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::to_yaml(&self.case))
    }
}

impl Calls {
    fn of(&self, calls: &[&Call]) -> Option<Vec<Verdict>> {
        let steps = calls.iter().map(|call| Step::Call((*call).clone())).collect();
        let case = Case { steps, ..self.case.clone() };
        Some(predict(&case, jax_jit()).ok()?.into_iter().map(|call| call.verdict).collect())
    }

    /// Whether a second call misses layers after a first one; `None` if either raises.
    fn missed(&self, first: &Call, second: &Call) -> Option<LayerSet> {
        match &self.of(&[first, second])?[..] {
            [Verdict::Missed(_), Verdict::Missed(missed)] => Some(*missed),
            _ => None,
        }
    }

    /// The laws of an equality, for the keys: `a ~ a`, `a ~ b ⇒ b ~ a`, `a ~ b ∧ b ~ c ⇒ a ~ c`, each at the layers that a
    /// second call can miss; and the order of the layers: what misses a lower one misses those above.
    ///
    /// A leaf that the fast path doesn't take is the exception: it misses it again and again.
    pub fn keys_are_equalities(&self) {
        let calls: Vec<&Call> = self.case.calls().collect();
        let hits = |a, b, layer| self.missed(a, b).map(|missed| !missed.contains(layer));
        let (a, b, c) = (calls[0], calls[calls.len() / 2], calls[calls.len() - 1]);
        let slow = self.case.arguments().any(is_never_fast);
        let layers: &[Layer] = if slow { &[Layer::Trace] } else { &[Layer::Dispatch, Layer::Trace] };
        for layer in layers.iter().copied() {
            assert_ne!(hits(a, a, layer), Some(false), "not the same as itself at {layer}:\n{self:?}");
            if let (Some(ab), Some(ba)) = (hits(a, b, layer), hits(b, a, layer)) {
                assert_eq!(ab, ba, "not symmetric at {layer}:\n{self:?}");
            }
            if hits(a, b, layer) == Some(true) && hits(b, c, layer) == Some(true) {
                assert_ne!(hits(a, c, layer), Some(false), "not transitive at {layer}:\n{self:?}");
            }
        }
        if let Some(missed) = self.missed(a, b) {
            let word = Verdict::WORDS.iter().any(|(_, verdict)| *verdict == Verdict::Missed(missed));
            assert!(word, "misses {missed} and not what is above:\n{self:?}");
        }
    }

    /// What a call finds after others is what it finds after each of them alone: a layer is missed if it is missed after each,
    /// and a hit above ends the search.
    pub fn history_is_a_union(&self) {
        let calls: Vec<&Call> = self.case.calls().collect();
        let Some(verdicts) = self.of(&calls) else { return };
        let all = |verdicts: &[Verdict]| verdicts.iter().all(|verdict| matches!(verdict, Verdict::Missed(_)));
        if !all(&verdicts) {
            return;
        }
        for (i, verdict) in verdicts.iter().enumerate().skip(1) {
            let mut missed = LayerSet::ALL;
            for earlier in &calls[..i] {
                let Some(alone) = self.missed(earlier, calls[i]) else { return };
                missed = missed.and(alone);
            }
            assert_eq!(*verdict, Verdict::Missed(missed), "call {} of\n{self:?}", i + 1);
        }
    }

    /// `naive(calls) = model(calls)`
    pub fn naive_is_model(&self) {
        naive_is_model(&self.case);
    }
}

/// An array of float0, which XLA doesn't have.
fn is_never_fast(value: &Value) -> bool {
    matches!(value, Value::Array(array) if array.dtype.is_float0()) || value.children().into_iter().any(is_never_fast)
}

#[cfg(feature = "arbitrary")]
macro_rules! arbitrary_from_choices {
    ($($input:ty),*) => {$(
        impl<'a> arbitrary::Arbitrary<'a> for $input {
            fn arbitrary(bytes: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                Self::from_choices(&mut Source::arbitrary(bytes)?).map_err(|_| arbitrary::Error::IncorrectFormat)
            }
        }
    )*};
}

#[cfg(feature = "arbitrary")]
arbitrary_from_choices!(RuledPair, Calls);
