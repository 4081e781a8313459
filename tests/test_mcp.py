"""The MCP server, asked by a real client over stdio: what it offers, records, and refuses."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from command import finished, good, run
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from journal.events import VOCABULARY
from projections.dialect import DIALECTS
from projections.limits import CHARACTERS_PER_TOKEN

TOOLS = ("resume", "record", "state", "history", "search")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one project."""
    good(tmp_path, "init", "shop", "--title", "Web Shop")
    return tmp_path


@asynccontextmanager
async def client(folder: Path, *args: str, **env: str) -> AsyncIterator[Client]:
    """A client of a server in this folder."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "passdown", "mcp", *args],
        cwd=str(folder),
        env={"PATH": os.environ["PATH"], **env},
    )
    with open(os.devnull, "w") as silence:
        async with Client(stdio_client(server, silence)) as made:
            yield made


def asked(folder: Path, ask: Callable[[Client], Awaitable[Any]], *args: str, **env: str) -> Any:
    """What somebody learns who asks a server of this folder."""

    async def main() -> Any:
        async with client(folder, *args, **env) as made:
            return await ask(made)

    return asyncio.run(asyncio.wait_for(main(), 60))


async def call(of: Client, tool: str, **given: Any) -> dict[str, Any]:
    """The answer of a tool, which says the same as text and as data."""
    result = await of.call_tool(tool, given)
    assert not result.is_error, result.content
    [content] = result.content
    assert content.type == "text"
    answer: dict[str, Any] = json.loads(content.text)
    assert result.structured_content == answer
    return answer


async def refused(of: Client, tool: str, **given: Any) -> str:
    """Why a tool did not do it, as the agent reads it."""
    result = await of.call_tool(tool, given)
    assert result.is_error, result.content
    [content] = result.content
    assert content.type == "text"
    return content.text


def event(type: str, **data: Any) -> dict[str, Any]:
    """An event as a client sends it."""
    return {"type": type, "data": data}


# -- what is offered -------------------------------------------------------------------------


def test_the_tools_cost_few_tokens(shop: Path) -> None:
    """Five tools, whose descriptions with all their forms stay under 1,500 tokens."""

    async def ask(of: Client) -> Any:
        return (await of.list_tools()).tools

    tools = asked(shop, ask)
    assert tuple(tool.name for tool in tools) == TOOLS
    assert all(tool.description and tool.output_schema for tool in tools)
    whole = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    assert len(json.dumps(whole, separators=(",", ":"))) < 1500 * CHARACTERS_PER_TOKEN


def test_the_description_names_what_there_is(shop: Path) -> None:
    """Every event and field that the description of `record` names is in the vocabulary."""

    async def ask(of: Client) -> Any:
        return [tool.description for tool in (await of.list_tools()).tools if tool.name == "record"]

    [said] = asked(shop, ask)
    named = [line for line in said.replace(")", ")\n").splitlines() if "." in line.split("(")[0]]
    known = 0
    for line in named:
        tag, _, fields = line.strip().rstrip(")").partition("(")
        if tag in VOCABULARY:
            known += 1
            words = {field.split(":")[0].strip(" ?[]") for field in fields.split(",")}
            assert words <= set(VOCABULARY[tag].__struct_fields__), line
    assert known >= 14


def test_the_files_are_resources(shop: Path) -> None:
    """Every projection of every project can be listed and read, also of one that came later."""
    every = "".join(f"[projections.{name}]\nenabled = true\n" for name in DIALECTS)
    (shop / "passdown.toml").write_text(every)
    good(shop, "sync")

    async def ask(of: Client) -> None:
        good(shop, "init", "later", "--no-sync")
        listed = {str(one.uri): one.mime_type for one in (await of.list_resources()).resources}
        assert len(listed) == 1 + 2 * len(DIALECTS)
        assert listed["passdown://shop/session-state"] == "application/json"
        for name, dialect in DIALECTS.items():
            [content] = (await of.read_resource(f"passdown://shop/{name}")).contents
            file = shop / dialect.path.format(project="shop", workspace=".")
            assert getattr(content, "text", "") == file.read_text()
        [events] = (await of.read_resource("passdown://events")).contents
        signatures = getattr(events, "text", "").splitlines()
        assert [line.partition("(")[0] for line in signatures] == sorted(VOCABULARY)
        for wrong in ("shop/weather", "nowhere/handoff"):
            with pytest.raises(MCPError):
                await of.read_resource(f"passdown://{wrong}")

    asked(shop, ask)


def test_the_handoff_is_a_prompt(shop: Path) -> None:
    """Who takes over gets the handoff note, and how to begin."""

    async def ask(of: Client) -> Any:
        assert [one.name for one in (await of.list_prompts()).prompts] == ["handoff"]
        [message] = (await of.get_prompt("handoff", {})).messages
        return message.content

    text = asked(shop, ask).text
    assert (shop / "agent-output/shop/00-handoff.md").read_text() in text
    assert "`resume`" in text


# -- what is done ----------------------------------------------------------------------------


def test_a_shift(shop: Path) -> None:
    """An agent begins, works, looks back and ends, and all of it is in the journal."""

    async def ask(of: Client) -> None:
        begun = await call(of, "resume", session="night", agent="ada")
        assert begun["brief"].startswith("# Web Shop: start")
        done = await call(
            of,
            "record",
            events=[event("step.started", step="1"), event("finding.opened", title="Vault open")],
            actor="ada",
            session="night",
        )
        assert done["recorded"] == ["v4 step 1 started", "v5 F001 opened (must_fix): Vault open"]
        assert "F001 — Vault open" in (await call(of, "resume"))["brief"]
        assert (await call(of, "state"))["items"]["findings"] == 1
        found = await call(of, "state", what="findings")
        assert [item["id"] for item in found["items"]] == ["F001"]
        assert (await call(of, "state", what="findings", at=4))["items"] == []
        steps = (await call(of, "state", what="steps"))["items"]
        assert steps["1"]["status"] == "in_progress"
        told = (await call(of, "history", limit=1))["entries"]
        assert [(one["version"], one["actor"], one["session"]) for one in told] == [
            (5, "ada", "night")
        ]
        assert len((await call(of, "history", types=["step.*"]))["entries"]) == 1
        assert (await call(of, "history", upto=4))["entries"][0]["version"] == 4
        [line] = (await call(of, "search", words="VAULT open"))["lines"]
        assert line.startswith("finding F001 (open) ")
        assert line.endswith(": Vault open")
        assert (await call(of, "search", words="title"))["lines"] == []
        assert "no words" in await refused(of, "search", words='"" - *')
        await call(of, "record", events=[event("session.ended", session="night", completed=["n"])])

    asked(shop, ask)
    sessions = good(shop, "show", "--json").json["sessions"]
    assert sessions["session-001"]["status"] == "ended"
    assert good(shop, "verify").code == 0


def test_newest_first_and_the_rest_counted(shop: Path) -> None:
    """A kind of which there is much is cut, and says how many are left out."""

    async def ask(of: Client) -> Any:
        events = [event("finding.opened", title=f"bad {n}") for n in range(50)]
        await call(of, "record", events=events)
        brief = (await call(of, "resume", only=["findings"], budget=400))["brief"]
        assert len(brief) <= 400 * CHARACTERS_PER_TOKEN
        older = await call(of, "state", what="findings", limit=3, skip=45)
        assert [item["id"] for item in older["items"]] == ["F005", "F004", "F003"]
        assert older["left_out"] == 2
        return await call(of, "state", what="findings", limit=3)

    found = asked(shop, ask)
    assert [item["id"] for item in found["items"]] == ["F050", "F049", "F048"]
    assert found["left_out"] == 47


def test_the_same_call_again(shop: Path) -> None:
    """With an id a call that is repeated adds nothing and says the same."""

    async def ask(of: Client) -> None:
        given = {"events": [event("finding.opened", title="bad")], "id": "review-7"}
        first, second = [await call(of, "record", **given) for _ in range(2)]
        assert second == {**first, "repeated": True}

    asked(shop, ask)


def test_who_it_is_by_the_environment(shop: Path) -> None:
    """Where the host's configuration says who works there, a call need not."""

    async def ask(of: Client) -> Any:
        await call(of, "record", events=[event("step.started", step="1")])
        await call(of, "resume", session="night")
        assert (await call(of, "state", what="sessions"))["items"][0]["agent"] == "ada"
        return (await call(of, "history", limit=1))["entries"][0]["actor"]

    assert asked(shop, ask, PASSDOWN_ACTOR="ada") == "ada"


def test_one_of_several_projects(shop: Path) -> None:
    """The project is named with the call, or once for the server."""
    good(shop, "init", "other", "--no-sync")

    async def ask(of: Client) -> Any:
        return (await call(of, "state"))["project"]

    async def ask_nothing(of: Client) -> Any:
        assert (await call(of, "state", project="shop"))["project"] == "shop"
        return await refused(of, "state")

    assert asked(shop, ask, "-p", "other") == "other"
    assert "which project? there are other, shop; name one as `project`" in asked(shop, ask_nothing)


# -- what is refused -------------------------------------------------------------------------


def test_refusals_say_what_would_be_allowed(shop: Path) -> None:
    """What a rule forbids and what does not exist comes back as a sentence to act on."""

    async def ask(of: Client) -> None:
        done = event("step.completed", step="4")
        assert "allowed now: step start 4" in await refused(of, "record", events=[done])
        typo = event("step.complete", step="4")
        assert "near: step.completed" in await refused(of, "record", events=[typo])
        field = event("finding.opened", titel="x")
        assert "its fields are title, severity" in await refused(of, "record", events=[field])
        assert "near: shop" in await refused(of, "state", project="shoq")
        assert "versions 1 to 1" in await refused(of, "state", at=9)
        assert "topic" in await refused(of, "resume", only=["weather"])
        both = [event("step.started", step="1"), done]
        assert "step start 4" in await refused(of, "record", events=both)

    asked(shop, ask)
    assert good(shop, "show", "--json").json["version"] == 1


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("record", {"events": []}),
        ("record", {"events": [{"type": "finding.opened", "data": {"title": "a\0b"}}]}),
        ("record", {"events": [{"type": "decision.made", "data": {"key": "k", "value": 10**30}}]}),
        ("record", {"events": [{"type": "files.changed", "data": {"path": "/etc/passwd"}}]}),
        ("record", {"events": [{"type": "step.started", "data": {"step": "1"}}], "actor": "\n"}),
        ("record", {"events": [{"type": "finding.opened", "data": {"title": "x"}, "actor": "me"}]}),
        ("record", {"events": "all of them"}),
        ("record", {}),
        ("resume", {"budget": 3}),
        ("resume", {"step": "99"}),
        ("state", {"what": "weather"}),
        ("state", {"at": -1}),
        ("resume", {"budget": 10**9}),
        ("history", {"limit": 0}),
        ("history", {"upto": 10**20}),
        ("history", {"types": ["weather.*"]}),
        ("search", {"words": 3}),
        ("nonsense", {}),
    ],
)
def test_what_no_agent_should_send(shop: Path, tool: str, given: dict[str, Any]) -> None:
    """Whatever is asked: an error that says why, no defect, nothing recorded, and it goes on."""

    async def ask(of: Client) -> str:
        said = await refused(of, tool, **given)
        assert (await call(of, "state"))["version"] == 1
        return said

    said = asked(shop, ask)
    assert said
    assert "defect" not in said
    assert "Traceback" not in said


def test_no_journal_yet(tmp_path: Path) -> None:
    """The server starts where there is none, says how to make one, and serves it once it is."""

    async def ask(of: Client) -> None:
        assert "passdown init" in await refused(of, "state")
        assert "fresh start" in (await call(of, "resume"))["brief"]
        assert len((await of.list_resources()).resources) == 1
        with pytest.raises(MCPError, match="passdown init"):
            await of.get_prompt("handoff", {})
        assert os.listdir(tmp_path) == []
        good(tmp_path, "init", "shop")
        assert (await call(of, "state"))["project"] == "shop"

    asked(tmp_path, ask)


def test_a_damaged_journal(shop: Path) -> None:
    """Damage is an error of every tool, and the server survives it."""
    journal = shop / ".passdown/journal.db"

    async def ask(of: Client) -> None:
        content = journal.read_bytes()
        journal.write_bytes(b"")
        for tool in ("state", "history", "resume"):
            assert "journal.db is empty" in await refused(of, tool)
        journal.write_bytes(content)
        await call(of, "state")

    asked(shop, ask)


# -- together with others --------------------------------------------------------------------


def test_two_clients_and_a_command_line_at_once(shop: Path) -> None:
    """Everything that was acknowledged to any of three writers is there, once."""

    async def write(folder: Path, name: str) -> list[str]:
        async with client(folder) as of:
            calls = [
                call(of, "record", events=[event("finding.opened", title=f"{name} {n}")])
                for n in range(20)
            ]
            return [line for done in await asyncio.gather(*calls) for line in done["recorded"]]

    async def typed() -> None:
        for n in range(20):
            command = [sys.executable, "-m", "passdown", "finding", "open", f"shell {n}"]
            done = await asyncio.to_thread(finished, [*command], shop)
            assert done.code == 0, done

    async def main() -> list[list[str]]:
        first, second, _ = await asyncio.gather(write(shop, "one"), write(shop, "two"), typed())
        return [first, second]

    acknowledged = asyncio.run(asyncio.wait_for(main(), 200))
    assert [len(each) for each in acknowledged] == [20, 20]
    findings = good(shop, "show", "--json").json["findings"]
    titles = sorted(each["title"] for each in findings.values())
    assert titles == sorted(f"{who} {n}" for who in ("one", "two", "shell") for n in range(20))
    good(shop, "sync")
    assert good(shop, "verify").code == 0


def test_only_the_protocol_is_on_stdout(shop: Path) -> None:
    """What there is to say beside an answer goes to stderr; at the end of stdin the server ends."""
    with (shop / ".planning/STATE.md").open("a") as file:
        file.write("# mine\n")
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    started = {"events": [event("step.started", step="1")]}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "record", "arguments": started}},
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "passdown", "mcp"],
        cwd=shop,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert rest == b""
    assert [answer["id"] for answer in answers] == [1, 2]
    [warning] = answers[1]["result"]["structuredContent"]["warnings"]
    assert "STATE.md" in warning


def test_a_host_that_goes_away(shop: Path) -> None:
    """Where nobody listens any more the server ends without a word."""
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}}
    asked["clientInfo"] = {"name": "test", "version": "1"}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked})
    lines = f"(echo '{message}'; sleep 2; echo '{message}'; sleep 1)"
    command = f"{lines} | {sys.executable} -m passdown mcp | head -c 10"
    done = finished(["bash", "-c", f"{command}; exit ${{PIPESTATUS[1]}}"], shop)
    assert (done.code, done.err) == (0, ""), done


def test_without_the_package(shop: Path) -> None:
    """Where the extra is not installed, it is said how to install it."""
    without = "import sys; sys.modules['mcp'] = None; import passdown; passdown.main()"
    done = finished([sys.executable, "-c", without, "mcp"], shop)
    assert done.code == 3
    assert done.err == (
        "passdown: the MCP server needs a package that is not installed; "
        "pip install 'passdown[mcp]'\n"
    )
    assert run(shop, "mcp").code == 0
