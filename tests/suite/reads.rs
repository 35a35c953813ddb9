//! What functions read from outside of their arguments, in recordings of real programs.

use jitkey::explain::{Explained, ExplainedCall};
use jitkey::report::explain::text;
use jitkey::report::text::Style;
use rstest::rstest;

use super::common::NEWEST;
use super::recordings::record;

/// What is said of calls of a function that hit a program traced from something else.
fn changed(calls: &str, what: &str) -> String {
    format!(
        "unseen-attribute: {calls} hit a program that was traced when something that its body reads was something else - value \
         that no key sees at {what}. What a function reads from outside of its arguments is in no key; an object is compared by \
         identity, or by an __eq__ that doesn't look at this, and is equal to itself when it was changed."
    )
}

/// The patterns of a program, as they are said.
fn patterns(program: &str, version: &str) -> Vec<String> {
    record(program, version).patterns.iter().map(|pattern| format!("{}: {}", pattern.id, pattern.says)).collect()
}

/// What a function reads by name of what is around it is in no key either; what it sets itself isn't read, and a parameter that has
/// the name of a variable is none.
#[rstest]
fn what_a_function_reads_from_outside_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        // Each of several, in each call that they make a hazard.
        changed("calls 8, 9, 10 and 11 of loss", "params['w']: <float32[4] #2> was <float32[4] #1>"),
        changed("calls 9, 10 and 11 of loss", "scale: 2.0 was 1.0"),
        changed("calls 10 and 11 of loss", "factors[0]: 2.0 was 1.0"),
        changed("calls 13 and 14 of <lambda>", "net.by: 2.0 was 1.0"),
        changed("calls 19 and 21 of forward", "gain: 3.0 was 1.0"),
        changed("call 3 of step", "self.rate: 0.25 was 0.5"),
        changed("call 4 of <lambda>", "self.w: <float32[4] #2> was <float32[4] #1>"),
        changed("call 11 of loss", "config.k: 2 was 1"),
        changed("call 14 of <lambda>", "type(net): Halved <type #2> was Net <type #1>"),
        changed("call 16 of <lambda>", "table: <float32[4] #2> was <float32[4] #1>"),
        // What is made again as it was is the same.
        changed(
            "call 28 of <lambda>",
            "activation: <activation at variables_changed.py:130> was <activation at variables_changed.py:103>",
        ),
        changed("call 29 of <lambda>", "chosen: <Schedule #2, whose of.rate is 0.25 instead of 0.5> was <Schedule #1>"),
        changed("call 30 of <lambda>", "layer: <Dense #2, whose use_bias is False instead of True> was <Dense #1>"),
    ];
    assert_eq!(patterns("variables_changed", version), expected);
}

/// Of a dict what counts is what the body takes of it by keys that are written there, or all of it; a log of traces is nothing it reads.
#[rstest]
fn what_a_function_takes_of_a_dict_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        changed("calls 19 and 20 of asked", "chosen is None: True was False"),
        changed("call 8 of forward", "config['optimizer']['rate']: 2.0 was 1.0"),
        changed("call 9 of forward", "config['gain']: 3.0 was 1.0"),
        changed("call 10 of forward", "config['shifts']: [5.0, [2.0]] was [1.0, [2.0]]"),
        changed(
            "call 11 of other",
            "schedule: {'warm': [1, 2], 'cold': {'steps': 4}} was {'warm': [1, 2], 'cold': {'steps': 3}}",
        ),
        changed("call 12 of weighted", "weights['w']: <float32[3] #2> was <float32[3] #1>"),
        changed("call 13 of step", "self.config['deep']['n']: 2.0 was 1.0"),
        changed("call 16 of mean", "len(layers): 3 was 2"),
        changed("call 16 of mean", "len(terms): 3 was 2"),
        changed("call 20 of asked", "bool(listed): False was True"),
        changed("call 20 of asked", "listed[0]: absent was 1.0"),
    ];
    assert_eq!(patterns("items_changed", version), expected);
}

/// Where no key sees what an object holds, what was traced before is served; what the body doesn't read of it may change.
#[rstest]
fn what_no_key_sees_of_an_object_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        changed(
            "calls 5 and 8 of value",
            "self.params['w']: <float32[3] #2> was <float32[3] #1>; later <float32[3] #3>",
        ),
        changed("calls 17 and 18 of step", "self.config.rate: 0.25 was 0.5; later 0.125"),
        // What the class has is read as well, for as long as the object has nothing of that name.
        changed("calls 20 and 21 of run", "self.training: False was True"),
        // Of a state that is another in each call what is taken of it is the same.
        changed("calls 48 and 49 of forward", "self.rate: 0.25 was 0.5"),
        // Where else a key has an object by its identity: as a leaf of filter_jit, in a static field, in a tuple that is static.
        changed("calls 66 and 70 of of_leaf", "settings.rate: 0.25 was 0.5"),
        changed("calls 67 and 71 of of_field", "scale.settings.rate: 0.25 was 0.5"),
        changed("calls 68 and 72 of of_state", "state.settings.rate: 0.25 was 0.5"),
        changed("calls 69 and 73 of of_tuple", "all_settings[0].rate: 0.25 was 0.5"),
        changed("call 10 of act", "self.gain: 0.25 was 0.5"),
        changed("call 11 of _update", "self.gain: 0.25 was 0.5"),
        // Equal objects: what `==` doesn't look at, or what is inside of what it looks at.
        changed("call 24 of loss", "named.rate: 0.25 was 0.5"),
        changed("call 25 of loss", "task.weight: 2.0 was 1.0"),
        changed("call 26 of loss", "task.config.rate: 0.25 was 0.5"),
        // Objects that are called, whose methods are, and that a partial gives its function.
        changed("call 32 of Halved", "self.gain: 0.25 was 0.5"),
        changed("call 33 of energy", "self.gain: 0.25 was 0.5"),
        changed("call 34 of partial of energy", "self.gain: 0.25 was 0.5"),
        changed("call 35 of grad of energy", "self.gain: 0.25 was 0.5"),
        changed("call 38 of partial of scaled", "by.gain: 1.0 was 0.5"),
        changed("call 45 of asked", "agent.gain: 0.25 was 0.5"),
        changed("call 49 of forward", "self.shift: 0.0 was 1.0"),
        // What can't be looked into stands for what is behind it.
        changed("call 53 of by_property", "self.held._config: <Config #2> was <Config #1>"),
        changed("call 54 of by_item", "self.held.table[0]: <float64[3] #2> was <float64[3] #1>"),
        changed("call 57 of of", "self.rate: 0.25 was 0.5"),
        // What an object reads where it is called.
        changed("call 85 of clipped", "clip.limit: 0.25 was 0.5"),
    ];
    assert_eq!(patterns("changed_objects", version), expected);
}

/// A function of a library that has a name of the program's is a choice, by whatever name the library calls it; an import is none, nor
/// what is made of the program's own.
#[rstest]
fn another_function_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let defined = |name: &str, line: usize| format!("<{name} at functions_exchanged.py:{line}>");
    let expected = [
        changed(
            "calls 2 and 3 of run",
            &format!("layer.act: {} was {}; later <jax.numpy.sin>", defined("triple", 18), defined("double", 14)),
        ),
        changed("call 6 of run", "self.act: <jax.numpy.sin> was <jax.numpy.tanh>"),
        changed("call 8 of choose", "ACT: <jax.numpy.sin> was <jax.numpy.tanh>"),
    ];
    assert_eq!(patterns("functions_exchanged", version), expected);
}

/// An object that is changed in its place is equal to itself, and is another to who asks for what it was; what is only asked of a thing
/// (whether it is None, of which class it is, how long) is all that is read of it.
#[rstest]
fn what_is_changed_in_its_place_is_a_hazard(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let hazards = [
        changed("calls 4, 7 and 8 of step", "state.config.rate: 0.5 was 1.0"),
        changed("calls 20, 21 and 22 of net", "it.options['optimizer']['rate']: 0.5 was 1.0"),
        changed("calls 21 and 22 of net", "it.widths: [1, 2, 3] was [1, 2]"),
        changed("calls 25 and 26 of layers", "len(it.names): 1 was 0"),
        changed("call 2 of forward", "model.config.rate: 0.5 was 1.0"),
        changed("call 14 of forward", "self.scale: 5.0 was 1.0"),
        changed("call 18 of step", "self.best is None: True was False"),
        changed("call 18 of step", "len(self.losses): 2 was 1"),
        changed("call 26 of layers", "it.options['rate']: 0.5 was 1.0"),
        changed("call 28 of of_other", "self.rate: 2.0 was 1.0"),
    ];
    let found = patterns("changed_in_place", version);
    let found: Vec<_> = found.into_iter().filter(|pattern| pattern.starts_with("unseen")).collect();
    assert_eq!(found, hazards);
    let explained = record("changed_in_place", version);
    let again = explained.calls.iter().filter(|call| call.is_again() && call.compiles());
    let causes: Vec<_> = again.map(|call| (call.number, &*call.advice[0].as_ref().unwrap().cause)).collect();
    let in_its_place = "changed-in-its-place";
    let others = [(6, "another-static-field"), (11, "static-argument")];
    assert_eq!(causes.iter().filter(|cause| cause.1 != in_its_place).copied().collect::<Vec<_>>(), others);
    assert_eq!(causes.iter().map(|cause| cause.0).collect::<Vec<_>>(), [5, 6, 9, 11, 12, 23]);
    assert!(explained.calls.iter().all(ExplainedCall::is_predicted));
}

/// An array is told from another by what it holds, where that isn't much, and one of NumPy's can be changed in its place. Objects that
/// are equal, whatever arrays they hold, are one to a key. What is only asked for its form is not looked at.
#[rstest]
fn another_array_is_a_hazard(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let expected = [
        changed("call 2 of scaled", "table: <float64[3] #2> was <float64[3] #1>"),
        changed("call 5 of scaled", "scale: <float32[3] #2> was <float32[3] #1>"),
        changed("call 6 of scaled", "large: <float64[100000] #2> was <float64[100000] #1>"),
        changed("call 9 of forward", "self.w: <float32[3] #2> was <float32[3] #1>"),
        changed("call 12 of projected", "basis.values: <float32[3] #2> was <float32[3] #1>"),
        changed("call 17 of weighted", "self.by: <float64[3] #2> was <float64[3] #1>"),
    ];
    assert_eq!(patterns("arrays_read", version), expected);
    // Where it is stands below it, since no call that hits does.
    let said = text(&record("arrays_read", version), Style::PLAIN);
    assert!(said.contains("  projected (arrays_read.py:") && said.contains("), called at arrays_read.py:"), "{said}");
}

/// Of a dict it is what it is asked for: that it has no such key, or has it.
#[rstest]
fn a_key_that_is_not_there_is_read_as_such(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let hazards = [
        changed("call 20 of by_in", "self.config['factor']: 2.0 was absent"),
        changed("call 22 of by_presence", "'b' in self.names: True was False"),
        changed("call 24 of of_module", "config['scale']: 3.0 was absent"),
        changed("call 29 of __call__", "self.weight: 5.0 was 1.0"),
        changed("call 30 of doubled", "loss.weight: 5.0 was 1.0"),
    ];
    assert_eq!(patterns("looked_for", version), hazards);
}

/// What the functions of calls that compiled again read from outside, where that is another.
fn read_from_outside(explained: &Explained) -> Vec<String> {
    let again = explained.calls.iter().filter(|call| call.is_again());
    again
        .map(|call| {
            let outside =
                call.outside.iter().map(|found| format!("{} {} after {}", found.path, found.after, found.before));
            format!("{}: {}", call.number, outside.collect::<Vec<_>>().join(", "))
        })
        .collect()
}

/// A function that is made anew is said with what it reads from outside, inside of whatever jax or Python stands around it.
#[rstest]
fn what_a_function_was_made_anew_for_is_said(#[values(NEWEST, "0.4.30")] version: &str) {
    let explained = record("made_anew", version);
    let said = read_from_outside(&explained);
    let made = "another <GradientTransformationExtraArgs> after <GradientTransformationExtraArgs>";
    let expected = [
        "2: model another Model(width=2) after Model(width=2), rate 0.2 after 0.1",
        "3: model Model(width=4) after Model(width=2)",
        "5: scale 2.0 after 1.0",
        "6: scale 3.0 after 2.0",
        "8: depth 2 after 1",
        "9: depth 3 after 2",
        "11: ",
        "12: ",
        "14: ",
        "15: table {'a': 1, 'b': 3} after {'a': 1, 'b': 2}",
        &format!("17: tx {made}"),
        &format!("18: tx {made}, tx.update.update_fns[1].tx.update.step_size -0.25 after -0.5"),
        "20: self.width 3 after 2",
        "21: ",
        "23: self.width 3 after 2",
        // The method doesn't read what else was made anew.
        "25: ",
        // A loop of the module reads what it makes as globals.
        &format!("27: tx {made}, tx.update.update_fns[1].tx.update.step_size -0.25 after -0.5"),
        // A count of its traces is its own.
        "29: ",
    ];
    assert_eq!(said, expected);
    let method = explained.calls[24].advice[0].as_ref();
    assert_eq!(method.map(|advice| &*advice.cause), Some("method-filtered-anew"));
    // What holds functions can be no argument.
    let advised = explained.calls.iter().filter_map(|call| Some((call.number, call.advice.first()?.as_ref()?)));
    let once = advised.filter(|(_, advice)| advice.fix.starts_with("Make tx once")).map(|(number, _)| number);
    assert_eq!(once.collect::<Vec<_>>(), [17, 18, 27]);
}

/// So is what is in a container, a default, and an array of the module, whichever of its functions reads it.
#[rstest]
fn what_a_container_holds_is_said(#[values(NEWEST, "0.4.30")] version: &str) {
    let said = read_from_outside(&record("read_from_outside", version));
    let expected = [
        "5: config.rate 0.2 after 0.1",
        "6: config['opt']['rate'] 0.2 after 0.1",
        "7: items[0] 0.2 after 0.1, items[1] float32[2] after float32[1]",
        "8: rate 0.2 after 0.1, table float32[2] after float32[1]",
        "9: config.rate 0.3 after 0.2",
        "10: config['opt']['rate'] 0.3 after 0.2",
        "11: items[0] 0.3 after 0.2, items[1] float32[3] after float32[2]",
        "12: rate 0.3 after 0.2, table float32[3] after float32[2]",
        "15: points float32[5] after float32[4]",
        "16: points float32[5] after float32[4]",
        "17: ",
        "18: ",
        "20: self.scale 2 after 1",
    ];
    assert_eq!(said, expected);
}

/// What nnx.jit holds for itself is nothing that a program can make once.
#[rstest]
fn what_a_library_holds_is_not_said(#[values(NEWEST, "0.6.2", "0.4.30")] version: &str) {
    let explained = record("nnx_jit_in_a_loop", version);
    let again: Vec<_> = explained.calls.iter().filter(|call| call.is_again()).collect();
    let said: Vec<_> = again.iter().flat_map(|call| &call.outside).map(ToString::to_string).collect();
    assert_eq!(said, ["from outside at self.scale: 2 was 1", "from outside at self.scale: 3 was 2"]);
    let fixes: Vec<_> = again.iter().map(|call| &call.advice[0].as_ref().unwrap().fix).collect();
    assert!(fixes.len() == 4 && fixes.iter().all(|fix| fix.starts_with("Jit once (jax.jit, nnx.jit)")), "{fixes:#?}");
}

/// Settings are kept in classes, modules, flags and containers, and read by a name of their own as well.
#[rstest]
fn a_setting_that_is_changed_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        changed("call 15 of <lambda>", "Config.rate: 2.0 was 1.0"),
        changed("call 16 of <lambda>", "Mine.rate: 2.0 was 1.0"),
        changed("call 17 of <lambda>", "settings.RATE: 2.0 was 1.0"),
        changed("call 18 of <lambda>", "settings.Sizes.width: 2.0 was 1.0"),
        changed("call 19 of <lambda>", "FLAGS.gain: 2.0 was 1.0"),
        changed("call 20 of <lambda>", "counts['a']: 2 was 1"),
        changed("call 21 of <lambda>", "len(order): 2 was 1"),
        changed("call 22 of forward", "self.config.scale: 2.0 was 1.0"),
        // What gives its items as attributes, or has a dict that is asked.
        changed("call 23 of <lambda>", "config.model.rate: 2.0 was 1.0"),
        changed("call 24 of <lambda>", "itself.rate: 2.0 was 1.0"),
        changed("call 25 of <lambda>", "wrapped.rate: 2.0 was 1.0"),
        changed("call 26 of <lambda>", "wrapped['gain']: 2.0 was 1.0"),
        changed("call 27 of <lambda>", "user['rate']: 2.0 was 1.0"),
    ];
    assert_eq!(patterns("settings_changed", version), expected);
}

/// What is static is found by `==`, and each of several equal values of other types is a hazard, in statics and in the data of nodes.
#[rstest]
fn all_that_is_equal_and_another_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let stale = |calls: &str, what: &str| {
        format!("stale-hit: {calls} hit a program that was traced from something else - {what}.")
    };
    let expected = [
        stale("calls 2 and 3 of step", "static value at rate: True was 1"),
        stale("call 3 of step", "static value at shift: 2.0 was 2"),
        stale("call 5 of of_module", "aux data at module.by: True was 1"),
        stale("call 5 of of_module", "aux data at module.shift: -0.0 was 0.0"),
        stale("call 8 of of_node", "aux data at node.sizes: (1.0, 2) was (1, 2)"),
    ];
    assert_eq!(patterns("equal_values", version), expected);
}

/// A container of arrays is told by what it holds, however a function goes through it.
#[rstest]
fn a_container_of_arrays_that_is_changed_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let of = |call: usize, function: &str, holder: &str, class: &str, other: &str| {
        let whose = if other.is_empty() { String::new() } else { format!(", whose {other} is another") };
        changed(&format!("call {call} of {function}"), &format!("{holder}: <{class} #2{whose}> was <{class} #1>"))
    };
    let expected = [
        of(13, "of_list", "weights", "list of contents", "[1]"),
        of(14, "of_tree", "params", "dict of contents", "['b']['w']"),
        of(15, "of_queue", "queue", "deque of contents", ""),
        of(16, "of_pair", "pair", "tuple", "[1][0]"),
        of(17, "of_values", "ordered", "OrderedDict of contents", "['a']"),
        of(18, "of_counts", "counts", "dict of contents", "['n']"),
    ];
    assert_eq!(patterns("containers_read", version), expected);
}

/// What a function's helpers read is read by it, wherever they are written, and the methods of its class.
#[rstest]
fn what_helpers_read_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        changed("calls 3, 4, 5, 6, 7 and 8 of step", "rate: 0.2 was 0.1"),
        changed("calls 4, 5, 6, 7, 8 and 9 of step", "layers.SCALE: 2.0 was 1.0"),
        changed("calls 5, 6, 7, 8 and 9 of step", "config.gain: 2.0 was 1.0"),
        changed("calls 6, 7 and 8 of step", "table[0]: 5.0 was 1.0"),
        changed("calls 7, 8 and 9 of step", "scaled.by[0]: 4.0 was 3.0"),
        changed("calls 8 and 9 of step", "layers.Settings.gain: 4.0 was 1.0"),
        // What is only asked for its class or length is another one if that is.
        changed("calls 32 and 33 of of_kinds", "type(scale): int was float"),
        changed("call 9 of step", "penalty: <penalty at helpers_read.py:88> was <penalty at helpers_read.py:29>"),
        changed("call 14 of loss", "gain: 2.0 was 1.0"),
        changed("call 15 of of_static", "gain: 2.0 was 1.0"),
        changed("call 16 of Called", "gain: 2.0 was 1.0"),
        changed("call 18 of layers_of_one_place", "layer.by (2)[0]: 3.0 was 2.0"),
        // What a helper reads that has taken the place of another.
        changed("call 21 of of_replaced", "offset: 2.0 was 1.0"),
        changed("call 23 of of_mode", "mode: Mode.EVAL was Mode.TRAIN"),
        // By way of a module, and of a class.
        changed("call 27 of of_module", "layers.SHIFT: 1.0 was 0.0"),
        changed("call 28 of <lambda>", "Rates.now: 2.0 was 1.0"),
        changed("call 29 of <lambda>", "Rates.now: 2.0 was 1.0"),
        changed("call 33 of of_kinds", "len(kind): 7 was 4"),
    ];
    let found = patterns("helpers_read", version);
    let found: Vec<_> = found.iter().filter(|it| it.starts_with("unseen-attribute")).collect();
    assert_eq!(found, expected.iter().collect::<Vec<_>>());
}

/// What a method, a property or the `__call__` of an object in an object takes of that is read as well, at one more level, too; what they
/// fill is not, nor what they take of anything else. Objects that know each other are looked into once.
#[rstest]
fn what_methods_of_parts_read_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        changed("calls 2, 3, 4 and 5 of act", "self.norm.mean: 1.0 was 0.0"),
        changed("calls 3, 4 and 5 of act", "self.schedule.rate: 0.5 was 1.0; later 0.25"),
        changed("calls 5 and 6 of act", "self.net.layer.gain: 2.0 was 1.0"),
        // In aux data.
        changed("calls 23 and 25 of <lambda>", "s.options.gain: 2.0 was 1.0"),
        changed("call 8 of <lambda>", "agent.norm.mean: 3.0 was 1.0"),
        changed("call 17 of of_nodes", "self.node.gain: 2.0 was 1.0"),
        changed("call 20 of <lambda>", "shift: 2.0 was 1.0"),
        changed("call 24 of <lambda>", "s.options.gain: 2.0 was 1.0"),
    ];
    let found = patterns("methods_of_parts", version);
    assert_eq!(found, expected);
}

/// What the objects hold that a loop goes through, as far as the loop takes it of them, and what a module of the program has.
#[rstest]
fn what_a_loop_goes_through_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        changed("calls 3, 4 and 5 of forward", "self.layers[1].is_training: False was True"),
        changed("calls 4 and 5 of forward", "self.last[0].scale: 4.0 was 3.0"),
        changed("calls 12 and 13 of <lambda>", "stack[1].scale: 8.0 was 2.0"),
        changed("calls 30 and 34 of of_slice", "gates[1].scale: 4.0 was 2.0"),
        changed("call 5 of forward", "self.layers: <list of contents #2> was <list of contents #1>"),
        changed("call 7 of of_list", "stack[0].scale: 6.0 was 1.0"),
        changed("call 10 of of_tuple", "tower[1].scale: 7.0 was 2.0"),
        changed("call 15 of of_module", "parts.dense: <log at layers.py:17> was <dense at layers.py:13>"),
        // A parameter of that name holds another one.
        changed("call 17 of partial of by_two", "config.rate: 2.0 was 1.0"),
        // Of an object it is no form.
        changed("call 19 of <lambda>", "config.dtype: 'bfloat16' was 'float32'"),
        changed(
            "call 21 of <lambda>",
            "configs: <list of contents #2, whose [0].rate is 3.0 instead of 1.0> was <list of contents #1>",
        ),
        changed("call 21 of <lambda>", "configs[0].rate: 3.0 was 1.0"),
        // What a function has remembered makes it no other.
        changed("call 24 of <lambda>", "parts.SCALE: 2.0 was 1.0"),
        changed("call 31 of of_zip", "gates[1].scale: 4.0 was 2.0"),
        changed("call 32 of of_comprehension", "gates[1].scale: 4.0 was 2.0"),
        changed("call 33 of of_closure", "gates[1].scale: 4.0 was 2.0"),
        changed("call 41 of of_values", "named['out'].scale: 3.5 was 2.0"),
        changed("call 42 of of_places", "heads[1].scale: 3.5 was 2.0"),
        changed("call 43 of of_parts", "stack[0].scale: 3.5 was 9.0"),
        changed("call 44 of of_items", "sizes['sizes']: {'wide': 3.5} was {'wide': 1.0}"),
    ];
    assert_eq!(patterns("gone_through", version), expected);
}

/// The methods of what a function calls read variables as it does itself, whether it has that from around or is given it.
#[rstest]
fn what_a_method_reads_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        changed("calls 7 and 10 of <lambda>", "RATE: 2.0 was 1.0"),
        changed("calls 9 and 13 of loss", "RATE: 2.0 was 1.0"),
        changed("calls 12 and 14 of applied", "SCALE: 2.0 was 1.0"),
        changed("calls 16 and 17 of step", "NOISE: 2.0 was 1.0"),
        changed("calls 22 and 23 of scaled", "self.pair.high: 5.0 was 2.0"),
        changed("call 11 of <lambda>", "SCALE: 2.0 was 1.0"),
        changed("call 13 of loss", "GAIN: 2.0 was 1.0"),
        changed("call 14 of applied", "DEEP: 2.0 was 1.0"),
        changed("call 15 of applied", "MORE: 2.0 was 1.0"),
        changed("call 17 of step", "FEED: 2.0 was 1.0"),
        changed("call 23 of scaled", "bool(self.seen): False was True"),
        changed("call 24 of <lambda>", "bool(history): False was True"),
        changed("call 29 of <lambda>", "agent.mode: 'eval' was 'train'"),
        changed("call 29 of <lambda>", "BIAS: 2.0 was 1.0"),
    ];
    assert_eq!(patterns("methods_that_read", version), expected);
}

/// What libraries make of what they are given is another thing where that is: an optimizer of other settings, a rule for derivatives, a
/// Module that holds a config, a dtype. One of the same settings is none, nor is what an error would say that no context can catch.
#[rstest]
#[case(NEWEST, 81)]
#[case("0.4.30", 80)]
fn what_libraries_make_is_a_hazard(#[case] version: &str, #[case] line: u32) {
    let chain = format!("chain.<locals>.update_fn at optax/transforms/_combining.py:{line}");
    let rate = "whose update_fns[1].tx.update.step_size is -0.5 instead of -0.1";
    let expected = [
        changed("call 5 of step", &format!("self.tx.update: <{chain} #2, {rate}> was <{chain}>")),
        changed("call 6 of step", &format!("tx.update: <{chain} #2, {rate}> was <{chain}>")),
        changed("call 8 of slope", "clip: 0.01 was 0.5"),
        changed("call 10 of cast", "policy.compute: <bfloat16> was <float32>"),
        changed("call 10 of cast", "policy.stored: <int32> was <float32>"),
        changed("call 13 of apply", "model.config.cap: 5.0 was 1.0"),
        changed("call 14 of cap_of", "model.config.cap: 5.0 was 1.0"),
    ];
    let explained = record("made_by_libraries", version);
    assert!(explained.calls.iter().all(|call| call.is_predicted()), "a mapping of flax's is equal to a dict");
    let found: Vec<_> = explained.patterns.iter().map(|one| format!("{}: {}", one.id, one.says)).collect();
    assert_eq!(
        found.iter().filter(|said| said.starts_with("unseen")).collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>()
    );
}

/// What a jitted function inside of others was traced to is kept, and so is what a function of a loop was, whatever they read since.
#[rstest]
fn what_is_kept_of_a_trace_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let inside = |calls: &str, what: &str| {
        format!(
            "unseen-inside: {calls} took over what a jitted function inside of it was traced to when something that this reads was \
             something else - value that no key sees inside at {what}. What is jitted keeps its traces whoever calls it, and to \
             trace or to jit anew what is around it doesn't trace it again."
        )
    };
    let expected = [
        inside("calls 2 and 3 of step", "config.beta of penalty at kept_traces.py:20: 1.0 was 0.0; later 2.0"),
        inside("call 5 of loss", "self.temperature of Policy.logits at kept_traces.py:43: 0.5 was 1.0"),
        changed("call 8 of lax.scan", "gain: 2.0 was 1.0"),
        // What is traced anew reads what is there now, and nothing is said of what it doesn't read.
        changed("call 11 of lax.while_loop", "offset: 1.5 was 1.0"),
        changed("call 12 of lax.while_loop", "limit: 4.0 was 3.0"),
        // Each that takes it over; of partials each holds its own.
        inside("call 15 of <lambda>", "config.beta of penalty at kept_traces.py:20: 8.0 was 2.0"),
        inside("call 16 of vmap of <lambda>", "config.beta of penalty at kept_traces.py:20: 8.0 was 2.0"),
        changed("call 25 of lax.fori_loop", "factor: 2.0 was 1.0"),
        changed("call 25 of lax.fori_loop", "shift: 3.0 was 1.0"),
        inside("call 24 of <lambda>", "factor of line at kept_traces.py:130: 2.0 was 1.0"),
        inside("call 24 of <lambda>", "shift of line at kept_traces.py:130: 3.0 was 1.0"),
    ];
    let found = patterns("kept_traces", version);
    let wrong: Vec<_> = found.iter().filter(|said| said.starts_with("unseen")).collect();
    assert_eq!(wrong, expected.iter().collect::<Vec<_>>());
}

/// Of what is read as a whole it is said which of its settings is another; and that of a function of equinox's inside of another is.
#[rstest]
#[case(NEWEST, [81, 140])]
#[case("0.4.30", [80, 142])]
fn the_setting_that_is_another_is_said(#[case] version: &str, #[case] lines: [u32; 2]) {
    let chain = format!("chain.<locals>.update_fn at optax/transforms/_combining.py:{}", lines[0]);
    let schedule = format!("polynomial_schedule.<locals>.schedule at optax/schedules/_schedule.py:{}", lines[1]);
    let rate = "update_fns[1].update_fns[1].tx.update.step_size is -0.001 instead of -0.01";
    // The older equinox's MLP is read as a whole.
    let of_model = match version {
        NEWEST => vec![
            changed("call 21 of model", "mlp.layers: <tuple #2, whose [0].weight is another> was <tuple #1>"),
            changed("call 21 of model", "mlp.layers[0]: <Linear #2, whose weight is another> was <Linear #1>"),
        ],
        _ => vec![changed("call 21 of model", "mlp: <MLP #2, whose layers[0].weight is another> was <MLP #1>")],
    };
    let mut expected = vec![
        changed("call 15 of step", &format!("tx.update: <{chain} #2, whose {rate}> was <{chain}>")),
        changed(
            "call 16 of at_rate",
            &format!("rate: <{schedule} #2, whose end_value is 2.0 instead of 1.0> was <{schedule}>"),
        ),
        changed("call 17 of clipped", "clip: <partial #2, whose keywords['max'] is 2 instead of 3> was <partial #1>"),
        changed(
            "call 18 of widened",
            "config['net']: <dict of contents #2, whose ['width'] is 5 instead of 3> was <dict of contents #1>",
        ),
        changed(
            "call 19 of activated",
            "acts: <dict of contents #2, whose ['tanh'] is <jax.numpy.sin> instead of <jax.numpy.tanh>> was <dict of \
             contents #1>",
        ),
        changed(
            "call 20 of evaluated",
            "net: <Net of contents #2, whose drop.deterministic is False instead of True> was <Net of contents #1>",
        ),
    ];
    expected.extend(of_model);
    expected.push(
        "unseen-inside: call 23 of outer took over what a jitted function inside of it was traced to when something that \
         this reads was something else - value that no key sees inside at scale of inner at settings_replaced.py:68: 2.0 \
         was 1.0. What is jitted keeps its traces whoever calls it, and to trace or to jit anew what is around it doesn't \
         trace it again."
            .to_owned(),
    );
    let found = patterns("settings_replaced", version);
    let found: Vec<_> = found.iter().filter(|it| it.starts_with("unseen-")).collect();
    assert_eq!(found, expected.iter().collect::<Vec<_>>());
}

/// What an nnx.Module holds that a function closes over or finds in its module, which is changed in its place.
#[rstest]
fn what_variables_of_nnx_hold_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let of_all = "net: <Net of contents #2, whose encoder is another> was <Net of contents #1>; later <Net of contents #3, whose \
         encoder is another and head is another> and <Net of contents #4, whose dropout.deterministic is False instead of \
         True and encoder is another and 1 more differ>";
    let expected = [
        changed("calls 6, 11, 16, 21 and 26 of evaluated", of_all),
        changed(
            "calls 7, 12, 17, 22 and 27 of encoded",
            "net.encoder: <Linear of contents #2, whose kernel is another and bias is another> was <Linear of contents #1>",
        ),
        changed("calls 8, 13, 18, 23 and 28 of helped", of_all),
    ];
    assert_eq!(patterns("nnx_closed_over", version), expected);
}

/// What functions fill themselves is nothing that they read, and what is added under another key is none of what they look up.
#[rstest]
fn a_memory_that_grows_is_no_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        changed(
            "call 7 of small",
            "registry: <dict of contents #2, whose ['twice'] is <<lambda> at memories.py:78:28> instead of \
             <twice at memories.py:23>> was <dict of contents #1>",
        ),
        changed("call 10 of noisy", "state['seed']: 2 was 1"),
    ];
    assert_eq!(patterns("memories", version), expected);
}

/// Of what is handed to a helper what counts is what that takes of it.
#[rstest]
fn what_a_helper_takes_of_what_it_is_given_is_a_hazard(#[values(NEWEST, "0.4.30")] version: &str) {
    let expected = [
        changed("calls 7, 10, 13, 16 and 19 of step", "config.rate: 2.0 was 1.0"),
        changed("calls 10, 13, 16 and 19 of step", "config.model.width: 2.0 was 1.0"),
        changed("calls 13, 16 and 19 of step", "table['a']: 3.0 was 1.0"),
        changed("calls 16 and 19 of step", "options.gain: 3.0 was 1.0"),
        changed("call 20 of with_static", "given.by: 4.0 was 1.0"),
        changed("call 21 of gradient", "static.by: 4.0 was 1.0"),
    ];
    assert_eq!(patterns("handed_on", version), expected);
}
