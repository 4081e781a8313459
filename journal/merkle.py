"""The Merkle tree of RFC 6962 over a log that only grows: its root, and proofs about it.

A leaf and a node are told apart by their first byte, so that nobody can pass one for the other.
The root of n leaves, n > 1, is the node over the roots of the first k leaves and of the others, k
being the largest power of two below n. Root and proofs are made in one pass that keeps no more than
one hash for each power of two; they are checked by the RFC's own recursion.
"""

from collections.abc import Iterable, Sequence

from journal.digest import sha256

#: The root of a tree without leaves.
EMPTY = sha256(b"").digest()


def leaf(content: bytes) -> bytes:
    """The hash of one entry of the log."""
    return sha256(b"\x00" + content).digest()


def node(left: bytes, right: bytes) -> bytes:
    """The hash over two subtrees."""
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that grows entry by entry; of its subtrees it keeps those at its right edge.

    The way from one of its subtrees up to the root can be followed while it grows.
    """

    def __init__(self) -> None:
        self.size = 0
        self._edge: list[bytes] = []  # complete subtrees, one for each bit of the size
        self._followed: int | None = None  # the one on the edge that the way has come up to
        self._beside: list[bytes] = []  # what stands beside the way so far

    def add(self, content: bytes, *, follow: bool = False) -> None:
        """Grow by one entry, and follow the way that leads up from it if that is asked."""
        edge, size, hash = self._edge, self.size, leaf(content)
        if follow:
            self._followed, self._beside = len(edge), []
        while size & 1:
            left = edge.pop()
            if self._followed is not None:
                self._join(len(edge), left, hash)
            hash = node(left, hash)
            size >>= 1
        edge.append(hash)
        self.size += 1

    def _join(self, index: int, left: bytes, right: bytes) -> None:
        """Go on following as the subtree at `index` of the edge is joined with the one after it."""
        if self._followed == index:
            self._beside.append(right)
        elif self._followed == index + 1:
            self._beside.append(left)
            self._followed = index

    def follow(self) -> bytes:
        """The last subtree of the edge; the way up from there is followed from now on."""
        self._followed, self._beside = len(self._edge) - 1, []
        return self._edge[-1]

    def path(self) -> list[bytes]:
        """What stands beside the way that is followed, up to the root of now."""
        if self._followed is None:
            raise ValueError("no way is followed")
        left, right = self._edge[: self._followed], self._edge[self._followed + 1 :]
        return self._beside + ([_over(right)] if right else []) + left[::-1]

    def root(self) -> bytes:
        """The root over all entries so far."""
        return _over(self._edge) if self._edge else EMPTY


def _over(edge: Sequence[bytes]) -> bytes:
    """The one hash over neighbouring subtrees, each smaller than the one before it."""
    hash = edge[-1]
    for left in reversed(edge[:-1]):
        hash = node(left, hash)
    return hash


def root(contents: Iterable[bytes]) -> bytes:
    """The root over these entries."""
    tree = Tree()
    for content in contents:
        tree.add(content)
    return tree.root()


# -- proofs ----------------------------------------------------------------------------------


def inclusion(contents: Iterable[bytes], index: int) -> list[bytes]:
    """The proof that the tree over these entries has its one at `index`, counted from 0."""
    tree = Tree()
    for content in contents:
        tree.add(content, follow=tree.size == index)
    if not 0 <= index < tree.size:
        raise ValueError(f"there are {tree.size} entries, none at {index}")
    return tree.path()


def consistency(contents: Iterable[bytes], old: int) -> list[bytes]:
    """The proof that the tree over these entries goes on from that over the first `old`."""
    tree = Tree()
    first: list[bytes] = []
    for content in contents:
        tree.add(content)
        if tree.size == old:
            subtree = tree.follow()
            first = [] if _is_power(old) else [subtree]
    if not 1 <= old <= tree.size:
        raise ValueError(f"there are {tree.size} entries, not {old}")
    return [] if old == tree.size else first + tree.path()


def includes(root: bytes, size: int, index: int, content: bytes, path: Sequence[bytes]) -> bool:
    """Whether the path proves that the tree of this root and size has the entry at `index`."""
    if not 0 <= index < size:
        return False
    rest = list(path)
    try:
        found = _climbed(leaf(content), index, size, rest)
    except IndexError:  # the path is too short
        return False
    return not rest and found == root


def continues(old_root: bytes, old: int, root: bytes, size: int, path: Sequence[bytes]) -> bool:
    """Whether the path proves that the tree of this root and size goes on from the older one."""
    if not 1 <= old <= size:
        return False
    rest = list(path)
    try:
        before, after = _both(old_root, old, size, rest, whole=True)
    except IndexError:
        return False
    return not rest and before == old_root and after == root


def _climbed(hash: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """The root above a leaf, with the path taken from its end as the tree is entered from above."""
    if size == 1:
        return hash
    beside, half = path.pop(), _half(size)
    if index < half:
        return node(_climbed(hash, index, half, path), beside)
    return node(beside, _climbed(hash, index - half, size - half, path))


def _both(
    old_root: bytes, old: int, size: int, path: list[bytes], *, whole: bool
) -> tuple[bytes, bytes]:
    """The roots of the older and of the newer tree; `whole` while the older one is not divided."""
    if old == size:
        hash = old_root if whole else path.pop()
        return hash, hash
    beside, half = path.pop(), _half(size)
    if old <= half:
        before, after = _both(old_root, old, half, path, whole=whole)
        return before, node(after, beside)
    before, after = _both(old_root, old - half, size - half, path, whole=False)
    return node(beside, before), node(beside, after)


def _half(size: int) -> int:
    """The largest power of two below a size."""
    return 1 << (size - 1).bit_length() - 1


def _is_power(size: int) -> bool:
    return size & (size - 1) == 0
