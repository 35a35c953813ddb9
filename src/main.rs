//! The `jitkey` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    jitkey::cli::main()
}
