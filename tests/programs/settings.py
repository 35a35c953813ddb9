"""Settings that a program keeps in a module of its own."""

RATE = 1.0


class Sizes:
    """Settings that are kept in a class."""

    width = 1.0
