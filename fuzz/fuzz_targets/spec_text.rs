//! A file of the spec is read or refused with a place in it. Half of the mutations move parts of the YAML tree.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|text: &str| jitkey::property::spec_text(text));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let text = std::str::from_utf8(&data[..size]).ok().filter(|_| seed % 2 == 0);
    match text.and_then(|text| jitkey::property::mutated(text, seed.into())).filter(|text| text.len() <= max_size) {
        Some(text) => {
            data[..text.len()].copy_from_slice(text.as_bytes());
            text.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
});
