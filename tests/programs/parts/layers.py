"""Functions and settings of another module of the program."""

SCALE = 1.0
VERBOSE = 0


class Settings:
    """What dense reads."""

    gain = 1.0


def dense(param, x):
    return param * x * SCALE * Settings.gain


def log(loss):
    print("loss", loss, VERBOSE)


def shifted(x):
    return x + SHIFT


SHIFT = 0.0
