"""Change single entries of a policy's YAML text, and leave everything else as it is written.

The text is edited where its nodes begin and end, so that comments, order and keys that nobody here knows stay
as they are. What is replaced is written in flow style; comments inside of it are lost.
"""

from __future__ import annotations

from typing import Any

from hierdata.drafting.draft import flow
from hierdata.drafting.draft import text as spell_key
from hierdata.ground.errors import PolicyError
from hierdata.policy.load.yaml import compose

Keys = tuple[str, ...]
"""The keys that lead to an entry, from the outermost."""


def set_entry(text: str, keys: Keys, value: Any) -> str:
    """Return the text with the value of an entry replaced, or with the entry added to its mapping.

    Raises PolicyError if an outer key is not there.

    >>> print(set_entry("# why\\na: 1  # kept\\nb: {c: 2}\\n", ("b", "d"), [3, "x"]), end="")
    # why
    a: 1  # kept
    b: {c: 2, d: [3, x]}
    >>> print(set_entry("a:\\n  # first\\n  b: 1\\n", ("a", "c"), True), end="")
    a:
      # first
      b: 1
      c: true
    """
    holder, key = _find_mapping(text, keys[:-1]), keys[-1]
    entry = _entry(holder, key)
    if entry is None:
        return _add(text, holder, key, value)
    name, old = entry
    end = _end(text, old)
    if _is_block(old) or _offset(text, old.start_mark) == end:
        start = text.index(":", _offset(text, name.end_mark)) + 1
        return text[:start] + " " + flow(value) + text[max(start, end) :]
    return text[: _offset(text, old.start_mark)] + flow(value, _is_flow(holder)) + text[end:]


def set_items(text: str, key: str, items: list[Any]) -> str:
    """Return the text with a list at its top level replaced: one item a line, comments in the list are lost.

    >>> print(set_items("a:\\n  # old\\n  - 1\\nb: 2\\n", "a", [{"x": 1}, {"y": 2}]), end="")
    a:
      - {x: 1}
      - {y: 2}
    b: 2
    """
    lines = "".join(f"\n  - {flow(item)}" for item in items)
    entry = _entry(_find_mapping(text, ()), key)
    if entry is None:
        return f"{text.rstrip()}\n{key}:{lines}\n"
    name, old = entry
    start = text.index(":", _offset(text, name.end_mark)) + 1
    return text[:start] + lines + text[_end(text, old) :]


def remove_entry(text: str, key: str) -> str:
    """Return the text without an entry of its top level, which has lines of its own.

    >>> print(remove_entry("a: 1\\ndraft: look\\n# c\\nb: 2\\n", "draft"), end="")
    a: 1
    # c
    b: 2
    """
    entry = _entry(_find_mapping(text, ()), key)
    if entry is None:
        return text
    name, old = entry
    start = text.rfind("\n", 0, _offset(text, name.start_mark)) + 1
    end = text.find("\n", _end(text, old))
    return text[:start] + ("" if end < 0 else text[end + 1 :])


def _find_mapping(text: str, keys: Keys) -> Any:
    node: Any = compose(text)
    for key in keys:
        entry = None if node is None or node.id != "mapping" else _entry(node, key)
        if entry is None:
            raise PolicyError(f"policy.yaml has no {key}: put the key back, or undo the last change")
        node = entry[1]
    if node is None or node.id != "mapping":
        raise PolicyError("policy.yaml has no keys here: undo the last change")
    return node


def _entry(mapping: Any, key: str) -> tuple[Any, Any] | None:
    return next(((name, value) for name, value in mapping.value if name.value == key), None)


def _add(text: str, holder: Any, key: str, value: Any) -> str:
    if _is_flow(holder):
        position = _end(text, holder) - 1
        comma = ", " if holder.value else ""
        return f"{text[:position].rstrip()}{comma}{flow(key, True)}: {flow(value, True)}{text[position:]}"
    position = _end(text, holder.value[-1][1])
    end = text.find("\n", position)
    end = len(text) if end < 0 else end  # behind a comment on the last line
    indent = " " * holder.value[0][0].start_mark.column
    return f"{text[:end]}\n{indent}{spell_key(key)}: {flow(value)}{text[end:] or chr(10)}"


def _is_flow(node: Any) -> bool:
    return bool(node.flow_style)


def _is_block(node: Any) -> bool:
    return node.id != "scalar" and not node.flow_style


def _end(text: str, node: Any) -> int:
    """Return where a node ends; a block goes on until the next token, so its last part is asked."""
    if _is_block(node) and node.value:
        last = node.value[-1]
        return _end(text, last[1] if node.id == "mapping" else last)
    end = _offset(text, node.end_mark)
    if node.id == "scalar" and node.style in ("|", ">"):
        return len(text[:end].rstrip())
    return end


def _offset(text: str, mark: Any) -> int:
    """Return the place of a mark, by line and column, which all loaders count alike."""
    position = 0
    for _ in range(mark.line):
        position = text.index("\n", position) + 1
    return position + int(mark.column)
