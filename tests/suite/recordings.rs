//! Programs that users wrote, recorded and explained: the four problems, and what mends them.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use jitkey::case::Verdict;
use jitkey::case::text::to_yaml;
use jitkey::explain::{Explained, ExplainedCall, Recording, Tried};
use jitkey::report::explain::text;
use jitkey::report::text::Style;
use jitkey::spec::CaseFile;
use jitkey::target::environment;
use rstest::rstest;

use super::common::{NEWEST, SPEC};
use super::scripts::Forks;

/// What was recorded of the programs, by program and version: several tests look at one.
static RECORDED: LazyLock<Mutex<HashMap<String, Arc<OnceLock<String>>>>> = LazyLock::new(Mutex::default);

/// What runs programs alone, by version.
static IDLE: LazyLock<Mutex<HashMap<String, Vec<Forks>>>> = LazyLock::new(Mutex::default);

/// Runs a program of tests/programs under jax `version`, alone and recorded; it has to print the same.
fn run(program: &str, version: &str) -> String {
    let script = format!("tests/programs/{program}.py");
    let (words, _) =
        environment::module("jitkey", "equinox.filter_jit", Some(version), None, &mut |line: &str| eprintln!("{line}"))
            .unwrap_or_else(|error| panic!("{error}"));
    let python = &words[0];
    let file = tempfile::NamedTempFile::new().unwrap();
    // How well XLA optimizes is nothing that a recording says.
    let variables = [("JAX_PLATFORMS", "cpu"), ("XLA_FLAGS", "--xla_backend_optimization_level=0")];
    let idle = || IDLE.lock().unwrap().get_mut(version).and_then(Vec::pop);
    let mut forks = idle().unwrap_or_else(|| Forks::of(python, &variables));
    let alone = forks.run(Path::new(&script));
    IDLE.lock().unwrap().entry(version.to_owned()).or_default().push(forks);
    let recorded = Command::new(env!("CARGO_BIN_EXE_jitkey"))
        .args(["record", "--output"])
        .arg(file.path())
        .args(["--", python, &script])
        .envs(variables)
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let printed = String::from_utf8(recorded.stdout).unwrap();
    assert_eq!((printed, 0), (alone.output, alone.code), "{}", alone.errors);
    std::fs::read_to_string(file.path()).unwrap()
}

/// What is said of a program of tests/programs that ran under jax `version`; every call has to be predicted, and every repair to hold.
pub(super) fn record(program: &str, version: &str) -> Explained {
    let one = Arc::clone(RECORDED.lock().unwrap().entry(format!("{program} {version}")).or_default());
    let recording = Recording::read(one.get_or_init(|| run(program, version))).unwrap();
    let explained = Explained::of(recording, &SPEC).unwrap();
    let tried: Vec<_> = explained.calls.iter().filter(|call| call.tried.is_some()).collect();
    let is_mended = tried.iter().all(|call| {
        let Some(Tried { mends, minimal, left, by }) = &call.tried else { return false };
        *mends && *minimal && left.is_empty() == by.is_empty()
    });
    // Of what a transformation makes there is nothing to try.
    let is_again = explained.calls.iter().any(|call| call.is_again() && call.observed != Verdict::HIT);
    assert!(is_mended && is_again != tried.is_empty(), "{}", text(&explained, Style::PLAIN));
    let otherwise: Vec<_> = explained.calls.iter().filter(|call| !call.is_predicted()).collect();
    assert!(otherwise.is_empty(), "{otherwise:#?}");
    explained
}

/// What keeps a loop off the fast path, where its jaxpr is another, is no reason to compile: a carry's type is all that there is to mend.
#[rstest]
fn a_carry_of_another_type_is_one_thing_to_mend(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let explained = record("carries_that_give_way", version);
    let strong = &explained.calls[22];
    let causes: Vec<_> = strong.advice.iter().flatten().map(|advice| advice.cause.as_str()).collect();
    assert_eq!((causes, strong.further.len()), (vec!["weak-type-lost"], 0));
    let saves: Vec<_> = explained.to_mend().iter().map(|it| (it.id.clone(), it.calls.clone(), it.saves)).collect();
    assert!(saves.contains(&("weak-type-lost".to_owned(), vec![23], 1)), "{saves:?}");
}

#[rstest]
#[case("optimizer_each_step", 3, "optimizer-made-anew")]
#[case("none_gradients", 1, "none-in-an-optimizer-state")]
#[case("module_with_callables", 2, "function-made-anew")]
#[case("line_search", 2, "librarys-body-made-anew")]
#[case("line_search_jitted", 1, "weak-type-lost")]
fn a_problem_is_explained(
    #[case] program: &str,
    #[case] again: usize,
    #[case] cause: &str,
    #[values(NEWEST, "0.6.2", "0.4.30")] version: &str,
) {
    let mut explained = record(program, version);
    // What was made took its time, and what was found none.
    assert!(explained.calls.iter().all(|call| call.seconds.is_some_and(|it| it > 0.0) == call.compiles()));
    explained.calls.iter_mut().for_each(|call| call.seconds = None);
    explained.patterns.iter_mut().for_each(|it| (it.seconds, it.saves_seconds) = (None, None));
    let calls: Vec<&ExplainedCall> = explained.calls.iter().filter(|call| call.is_again()).collect();
    assert_eq!(calls.len(), again, "{}", text(&explained, Style::PLAIN));
    for call in calls {
        let causes: Vec<_> = call.advice.iter().flatten().map(|advice| advice.cause.as_str()).collect();
        assert!(!causes.is_empty() && causes.iter().all(|known| *known == cause), "{causes:?}");
    }
    if version == NEWEST {
        crate::snapshot!(format!("explain-{program}"), text(&explained, Style::PLAIN));
    }
    // The miss alone, and repaired, on the real library.
    let call = explained.calls.iter().find(|call| call.is_again()).unwrap();
    let cases = explained.cases(call.number, &SPEC).unwrap();
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    std::fs::write(file.path(), serde_json::to_string(&cases).unwrap()).unwrap();
    let target = format!("{}@{version}", call.api);
    let replayed = Command::new(env!("CARGO_BIN_EXE_jitkey"))
        .args(["replay", "--target", &target])
        .arg(file.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(replayed.stdout).unwrap();
    assert!(replayed.status.success(), "{printed}{}", String::from_utf8_lossy(&replayed.stderr));
    let observed: Vec<_> = printed.lines().filter(|line| line.trim_start().starts_with("observed")).collect();
    assert_eq!(observed, ["  observed   trace, trace", "  observed   trace, hit"], "{printed}");
}

/// From 0.4.36 to 0.4.38 jax has two words for no mesh, one outside of calls and one inside, and other ones for what is entered.
#[rstest]
fn a_jax_with_other_words_is_recorded(#[values("meshes", "nested_calls", "entered_contexts")] program: &str) {
    record(program, "0.4.38");
}

/// What nnx.jit hands to jax.jit is a graphdef and a state.
#[rstest]
fn a_graphdef_is_read_attribute_by_attribute(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("nnx_optimizer", version);
    let calls: Vec<_> = explained.calls.iter().filter(|call| call.is_again()).collect();
    assert_eq!(calls.len(), 2, "{}", text(&explained, Style::PLAIN));
    for call in calls {
        assert_eq!(call.place(), ("flax.nnx.jit", "train_step", call.at.as_deref(), None));
        assert_eq!(call.differences()[0].path, "trainer.tx.init");
        assert_eq!(call.advice[0].as_ref().unwrap().cause, "optimizer-made-anew");
    }
}

/// A Module that stands in the place of another is said as one, and nothing of what is in it.
#[test]
fn a_swapped_module_is_one_difference() {
    let explained = record("nnx_swaps", NEWEST);
    let again = explained.calls.iter().filter(|call| call.is_again());
    let said: Vec<_> =
        again.map(|call| call.differences().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")).collect();
    let expected = [
        "structure at net: Other was Net",
        "structure at net.b: Linear(…) was NodeRef(…)",
        "structure at net.a: LoRA(…) was Linear(…)",
        "structure at net: Stack was Other",
        "structure at net.layers[1]: Linear(…) was absent",
        "structure at net.before: absent was f32[2, 3]",
        "structure at net: Normed was Stack",
        "structure at net.extra: f32[2] was absent",
        "shape at net.mean: [5] was [4]",
        "structure at net.extra: None was Param(…)",
        "structure at net.bias: Param(…) was NodeRef(…), structure at net.kernel: Param(…) was NodeRef(…)",
    ];
    assert_eq!(said, expected);
    let none = explained.calls.iter().flat_map(|call| call.advice.iter().flatten());
    assert!(none.into_iter().any(|advice| advice.cause == "none-where-an-array-was"));
    let averaged = explained.calls.iter().rfind(|call| call.is_again()).unwrap();
    assert!(averaged.advice.iter().flatten().all(|advice| advice.cause == "no-longer-shared"), "{averaged:#?}");
}

#[rstest]
fn a_repair_compiles_once(
    #[values(
        "optimizer_each_step_repaired",
        "none_gradients_repaired",
        "module_with_callables_repaired",
        "line_search_repaired"
    )]
    program: &str,
    #[values(NEWEST, "0.6.2", "0.4.30")] version: &str,
) {
    let explained = record(program, version);
    let again: Vec<_> = explained.calls.iter().filter(|call| call.is_again()).collect();
    assert!(again.is_empty() && explained.calls.len() > 2, "{}", text(&explained, Style::PLAIN));
    assert!(explained.patterns.is_empty(), "{:#?}", explained.patterns);
}

/// Whole programs, of several libraries: every call does what the model says, and prints the same.
#[rstest]
fn a_program_is_predicted(
    #[values(
        "training_linen",
        "training_equinox",
        "training_sharded",
        "told_by_names",
        "called_back",
        "threads_and_effects",
        "nested_calls",
        "references",
        "statics_and_data",
        "library_functions",
        "call_forms",
        "classes_of_one_name",
        "control_flow",
        "custom_derivatives",
        "donations",
        "nnx_graphs",
        "nnx_loops",
        "deletions",
        "failed_calls",
        "lifetimes",
        "shared_functions",
        "held_objects",
        "converted_objects",
        "outputs_placed",
        "programs_without",
        "unasked_objects",
        "jitted_branches",
        "jitted_before",
        "served",
        "carries_that_give_way"
    )]
    program: &str,
    #[values(NEWEST, "0.4.30")] version: &str,
) {
    record(program, version);
}

/// What jax's persistent cache has in a file is none to compile, and what it hasn't is.
#[rstest]
fn a_program_from_a_file_is_loaded(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("programs_from_files", version);
    let compiled: Vec<_> = explained.calls.iter().map(ExplainedCall::compiles).collect();
    assert_eq!(compiled, [true, false, true], "{}", text(&explained, Style::PLAIN));
}

/// A jitted function that is called under jax.grad, jax.vmap and the like is a call whose body ran or didn't.
#[rstest]
fn what_is_transformed_is_recorded(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let explained = record("transformed", version);
    let transformed = explained.calls.iter().filter(|call| call.transformed.is_some()).count();
    // jax.sharding has an abstract mesh to use since 0.7.
    let calls = if version == NEWEST { 62 } else { 60 };
    assert_eq!((explained.calls.len(), transformed), (calls, 50), "{}", text(&explained, Style::PLAIN));
    let mut expected = vec![
        (26, "a-single-number-now, weak-type-gained"),
        (27, "another-kind-of-number"),
        (28, "another-shape, another-shape"),
        (29, "flags"),
        (32, "a-static-argument-more"),
        (33, "object-without-equality"),
        (40, "another-shape"),
        (41, "another-shape"),
        (42, "another-shape"),
        (45, "wrapped-anew"),
        (46, "wrapped-anew"),
        (49, "named-axes"),
        (53, "named-axes"),
        (54, "named-axes"),
    ];
    // In which order they are named counts before 0.10.
    expected.push((55, if version == NEWEST { "mapped-over-another-number" } else { "named-axes" }));
    expected.extend(match version {
        NEWEST => vec![(59, "another-set-mesh"), (61, "default-device")],
        "0.6.2" => vec![(57, "empty-abstract-mesh"), (59, "default-device")],
        _ => vec![(59, "default-device")],
    });
    assert_eq!(causes(&explained), owned(&expected), "{}", text(&explained, Style::PLAIN));
    let shown: Vec<_> = explained.patterns.iter().map(|it| (it.id.as_str(), &it.calls[..])).collect();
    assert_eq!(shown, [("unseen-attribute", &[31][..]), ("wrapper-in-a-loop", &[45, 46])]);
    let said = text(&explained, Style::PLAIN);
    assert!(said.contains("call 27 traced again, and compiled what a transformation makes of it"), "{said}");
}

/// The calls that compiled again, with their causes.
fn causes(explained: &Explained) -> Vec<(usize, String)> {
    let again = explained.calls.iter().filter(|call| call.is_again() && call.compiles());
    let of_call = |call: &ExplainedCall| {
        let causes: Vec<_> = call.advice.iter().flatten().map(|advice| advice.cause.as_str()).collect();
        (call.number, causes.join(", "))
    };
    again.map(of_call).collect()
}

fn owned(causes: &[(usize, &str)]) -> Vec<(usize, String)> {
    causes.iter().map(|(call, causes)| (*call, (*causes).to_owned())).collect()
}

/// A context that is made adds to every key, by an import as well. Before 0.7 nobody makes one.
#[rstest]
fn an_import_can_compile_everything_again(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("imported_late", version);
    let made = "context-made";
    let expected = match version {
        NEWEST => vec![
            (5, made),
            (6, made),
            (7, "another-shape"),
            (10, made),
            (11, made),
            (12, "user-context"),
            (13, "user-context"),
        ],
        _ => vec![(7, "another-shape")],
    };
    assert_eq!(causes(&explained), owned(&expected), "{}", text(&explained, Style::PLAIN));
}

#[rstest]
fn misses_that_look_alike_are_told_apart(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("told_apart", version);
    let mut expected = vec![
        (2, "a-static-argument-more"),
        (3, "function-made-anew"),
        (5, "a-static-argument-more"),
        (6, "static-argument-number"),
        (10, "method-wrapped-anew"),
        (13, "method-wrapped-anew"),
        (14, "method-wrapped-anew"),
        (17, "static-in-one-call, called-otherwise, called-otherwise"),
    ];
    expected.extend((version == NEWEST).then_some((19, "another-spec-over-explicit-axes")));
    assert_eq!(causes(&explained), owned(&expected), "{}", text(&explained, Style::PLAIN));
    let said = text(&explained, Style::PLAIN);
    assert!(
        said.contains("a method of another Critic than before") && said.contains("Make the Trainer once"),
        "{said}"
    );
}

/// A function that is called after a wrapper of it was is called for the first time.
#[rstest]
fn what_is_jitted_twice_is_two_functions(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("jitted_before", version);
    let calls: Vec<_> = explained.calls.iter().filter(|call| call.name == "kept").map(|call| call.first).collect();
    assert_eq!(calls, [true, true], "{}", text(&explained, Style::PLAIN));
}

/// What a library made for a program is said to be the library's; three losses are three functions; what is static in one of two
/// calls is passed in both; and a call that passes the same otherwise is nearer than one that has it as a static argument.
#[rstest]
fn what_libraries_make_is_told_apart(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("of_libraries", version);
    let again = explained.calls.iter().filter(|call| call.is_again());
    let tried = again.clone().all(|call| call.tried.is_some());
    assert!(tried, "{}", text(&explained, Style::PLAIN));
    let said = again.map(|call| {
        let causes = call.advice.iter().flatten().map(|advice| advice.cause.as_str());
        let found = call.differences().iter().map(|found| format!("{} at {}", found.component, found.path));
        let each: Vec<_> = found.zip(causes).map(|(found, cause)| format!("{found}: {cause}")).collect();
        format!("{}: {}", call.number, each.join(", "))
    });
    let expected = [
        "8: static value at m.activation: librarys-function-made-anew",
        "10: static value at init: librarys-function-made-anew",
        "12: static argument at n: traced-in-one-call",
        "13: number of positional arguments at : called-otherwise, keyword names at : called-otherwise, \
         static positions at : called-otherwise, static value at n: static-argument-number",
        "14: number of positional arguments at : called-otherwise, keyword names at : called-otherwise",
        "16: static value at config.rate: number-in-a-static-argument",
        "17: static hash at config.dtype: dtype-in-two-forms",
    ];
    assert_eq!(said.collect::<Vec<_>>(), expected, "{}", text(&explained, Style::PLAIN));
}

/// What is moved off a mesh by a device and no sharding has the mesh in its type, since jax 0.5.
#[rstest]
fn a_mesh_stays_in_the_type(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("meshes", version);
    let moved = explained.to_mend().into_iter().filter(|pattern| pattern.id == "moved-off-a-mesh");
    let expected = if version == NEWEST { 1 } else { 0 };
    assert_eq!(moved.map(|pattern| pattern.calls.len()).sum::<usize>(), expected, "{}", text(&explained, Style::PLAIN));
}

/// An object is said by what it holds if `==` looks at that, and is another one if nothing but itself finds it.
#[rstest]
fn an_object_is_said_by_what_finds_it(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("statics_and_data", version);
    let named: Vec<_> = explained.calls.iter().filter(|call| call.name == "<lambda>" && call.is_again()).collect();
    let said: Vec<_> = named
        .iter()
        .filter_map(|call| {
            let found = call.differences().iter().find(|found| found.path == "by")?;
            let cause = &call.advice.first()?.as_ref()?.cause;
            Some(format!("{}: {} after {}: {cause}", found.component, found.after, found.before))
        })
        .collect();
    let expected = [
        "static value: Equal(name='b') after Equal(name='a'): static-argument",
        "static value: Sized(name='a') after Equal(name='b'): static-argument",
        "static hash: another Sized(name='a') after Sized(name='a'): hash-contradicts-equality",
        "static value: Sized(name='b') after Sized(name='a'): static-argument",
        "static value: <Alone> after Sized(name='b'): static-argument",
        "static value: another <Alone> after <Alone>: object-without-equality",
        "static value: another <Alone> after <Alone>: object-without-equality",
        "static value: <Named name='a'> after <Alone>: static-argument",
        "static value: another <Named name='a'> after <Named name='a'>: object-without-equality",
        "static value: <Named name='b'> after <Named name='a'>: another-object-without-equality",
    ];
    assert_eq!(said, expected);
    let ufunc = |name: &str| match version {
        "0.4.30" => format!("<jit of <function jax.numpy.{name} at jax/_src/numpy/ufuncs.py:100>>"),
        _ => format!("ufunc(__name__='{name}', _ufunc__static_props=…)"),
    };
    let told: Vec<_> = explained
        .calls
        .iter()
        .filter(|call| call.name == "<lambda>" && call.is_again())
        .filter_map(|call| {
            let found = call.differences().iter().find(|found| found.path == "what")?;
            Some(format!("{}: {}", found.after, call.advice.first()?.as_ref()?.cause))
        })
        .collect();
    let expected = [
        "pathlib.Path(\"b\"): static-argument",
        "b'a': static-argument",
        "b'b': static-argument",
        "<Agent rate=1, act=<PjitFunction of root at statics_and_data.py:117>>: static-argument",
        "another <Agent rate=1, act=<PjitFunction of root at statics_and_data.py:117>>: object-that-holds-functions",
        "<Agent rate=2, act=<PjitFunction of root at statics_and_data.py:117>>: another-object-without-equality",
        "<Learner params={…}, bias=float32[…]>: another-object-without-equality",
        "another <Learner params={…}, bias=float32[…]>: object-that-holds-arrays",
        &format!("{}: static-argument", ufunc("add")),
        &format!("{}: another-function", ufunc("multiply")),
        "str_('c'): static-argument",
        "'c': another-static-type",
        "(4+0j): static-argument",
        "4: another-static-type",
    ];
    assert_eq!(told, expected);
}

/// What jax.vjp and jax.linearize return outside of jit is made anew, whatever jax has around it; that of a jitted function isn't.
#[rstest]
fn a_pullback_is_made_anew(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let explained = record("pullbacks", version);
    let because = |call: &&ExplainedCall| call.advice.iter().flatten().all(|it| it.cause == "pullback-made-anew");
    let again = explained.calls.iter().filter(|call| call.is_again());
    let anew: Vec<_> = again.filter(because).map(|call| call.number).collect();
    assert_eq!(anew, [2, 3, 5, 6, 8], "{}", text(&explained, Style::PLAIN));
    let fix = &explained.patterns[0].fix;
    assert!(fix.starts_with("Call jax.vjp or jax.linearize inside of a jitted function") && fix.len() < 200, "{fix}");
}

/// What jax makes of a function is the program's, if that jits it, though jax wrote it.
#[rstest]
fn what_jax_makes_and_the_program_jits_is_recorded(#[values(NEWEST, "0.8.3", "0.6.2", "0.4.30")] version: &str) {
    let explained = record("jitted_pullbacks", version);
    assert!(explained.calls.iter().all(ExplainedCall::is_predicted), "{}", text(&explained, Style::PLAIN));
    let missed = |call: &&ExplainedCall| call.is_again() && call.compiles();
    let again: Vec<_> = explained.calls.iter().filter(missed).map(|call| call.number).collect();
    // Up to jax 0.7 pullbacks and what is pushed forward are made in one place, and the first of these is no first call there.
    let expected: &[usize] = if ["0.6.2", "0.4.30"].contains(&version) { &[5, 7, 10, 15] } else { &[7, 10, 15] };
    assert_eq!((explained.calls.len(), &*again), (15, expected), "{}", text(&explained, Style::PLAIN));
}

/// What is of the structure besides children has a name and a cause of its own.
#[rstest]
fn what_is_beside_the_children_has_a_cause(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("statics_and_data", version);
    let again = explained.calls.iter().filter(|call| call.is_again());
    let said: Vec<_> = again
        .filter_map(|call| {
            let found = call.differences().iter().find(|found| found.path.starts_with("it."))?;
            Some(format!("{}: {}", found.path, call.advice.first()?.as_ref()?.cause))
        })
        .collect();
    let expected = [
        "it.default_factory: a-static-field-that-was-none",
        "it.default_factory: another-default-factory",
        "it.default_factory: another-default-factory",
        "it.aux[0]: static-field-nan",
    ];
    assert_eq!(said, expected);
}

/// What differs is named as the program names it, and nothing that follows from it is beside it.
#[rstest]
fn what_differs_has_a_name(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let explained = record("call_forms", version);
    let again: Vec<_> = explained.calls.iter().filter(|call| call.is_again()).collect();
    let said: Vec<_> = again
        .iter()
        .map(|call| {
            let places = call.differences().iter().map(|found| format!("{} of {}", found.component, found.path));
            format!("{} {}: {}", call.number, call.name, places.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let expected = [
        "2 total: argument of rest[1]",
        "4 step: static argument of train",
        "6 _plain: shape of x",
        "8 _step: shape of x",
        if version == "0.4.30" { "9 _step: dtype of net['bias'].value" } else { "9 _step: dtype of net.bias" },
        "11 <lambda>: shape of it.right",
        "14 lax.fori_loop: number of steps of ",
        "16 lax.fori_loop: shape of init_val, weak_type of init_val",
        "18 lax.map: wrapping of lax.map",
        "26 partial of blend: dtype of y",
        "33 filter_value_and_grad of loss: shape of batch",
        "35 value_and_grad of both: shape of x",
        "38 __call__: static value of fun",
        "40 __call__: function of ",
        "41 lax.map: wrapping of lax.map",
        "43 <lambda>: shape of y",
    ];
    assert_eq!(said, expected);
    assert!(again.iter().all(|call| call.tried.as_ref().is_none_or(|tried| tried.mends && tried.minimal)));
    let from = again.last().and_then(|call| call.from.as_deref()).unwrap_or_default();
    assert!(from.starts_with("functools.py:") && from.contains(" (from call_forms.py:"), "{from}");
}

/// What holds a difference is looked into, whatever it is.
#[rstest]
fn what_is_held_has_a_name(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let explained = record("held_objects", version);
    let again = explained.calls.iter().filter(|call| call.is_again());
    let said: Vec<_> = again
        .map(|call| {
            let places = call.differences().iter().map(|found| format!("{} of {}", found.component, found.path));
            format!("{}: {}", call.name, places.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let expected = [
        "<lambda>: static value of config.optim.rate",
        "<lambda>: static value of net.width",
        "forward: structure of module.mode",
        "<lambda>: shape of tokens",
        "<lambda>: shape of tokens",
        "step: shape of batch",
        "<lambda>: structure of it",
        "<lambda>: shape of f.args[0]",
        "<lambda>: shape of it.right[0]",
        "<lambda>: shape of it['pair'].left, shape of it['pair'].right",
        if version == "0.4.30" {
            "<lambda>: shape of state._state[0]"
        } else {
            "<lambda>: shape of state._state['Noted.index']"
        },
        "init: function of ",
        "init: function of ",
    ];
    assert_eq!(said, expected);
    assert_eq!(explained.calls.last().unwrap().name, "init");
}

/// What only jax asks for its array is off the fast path, and says so.
#[test]
fn an_object_that_is_asked_for_its_array_is_slow() {
    let explained = record("converted_objects", "0.6.2");
    let slow = explained
        .calls
        .iter()
        .filter(|call| call.advice.iter().flatten().any(|advice| advice.cause == "asked-for-its-array"));
    assert_eq!(slow.map(|call| call.number).collect::<Vec<_>>(), [2, 3, 4]);
}

/// jax's own functions under a program's jit are the program's calls, and what a library traces of the program is none.
#[test]
fn functions_of_a_library_are_recorded() {
    assert_eq!(record("library_functions", NEWEST).calls.len(), 29);
}

/// What an explanation says happens on the real target: the two calls alone, and the repaired ones.
#[rstest]
fn an_explanation_happens_on_the_target(
    #[values("statics_and_data", "call_forms", "nested_calls", "line_search", "control_flow", "programs_without")]
    program: &str,
    #[values(NEWEST, "0.4.30")] version: &str,
) {
    let explained = record(program, version);
    let mut by_api: HashMap<String, Vec<CaseFile>> = HashMap::new();
    for number in 1..=explained.calls.len() {
        for case in explained.cases(number, &SPEC).into_iter().flatten() {
            by_api.entry(case.api.clone()).or_default().push(case);
        }
    }
    assert!(!by_api.is_empty());
    for (api, cases) in by_api {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cases.yaml"), to_yaml(&cases)).unwrap();
        let replayed = Command::new(env!("CARGO_BIN_EXE_jitkey"))
            .arg("replay")
            .arg(folder.path())
            .args(["--target", &format!("{api}@{version}")])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&replayed.stdout);
        assert_eq!(printed.matches(": holds").count(), cases.len(), "{printed}");
    }
}

/// What is built otherwise is said alone and whole; what is made anew is told apart by what was made.
#[rstest]
fn what_is_built_otherwise_is_said(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("built_otherwise", version);
    let again = explained.calls.iter().filter(|call| call.is_again());
    let said: Vec<_> = again
        .map(|call| {
            let causes = call.differences().iter().zip(&call.advice);
            let causes = causes.map(|(found, advice)| format!("{} {}", advice.as_ref().unwrap().cause, found.path));
            format!("{}: {}", call.number, causes.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let expected = [
        "2: another-class state['opt'].__class__",
        "3: another-structure state",
        "4: another-static-field state.aux, list-of-another-length state.params",
        "6: a-list-where-a-leaf-was labels",
        "7: list-of-another-length labels",
        "9: a-number-that-becomes-a-key key",
        "11: method-wrapped-anew ",
        "12: method-wrapped-anew ",
        "14: traced-anew ",
        "15: traced-anew ",
        // One object more, and then its method again.
        "16: method-wrapped-anew ",
        "17: method-taken-anew ",
        "18: method-taken-anew ",
    ];
    assert_eq!(said, expected, "{}", text(&explained, Style::PLAIN));
    // Their order goes by what jax took for each.
    let mut shown: Vec<_> = explained.patterns.iter().map(|pattern| pattern.id.as_str()).collect();
    shown.sort_unstable();
    assert_eq!(shown, ["method-in-a-loop", "wrapper-in-a-loop"]);
}
