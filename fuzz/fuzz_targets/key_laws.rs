//! Keys are compared by equalities: a ~ a, a ~ b ⇒ b ~ a, a ~ b ∧ b ~ c ⇒ a ~ c.
#![no_main]

use jitkey::property::Calls;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Calls| input.keys_are_equalities());
