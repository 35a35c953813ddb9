//! `read(write(read(text))) = read(text)`, and no text makes the reader or the model panic.
#![no_main]

use jitkey::case::{Case, text};
use jitkey::model::predict;
use jitkey::spec::Spec;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static SPEC: LazyLock<Spec> = LazyLock::new(Spec::embedded);

fuzz_target!(|input: &str| {
    let Ok(case) = text::from_yaml::<Case>(input) else { return };
    let written = text::to_yaml(&case);
    let again: Case = text::from_yaml(&written).expect("what was written can be read");
    assert_eq!(text::to_yaml(&again), written);
    if case.validate().is_ok() {
        for profile in &SPEC.profiles {
            let _ = predict(&case, profile);
        }
    }
});
