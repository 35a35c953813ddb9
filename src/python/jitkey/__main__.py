"""`python -m jitkey record [-o FILE] SCRIPT|-m MODULE [ARGUMENT…]`: runs a program and records its jitted calls."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING

from . import environment, script
from .imports import when_imported

if TYPE_CHECKING:
    from .recorder import Recording

ESCAPED = "\0--"


def main() -> None:
    """Runs the program as Python would; its exit is this one's."""
    parser = argparse.ArgumentParser(prog="python -m jitkey", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    record = verbs.add_parser("record", help="run a program and record its jitted calls")
    record.add_argument("-o", "--output", default="recording.jsonl", metavar="FILE", help="what is written")
    record.add_argument("-m", dest="module", action="store_true", help="run a module instead of a script")
    record.add_argument("program", help="the script, or the module's name")
    record.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")
    # argparse would take the first `--` of the program's own for itself.
    asked = parser.parse_args([word if word != "--" else ESCAPED for word in sys.argv[1:]])
    if asked.program == ESCAPED:
        # This one is ours: it ends what `record` itself is given.
        if not asked.arguments:
            record.error("the following arguments are required: program")
        asked.program, *asked.arguments = asked.arguments
    if importlib.util.find_spec("jax") is None:
        sys.exit(environment.complain(f"this Python has no jax; install it with `{sys.executable} -m pip install jax`"))
    try:
        # Not first when the program imports jax.
        output = os.path.abspath(asked.output)
        open(output, "w").close()
    except OSError as error:
        sys.exit(f"jitkey: {asked.output} can't be written: {error.strerror}")
    sys.argv = [asked.program, *(word if word != ESCAPED else "--" for word in asked.arguments)]
    with contextlib.ExitStack() as recorded:
        begun: list[Recording] = []

        def begin() -> None:
            from .recorder import recording

            begun.append(recorded.enter_context(recording(output)))

        def hook_equinox() -> None:
            from . import hooks

            hooks.hook_equinox()

        # What the program does before, such as setting variables that jax reads once, comes first.
        when_imported("jax", begin)
        # It may be what imports jax, and then isn't ready when the recording begins.
        when_imported("equinox", hook_equinox)
        try:
            (script.run_module if asked.module else script.run_script)(asked.program)
            script.wait_for_threads()
        except SystemExit:
            script.wait_for_threads()
            raise
        except KeyboardInterrupt as error:
            script.show(error)
            script.wait_for_threads()
            # It is shown, and what remains of it is how the process ends.
            sys.excepthook = lambda *_: None
            raise
        except BaseException as error:
            script.show(error)
            script.wait_for_threads()
            sys.exit(1)
        finally:
            if begun and not begun[0].is_abandoned:
                calls = f"{begun[0].calls} call{'' if begun[0].calls == 1 else 's'}"
                begun[0].ends()
                begun[0].flush()
                ends = f", of which not all are there: {begun[0].failure}" if begun[0].failure else ""
                if overlooked := begun[0].overlooked:
                    ends += f"; {overlooked.total()} more overlooked, by a defect of jitkey's ({', '.join(overlooked)})"
                print(f"jitkey: {calls} recorded in {asked.output}{ends}", file=sys.stderr)
            elif not begun:
                print("jitkey: jax was not imported, so nothing was recorded", file=sys.stderr)


if __name__ == "__main__":
    main()
