//! The suite, by area. Snapshots of what people read stand in `snapshots/`; `cargo insta review` shows what changed.

mod suite {
    pub mod common;

    mod absences;
    mod case_text;
    mod cli;
    mod explanations;
    mod generated;
    mod ground_truth;
    mod liars;
    mod merging;
    mod model_laws;
    mod mutants;
    mod nearest;
    mod pages;
    mod patterns;
    mod properties;
    mod protocol;
    mod reads;
    mod real_targets;
    mod real_world;
    mod recorded_pairs;
    mod recordings;
    mod repairs;
    mod repro;
    mod rulebook;
    mod schemas;
    mod scripts;
    mod spec_diagnostics;
    mod structures;
    mod sweep;
}
