"""What `--json` promises of seals and proofs; see cli/answers.py."""

from msgspec import Struct

from projections.proving import Difference, Outcome


class ProofAnswer(Struct, frozen=True):
    """Whether a file is the replay of the journal at the version that its stamp names.

    `ok` only if that was proved. What is empty or null could not be told.
    """

    path: str
    ok: bool
    outcome: Outcome
    what: str
    project: str
    version: int | None
    hash: str
    projection: str
    renderer: int | None
    #: The first line of which the journal says something else.
    difference: Difference | None


class SealAnswer(Struct, frozen=True):
    """A statement about a project: so many records, with this Merkle root."""

    project: str
    origin: str
    size: int
    #: In base64, as the seal has it.
    root: str
    #: The verifier key of who signed it.
    key: str
    #: The seal itself.
    seal: str
    #: Where it was written; null if nowhere.
    path: str | None


class HeldAnswer(Struct, frozen=True):
    """Whether the journal has what a seal states.

    `signed_by` is the name of the key that signed it; null where no key was named to check with.
    """

    path: str
    ok: bool
    what: str
    project: str
    size: int
    signed_by: str | None


class KeyAnswer(Struct, frozen=True):
    """A new key: the file of its private half, and its public half, which others check with."""

    name: str
    key: str
    path: str
    public: str


class ExportedAnswer(Struct, frozen=True):
    """A proof that can be checked without the journal."""

    project: str
    #: The version that it is about; null if it is about two seals.
    version: int | None
    #: Of how many records the older seal is; null if it is about a record.
    old: int | None
    size: int
    proof: str
    path: str | None


class CheckedAnswer(Struct, frozen=True):
    """What a proof proves, given the key: times are ISO 8601, hashes hexadecimal.

    `said` is the payload as it was recorded, with `actor` and `session`, where the proof has it;
    `old` is the size of the older seal, where it is two seals that are proved to be of one history.
    What does not hold is a failure, and no answer of this form.
    """

    what: str
    project: str
    size: int
    signed_by: str
    version: int | None = None
    type: str | None = None
    id: str | None = None
    at: str | None = None
    hash: str | None = None
    said: str | None = None
    actor: str | None = None
    session: str | None = None
    old: int | None = None
