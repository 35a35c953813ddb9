"""Runs the scripts whose paths it reads, one on each line, in forks of this process, which has imported jax and the libraries.

For each it prints a JSON line: the exit code, what the script printed, and its errors.
"""

import importlib
import json
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path

import jax
import jax.numpy  # noqa: F401

for library in ("equinox", "optax", "flax.linen", "flax.nnx"):
    try:
        importlib.import_module(library)
    except ImportError:
        pass
jax.config.update("jax_platforms", "cpu")


def run(script: Path, *files: int) -> int:
    for descriptor, file in enumerate([os.open(os.devnull, os.O_RDONLY), *files]):
        os.dup2(file, descriptor)
    script = script.resolve()
    sys.argv, sys.path[0] = [str(script)], str(script.parent)
    # What one writes beside it, as jax_dump_ir_to has it do, goes with it.
    os.chdir(script.parent)
    try:
        runpy.run_path(str(script), run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if code == 1:
            print(end.code)
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def main() -> None:
    for line in sys.stdin:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            child = os.fork()
            if child == 0:
                os._exit(run(Path(line.strip()), output.fileno(), errors.fileno()))
            _, status = os.waitpid(child, 0)
            output.seek(0)
            errors.seek(0)
            printed = {"output": output.read().decode(), "errors": errors.read().decode()}
        print(json.dumps({"code": os.waitstatus_to_exitcode(status), **printed}), flush=True)


main()
