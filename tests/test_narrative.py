"""Files of markdown by their parts: whatever is in them comes out again, to the letter."""

import re

from hypothesis import given
from hypothesis import strategies as st
from strategies import Chain

from journal import events as e
from journal.state import Project
from projections import narrative
from projections.leftovers import Object
from projections.narrative import Piece

NAME = "notes"
_HEADING = re.compile(r"^## ([a-c])\n", re.MULTILINE)


def parts(project: Project) -> dict[str, str]:
    """A dialect of three parts, one of which says what the project is called."""
    return {"a": f"## a\n{project.title}\n", "b": "## b\nalways\n", "c": "## c\n"}


def split(text: str) -> list[Piece]:
    """A part is its heading and the line below; the rest is handwriting."""
    found = list(_HEADING.finditer(text))
    ends = [*(each.start() for each in found), len(text)]
    pieces = [Piece("", text[: ends[0]])]
    for each, end in zip(found, ends[1:], strict=True):
        cut = min(text.find("\n", each.end()) + 1 or end, end) if each[1] != "c" else each.end()
        pieces += [Piece(each[1], text[each.start() : cut]), Piece("", text[cut:end])]
    return pieces


def document(project: Project) -> Object:
    return narrative.form(NAME, project, narrative.own(parts(project)))


def shown(project: Project) -> str:
    return narrative.text(document(project))


def opened(title: str = "Shop") -> Chain:
    return Chain("shop").add(
        e.ProjectOpened(title, "shared", (), coordination=e.Coordination("ada"))
    )


def adopt(chain: Chain, file: str, base: Project | None = None, removals: bool = True) -> Chain:
    """The chain with what a file says otherwise."""
    project = chain.project
    base = base or project.copy()
    left = narrative.left(
        split(file),
        document(base),
        narrative.own(parts(project)),
        document(project),
        removals=removals,
        settled=narrative.moved(narrative.own(parts(base)), narrative.own(parts(project))) & {"a"},
    )
    return chain.add(e.LeftoversKept(NAME, tuple(left))) if left else chain


LINES = st.lists(
    st.sampled_from(["## a\n", "## b\n", "## c\n", "Shop\n", "always\n", "\n", "by hand\n", "end"]),
    max_size=12,
).map("".join)


@given(LINES, LINES)
def test_any_file_comes_out_again(first: str, second: str) -> None:
    """A file that is adopted is what is rendered; so is an edit of it, and adopted again nothing
    is left to say."""
    chain = opened()
    for file in (first, second):
        chain = adopt(chain, file)
        assert shown(chain.project) == file
        version = chain.project.version
        assert adopt(chain, shown(chain.project)).project.version == version


def test_words_stand_until_the_state_has_others() -> None:
    """Another wording of a part stays as long as the state says the same there."""
    chain = adopt(opened(), "## a\nThe Shop\nnote\n## b\nalways\n## c\n")
    assert "The Shop\nnote\n" in shown(chain.project)
    chain = chain.add(e.ProjectRetitled("Market"))
    assert shown(chain.project) == "## a\nMarket\nnote\n## b\nalways\n## c\n"


def test_additions_without_a_stamp() -> None:
    """Where nobody knows what a file was rendered from, nothing that is missing is gone."""
    chain = adopt(opened(), "hello\n## b\nnever\n", removals=False)
    assert shown(chain.project) == "hello\n## a\nShop\n## b\nnever\n## c\n"


def test_an_order_stands_whatever_comes() -> None:
    """Parts stay where somebody put them; one that comes later follows the one that it follows."""
    chain = adopt(opened(), "## c\n## a\nShop\n## b\nalways\n")
    chain = chain.add(e.ProjectRetitled("Market"))
    assert shown(chain.project) == "## c\n## a\nMarket\n## b\nalways\n"
    chain = adopt(opened(), "## c\n## a\nShop\n")
    assert shown(adopt(chain, "## c\n## b\nalways\n## a\nShop\n").project).startswith("## c\n## b")
    more = {**narrative.own(parts(chain.project)), "order": ["d", "a", "e", "b", "c", "f"]}
    more["parts"] = {name: f"{name}\n" for name in "abcdef"}
    placed = {**more, "placed": ["c", "a", "gone", "b"]}
    assert narrative.text(placed) == "d\nc\nf\na\ne\nb\n"


def test_both_sides() -> None:
    """Handwriting is kept whatever happened meanwhile; what is settled is the state's to say."""
    chain = opened()
    base = chain.project.copy()
    chain = chain.add(e.ProjectRetitled("Market"))
    chain = adopt(chain, "## a\nShopp\n## b\nalways\nby hand\n## c\n", base)
    assert shown(chain.project) == "## a\nMarket\n## b\nalways\nby hand\n## c\n"


def test_the_stamp_is_nobodys_words() -> None:
    """The stamp is taken off wherever somebody wrote below it."""
    project = adopt(opened(), "## a\nShop\n## b\nalways\n## c\nnote\n").project
    content = narrative.stamped(document(project), project, 1)
    assert narrative.words(content, "notes") == shown(project)
    assert narrative.words(content + b"more\n", "notes") == shown(project) + "more\n"
