//! How fast pairs are made and predicted, and how the time of one call grows with its leaves: `cargo bench`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use jitkey::case::{Call, Case, Step, Value};
use jitkey::generate::{Generator, Pair, Source};
use jitkey::model::{Prediction, predict};
use jitkey::spec::{Profile, Spec, Version};
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(Spec::embedded);
static GENERATOR: LazyLock<Generator<'static>> =
    LazyLock::new(|| Generator::new(&SPEC, "jax.jit", &version(), |_| true).expect("there is a profile"));
static PROFILE: LazyLock<&'static Profile> =
    LazyLock::new(|| SPEC.profile("jax.jit", &version()).expect("there is a profile"));

/// How many pairs an iteration has.
const PAIRS: usize = 256;

fn version() -> Version {
    "0.12.0.1".parse().expect("a version")
}

fn main() {
    LazyLock::force(&GENERATOR);
    divan::main();
}

fn pairs(source: &mut Source) -> Vec<Pair> {
    let pair = |index| {
        let plan = GENERATOR.plan(index, source);
        GENERATOR.pair(&plan, source).ok()
    };
    (0..PAIRS).filter_map(pair).collect()
}

#[divan::bench]
fn generate(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(PAIRS))
        .with_inputs(|| Source::random(7))
        .bench_values(|mut source| pairs(&mut source));
}

#[divan::bench]
fn predict_and_compare(bencher: Bencher<'_, '_>) {
    let made = pairs(&mut Source::random(7));
    bencher.counter(ItemsCount::new(made.len())).bench(|| made.iter().filter(|pair| agrees(pair)).count());
}

#[divan::bench]
fn generate_predict_and_compare(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(PAIRS))
        .with_inputs(|| Source::random(7))
        .bench_values(|mut source| pairs(&mut source).iter().filter(|pair| agrees(pair)).count());
}

fn agrees(pair: &Pair) -> bool {
    let calls = predict(&pair.case, &PROFILE).unwrap_or_default();
    calls.iter().map(Prediction::behaviour).eq(pair.expected.calls.iter().cloned())
}

/// One call with that many leaves, from the case to the verdict: objects, flattening, the keys of all tables.
#[divan::bench(args = [10, 100, 1_000, 10_000, 100_000])]
fn call_with_leaves(bencher: Bencher<'_, '_>, leaves: usize) {
    let leaf: Value = Value::Array("f32[3]".parse().expect("an array"));
    let args = vec![Value::List(vec![leaf; leaves])];
    let case = Case { steps: vec![Step::Call(Call { args, ..Call::default() })], ..Case::default() };
    bencher.counter(ItemsCount::new(leaves)).bench(|| predict(black_box(&case), &PROFILE));
}
