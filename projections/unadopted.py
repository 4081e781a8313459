"""A session state file that no journal knows: what it would be if it were adopted."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from journal.entities import Project
from journal.errors import Invalid
from projections import session_state
from projections.brief import Brief
from projections.protocol import Caution

#: How a version of the schema is to be taken: work with it, migrate it, or leave it alone.
Form: TypeAlias = Literal["current", "older", "unknown"]


class Unadopted(Struct, frozen=True):
    """What a file says: the project in memory, how its version is to be taken, what was odd."""

    project: Project
    #: As the file has it; empty if it has none.
    version: str = ""
    form: Form = "current"
    #: What the file calls its project.
    name: str = ""
    warnings: tuple[str, ...] = ()


def read(slug: str, content: bytes, now: int) -> Unadopted:
    """What a file says about a project; Invalid says in a few words why it says nothing."""
    try:
        source = session_state.read(content)
    except Invalid as error:
        if error.where is None:
            raise
        return Unadopted(Project(slug, title=slug), str(error), "unknown")
    project = session_state.preview(source, slug, now)
    form: Form = "current" if source.version == "3.0" else "older"
    name = str(source.document["project"])
    return Unadopted(project, source.version, form, name, tuple(source.warnings))


def from_file(brief: Brief, file: Unadopted, path: str, adopt: str) -> Brief:
    """The brief on a project that stands in a file only: adopt it, and migrate it if it is old."""
    odd = tuple(Caution(f"{path}: {text}") for text in file.warnings)
    found = replace(
        brief,
        source="file",
        say=f"{brief.say} It stands in {path} only: first adopt it with the next command.",
        command=adopt,
        offers=(),
        warnings=(*map(_askable, brief.warnings), *odd),
    )
    match file.form:
        case "current":
            return found
        case "older":
            version = f"of version {file.version}" if file.version else "without a version"
            say = (
                f"{path} is a session state {version}, not 3.0: migrate it first with the "
                f"next command, step work is refused until then. After that: {brief.say}"
            )
            return replace(found, verdict="migrate", say=say)
        case "unknown":
            return _refused(brief, path, file.version)


def _askable(caution: Caution) -> Caution:
    """What is not in a journal can be asked about, and nothing can be recorded for it."""
    offers = (offer for offer in caution.offers if offer.command.startswith("passdown resume "))
    return Caution(caution.text, tuple(offers))


def _refused(brief: Brief, path: str, version: str) -> Brief:
    """The brief on a file of a version that nobody here knows: it is left alone."""
    say = f"{path}: {version}. Step work is refused: ask whoever wrote it."
    return Brief(brief.project, brief.title, "file", 0, "refused", say, "")


def from_backup(brief: Brief, path: str, reason: str) -> Brief:
    """The brief as the backup has it, with a word on why not the file itself."""
    text = f"{path} cannot be read: {reason}. This is what {path}.bak says, which adoption takes."
    return replace(brief, warnings=(Caution(text), *brief.warnings))


def unreadable(project: str, path: str, reasons: Iterable[str], anew: str) -> Brief:
    """The brief on a file that says nothing, and whose backup says nothing either."""
    say = (
        f"{path} cannot be read: {', and '.join(reasons)}. Restore it from a backup of your own; "
        "if there is none, the next command begins afresh on purpose, all steps pending."
    )
    return Brief(project, project, "file", 0, "unreadable", say, anew)
