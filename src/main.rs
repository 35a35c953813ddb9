//! The `jitkey` command.

use std::process::ExitCode;

/// Pairs are many small objects.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    jitkey::cli::main()
}
