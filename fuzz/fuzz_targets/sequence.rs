//! missed(call | history) = the intersection of missed(call | h) for each h in the history.
#![no_main]

use jitkey::property::Calls;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Calls| input.history_is_a_union());
