"""What all events have in common, and the types of their fields."""

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Meta, Struct

Text: TypeAlias = Annotated[str, Meta(min_length=1)]
StepKey: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9]{1,9}(_[0-9]{1,9})*\Z")]
Name: TypeAlias = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f]{1,100}\Z")]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
Json: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None

Role: TypeAlias = Literal["person", "maintainer", "orchestrator", "agent", "observer"]
ActorStatus: TypeAlias = Literal[
    "idle", "active", "blocked", "offline", "available", "away", "observing"
]
Severity: TypeAlias = Literal["must_fix", "should_fix", "consider"]
ErrorKind: TypeAlias = Literal["validation", "timeout", "file_conflict", "runtime", "dependency"]
Priority: TypeAlias = Literal["P0", "P1", "P2"]
DecisionKind: TypeAlias = Literal[
    "technology", "architecture", "trade_off", "preference", "constraint"
]


class Event(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Something that happened."""

    type: ClassVar[str]
    #: Bookkeeping changes no projection; stamps and `updated` ignore it.
    bookkeeping: ClassVar[bool] = False
    #: Whether it changes what several agents coordinate by, and so counts as a revision of that.
    coordinates: ClassVar[bool] = False
    #: The fields that name files of the workspace.
    paths: ClassVar[tuple[str, ...]] = ()
