"""Policy files as plain data: YAML or JSON, numbers exact, duplicate keys refused; and where their keys are.

YAML is read by the rules of JSON: ``true`` and ``false`` are the booleans, ``null`` and ``~`` are null, what
JSON writes as a number is one, and so are ``.5`` and ``+1``. Everything else is text: ``on``, ``NO``,
``1:30``, ``007``, ``2001-03-04``. The positions of keys and items are found only for error messages.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast

from hierdata.documents.limits import POLICY, Limits, TooMuch, check_plain, check_yaml, text_within
from hierdata.ground.errors import PolicyError, file_error
from hierdata.policy.problems import Location, Position

if TYPE_CHECKING:
    import yaml


_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,6})?")
_TAG = "tag:yaml.org,2002:"

MAX_DIGITS = 400
"""Limit on the digits, and on the decimal exponent, of a number in a policy."""


class _Unreadable(Exception):  # noqa: N818  a signal inside this file: the place in the file, and why
    pass


def read(path: Path, limits: Limits = POLICY) -> Any:
    """Return the content of a policy file as plain data, decimals as Decimal.

    ``.json`` files are read as JSON, all others as YAML. Raises PolicyError with the line and the reason, and
    for a file beyond the limits, TargetError when it cannot be opened.
    """
    return read_with_text(path, limits)[0]


def read_with_text(path: Path, limits: Limits = POLICY) -> tuple[Any, str]:
    """Return the content of a policy file as plain data, and its text (see ``read``)."""
    try:
        text = text_within(path, limits, "utf-8-sig")
        return (_json(text, limits) if is_json(path) else _yaml(text, limits)), text
    except OSError as error:
        raise file_error(error, f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise PolicyError(f"{path.name} is not UTF-8 text") from None
    except (_Unreadable, TooMuch) as why:
        raise PolicyError(f"{path.name}, {why}") from None
    except RecursionError:
        raise PolicyError(f"{path.name} is nested beyond {limits.depth}") from None


def is_json(path: Path) -> bool:
    """Return whether a policy file is read as JSON."""
    return path.suffix.lower() == ".json"


def fragment(text: str, where: str) -> Any:
    """Parse a piece of YAML inside another file. Raises PolicyError with the place."""
    try:
        return _yaml(text, POLICY)
    except (_Unreadable, TooMuch) as why:
        raise PolicyError(f"{where}: {why}") from None


def _json(text: str, limits: Limits) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(items)
        if len(mapping) < len(items):
            times = Counter(name for name, _ in items)
            twice = next(name for name in mapping if times[name] > 1)
            raise _Unreadable(f"the key {twice!r} occurs twice in one object")
        return mapping

    def constant(name: str) -> NoReturn:
        raise _Unreadable(f"{name} is not a number that a policy can hold")

    def number(text: str) -> int | Decimal:
        return _number(text, "")

    try:
        data = json.loads(
            text, parse_float=number, parse_int=number, parse_constant=constant, object_pairs_hook=pairs
        )
    except json.JSONDecodeError as error:
        raise _Unreadable(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    check_plain(data, limits)
    return data


def _number(text: str, where: str) -> int | Decimal:
    whole = _INT.fullmatch(text)
    if (
        len(text) > MAX_DIGITS
        or not _NUMBER.fullmatch(text)
        or (not whole and abs(Decimal(text).adjusted()) > MAX_DIGITS)
    ):
        raise _Unreadable(f"{where}a number has more than {MAX_DIGITS} digits")
    return int(text) if whole else Decimal(text)


def _yaml(text: str, limits: Limits) -> Any:
    import yaml

    try:
        check_yaml(text, _loader(), limits)
        node = compose(text)
        return None if node is None else _plain(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        raise _Unreadable(f"{_describe_mark(mark)}: {reason}") from None
    except yaml.YAMLError:
        raise _Unreadable("it holds characters that YAML does not allow") from None


def compose(text: str) -> yaml.Node | None:
    """Return the nodes of a YAML text, None if it is empty. Raises yaml.YAMLError."""
    loader = _loader()(text)
    try:
        return cast("yaml.Node | None", loader.get_single_node())
    finally:
        loader.dispose()


@cache
def _loader() -> Any:
    """Build a loader that recognizes numbers, booleans and null by our rules, not by those of YAML 1.1."""
    import yaml

    class PolicyLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml or not
        yaml_implicit_resolvers: ClassVar[dict[str | None, Any]] = {}

    PolicyLoader.add_implicit_resolver(_TAG + "bool", re.compile("(?:true|false)$"), list("tf"))
    PolicyLoader.add_implicit_resolver(_TAG + "null", re.compile("(?:null|~|)$"), ["n", "~", ""])
    PolicyLoader.add_implicit_resolver(
        _TAG + "float", re.compile(f"(?:{_NUMBER.pattern})$"), list("-+.0123456789")
    )
    return PolicyLoader


def _describe_mark(mark: yaml.Mark | None) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}" if mark is not None else "somewhere"


def _plain(node: Any) -> Any:
    """Convert a YAML node to plain data; each alias gets a value of its own, so none is shared."""
    if node.id == "sequence" and node.tag == _TAG + "seq":
        return [_plain(item) for item in node.value]
    if node.id == "mapping" and node.tag == _TAG + "map":
        return _mapping(node)
    return _scalar(node)


def _mapping(node: yaml.Node) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        # As in JSON, keys are text, even where they look like numbers.
        key = key_node.value
        if not isinstance(key, str):
            raise _Unreadable(f"{_describe_mark(key_node.start_mark)}: a key must be a single value")
        if key in mapping:
            raise _Unreadable(
                f"{_describe_mark(key_node.start_mark)}: the key {key!r} occurs twice in one mapping"
            )
        mapping[key] = _plain(value_node)
    return mapping


def _scalar(node: yaml.Node) -> str | int | bool | Decimal | None:
    text: str = node.value
    kind = node.tag.removeprefix(_TAG)
    if kind == "str":
        return text
    if kind == "null":
        return None
    if kind == "bool" and text in ("true", "false"):
        return text == "true"
    if kind in ("int", "float") and _NUMBER.fullmatch(text):
        return _number(text, f"{_describe_mark(node.start_mark)}: ")
    raise _Unreadable(f"{_describe_mark(node.start_mark)}: the tag {node.tag} is not supported")


_BLANK = re.compile(r"[ \t\r\n]*")


def yaml_positions(text: str) -> dict[Location, Position]:
    """Return the positions of all keys and items of a YAML text that was read without an error.

    >>> yaml_positions("a:\\n  - b\\n  - {c: 1}")[("a", 1, "c")]
    Position(line=3, column=6)
    """
    positions: dict[Location, Position] = {}

    def visit(node: Any, location: Location) -> None:
        if node.id == "scalar":
            return
        for index, part in enumerate(node.value):
            key, below = (index, part) if node.id == "sequence" else (part[0].value, part[1])
            mark = (part if node.id == "sequence" else part[0]).start_mark
            positions[*location, key] = Position(mark.line + 1, mark.column + 1)
            visit(below, (*location, key))

    if (root := compose(text)) is not None:
        visit(root, ())
    return positions


def json_positions(text: str) -> dict[Location, Position]:
    """Return the positions of all keys and items of a JSON text that was read without an error.

    >>> json_positions('{"a": [1,\\n {"c": 2}]}')[("a", 1, "c")]
    Position(line=2, column=3)
    """
    starts: dict[Location, int] = {}

    def skip(offset: int) -> int:
        blank = _BLANK.match(text, offset)
        return offset if blank is None else blank.end()

    def visit(offset: int, location: Location) -> int:
        """Visit the value that begins at ``offset``; return the position after it."""
        if text[offset] not in "{[":
            return _SCALARS.raw_decode(text, offset)[1]
        is_list, index, offset = text[offset] == "[", 0, skip(offset + 1)
        while text[offset] not in "}]":
            start = offset
            if is_list:
                key: int | str = index
            else:
                key, offset = _SCALARS.raw_decode(text, offset)
                offset = skip(skip(offset) + 1)  # behind the colon
            starts[*location, key] = start
            offset = skip(visit(offset, (*location, key)))
            offset = skip(offset + 1) if text[offset] == "," else offset
            index += 1
        return offset + 1

    visit(skip(0), ())
    return _in_lines(text, starts)


_SCALARS = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def _in_lines(text: str, starts: Mapping[Location, int]) -> dict[Location, Position]:
    """Convert offsets, which rise, to lines and columns."""
    positions: dict[Location, Position] = {}
    line, begin = 1, 0
    for location, start in starts.items():
        while (end := text.find("\n", begin, start)) >= 0:
            line, begin = line + 1, end + 1
        positions[location] = Position(line, start - begin + 1)
    return positions
