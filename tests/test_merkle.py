"""The Merkle tree: roots and proofs as RFC 6962 has them, and no others."""

import hashlib
import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal import merkle

#: The entries, and the roots over the first 1, 2, 3 … of them, that logs of this kind are commonly
#: tested with.
ENTRIES = [
    bytes.fromhex(text)
    for text in (
        *("", "00", "10", "2021", "3031", "40414243"),
        *("5051525354555657", "606162636465666768696a6b6c6d6e6f"),
    )
]
ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


# -- the definitions of RFC 6962, section 2.1, as slow as they stand there -------------------


def mth(d: list[bytes]) -> bytes:
    """MTH(D[n])."""
    if not d:
        return hashlib.sha256().digest()
    if len(d) == 1:
        return hashlib.sha256(b"\x00" + d[0]).digest()
    k = below(len(d))
    return hashlib.sha256(b"\x01" + mth(d[:k]) + mth(d[k:])).digest()


def path(m: int, d: list[bytes]) -> list[bytes]:
    """PATH(m, D[n])."""
    if len(d) == 1:
        return []
    k = below(len(d))
    if m < k:
        return [*path(m, d[:k]), mth(d[k:])]
    return [*path(m - k, d[k:]), mth(d[:k])]


def subproof(m: int, d: list[bytes], b: bool) -> list[bytes]:
    """SUBPROOF(m, D[n], b)."""
    if m == len(d):
        return [] if b else [mth(d)]
    k = below(len(d))
    if m <= k:
        return [*subproof(m, d[:k], b), mth(d[k:])]
    return [*subproof(m - k, d[k:], False), mth(d[:k])]


def below(n: int) -> int:
    """The largest power of two smaller than n."""
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def entries(size: int) -> list[bytes]:
    """So many entries, no two alike."""
    return [hashlib.sha256(str(n).encode()).digest() for n in range(size)]


SIZES = (*range(1, 35), 63, 64, 65, 100)


# -- what is made ----------------------------------------------------------------------------


def test_the_known_roots() -> None:
    """The roots over the entries that everybody uses are those that everybody gets."""
    assert merkle.root([]) == mth([]) == merkle.EMPTY
    for size, root in enumerate(ROOTS, 1):
        assert merkle.root(ENTRIES[:size]).hex() == root == mth(ENTRIES[:size]).hex()


@pytest.mark.parametrize("size", SIZES)
def test_roots_and_proofs_are_those_of_the_rfc(size: int) -> None:
    """Root, inclusion and consistency proofs are what the definitions give, hash by hash."""
    d = entries(size)
    assert merkle.root(iter(d)) == mth(d)
    for m in range(size):
        assert merkle.inclusion(iter(d), m) == path(m, d)
        assert merkle.consistency(iter(d), m + 1) == subproof(m + 1, d, True)


def test_a_tree_has_a_root_at_every_size() -> None:
    """The root can be asked for as the tree grows, and asking changes nothing."""
    tree, d = merkle.Tree(), entries(70)
    for size, entry in enumerate(d, 1):
        tree.add(entry)
        assert tree.root() == tree.root() == mth(d[:size])


@pytest.mark.parametrize("index", [-1, 5, 6])
def test_no_proof_of_what_is_not_there(index: int) -> None:
    """There is no proof about an entry or a size that the tree does not have."""
    with pytest.raises(ValueError, match="there are 5 entries"):
        merkle.inclusion(iter(entries(5)), index)
    with pytest.raises(ValueError, match="there are 5 entries"):
        merkle.consistency(iter(entries(5)), index + 1 if index > 0 else index)


# -- what is believed ------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_the_proofs_hold(size: int) -> None:
    """Every entry is proved to be in the tree, and every beginning of it to be its beginning."""
    d = entries(size)
    root = mth(d)
    for m in range(size):
        assert merkle.includes(root, size, m, d[m], path(m, d))
        old = mth(d[: m + 1])
        assert merkle.continues(old, m + 1, root, size, subproof(m + 1, d, True))


def forged(proof: list[bytes]) -> Iterator[list[bytes]]:
    """The proof with each bit flipped, each hash left out, doubled or moved, and cut short."""
    for n, hash in enumerate(proof):
        for bit in range(256):
            number = int.from_bytes(hash) ^ 1 << bit
            yield [*proof[:n], number.to_bytes(32), *proof[n + 1 :]]
        yield proof[:n]
        yield proof[:n] + proof[n + 1 :]
        yield [*proof[:n], hash, *proof[n:]]
        if n and proof[n - 1] != hash:
            yield [*proof[: n - 1], hash, proof[n - 1], *proof[n + 1 :]]
    yield [*proof, bytes(32)]
    yield [bytes(32), *proof]


@pytest.mark.parametrize("size", [1, 2, 5, 8, 13])
def test_forged_inclusions(size: int) -> None:
    """Nothing but the proof itself proves that an entry is in the tree, and nothing but where."""
    d = entries(size)
    root = mth(d)
    for m in range(size):
        proof = path(m, d)
        for other in forged(proof):
            assert not merkle.includes(root, size, m, d[m], other)
        for index in (-1, *range(size + 3)):
            assert merkle.includes(root, size, index, d[m], proof) == (index == m)
        assert not merkle.includes(root, size, m, b"another", proof)
        assert not merkle.includes(mth(d + d), size, m, d[m], proof)


@pytest.mark.parametrize("size", [1, 2, 5, 8, 13])
def test_forged_consistencies(size: int) -> None:
    """Nothing but the proof itself proves that a tree goes on from another."""
    d = entries(size)
    root = mth(d)
    for m in range(1, size + 1):
        old, proof = mth(d[:m]), subproof(m, d, True)
        for other in forged(proof):
            assert not merkle.continues(old, m, root, size, other)
        for wrong in (0, -1, size + 1):
            assert not merkle.continues(old, wrong, root, size, proof)
        assert not merkle.continues(mth([b"x", *d[1:m]]), m, root, size, proof)
        assert not merkle.continues(old, m, mth([*d, b"x"]), size, proof)


def test_a_node_is_no_entry() -> None:
    """The two hashes below a node do not pass for an entry in its place."""
    d = entries(4)
    pair = mth(d[:1]) + mth(d[1:2])
    assert not merkle.includes(mth(d), 2, 0, pair, [mth(d[2:])])
    assert not merkle.includes(mth(d), 4, 0, pair, [mth(d[2:])])


@given(st.integers(1, 2**63), st.integers(0, 2**63), st.lists(st.binary(max_size=40), max_size=70))
def test_any_nonsense_is_refused(size: int, index: int, proof: list[bytes]) -> None:
    """Sizes, places and paths that nobody made are refused, however large."""
    assert not merkle.includes(bytes(32), size, index, b"x", proof)
    if (index, proof) != (size, []):
        assert not merkle.continues(bytes(32), index, b"x" * 32, size, proof)


# -- cost ------------------------------------------------------------------------------------


def _million() -> Iterator[bytes]:
    return (n.to_bytes(32) for n in range(1_000_000))


@pytest.mark.parametrize(
    "make",
    [
        merkle.root,
        lambda contents: merkle.inclusion(contents, 777_777),
        lambda contents: merkle.consistency(contents, 777_777),
    ],
)
def test_a_million_entries(make: Callable[[Iterator[bytes]], object]) -> None:
    """Root and proofs over a million entries are made in one pass, in next to no memory."""
    begin = time.process_time()
    for each in _million():
        hashlib.sha256(each).digest()
        hashlib.sha256(each + each).digest()
    least = time.process_time() - begin
    begin = time.process_time()
    make(_million())
    spent = time.process_time() - begin
    assert spent < 6 * least, f"{spent:.1f} s where the hashing alone takes {least:.1f} s"


@pytest.mark.parametrize("size", [1_000, 64_000])
def test_memory_does_not_grow_with_the_log(size: int) -> None:
    """What a pass keeps is a hash for each power of two, not one for each entry."""
    tracemalloc.start()
    merkle.inclusion((n.to_bytes(32) for n in range(size)), size // 3)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000
