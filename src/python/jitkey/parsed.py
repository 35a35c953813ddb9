"""Values of classes of Python's standard library, as texts.

What a class is given for a text is what it writes for the value, so that values that look the same have one text.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import pathlib
import re
import uuid
from collections.abc import Callable
from typing import Any

from .errors import Malformed, construction

DIGITS = 30
"""The digits of a number that a case can say, at most."""


def made(name: str, text: str) -> Any:
    """The value of the class of that name that is written so."""
    with construction():
        value = _NAMED[name](text)
    if _text(value) != text:
        raise Malformed(f"a {name} that is written {_text(value)!r} has no other text, such as {text!r}")
    return value


def written(value: Any) -> list[str] | None:
    """The name of the value's class and its text; None if a case has no words for it."""
    name = CLASSES.get(type(value))
    return [name, _text(value)] if name is not None and _can_be_said(value) else None


def _text(value: Any) -> str:
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        text = f"{value.total_seconds():f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return value.pattern if isinstance(value, re.Pattern) else str(value)


def _can_be_said(value: Any) -> bool:
    if isinstance(value, decimal.Decimal):
        # Each NaN is an object of its own.
        _, digits, exponent = value.as_tuple()
        return value.is_infinite() or (isinstance(exponent, int) and len(digits) + abs(exponent) <= DIGITS)
    if isinstance(value, fractions.Fraction):
        return max(abs(value.numerator), value.denominator) < 10**DIGITS
    if isinstance(value, datetime.datetime):
        zone = value.tzinfo
        is_plain = zone is None or (type(zone) is datetime.timezone and zone.utcoffset(None).total_seconds() % 60 == 0)
        return is_plain and not value.fold
    if isinstance(value, datetime.timedelta):
        return math.fabs(value.total_seconds()) < 1e9
    if isinstance(value, re.Pattern):
        return isinstance(value.pattern, str) and value.flags == re.UNICODE
    return True


_NAMED: dict[str, Callable[[str], Any]] = {
    "decimal.Decimal": decimal.Decimal,
    "fractions.Fraction": fractions.Fraction,
    "datetime.date": datetime.date.fromisoformat,
    "datetime.datetime": datetime.datetime.fromisoformat,
    "datetime.timedelta": lambda text: datetime.timedelta(seconds=float(text)),
    "pathlib.Path": pathlib.Path,
    "pathlib.PurePosixPath": pathlib.PurePosixPath,
    "uuid.UUID": uuid.UUID,
    "re.Pattern": re.compile,
}
CLASSES: dict[type, str] = {
    decimal.Decimal: "decimal.Decimal",
    fractions.Fraction: "fractions.Fraction",
    datetime.date: "datetime.date",
    datetime.datetime: "datetime.datetime",
    datetime.timedelta: "datetime.timedelta",
    pathlib.PosixPath: "pathlib.Path",
    pathlib.PurePosixPath: "pathlib.PurePosixPath",
    uuid.UUID: "uuid.UUID",
    re.Pattern: "re.Pattern",
}
"""The classes, with the names by which cases know them."""
