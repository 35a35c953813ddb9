//! rule(pair) = model(pair), for every pair that any choices make.
#![no_main]

use jitkey::property::RuledPair;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: RuledPair| input.rule_is_model());
