"""STATE.md: `.planning/STATE.md`, a title over one YAML mapping in commented sections.

`yaml.safe_load` of the whole file gives all of it, text exactly as it was supplied. Unknown fields
are absent; lists that are part of a section's shape are `[]` when empty.
"""

from journal.state import Project
from projections import stamp
from projections.leftovers import Object
from projections.state_md.document import form
from projections.state_md.writing import cut, written

RENDERER = 1


def render(project: Project) -> bytes:
    """The STATE.md of a project."""
    lines = written(form(project), f"passdown show --as json -p {project.slug}")
    lines += ["", f"# {stamp.line(stamp.of(project, RENDERER))}", ""]
    return stamp.stamped("\n".join(lines).encode())


def shown(project: Project) -> Object:
    """What of the document stands in the file: what was cut is not missing from an edited one."""
    return cut(form(project))[0]


def intact(content: bytes) -> bool:
    """Whether the content is a STATE.md at all, whoever wrote it last."""
    import yaml as reader  # 20 ms that only the check of a foreign file has to pay

    try:
        text = content.decode("utf-8-sig")
        # Composed, not constructed: a wrong date in it is an edit, and no alias is ever expanded.
        root = reader.compose(text, Loader=reader.SafeLoader)
    except (reader.YAMLError, RecursionError, ValueError, OverflowError):
        return False
    if not isinstance(root, reader.MappingNode):
        return False
    keys = {key.value for key, _ in root.value if isinstance(key, reader.ScalarNode)}
    return {"initiative", "position"} <= keys
