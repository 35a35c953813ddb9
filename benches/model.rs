//! How fast pairs are made and predicted, and how the time of one call grows with its leaves: `cargo bench`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use jitkey::case::{Array, Call, Case, Form, NestContainer, NestForm, Step, Value};
use jitkey::generate::{Generator, Pair, Source};
use jitkey::model::{Prediction, Simulation, predict};
use jitkey::spec::{Profile, Spec, Version};
use mimalloc::MiMalloc;
use std::sync::LazyLock;

/// As in the command.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

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

/// The spec, with pairs of about twenty leaves instead of those that contexts.yaml makes.
static SPEC_OF_TWENTY: LazyLock<Spec> = LazyLock::new(|| {
    let mut files = Spec::embedded_files();
    let contexts = files.iter_mut().find(|file| file.name == "contexts.yaml").expect("there are contexts");
    let read = |text: &str| serde_yaml::from_str::<serde_yaml::Value>(text).expect("YAML");
    let (mut all, ours) = (read(&contexts.text), read(include_str!("twenty_leaves.yaml")));
    all["arguments"] = ours["arguments"].clone();
    all["wrappers"]["tree"] = ours["wrappers"]["tree"].clone();
    contexts.text = serde_yaml::to_string(&all).expect("YAML");
    Spec::from_files(files).expect("a spec")
});
static GENERATOR_OF_TWENTY: LazyLock<Generator<'static>> = LazyLock::new(|| {
    let of_trees = |id: &str| id.starts_with("weak-type/");
    Generator::new(&SPEC_OF_TWENTY, "jax.jit", &version(), |rule| of_trees(rule.id.as_str()))
        .expect("there is a profile")
});

fn main() {
    LazyLock::force(&GENERATOR);
    LazyLock::force(&GENERATOR_OF_TWENTY);
    divan::main();
}

/// Makes [`PAIRS`] pairs, one after the other, as `check` does.
fn pairs<'g>(generator: &'g Generator<'g>, source: &'g mut Source) -> impl Iterator<Item = Pair> + 'g {
    (0..PAIRS).filter_map(move |index| {
        let plan = generator.plan(index, source);
        generator.pair(&plan, source).ok()
    })
}

#[divan::bench]
fn generate(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(PAIRS))
        .with_inputs(|| Source::random(7))
        .bench_values(|mut source| pairs(&GENERATOR, &mut source).for_each(drop));
}

#[divan::bench]
fn predict_and_compare(bencher: Bencher<'_, '_>) {
    let made: Vec<Pair> = pairs(&GENERATOR, &mut Source::random(7)).collect();
    bencher.counter(ItemsCount::new(made.len())).bench(|| made.iter().filter(|pair| agrees(pair)).count());
}

#[divan::bench]
fn generate_predict_and_compare(bencher: Bencher<'_, '_>) {
    whole_pairs(bencher, &GENERATOR);
}

/// As above, with the rules of weak_type and about twenty leaves in each call.
#[divan::bench]
fn generate_predict_and_compare_twenty_leaves(bencher: Bencher<'_, '_>) {
    whole_pairs(bencher, &GENERATOR_OF_TWENTY);
}

fn whole_pairs(bencher: Bencher<'_, '_>, generator: &Generator<'_>) {
    bencher
        .counter(ItemsCount::new(PAIRS))
        .with_inputs(|| Source::random(7))
        .bench_values(|mut source| pairs(generator, &mut source).filter(agrees).count());
}

fn agrees(pair: &Pair) -> bool {
    let calls = predict(&pair.case, &PROFILE).unwrap_or_default();
    calls.iter().map(Prediction::behaviour).eq(pair.expected.calls.iter().cloned())
}

/// One call with these arguments.
fn case(args: Vec<Value>) -> Case {
    Case { steps: vec![Step::Call(Call { args, ..Call::default() })], ..Case::default() }
}

fn array(text: &str) -> Value {
    text.parse::<Array>().expect("an array").into()
}

/// A list of that many arrays, of two avals in turn.
fn wide(leaves: usize) -> Case {
    let leaf = |i: usize| array(["f32[64,3]", "f32[3]"][i % 2]);
    case(vec![Value::List((0..leaves).map(leaf).collect())])
}

/// An array in that many tuples.
fn deep(levels: usize) -> Case {
    let nest = |value, _| Form::Nest(NestForm { levels: 1000, container: NestContainer::Tuple, value }).into();
    case(vec![(0..levels / 1000).fold(array("f32[3]"), nest)])
}

/// Flattens the arguments of a call, which are built, and makes the fast path's key of them: treedef, avals, hash.
fn key(bencher: Bencher<'_, '_>, size: usize, case: &Case) {
    let simulation = Simulation::new(case, &PROFILE).expect("a known profile");
    let call = case.calls().next().expect("a call");
    let objects = simulation.objects(call).expect("objects");
    let key = || drop(black_box(simulation.key(&PROFILE.tables[0], call, black_box(&objects))));
    bencher.counter(ItemsCount::new(size)).bench_local(key);
}

#[divan::bench(args = [10, 100, 1_000, 10_000, 100_000, 1_000_000], max_time = 5)]
fn key_of_leaves(bencher: Bencher<'_, '_>, leaves: usize) {
    key(bencher, leaves, &wide(leaves));
}

#[divan::bench(args = [1_000, 100_000], max_time = 5)]
fn key_of_levels(bencher: Bencher<'_, '_>, levels: usize) {
    key(bencher, levels, &deep(levels));
}

/// One call, from the case to the verdict: objects, flattening, the keys of all tables.
#[divan::bench(args = [10, 100, 1_000, 10_000, 100_000, 1_000_000], max_time = 5)]
fn call_with_leaves(bencher: Bencher<'_, '_>, leaves: usize) {
    let case = wide(leaves);
    bencher.counter(ItemsCount::new(leaves)).bench(|| predict(black_box(&case), &PROFILE));
}

#[divan::bench(args = [1_000, 100_000], max_time = 5)]
fn call_with_levels(bencher: Bencher<'_, '_>, levels: usize) {
    let case = deep(levels);
    bencher.counter(ItemsCount::new(levels)).bench(|| predict(black_box(&case), &PROFILE));
}
