"""The agents' hosts that can call Passdown: where each keeps its hooks, and which are ours."""

import json
import re
from pathlib import Path
from typing import Any

from msgspec import Struct

from cli import jsonc, placing
from journal.errors import Invalid, PassdownError


class Host(Struct, frozen=True):
    """A program that runs agents, and how it is told to call us."""

    name: str
    title: str
    path: str
    events: tuple[str, ...]
    #: How long a hook may take, in the host's own unit.
    timeout: int
    #: Whether a handler has a name, by which the host lists it and switches it off.
    named: bool = False
    #: Whether it reads over comments; elsewhere they make the host ignore the whole file.
    comments: bool = False
    #: The setting that switches all hooks off, and the value at which it does.
    off: tuple[tuple[str, ...], bool] | None = None
    #: What else must be so before the host runs them.
    hint: str = ""


HOSTS = {
    host.name: host
    for host in (
        Host(
            "claude-code",
            "Claude Code",
            ".claude/settings.json",
            ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"),
            timeout=10,
            off=(("disableAllHooks",), True),
        ),
        Host(
            "gemini",
            "Gemini CLI",
            ".gemini/settings.json",
            ("SessionStart", "BeforeAgent", "PreCompress", "SessionEnd"),
            timeout=10_000,
            named=True,
            comments=True,
            off=(("hooksConfig", "enabled"), False),
        ),
        Host(
            "codex",
            "Codex",
            ".codex/hooks.json",
            ("SessionStart", "UserPromptSubmit", "Stop"),
            timeout=10,
            hint="Codex runs these hooks once the project is trusted and they are approved in "
            "/hooks; a Codex that does not list them there wants `hooks = true` under [features] "
            "in its config.toml (an older one `codex_hooks = true`)",
        ),
    )
}


class Installed(Struct, frozen=True):
    """Which hooks of ours a host has; `problem` if that cannot be told, or they would not run."""

    host: str
    path: str
    events: tuple[str, ...]
    missing: tuple[str, ...]
    problem: str = ""


def installed(root: Path) -> list[Installed]:
    """What is installed in a workspace, host by host; reads only."""
    return [look(root, host) for host in HOSTS.values()]


def look(root: Path, host: Host) -> Installed:
    """What is installed for one host."""
    try:
        content = placing.read(placing.place(root, host.path), host.path)
        text = placing.as_text(content or b"", host.path)
        found = understood(text, host)
    except PassdownError as error:
        return Installed(host.name, host.path, (), host.events, str(error))
    there = found_events(found, host)
    missing = tuple(event for event in host.events if event not in there)
    return Installed(host.name, host.path, there, missing, _hindrance(found, host))


def understood(text: str, host: Host) -> jsonc.Document:
    """The settings of a host; refused in a sentence where they are not what they should be."""
    try:
        found = jsonc.scan(text)
        _check(found)
    except jsonc.Unclear as why:
        raise Invalid(f"{host.path} {why}; mend it and ask again, nothing was changed") from None
    return found


def _check(found: jsonc.Document) -> None:
    """That there is one place for hooks, and one for each event."""
    if found.is_empty:
        return
    if not isinstance(found.content, dict):
        raise jsonc.Unclear("is not an object")
    part = jsonc.container(found, found.start).named("hooks")
    if part is None:
        return
    if not isinstance(part.content, dict):
        raise jsonc.Unclear('has "hooks" that are not an object')
    hooks = jsonc.container(found, part.value)
    for event in {event for host in HOSTS.values() for event in host.events}:
        groups = hooks.named(event)
        if groups is not None and not isinstance(groups.content, list):
            raise jsonc.Unclear(f'has "hooks" of {event} that are not a list')


def found_events(found: jsonc.Document, host: Host) -> tuple[str, ...]:
    """The events at which the host calls us."""
    hooks = found.content.get("hooks", {}) if isinstance(found.content, dict) else {}
    return tuple(
        event
        for event in host.events
        if any(calls_us(one, host, event) for x in hooks.get(event, ()) for one in handlers(x))
    )


def handlers(group: Any) -> list[Any]:
    """The handlers of an entry."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else []


def calls_us(handler: Any, host: Host, event: str = r"\w+") -> bool:
    """Whether a handler calls us, from whatever path and however long it may take."""
    command = handler.get("command") if isinstance(handler, dict) else None
    program = r"""(?:^|[\s"'/\\])passdown(?:\.exe|\.py)?["']?"""
    call = rf"{program}\s+hook\s+{host.name}\s+{event}(?![\w.-])"
    return isinstance(command, str) and re.search(call, command) is not None


def is_ours(handler: Any, host: Host) -> bool:
    """Whether a handler does nothing but call us; what runs other commands too is its owner's."""
    return calls_us(handler, host) and re.search(r"[;&|\n]", handler["command"]) is None


def entry(host: Host, event: str) -> str:
    """What is written into a host's settings for an event, on one line."""
    handler: dict[str, Any] = {"name": "passdown"} if host.named else {}
    handler |= {
        "type": "command",
        "command": f"passdown hook {host.name} {event}",
        "timeout": host.timeout,
    }
    return json.dumps({"hooks": [handler]})


def _hindrance(found: jsonc.Document, host: Host) -> str:
    """What keeps a host from running hooks that are in its settings."""
    if not (host.comments or found.is_plain):
        return (
            f"{host.title} reads no JSON with comments or trailing commas, and may ignore all of "
            f"{host.path}; take them out"
        )
    if host.off is not None:
        path, value = host.off
        setting = found.content
        for key in path:
            setting = setting.get(key) if isinstance(setting, dict) else None
        if setting is value:
            return f"{'.'.join(path)} in {host.path} switches all hooks off; take it out"
    return ""
