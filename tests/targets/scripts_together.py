"""Runs the scripts of a folder one after the other in this process, which a recorder may watch, and prints a JSON line for each.

The line has the script's name and what it ended with: nothing, what it exits with, or an exception.
"""

import contextlib
import io
import json
import os
import runpy
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"

for script in sorted(Path(sys.argv[1]).glob("*.py")):
    ended = None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        ended = end.code
    except BaseException as error:
        ended = repr(error)
    print(json.dumps({"script": script.name, "ended": ended}), flush=True)
