"""Text of agents in files of markdown: to the letter, and never more than text."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from projections import prose

TEXTS = st.text(
    st.one_of(
        st.sampled_from("\n\n #>|`~-=*_[]()<!&;:\\u{}\t\r0123x."),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)


@given(TEXTS)
@example("\\u{41}")
@example("")
@example("\n")
@example("    indented")
@example(" \n ")
@example("a\x85b\u2028c")
def test_to_the_letter(text: str) -> None:
    """Whatever the text, its block says it again, and has no line that an editor would change."""
    lines = prose.block(text)
    assert prose.text(lines) == text
    assert all(line == line.rstrip() and len(line.splitlines()) <= 1 for line in lines)


@given(TEXTS)
def test_no_line_is_markup(text: str) -> None:
    """No line of a block begins a heading, a rule, a table, a fence, HTML, a field or a task."""
    for line in prose.block(text):
        assert line.startswith("    ") or not re.match(
            r"\s*(#|>|\||<|```|~~~|---|===|\*\*\*|___|\*\*[^*]*:\*\*|[-+*] \[)", line
        )


@pytest.mark.parametrize(
    "plain",
    [
        "Done, with tests.",
        "Two parts:\n\n1. the parser\n2. the `writer` of a_file_name\n\n- and a *list*",
        "a | b, 3 > 2, x < y",
    ],
)
def test_prose_stays(plain: str) -> None:
    """What is only prose is shown as it was written."""
    assert "\n".join(prose.block(plain)) == plain


@pytest.mark.parametrize(
    "hostile",
    [
        "# Heading",
        "--- ",
        "a\n---",
        "| a | b |",
        "a | b\n--- | ---",
        "- [x] done",
        "**Status:** closed",
        "```",
        "<script>alert(1)</script>",
        "see <!-- this",
        "1. # no",
        "- - -",
        "[x](javascript:alert(1))",
        "\u202eright to left",
        "tab\there",
        " ",
    ],
)
def test_anything_else_is_literal(hostile: str) -> None:
    """What could be read as markup is indented, all of it."""
    assert all(line.startswith("    ") for line in prose.block(hostile) if line)


@given(TEXTS)
@example("\\u{41}")
@example("a\\\nb")
@example("&lt; &#124; |")
@example("`a` `b|c` ``")
@example(" two  blanks ")
def test_on_one_line_to_the_letter(text: str) -> None:
    """Whatever the text, its line says it again, and ends no cell of a table."""
    line = prose.line(text)
    assert prose.unline(line) == text
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert "|" not in line


@pytest.mark.parametrize(
    "plain", ["Use `a_b` and c_d, 50% of it!", "`x`", "a - b", "Why? (See 3.)"]
)
def test_a_plain_line_stays(plain: str) -> None:
    """Words and code are shown as they were written."""
    assert prose.line(plain) == plain


@pytest.mark.parametrize("number", ["110000", "ffffff", "d800", "dfff"])
def test_what_is_the_number_of_no_character(number: str) -> None:
    """What somebody else wrote stays as it is, where it only looks like a character of ours."""
    assert prose.unline(f"\\u{{{number}}}") == f"\\u{{{number}}}"
    assert prose.text([f"    \\u{{{number}}}"]) == f"\\u{{{number}}}"
