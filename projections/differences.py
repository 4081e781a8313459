"""How a text became another, as a unified diff that is never long and never takes long."""

from itertools import chain

#: So many lines of a difference are shown.
MOST = 40
#: No line of it is longer.
_WIDE = 200
#: Of what is not the same at both ends, so many lines are compared.
_COMPARED = 2_000
_CONTEXT = 3


def differences(was: str, now: str) -> tuple[str, ...] | None:
    """The lines of the difference, and how many more there are; None if too much has changed."""
    from difflib import SequenceMatcher  # only where something has changed

    old, new = was.splitlines(), now.splitlines()
    skipped = _alike(old, new)
    # From behind, but not into what is alike in front.
    left = slice(skipped, None)
    behind = _alike(old[left][::-1], new[left][::-1])
    before, after = max(skipped - _CONTEXT, 0), max(behind - _CONTEXT, 0)
    old, new = (lines[before : len(lines) - after] for lines in (old, new))
    if max(len(old), len(new)) > _COMPARED:
        return None
    lines = []
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT):
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        lines.append(f"@@ -{_stretch(a + before, b - a)} +{_stretch(c + before, d - c)} @@")
        for tag, i, j, k, m in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[i:j]]
            else:
                removed = (f"-{line}" for line in old[i:j])
                lines += chain(removed, (f"+{line}" for line in new[k:m]))
    shown = [line if len(line) <= _WIDE else f"{line[: _WIDE - 1]}…" for line in lines[:MOST]]
    if len(lines) > MOST:
        shown.append(f"… {len(lines) - MOST:,} more lines")
    return tuple(shown)


def _alike(old: list[str], new: list[str]) -> int:
    """How many lines are the same at the beginning."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _stretch(start: int, length: int) -> str:
    """Where lines are, counted from 1; of none, the line before them."""
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"
