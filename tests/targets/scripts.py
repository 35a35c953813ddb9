"""Runs scripts of a folder, each in a fork of one process that has imported jax, and prints a JSON line for each.

The line has the script's name, its exit code, and what it printed.
"""

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

import jax
import jax.numpy  # noqa: F401

for library in ("equinox", "optax"):
    try:
        __import__(library)
    except ImportError:
        pass
jax.config.update("jax_platforms", "cpu")


def run(script: Path, output: Path) -> int:
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    code = 0
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        print(end.code)
        code = 1
    except BaseException:
        traceback.print_exc(file=sys.stdout)
        code = 70
    sys.stdout.flush()
    return code


def main(folder: str) -> None:
    for script in sorted(Path(folder).glob("*.py")):
        output = script.with_suffix(".out")
        child = os.fork()
        if child == 0:
            os._exit(run(script, output))
        _, status = os.waitpid(child, 0)
        line = {"script": script.name, "code": os.waitstatus_to_exitcode(status), "output": output.read_text()}
        print(json.dumps(line), flush=True)


main(sys.argv[1])
