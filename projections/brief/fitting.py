"""Cutting a brief to a limit.

An item is shown whole or not at all. Position, next action and the exact count of what is left out,
with the command that shows it, come before any item. Then each topic that must not be missed gets
its three newest, if they are short, and then the topics are filled in the order of `TOPICS`, the
newest items first, with whatever still fits; after twenty in a row that did not, no more is tried.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from msgspec.structs import replace

from journal.errors import Invalid
from projections.brief.brief import Brief
from projections.brief.rendering import heading, line, render
from projections.brief.topics import TOPICS, Entry, Topic, entries, showing, texts
from projections.limits import CHARACTERS_PER_TOKEN, LEAST
from projections.markdown import clip
from projections.values import visible_json

Form: TypeAlias = Literal["md", "json"]

#: How long the texts at the top of a brief may be, from the best case to the worst.
_LENGTHS = (1 << 30, 800, 400, 200, 100, 50, 25)
#: No item is shorter than this, so that with less room one need not look further.
_SHORTEST = 6
_CROWD = 3
#: After so many of a topic in a row that did not fit, none of it is tried any more.
_PATIENCE = 20


def fit(brief: Brief, budget: int, form: Form = "md") -> tuple[Brief, str]:
    """The brief cut to so many tokens, and its text, which is never longer than that."""
    if budget < LEAST:
        raise Invalid(f"a brief has no room in {budget} tokens; give it --budget {LEAST} or more")
    return fit_characters(brief, characters(budget), form)


def characters(budget: int) -> int:
    """How many characters so many tokens are at the least."""
    numerator, denominator = CHARACTERS_PER_TOKEN.as_integer_ratio()
    return budget * numerator // denominator


def fit_characters(brief: Brief, limit: int, form: Form = "md") -> tuple[Brief, str]:
    """The brief cut to so many characters, and its text."""
    write: Callable[[Brief], str] = render if form == "md" else visible_json
    count = sum(len(entries(brief, topic)) for topic in TOPICS.values())
    if not brief.left_out and count * _SHORTEST <= limit:
        text = write(brief)
        if len(text) <= limit:
            return brief, text
    empty = _emptied(brief)
    bare = _head_of(empty, limit, write)
    chosen = _chosen(brief, limit - len(write(bare)), form)
    shown = {
        name: tuple(entry for n, entry in enumerate(entries(brief, TOPICS[name])) if n in numbers)
        for name, numbers in chosen.items()
    }
    left_out = {
        name: total - len(shown.get(name, ()))
        for name, total in bare.left_out.items()
        if total > len(shown.get(name, ()))
    }
    fitted = replace(bare, **shown, left_out=left_out, more=showing(brief, left_out))
    return fitted, write(fitted)


def _emptied(brief: Brief) -> Brief:
    """The brief without any item, all of which are counted as left out."""
    counts = {
        name: count
        for name, topic in TOPICS.items()
        if (count := len(entries(brief, topic)) + brief.left_out.get(name, 0))
    }
    bare = replace(brief, **dict.fromkeys(TOPICS, ()), near=())
    return replace(bare, left_out=counts, more=showing(brief, counts))


def _head_of(brief: Brief, limit: int, write: Callable[[Brief], str]) -> Brief:
    """The top of the brief, its texts as long as the limit allows; those cut short are counted."""
    if len(brief.command) > limit // 4:
        brief = replace(brief, command=showing(brief, brief.left_out) if brief.left_out else "")
    shortened = brief
    for length in _LENGTHS:
        names = ("title", "say", "step", "name", "agent", "checkpoint", "next_action")
        cut = len(texts(brief, length))
        left_out = {"texts": cut, **brief.left_out} if cut else brief.left_out
        shortened = replace(
            brief,
            left_out=left_out,
            more=showing(brief, left_out),
            **{name: clip(getattr(brief, name), length) for name in names},
        )
        if len(write(shortened)) <= limit * 0.7:
            break
    return shortened


def _chosen(brief: Brief, room: int, form: Form) -> dict[str, set[int]]:
    """Which items of each topic there is room for, by their place in it."""
    cost = _line_cost if form == "md" else _json_cost
    begin = _heading_cost if form == "md" else _key_cost
    chosen: dict[str, set[int]] = {}
    misses: Counter[str] = Counter()
    for topic, number, entry in _in_order(brief, longest=room // 8, cost=cost):
        if misses[topic.name] >= _PATIENCE:
            continue
        price = cost(topic, entry) + (0 if topic.name in chosen else begin(brief, topic))
        if price <= room:
            room -= price
            chosen.setdefault(topic.name, set()).add(number)
            misses[topic.name] = 0
        else:
            misses[topic.name] += 1
        if room < _SHORTEST:
            break
    return chosen


def _in_order(
    brief: Brief, longest: int, cost: Callable[[Topic, Entry], int]
) -> Iterator[tuple[Topic, int, Entry]]:
    """Every item once, in the order in which room is given to them."""
    first: set[tuple[str, int]] = set()
    for topic in TOPICS.values():
        if topic.vital:
            for number, entry in enumerate(entries(brief, topic)[:_CROWD]):
                if cost(topic, entry) <= longest:
                    first.add((topic.name, number))
                    yield topic, number, entry
    for topic in TOPICS.values():
        for number, entry in enumerate(entries(brief, topic)):
            if (topic.name, number) not in first:
                yield topic, number, entry


def _line_cost(topic: Topic, entry: Entry) -> int:
    return len(line(topic, entry)) + 1


def _heading_cost(brief: Brief, topic: Topic) -> int:
    count = len(entries(brief, topic)) + brief.left_out.get(topic.name, 0)
    return len(heading(topic, count, count + 1)) + 3


def _json_cost(topic: Topic, entry: Entry) -> int:
    return len(visible_json(entry)) + 1


def _key_cost(brief: Brief, topic: Topic) -> int:
    """Nothing: the key and its brackets stand there without an item too."""
    return 0
