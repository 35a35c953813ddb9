//! read(write(read(text))) = read(text), and no text makes the reader or the model panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| jitkey::property::case_text(text));
