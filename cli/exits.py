"""Exit codes: one table, which the docs repeat and a test compares."""

from journal import errors

OK = 0
NOT_WELL = 1
USAGE = 2
INVALID = 3
NOT_FOUND = 4
REJECTED = 5
MISSING = 6
DAMAGED = 7
NEWER = 8
UNAVAILABLE = 9
BUG = 70
INTERRUPTED = 130

#: What each kind of error exits with; the nearest class counts.
CODES: dict[type[errors.PassdownError], int] = {
    errors.Invalid: INVALID,
    errors.NotFound: NOT_FOUND,
    errors.Rejected: REJECTED,
    errors.KeyReused: REJECTED,
    errors.Conflict: REJECTED,
    errors.JournalMissing: MISSING,
    errors.JournalForeign: DAMAGED,
    errors.JournalDamaged: DAMAGED,
    errors.JournalNewer: NEWER,
    errors.JournalUnavailable: UNAVAILABLE,
}

MEANING = {
    OK: "done; for a recording command: it is in the journal",
    NOT_WELL: "`verify`, `seal verify`, `sync`, `recover`, `report`, `archive`, "
    "`doctor`, `snapshot validate` or `setup --check` found something that is not well; "
    "`redact` left something to be done",
    USAGE: "the command line itself is wrong",
    INVALID: "the request is malformed: a name, a path, a type, a size",
    NOT_FOUND: "it names something that is not there",
    REJECTED: "a rule says no, or the id is known with other content",
    MISSING: "there is no journal here",
    DAMAGED: "the journal is damaged, or the file is not one",
    NEWER: "the journal was written by a newer Passdown",
    UNAVAILABLE: "the journal or a file cannot be written or read just now",
    BUG: "a defect in Passdown; --debug shows where",
    INTERRUPTED: "interrupted from the keyboard",
}


def code(error: errors.PassdownError) -> int:
    """The exit code of an error."""
    return next(CODES[cls] for cls in type(error).__mro__ if cls in CODES)
