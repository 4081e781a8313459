"""The texts of a page: long ones stand in it once, however many places show them."""

from typing import TypeAlias

#: A text, or the number of a long one.
Text: TypeAlias = str | int

#: Texts longer than this are referred to.
_LONG = 240


class Texts:
    """Gives out texts as a page has them."""

    def __init__(self) -> None:
        self.long: list[str] = []
        self._numbers: dict[str, int] = {}

    def put(self, text: str) -> Text:
        """The text, or its number among the long ones."""
        if len(text) <= _LONG:
            return text
        number = self._numbers.setdefault(text, len(self.long))
        if number == len(self.long):
            self.long.append(text)
        return number


class Names:
    """Numbers for names that come again and again, in the order in which they first came."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a name."""
        return self.known.setdefault(name, len(self.known))
