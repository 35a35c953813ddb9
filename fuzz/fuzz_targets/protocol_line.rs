//! read(write(read(line))) = read(line), and no line makes the readers of the protocol panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| jitkey::property::protocol_line(text));
