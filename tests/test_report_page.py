"""The page of a report in a real browser: what one sees, what one can do, and what it refuses.

The browser is the Chromium of the system; where there is none these tests are skipped.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import good
from reporting import HOSTILE, HUGE, handle_of, hostile, story

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
#: 10,000 events are to be there in less than this, in milliseconds.
_SOON = 2000


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """The system's Chromium without a window, with a profile of its own."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    named = (os.environ.get("PASSDOWN_CHROMIUM"), *map(shutil.which, _NAMES))
    found = next(filter(None, named), None)
    if found is None:
        pytest.skip(f"there is no Chromium here, by none of the names {', '.join(_NAMES)}")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=list(_SWITCHES))
        yield running
        running.close()


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the story, and its report."""
    folder = tmp_path_factory.mktemp("told")
    story(folder).close()
    good(folder, "report")
    return folder


@pytest.fixture(scope="session")
def flood(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with 10,000 hostile events, and its report."""
    folder = tmp_path_factory.mktemp("flood")
    hostile(folder).close()
    good(folder, "report")
    return folder


class Sight:
    """A page that was opened by double click, and what went wrong on it."""

    def __init__(self, page: "Page", file: Path) -> None:
        self.page = page
        self.wrong: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda said: self.wrong.append(said.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.add_init_script("window.hacked = (way) => console.error(`hacked by ${way}`);")
        page.goto(file.as_uri())

    def text(self, selector: str) -> str:
        """What is written there."""
        return self.page.locator(selector).first.inner_text()

    def slide(self, version: int) -> None:
        """Have the state after so many events, by the address."""
        self.page.evaluate(f"location.hash = '#v{version}'")
        self.page.wait_for_function(f"document.getElementById('slider').value === '{version}'")


@pytest.fixture
def opening(browser: "Browser") -> Iterator[Any]:
    """Opens the report of a folder; whatever the page logs, or loads beside itself, is wrong."""
    seen: list[Sight] = []

    def open_report(folder: Path, width: int = 1280, **about: Any) -> Sight:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce", **about
        )
        sight = Sight(context.new_page(), folder / "audit.html")
        seen.append(sight)
        return sight

    yield open_report
    for sight in seen:
        assert sight.wrong == []
        assert [url for url in sight.asked if not url.startswith("file:")] == []
        assert len(sight.asked) == 1
        sight.page.context.close()


# -- what one sees ---------------------------------------------------------------------------


def test_the_page_tells_the_story(told: Path, opening: Any) -> None:
    """Status, proof, timeline, decisions with reasons, blockers with durations, errors, tokens."""
    sight = opening(told)
    assert sight.text("h1") == "Web shop landing zone"
    assert "blocked in part" in sight.text("#standing")
    assert "Journal verified" in sight.text("#seal")
    assert "at version 102" in sight.text("#seal")
    assert sight.page.locator("#lanes .lane.step").count() == 8
    assert sight.page.locator("#lanes .lane.step").nth(3).locator(".track i").count() == 2
    assert "Customer data has to stay in the EU" in sight.text("#decisions")
    assert "1 d 6 h" in sight.text("#blockers")
    assert "Step 3_5 Governance tried again" in sight.text("#errors")
    assert sight.page.locator("#tokens svg path").count() == 5
    assert sight.page.title() == "Web shop landing zone – Passdown report"


def test_the_hash_on_the_page_is_that_of_the_journal(told: Path, opening: Any) -> None:
    """The badge has the hash of the last record."""
    [last] = good(told, "log", "-n", "1", "--json").out.splitlines()
    shown = "".join(opening(told).text("#seal .hash").split()[2:])
    assert f'"hash":"{shown}"' in last


@pytest.mark.parametrize(
    "words",
    [("x",), ("2026-05-01-limiter", "--phases", "A; B"), ("tools", "--maintainer", "ada")],
)
def test_a_page_of_a_project_that_only_began(
    tmp_path: Path, opening: Any, words: tuple[str, ...]
) -> None:
    """A project in which nothing happened yet has a page too, whatever its kind."""
    good(tmp_path, "init", *words)
    good(tmp_path, "report")
    sight = opening(tmp_path)
    assert "Journal verified" in sight.text("#seal")
    assert sight.page.locator("#list .row").count() >= 1
    assert sight.page.locator("main section[id]:visible > h2").count() <= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1280])
def test_nothing_is_wider_than_the_window(
    told: Path, flood: Path, opening: Any, width: int, scheme: str
) -> None:
    """On no window, and with no text, one has to scroll sideways."""
    for folder in (told, flood):
        page = opening(folder, width, color_scheme=scheme).page
        assert page.evaluate("document.documentElement.scrollWidth") <= width


_CONTRAST = """
() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((x) => x / 255)
      .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let each = node; each; each = each.parentElement) {
      const colour = parts(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return getComputedStyle(each).backgroundColor;
    }
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((x) => x.nodeType === 3 && x.data.trim());
    if (!own || !node.checkVisibility() || node.closest("option, .hidden, .skip, svg")) continue;
    const [one, other] = [light(getComputedStyle(node).color), light(ground(node))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) found.push(`${node.className || node.tagName}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(found)];
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out(told: Path, opening: Any, scheme: str) -> None:
    """Every text has a contrast of at least 4.5 to 1, in the light and in the dark."""
    sight = opening(told, color_scheme=scheme)
    sight.slide(53)
    assert sight.page.evaluate(_CONTRAST) == []


def test_light_and_dark(told: Path, opening: Any) -> None:
    """The page follows the system, and the switch turns it over."""
    sight = opening(told, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = sight.page.evaluate(ground)
    sight.page.click("#theme")
    light = sight.page.evaluate(ground)
    assert light != dark
    assert sight.page.get_attribute("#theme", "aria-pressed") == "false"
    assert opening(told, color_scheme="light").page.evaluate(ground) == light


def test_it_can_be_printed(told: Path, opening: Any) -> None:
    """On paper there is no replay but a table of the events, light also where the page is dark."""
    page = opening(told, color_scheme="dark").page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator(".desk").is_visible()
    assert page.locator("#printed tr").count() == 102
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(page.pdf()) > 10_000


_NAMELESS = """
() => [...document.querySelectorAll("button, a, input, select, summary, [role]")]
  .filter((x) => x.checkVisibility() && x.getAttribute("role") !== "presentation")
  .filter((x) => !(x.innerText || x.getAttribute("aria-label") || x.labels?.length
    || document.getElementById(x.getAttribute("aria-labelledby"))?.innerText))
  .map((x) => x.outerHTML.slice(0, 120))
"""


def test_it_can_be_read_aloud(told: Path, opening: Any) -> None:
    """There are landmarks, one first heading, no level is left out, and all has a name."""
    page = opening(told).page
    for landmark in ("main", "header", "nav", "footer"):
        assert page.locator(f"body {landmark}").count() == 1, landmark
    assert page.evaluate(_NAMELESS) == []
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].filter((x) => x.checkVisibility())"
        ".map((x) => Number(x.tagName[1]))"
    )
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels)), levels
    assert page.get_attribute("html", "lang") == "en"
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((x) => x.id)")
    assert len(ids) == len(set(ids))


# -- what one can do -------------------------------------------------------------------------


def test_the_slider_replays_the_state(told: Path, opening: Any) -> None:
    """At every version the steps stand as `passdown show --at` has them; there and back again."""
    sight = opening(told)
    with_steps = "[...document.querySelectorAll('.strip li .hidden')].map((x) => x.innerText)"
    for version in (1, 12, 52, 53, 60, 102, 53, 1):
        sight.slide(version)
        state = good(told, "show", "--at", str(version), "--json").json
        expected = [
            f"{key.replace('_', '.')} {step['name']}: {step['status'].replace('_', ' ')}"
            for key, step in state["steps"].items()
        ]
        assert sight.page.evaluate(with_steps) == expected


def test_the_difference_is_shown(told: Path, opening: Any) -> None:
    """An event shows what went and what came, for each field that it changed."""
    sight = opening(told)
    sight.slide(53)
    changed = sight.page.locator("#event .diff > li").filter(has_text="steps 3_5")
    row = changed.locator("li").filter(has_text="status")
    assert row.locator("del").inner_text() == "failed"
    assert row.locator("ins").inner_text() == "in_progress"
    assert sight.page.locator(".strip .hit").count() == 1


def test_the_keyboard_is_enough(told: Path, opening: Any) -> None:
    """Arrows move slider and list, / searches, Escape leaves the search, focus can be seen."""
    sight = opening(told)
    page = sight.page
    page.focus("#slider")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.getElementById('where').innerText.startsWith('#1 ')")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.type("quota")
    assert sight.text("#count") == "2 of 102 events"
    page.keyboard.press("Escape")
    assert sight.text("#count") == "102 events"
    assert page.evaluate("document.activeElement.id") == "list"
    page.keyboard.press("ArrowDown")
    assert sight.text("#where b") == "#2"
    page.keyboard.press("End")
    assert sight.text("#where b") == "#102"
    active = page.get_attribute("#list", "aria-activedescendant")
    assert active == "row-102"
    assert page.locator(f"#{active}").is_visible()


def test_search_and_filters(told: Path, opening: Any) -> None:
    """Words are looked for in all that an event says; kind, actor and step narrow it down."""
    sight = opening(told)
    page = sight.page
    page.fill("#search", "BCP035")
    assert sight.text("#count") == "1 of 102 events"
    page.click("#clear")
    page.select_option("#kind", "tokens")
    page.select_option("#actor", "03-Architect")
    log = good(told, "log", "-n", "0", "-t", "tokens", "-a", "03-Architect", "--json").out
    assert sight.text("#count") == f"{len(log.splitlines())} of 102 events"
    page.select_option("#step", "2")
    page.fill("#search", "no such words")
    assert sight.text("#count") == "0 of 102 events"
    assert page.locator("#list .row").count() == 0


def test_an_item_leads_to_its_events(told: Path, opening: Any) -> None:
    """A decision names its event, and from there the replay shows it."""
    sight = opening(told)
    sight.page.locator("#decisions .sources a").first.click()
    sight.page.wait_for_function("document.getElementById('slider').value === '10'")
    assert sight.text("#event h3").startswith("D001 decided: Region")


def test_the_state_can_be_looked_through(told: Path, opening: Any) -> None:
    """The parts of the state open, and each thing in them names the events that touched it."""
    sight = opening(told)
    sight.page.locator("#state .tabs button").filter(has_text="decisions").click()
    assert sight.page.locator("#state .members details").count() == 4
    sight.page.locator("#state .members summary").first.click()
    opened = sight.page.locator("#state .members details").first
    opened.get_by_text("Customer data has to stay").wait_for()
    assert opened.locator(".sources a").count() == 1


# -- what it refuses -------------------------------------------------------------------------


#: Every part of the state is opened, every long text shown, every list gone on with.
_EVERYTHING = """
() => {
  for (let n = 0; n < document.querySelectorAll("#state .tabs button").length; n += 1) {
    document.querySelectorAll("#state .tabs button")[n].click();
    document.querySelectorAll("#state details").forEach((each) => (each.open = true));
  }
  document.querySelectorAll(".further, .more").forEach((each) => each.click());
}
"""


def test_hostile_text_is_text(flood: Path, opening: Any) -> None:
    """Of 10,000 events full of scripts nothing runs, wherever one goes; what is meant is shown."""
    sight = opening(flood)
    page = sight.page
    body = page.inner_text("body")
    for text in HOSTILE[:8]:
        assert text in body, text
    assert "⟨U+202E⟩" in body
    assert "\u202e" not in body
    for version in (1, 508, 2507, 5007, 9507, 10_000):
        sight.slide(version)
        page.locator("#event summary").click()
    page.evaluate(_EVERYTHING)
    page.fill("#search", "<script>")
    page.select_option("#kind", "decision")
    assert int(re.sub(r"\D", "", sight.text("#count").split(" of ")[0])) > 50
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.querySelectorAll('img, iframe, script').length") == 2
    assert page.evaluate("document.querySelectorAll('a:not([href^=\"#\"])').length") == 0


def test_the_policy_holds(told: Path, opening: Any) -> None:
    """Even if something got in, the browser would neither run nor load it."""
    sight = opening(told)
    page = sight.page
    page.evaluate(
        "document.addEventListener('securitypolicyviolation', (x) =>"
        " (window.refused ??= []).push(x.effectiveDirective))"
    )
    page.evaluate("try { document.body.innerHTML += '' } catch { window.refusedHtml = true }")
    assert page.evaluate("window.refusedHtml") is True
    made = "document.body.append(Object.assign(document.createElement('img'), {src: 'x.png'}))"
    page.evaluate(made)
    page.wait_for_function("(window.refused ?? []).includes('img-src')")
    assert all("Content Security Policy" in said or "TrustedHTML" in said for said in sight.wrong)
    sight.wrong.clear()  # the browser said what it refused
    del sight.asked[1:]


def test_ten_thousand_events_are_there_at_once(flood: Path, opening: Any) -> None:
    """The page of 10,000 events is loaded in less than two seconds, and the list has few rows."""
    sight = opening(flood)
    took = sight.page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert 0 < took < _SOON
    assert sight.page.locator("#list .row").count() < 40
    began = sight.page.evaluate("performance.now()")
    sight.slide(1)
    sight.slide(10_000)
    assert sight.page.evaluate("performance.now()") - began < _SOON


def test_a_long_text_is_cut_and_can_be_seen_whole(tmp_path: Path, opening: Any) -> None:
    """Of a text of 100 KB one sees the beginning, and all of it when one asks."""
    good(tmp_path, "init", "shop")
    finding = {"type": "finding.opened", "data": {"title": "leak", "detail": "y" * 100_000}}
    good(tmp_path, "append", "-", stdin=json.dumps(finding).encode())
    good(tmp_path, "report")
    sight = opening(tmp_path)
    detail = sight.page.locator("#findings dd").filter(has_text="yyy")
    assert len(detail.inner_text()) < 600
    detail.get_by_role("button").click()
    assert len(detail.locator(".text").inner_text()) == 100_000
    assert detail.get_by_role("button").inner_text() == "Show less"


def test_the_flood_is_what_it_says(flood: Path) -> None:
    """The hostile project has 10,000 events, and texts of 100 KB among them."""
    from journal import Journal

    with Journal.open(flood / ".passdown") as journal:
        records = list(handle_of(journal).records())
    assert len(records) == 10_000
    assert sum(len(record.data) > len(HUGE) for record in records) >= 5
