//! naive(case) = model(case), for pairs of rules (an even first byte) and for arbitrary calls.
#![no_main]

use jitkey::property::{Calls, RuledPair};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Input {
    Pair(RuledPair),
    Calls(Calls),
}

fuzz_target!(|input: Input| match input {
    Input::Pair(pair) => pair.naive_is_model(),
    Input::Calls(calls) => calls.naive_is_model(),
});
