"""The Pythons of this machine."""

import glob
import os
import pathlib
import subprocess
import sys


def found(versions: list[str]) -> str:
    """A Python of one of these versions, the first that is there; without one this program ends and says so."""
    folders = [*os.environ["PATH"].split(os.pathsep), *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin"))]
    for version in versions:
        for folder in folders:
            python = pathlib.Path(folder, f"python{version}")
            # A shim is there whatever it stands for.
            if python.exists() and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
                return str(python)
    if f"{sys.version_info.major}.{sys.version_info.minor}" in versions:
        return sys.executable
    sys.exit(f"no Python {' or '.join(versions)} was found, and one is needed")
