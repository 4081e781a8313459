"""What somebody wrote into the body by hand, found beside what is ours, as leftovers.

A part of ours is recognised by standing there as it was rendered; whatever follows it up to the
next is handwriting, and stays after it for ever. The heading of a phase in other words stands for
ours, and a part that is missing stays away, for as long as the state renders there what it renders
now.
"""

from collections import Counter
from collections.abc import Iterator

import msgspec
from msgspec import Struct, field

from journal.errors import Invalid
from journal.events import Leftover
from journal.state import Project
from projections.active_session import body
from projections.active_session.body import TITLE, TOP
from projections.active_session.document import body_of, form, own, part, phase_ids
from projections.active_session.reading import Section, split
from projections.leftovers import Object, apply, digest

#: So much handwriting in one place an event can keep.
_MOST = 900_000


class _Found(Struct):
    """What was found of a body: what follows each part, headings in other words, parts missing."""

    after: dict[str, str] = field(default_factory=dict)
    headings: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def handwriting(
    file: str, phases: Object, base: Project, before: Project, project: Project, removals: bool
) -> list[Leftover]:
    """What of a body is to be kept, where `phases` are those of the file by their keys.

    `base` is what the body was rendered from, `before` the state before this adoption, and
    `project` the one after it. What is missing is believed to be gone only with `removals`.
    """
    shown = form(base)
    was = body_of(shown)
    if file == was:
        return []
    keys = _keys(phases, base)
    found = _compare(split(file, keys), split(was, keys), shown, list(part(own(base), "body")))
    alone, kept = part(own(project), "body"), part(form(project), "kept")
    leftovers = list(_kept(found, part(shown, "kept"), kept, removals))
    leftovers += _headings(found, alone, part(form(project), "body"))
    gone = found.missing if removals else []
    told = _told(found, part(shown, "kept"))
    came = [x for x in alone if x not in part(own(before), "body") and body.section(x) in told]
    same = part(own(base), "body")
    leftovers += [_away(x, alone) for x in gone if x in alone and alone[x] == same.get(x)]
    leftovers += [_away(x, alone) for x in came if x not in found.headings]
    return _checked(leftovers)


def first_handwriting(file: str, phases: Object, project: Project) -> list[Leftover]:
    """The same of a file that no journal knows: a body that is more than a title comes out again to
    the letter, and a part of ours that is not in it only appears once it has something else to say.
    """
    shown = own(project)
    keys = _keys(phases, project)
    sections = split(file, keys)
    found = _compare(sections, sections, shown, list(part(shown, "body")))
    alone = dict(part(shown, "body"))
    leftovers = [*_kept(found, {}, {}, False), *_headings(found, alone, alone)]
    if len(sections) == 1 and not any(text.strip() for text in found.after.values()):
        return _checked(leftovers)
    leftovers += [_away(x, alone) for x in found.missing]
    apply(shown, leftovers)
    if body_of(shown) != file:  # its sections are in another order than the phases
        leftovers = [_after(TOP, file), *(_away(x, alone) for x in alone)]
    return _checked(leftovers)


def _keys(phases: Object, base: Project) -> dict[str, str]:
    """The key of the phase that a number in a heading means."""
    ids = {key: part(phases, key).get("id") for key in phases}
    known = (body.labels(each) for each in (phase_ids(base), ids))
    return {label: key for each in known for key, label in each.items()}


def _checked(leftovers: list[Leftover]) -> list[Leftover]:
    for leftover in leftovers:
        size = sum(len(msgspec.json.encode(value)) for value in leftover.file)
        if size > _MOST:
            raise Invalid(
                f"the body has {size:,} bytes of handwriting in one place, and at most "
                f"{_MOST:,} can be kept; move some of it to a file of its own"
            )
    return leftovers


# -- what is there ---------------------------------------------------------------------------


def _compare(file: list[Section], was: list[Section], shown: Object, order: list[str]) -> _Found:
    found = _Found()
    for section in _joined(file, was, shown):
        parts = [x for x in order if body.section(x) == section.key]
        _look(section, parts, shown, found)
    there = {section.key for section in file}
    found.missing += [x for x in order if body.section(x) not in there and x in part(shown, "body")]
    return found


def _joined(file: list[Section], was: list[Section], shown: Object) -> list[Section]:
    """One section for each phase, in the order of the file.

    Whoever appends a section for a phase that has one already means that one, if it is ours. What
    follows another of their own stays where it is.
    """
    times = Counter(section.key for section in was)
    ours = {key for key, text in part(shown, "body").items() if times[key] <= 1}
    found: dict[str, Section] = {}
    last = ""
    for section in file:
        key, known = section.key, found.get(section.key)
        if known is None:
            last = key
            found[key] = section
        elif key in ours and known.heading == part(shown, "body")[key]:
            ours.remove(key)
            found[key] = Section(key, section.heading, _lines(known.text) + section.text)
        else:
            into = found[key if times[key] <= 1 and key not in ours else last]
            text = _lines(into.text) + section.heading + section.text
            found[into.key] = Section(into.key, into.heading, text)
    return list(found.values())


def _lines(text: str) -> str:
    """The text, its last line ended."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def _look(section: Section, parts: list[str], shown: Object, found: _Found) -> None:
    """Find the parts of one section, and what stands after each."""
    texts, rest = part(shown, "body"), section.text
    at = section.key or TOP
    if section.key:
        parts = [x for x in parts if x != section.key]
        if section.heading != texts.get(section.key):
            found.headings[section.key] = section.heading
    elif TITLE not in texts or str(texts[TITLE]) not in rest:
        parts = [x for x in parts if x != TITLE]
        if title := body.TITLED.search(rest):
            found.after[TOP] = rest[: title.start()]
            found.headings[TITLE] = title[0]
            at, rest = TITLE, rest[title.end() :]
        else:
            found.missing.append(TITLE)
    for name in parts:
        text = texts.get(name)
        if not isinstance(text, str) or text not in rest:
            found.missing += [name] if name in texts else []
            continue
        between, _, rest = rest.partition(text)
        found.after[at] = between
        at = name
    found.after[at] = rest


# -- what is to be kept ----------------------------------------------------------------------


def _after(name: str, text: str) -> Leftover:
    return Leftover(("kept", name), "", (text,) if text else ())


def _away(name: str, alone: Object) -> Leftover:
    """A part of ours that stays away for as long as it says what it says now."""
    return Leftover(("body", name), digest(alone[name]))


def _kept(found: _Found, was: Object, now: Object, removals: bool) -> Iterator[Leftover]:
    """The handwriting that is another; to what was kept meanwhile at its end nothing happens.

    Whoever writes twice into what was rendered once has the first time still in it.
    """
    for name in dict.fromkeys((*found.after, *was)):
        text, old, held = found.after.get(name, ""), _text(was, name), _text(now, name)
        if text == old or (not text and not removals):
            continue
        if held != old and held.startswith(old) and not text.startswith(held):
            text += held.removeprefix(old)
        if text != held:
            yield _after(name, text)


def _text(of: Object, name: str) -> str:
    found = of.get(name)
    return found if isinstance(found, str) else ""


def _headings(found: _Found, alone: Object, now: Object) -> Iterator[Leftover]:
    for name, heading in found.headings.items():
        if name in alone and heading not in (alone[name], now.get(name)):
            yield Leftover(("body", name), digest(alone[name]), (heading,))


def _told(found: _Found, was: Object) -> set[str]:
    """The phases that the file tells of in words of its own, which it did not have before."""
    return {
        body.section(name)
        for name, text in found.after.items()
        if text.strip() and text.strip() != _text(was, name).strip()
    }
