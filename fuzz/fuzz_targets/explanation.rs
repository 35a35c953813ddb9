//! What the explanation names is what differs: taken over from the earlier call, it makes the call hit.
#![no_main]

use jitkey::property::RuledPair;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: RuledPair| input.is_explained());
