"""Seals: what was signed stays provable, and what was not signed is not believed."""

import json
import re
import shutil
import stat
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
import test_record
from command import Result, files, finished, good, quick
from forging import FORGERIES, history, put_in_place, tamper
from msgspec.structs import replace

from cli import exits
from journal import Journal, merkle, note, proof, seal
from journal.errors import Invalid
from journal.events import FindingOpened
from journal.note import Signer, Verifier
from journal.seal import Seal
from projections.proving import Outcome

SIZE = 8
SIGNER = note.named("passdown/shop/0123456789abcdef", bytes(range(32)))
OTHER = note.named(SIGNER.name, bytes(range(1, 33)))
KNOWN = [SIGNER.verifier]


# -- notes and keys --------------------------------------------------------------------------


def test_keys_and_notes_are_those_of_others() -> None:
    """Keys and notes that other programs made are read, and written, as they have them."""
    private = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
    public = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    key = note.signer(private)
    assert (key.written(), str(key.verifier), str(note.verifier(public))) == (
        private,
        public,
        public,
    )
    theirs = note.verifier("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
    read = note.read(
        "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi"
        "2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n".encode()
    )
    assert read.signed_by([theirs]) == theirs
    assert read.signed_by([key.verifier]) is None


def test_a_key_is_not_shown_by_accident() -> None:
    """Neither text nor representation of a signer has its secret."""
    secret = b64encode(b"\x01" + SIGNER.seed).decode()
    assert secret in SIGNER.written()
    assert secret not in f"{SIGNER} {SIGNER!r}"


@pytest.mark.parametrize("name", ["", "two words", "a+b", "a\nb", "a\u00a0b", "zero\u200bwidth"])
def test_names_that_no_key_has(name: str) -> None:
    """A key has a name that can stand in the line of a signature."""
    with pytest.raises(Invalid, match="cannot name a key"):
        note.named(name, bytes(32))


def test_broken_keys() -> None:
    """A key that is cut, of another kind, or not of its id is refused, without repeating it."""
    public, private = str(SIGNER.verifier), SIGNER.written()
    for key, take in ((public, note.verifier), (private, note.signer)):
        *front, id, last = key.split("+")
        raw = b64decode(last)
        for broken in (
            "",
            key[:-4],
            key + "\n",
            " " + key,
            key.replace(id, "00000000"),
            key.replace(id, id.upper()) if id != id.upper() else "",
            "+".join((*front, id, b64encode(b"\x02" + raw[1:]).decode())),
            "+".join((*front, id, b64encode(raw[:-1]).decode())),
            "+".join((*front, id, b64encode(raw[:-1] + b"x").decode())),
        ):
            with pytest.raises(Invalid) as refused:
                take(broken)
            assert last not in str(refused.value)


TEXT = seal.over("shop", (bytes([n]) * 32 for n in range(SIZE))).text
NOTE = SIGNER.sign(TEXT)


def believed(content: bytes, known: list[Verifier] | None = None) -> Seal | None:
    """What a seal states, if it is one, and of somebody who is known."""
    try:
        stated, signed = seal.read(content)
    except Invalid:
        return None
    return stated if signed.signed_by(KNOWN if known is None else known) else None


def test_a_seal_reads_back() -> None:
    """What was signed is what is read: project, beginning, size and root."""
    hashes = [bytes([n]) * 32 for n in range(SIZE)]
    assert believed(NOTE) == Seal("shop", "0" * 16, SIZE, merkle.root(hashes))
    log, size, root, blank, signature = NOTE.decode().removesuffix("\n").split("\n")
    assert (log, size, blank) == ("passdown/shop/0000000000000000", "8", "")
    assert b64decode(root) == merkle.root(hashes)
    assert signature.startswith(f"— {SIGNER.name} ")
    assert b64decode(signature.split()[2])[:4] == SIGNER.verifier.id


def flips(content: bytes) -> Iterator[bytes]:
    """The content with each of its bits the other way round."""
    for at in range(len(content)):
        for bit in range(8):
            yield content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]


def test_every_flipped_bit_of_a_seal() -> None:
    """A seal of which one bit is another is no seal, or nobody's."""
    assert not any(map(believed, flips(NOTE)))


def test_every_cut_seal() -> None:
    """A seal that lacks its end, or its beginning, is no seal."""
    assert not any(believed(NOTE[:at]) for at in range(len(NOTE)))
    assert not any(believed(NOTE[at:]) for at in range(1, len(NOTE)))


def lines(content: bytes) -> list[str]:
    """The lines of a note, without the last line feed."""
    return content.decode().removesuffix("\n").split("\n")


def joined(*these: str) -> bytes:
    """A note of these lines."""
    return ("\n".join(these) + "\n").encode()


LOG, COUNT, ROOT, _, SIGNED = lines(NOTE)


@pytest.mark.parametrize(
    "content",
    [
        NOTE.replace(b"\n", b"\r\n"),
        NOTE.replace(b"\n", b"\r"),
        NOTE + b"\n",
        b"\n" + NOTE,
        b"\xef\xbb\xbf" + NOTE,
        NOTE + b" ",
        joined(LOG, COUNT, ROOT, SIGNED),
        joined(LOG, COUNT, ROOT, "", "", SIGNED),
        joined(LOG, COUNT, ROOT, "", SIGNED, "", SIGNED),
        joined(LOG, LOG, COUNT, ROOT, "", SIGNED),
        joined(LOG, COUNT, COUNT, ROOT, "", SIGNED),
        joined(LOG, COUNT, ROOT, ROOT, "", SIGNED),
        joined(LOG, COUNT, ROOT, "", SIGNED, "and a word"),
        joined(LOG, COUNT, ROOT, "", SIGNED.replace("—", "--")),
        joined(LOG, COUNT, ROOT, "", SIGNED.replace("— ", "—")),
        joined(LOG, COUNT, ROOT, "", f" {SIGNED}"),
        joined(LOG, COUNT, ROOT, "", f"{SIGNED} "),
        joined(LOG, COUNT, ROOT, "", SIGNED[:-1]),
        joined(LOG, COUNT, ROOT, "", f"{SIGNED}="),
        joined(LOG, COUNT, ROOT, "", "— x AAAA"),
        joined(COUNT, LOG, ROOT, "", SIGNED),
        b"",
        b"\n\n",
        b"\xff\xfe",
    ],
)
def test_what_is_no_seal(content: bytes) -> None:
    """Another line end, a line more or less or elsewhere: it is not believed."""
    assert believed(content) is None


@pytest.mark.parametrize("count", ["08", "+8", "-8", "0", "8.0", "8 ", "٨", "8e0", "", str(2**63)])
def test_sizes_that_are_none(count: str) -> None:
    """A size is written in one way only, even if it was signed in another."""
    with pytest.raises(Invalid, match=r"number of records|no empty ones"):
        seal.read(SIGNER.sign(joined(LOG, count, ROOT)))


def loosely(text: str) -> str:
    """Base64 of the same bytes with bits set where none are to be."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    body = text.rstrip("=")
    loose = body[:-1] + alphabet[alphabet.index(body[-1]) + 1] + text[len(body) :]
    assert b64decode(loose) == b64decode(text)
    return loose


def test_base64_is_written_in_one_way() -> None:
    """Root and signature are not read from any other base64 of the same bytes."""
    for root in (loosely(ROOT), ROOT.rstrip("="), f"{ROOT[:8]} {ROOT[8:]}", ROOT[:-4]):
        with pytest.raises(Invalid, match="not a root in base64"):
            seal.read(SIGNER.sign(joined(LOG, COUNT, root)))
    *front, signature = SIGNED.split(" ")
    assert believed(joined(LOG, COUNT, ROOT, "", " ".join((*front, loosely(signature))))) is None


@pytest.mark.parametrize(
    "log",
    [
        "passdown/shop",
        "passdown/shop/0123",
        "passdown/SHOP/0000000000000000",
        "passdown/shop/000000000000000G",
        "passdown/../shop/0000000000000000",
        "example.com/log",
        "passdown/shop/0000000000000000 ",
    ],
)
def test_logs_that_are_no_projects(log: str) -> None:
    """A checkpoint of another log is no seal, whoever signed it."""
    with pytest.raises(Invalid, match="is not the log of a project"):
        seal.read(SIGNER.sign(joined(log, COUNT, ROOT)))


def test_lines_below_the_root_are_signed_too() -> None:
    """A seal with more lines is one, and they cannot be put in or taken out afterwards."""
    more = SIGNER.sign(joined(LOG, COUNT, ROOT, "a line of somebody's"))
    assert believed(more) == believed(NOTE)
    assert believed(more.replace(b"a line of somebody's\n", b"")) is None


def test_signatures_of_others_say_nothing() -> None:
    """Unknown signatures stand beside a known one; alone, in however large a number, they are none.

    Not even with the name of a known key, or with its id.
    """
    witness = note.named("witness.example/w1", bytes(32))
    theirs = lines(witness.sign(TEXT))[-1]
    same_name = lines(OTHER.sign(TEXT))[-1]
    same_id = SIGNED.replace(SIGNER.name, "somebody.else/x")
    assert SIGNER.verifier.id != OTHER.verifier.id
    strangers = [theirs, same_name, same_id]
    assert believed(joined(LOG, COUNT, ROOT, "", *strangers)) is None
    for at in range(4):
        signatures = [*strangers[:at], SIGNED, *strangers[at:]]
        assert believed(joined(LOG, COUNT, ROOT, "", *signatures))
    assert believed(joined(LOG, COUNT, ROOT, "", SIGNED, SIGNED)), "twice the same is once"
    assert believed(joined(LOG, COUNT, ROOT, "", theirs, SIGNED), [witness.verifier, *KNOWN])
    assert believed(joined(LOG, COUNT, ROOT, "", *[theirs] * 15, SIGNED))
    assert believed(joined(LOG, COUNT, ROOT, "", *[theirs] * 100, SIGNED)) is None
    assert believed(NOTE, []) is None


def test_a_wrong_signature_of_a_known_key_is_worse_than_none() -> None:
    """Where a known key seems to have signed and did not, the whole seal is refused."""
    raw = b64decode(SIGNED.split()[2])
    wrong = f"— {SIGNER.name} {b64encode(raw[:4] + bytes(64)).decode()}"
    assert believed(joined(LOG, COUNT, ROOT, "", SIGNED, wrong)) is None
    assert believed(joined(LOG, COUNT, ROOT, "", wrong, SIGNED)) is None
    for length in (1, 63, 65):
        short = f"— {SIGNER.name} {b64encode(raw[:4] + bytes(length)).decode()}"
        assert believed(joined(LOG, COUNT, ROOT, "", short, SIGNED)) is None


# -- a project with seals --------------------------------------------------------------------


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of eight records, with seals over five and over all of them."""
    folder = tmp_path_factory.mktemp("sealed") / "w"
    folder.mkdir()
    with Journal.create(folder) as journal:
        shop = journal.open_project("shop")
        shop.append(*(FindingOpened(f"finding {n}") for n in range(4)), actor="ada")
        good(folder, "seal", "keygen", "../audit.key")
        good(folder, "seal", "--key", "../audit.key", "-o", "../five.seal")
        shop.append(*(FindingOpened(f"later {n}") for n in range(3)), actor="ada")
        good(folder, "seal", "--key", "../audit.key", "-o", "../eight.seal")
    good(folder, "sync")
    return folder


@pytest.fixture
def shop(origin: Path, tmp_path: Path) -> Path:
    """A copy of it that may be spoilt."""
    shutil.copytree(origin.parent, tmp_path / "copy")
    return tmp_path / "copy" / "w"


FIVE, EIGHT, KEY = "../five.seal", "../eight.seal", ("--key", "../audit.key.pub")


def test_a_seal_is_the_root_over_the_record_hashes(origin: Path) -> None:
    """The origin names project and first record, the root is over the hashes in their order."""
    records = history(origin, "shop")
    stated, signed = seal.read((origin.parent / "eight.seal").read_bytes())
    first = records[0].hash.hex()[:16]
    assert stated == Seal("shop", first, SIZE, merkle.root(r.hash for r in records))
    assert signed.signatures[0].name == f"passdown/shop/{first}"


@pytest.mark.parametrize("command", [("verify", "--against"), ("seal", "verify")])
def test_a_journal_that_went_on(shop: Path, command: tuple[str, ...]) -> None:
    """A journal has what was sealed, whatever was recorded since; and nothing is written."""
    good(shop, "finding", "open", "one more")
    before = files(shop.parent)
    against = [FIVE, "--against", EIGHT] if command[0] == "verify" else [FIVE, EIGHT]
    done = good(shop, *command, *against, *KEY)
    assert "five.seal: well: its 5 records of shop are as they were sealed" in done.out
    assert "eight.seal: well: its 8 records" in done.out
    held = good(shop, *command, *against, *KEY, "--json").json
    held = held["seals"] if command[0] == "verify" else held
    assert [(x["ok"], x["size"], x["project"]) for x in held] == [
        (True, 5, "shop"),
        (True, 8, "shop"),
    ]
    assert files(shop.parent) == before


_UP_TO_FIVE = "versions 1 to 5 of the journal are not those"
_UP_TO_EIGHT = "versions 1 to 8 of the journal are not those"
_ANOTHER = "record 1 of the journal is not the one that it begins with"
#: What is said of the seal over five, and of that over eight.
SAID = {
    "cut": ("", "the journal ends at version 5, 3 before that; up to version 5 all is as it was"),
    "changed": (_UP_TO_FIVE, _UP_TO_EIGHT),
    "left_out": (_UP_TO_FIVE, "the journal ends at version 7, 1 before that"),
    "put_in": (_UP_TO_FIVE, _UP_TO_EIGHT),
    "reordered": (_UP_TO_FIVE, _UP_TO_EIGHT),
    "forked": ("", "versions 6 to 8 of the journal are not those"),
    "replaced": (_ANOTHER, _ANOTHER),
}


@pytest.mark.parametrize("kind", FORGERIES)
def test_forged_histories(shop: Path, kind: str) -> None:
    """A history that fits together is found not to be the one that was sealed, and where."""
    put_in_place(shop, FORGERIES[kind](history(shop, "shop")))
    assert good(shop, "verify").err == "", "in itself it is sound"
    done = quick(shop, "verify", "--against", FIVE, "--against", EIGHT, *KEY)
    assert done.code == exits.NOT_WELL
    for name, said in zip(("five", "eight"), SAID[kind], strict=True):
        [line] = [x for x in done.out.splitlines() if x.startswith(f"../{name}.seal: ")]
        assert line.startswith(f"../{name}.seal: {'not well: it states' if said else 'well'}")
        assert said in line
    held = quick(shop, "seal", "verify", FIVE, EIGHT, *KEY, "--json")
    assert held.code == exits.NOT_WELL
    assert [x["ok"] for x in held.json] == [not said for said in SAID[kind]]
    refused = quick(shop, "seal", "--key", "../audit.key", "--against", EIGHT)
    assert (refused.code, refused.out) == (exits.REJECTED, "")


def test_what_comes_after_a_seal_must_go_on_from_it(shop: Path) -> None:
    """Records after the sealed ones that are not linked to them are found with the seal."""
    tamper(shop, "UPDATE records SET hash = zeroblob(32) WHERE version = 7")
    done = quick(shop, "seal", "verify", FIVE, *KEY)
    assert done.code == exits.NOT_WELL
    assert "its 5 records of shop are as they were sealed; but version 7" in done.out


def test_a_seal_of_a_fork(shop: Path) -> None:
    """A seal over what a copy of the journal became is of a fork, if a later one says otherwise."""
    here = history(shop, "shop")
    put_in_place(shop, FORGERIES["forked"](here)[:7])
    good(shop, "seal", "--key", "../audit.key", "-o", "../fork.seal")
    put_in_place(shop, here)
    done = quick(shop, "seal", "verify", FIVE, "../fork.seal", EIGHT, *KEY)
    said = "which a seal over 8 states too: one of the two seals is of a fork"
    assert [said in line for line in done.out.splitlines()] == [False, True, False]


def test_a_project_that_is_gone(shop: Path) -> None:
    """Where the journal has no such project, every record of it is missing."""
    with Journal.open(shop) as journal:
        journal.store.rebuild([], shop.parent / "before")  # type: ignore[attr-defined]
    done = quick(shop, "seal", "verify", FIVE, *KEY)
    assert done.code == exits.NOT_WELL
    assert "it states 5 records of shop, and the journal has none of them" in done.out


def test_a_seal_that_nobody_signed(shop: Path) -> None:
    """With the key of another, the seal is nobody's word; without any key that is said."""
    good(shop, "seal", "keygen", "../other.key")
    done = quick(shop, "seal", "verify", FIVE, "--key", "../other.key.pub")
    assert done.code == exits.NOT_WELL
    assert "five.seal: not well: it is not signed by passdown/shop/" in done.out
    done = good(shop, "seal", "verify", FIVE)
    assert done.err == (
        "passdown: no signature was checked; --key names the key that a seal must be signed with\n"
    )
    both = (*KEY, "--key", (shop.parent / "other.key.pub").read_text().strip())
    assert good(shop, "seal", "verify", FIVE, *both).err == ""


# -- sealing ---------------------------------------------------------------------------------


def test_a_seal_is_data_on_stdout(shop: Path) -> None:
    """Without a file the seal, and nothing else, is what is printed; the journal stays as it is."""
    before = files(shop)
    printed = good(shop, "seal", "--key", "../audit.key").out
    assert printed.encode() == (shop.parent / "eight.seal").read_bytes()
    said = good(shop, "seal", "--key", "../audit.key", "--json").json
    assert (said["seal"], said["size"], said["path"]) == (printed, SIZE, None)
    assert said["key"] == (shop.parent / "audit.key.pub").read_text().strip()
    assert files(shop) == before


def test_keys_are_kept_from_others(shop: Path) -> None:
    """A private key is readable by its owner alone, and never written over."""
    path = shop.parent / "audit.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = files(shop.parent)
    done = quick(shop, "seal", "keygen", "../audit.key")
    assert done.code == exits.INVALID
    assert "../audit.key is there already and is left as it is" in done.err
    path.unlink()
    assert quick(shop, "seal", "keygen", "../audit.key").code == exits.INVALID, "the public half is"
    del before["audit.key"]
    assert files(shop.parent) == before


def test_a_key_beside_the_journal_is_pointed_out(shop: Path) -> None:
    """Who keeps the key where the journal is, is told what that is worth."""
    assert "is in the workspace" in good(shop, "seal", "keygen", "audit.key").err
    assert good(shop, "seal", "keygen", "../elsewhere.key").err == ""


def test_the_usual_key(shop: Path) -> None:
    """Without a name the key is in the user's own configuration, one for each project."""
    env = {"XDG_CONFIG_HOME": str(shop.parent / "config")}
    done = quick(shop, "seal", env=env)
    assert done.code == exits.NOT_FOUND
    assert "`passdown seal keygen` makes one" in done.err
    good(shop, "seal", "keygen", env=env)
    [public] = (shop.parent / "config" / "passdown").glob("shop-*.key.pub")
    assert believed(
        good(shop, "seal", env=env).out.encode(), [note.verifier(public.read_text()[:-1])]
    )
    named = {"PASSDOWN_SEAL_KEY": "../audit.key"}
    assert good(shop, "seal", env=named).out.encode() == (shop.parent / "eight.seal").read_bytes()


def test_a_seal_is_never_written_over(shop: Path) -> None:
    """A file that is there stays what it is: an old seal cannot be made again."""
    before = files(shop.parent)
    done = quick(shop, "seal", "--key", "../audit.key", "-o", "../five.seal")
    assert done.code == exits.INVALID
    assert "../five.seal is there already" in done.err
    assert files(shop.parent) == before


def test_a_damaged_journal_is_not_sealed(shop: Path) -> None:
    """What is known not to be what was written is not signed."""
    tamper(shop, "UPDATE records SET data = '{}' WHERE version = 3")
    done = quick(shop, "seal", "--key", "../audit.key")
    assert (done.code, done.out) == (exits.DAMAGED, "")


def test_without_the_package(shop: Path) -> None:
    """Where `cryptography` is missing one sentence says how to get it, and the rest goes on."""
    program = "import sys; sys.modules['cryptography'] = None; import passdown; passdown.main()"

    def without(*words: str) -> Result:
        return finished([sys.executable, "-c", program, *words], shop)

    for words in (
        ("seal", "--key", "../audit.key"),
        ("seal", "keygen", "../new.key"),
        ("seal", "verify", FIVE, *KEY),
    ):
        done = without(*words)
        assert (done.code, done.out) == (exits.INVALID, "")
        assert done.err == (
            "passdown: signatures need a package that is not installed; pip install "
            "'passdown[sign]'\n"
        )
    assert not (shop.parent / "new.key").exists()
    assert without("seal", "verify", FIVE).code == 0
    assert without("verify").code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("seal", "verify", "none.seal"), exits.NOT_FOUND, "no seal 'none.seal'"),
        (("seal", "verify", "."), exits.INVALID, ". is a folder"),
        (("seal", "verify", "../audit.key"), exits.INVALID, "../audit.key: a signed note has"),
        (("seal", "verify", FIVE, "--key", "nonsense"), exits.NOT_FOUND, "no verifier key"),
        (("seal", "verify", FIVE, "--key", "a+b+c"), exits.INVALID, "not a verifier key"),
        (("seal", "--key", "../audit.key.pub"), exits.INVALID, "not a private key"),
        (("seal", "--key", "../audit.key", "-o", "no/where"), exits.UNAVAILABLE, "no/where"),
        (("seal", "keygen", "x.key", "--name", "a b"), exits.INVALID, "cannot name a key"),
        (("seal", "prove", "0", "--seal", EIGHT), exits.INVALID, "versions 1 to 8, not 0"),
        (("seal", "prove", "9", "--seal", EIGHT), exits.INVALID, "versions 1 to 8, not 9"),
        (("seal", "prove", "--seal", EIGHT), exits.INVALID, "name one of the two"),
        (("seal", "prove", "1", "--seal", EIGHT, "--since", FIVE), exits.INVALID, "one of the two"),
        (("seal", "prove", "--seal", FIVE, "--since", EIGHT), exits.INVALID, "cannot go on from"),
        (("seal", "check", EIGHT, *KEY), exits.INVALID, "../eight.seal: "),
        (("verify", "x.md", "--against", FIVE), exits.INVALID, "one at a time"),
    ],
)
def test_bad_requests(shop: Path, words: tuple[str, ...], code: int, said: str) -> None:
    """What cannot be done is refused in a sentence, and nothing is written."""
    before = files(shop.parent)
    done = quick(shop, *words)
    assert (done.code, done.out) == (code, ""), done
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert files(shop.parent) == before


# -- proofs ----------------------------------------------------------------------------------


def proofs(folder: Path, *words: str) -> bytes:
    """What `seal prove` exports."""
    return good(folder, "seal", "prove", *words, "--seal", EIGHT).out.encode()


@pytest.mark.parametrize("payload", [False, True])
@pytest.mark.parametrize("version", range(1, SIZE + 1))
def test_a_record_is_proved_without_the_journal(
    origin: Path, tmp_path: Path, version: int, payload: bool
) -> None:
    """Elsewhere, with the key alone, a proof shows the record that was sealed, and no more."""
    record = history(origin, "shop")[version - 1]
    (tmp_path / "proof").write_bytes(proofs(origin, str(version), *(["--payload"] * payload)))
    key = (origin.parent / "audit.key.pub").read_text().strip()

    said = good(tmp_path, "seal", "check", "proof", "--key", key, "--json").json

    assert (said["version"], said["size"], said["old"]) == (version, SIZE, None)
    assert (said["hash"], said["id"], said["type"]) == (record.hash.hex(), record.id, record.type)
    assert said["said"] == (record.data.decode() if payload else None)
    assert said["actor"] == (record.actor if payload else None)
    shown = good(tmp_path, "seal", "check", "proof", "--key", key).out
    assert shown.startswith(f"proved: version {version} of shop, {record.type} at ")
    assert ("what it says is not in the proof" in shown) is not payload


def test_a_proof_tells_nothing_else(origin: Path) -> None:
    """Without --payload neither words nor salt nor actor of a record are in its proof."""
    record = history(origin, "shop")[2]
    told = b64decode(lines(proofs(origin, "3"))[1].removeprefix("extra "))
    assert record.salt is not None
    for secret in (record.data, record.salt.hex().encode(), b'"ada"'):
        assert secret not in told


def proved(content: bytes, known: list[Verifier]) -> bool:
    """Whether a proof is believed."""
    try:
        found = proof.read(content)
    except Invalid:
        return False
    return found.signed.signed_by(known) is not None


def trusted(folder: Path) -> list[Verifier]:
    """The key that the seals are signed with."""
    return [note.verifier((folder.parent / "audit.key.pub").read_text().strip())]


@pytest.mark.parametrize("words", [("3", "--payload"), ("8",)])
def test_every_flipped_bit_of_a_proof(origin: Path, words: tuple[str, ...]) -> None:
    """A proof of which any one bit is another proves nothing."""
    content, known = proofs(origin, *words), trusted(origin)
    assert proved(content, known)
    assert not any(proved(flipped, known) for flipped in flips(content))


def test_every_changed_line_of_a_proof(origin: Path) -> None:
    """A line left out, doubled, swapped with the next, or ended otherwise: nothing is proved."""
    content, known = proofs(origin, "3", "--payload"), trusted(origin)
    these = lines(content)
    assert len(these) == 12, "head, record, place, three hashes, and the seal"
    assert these[-1].startswith("— ")
    for n, line in enumerate(these):
        last = n == len(these) - 1
        assert not proved(joined(*these[:n], *these[n + 1 :]), known)
        assert proved(joined(*these[:n], line, *these[n:]), known) == last, "signed twice is signed"
        assert not proved(joined(*these[:n], f"{line}\r", *these[n + 1 :]), known)
        if not last:
            assert not proved(joined(*these[:n], these[n + 1], line, *these[n + 2 :]), known)
    assert not any(proved(content[:at], known) for at in range(len(content)))
    assert not proved(content.replace(b"\n", b"\r\n"), known)


@pytest.mark.parametrize("index", ["02", "+2", "-2", "2.0", "1", "3", "8", "9" * 30, "٢", ""])
def test_a_proof_at_another_place(origin: Path, index: str) -> None:
    """The place of a record is part of what is proved, and written in one way only."""
    these = lines(proofs(origin, "3"))
    assert these[2] == "index 2"
    assert not proved(joined(*these[:2], f"index {index}", *these[3:]), trusted(origin))


def signer(folder: Path) -> Signer:
    """Whoever signs the seals, who may sign anything."""
    return note.signer((folder.parent / "audit.key").read_text().strip())


@pytest.mark.parametrize("version", [1, SIZE])
def test_a_proof_below_another_seal(origin: Path, version: int) -> None:
    """With a seal of another size, root, project or beginning, however well signed, it is none."""
    these, known = lines(proofs(origin, str(version))), trusted(origin)
    stated, _ = seal.read((origin.parent / "eight.seal").read_bytes())
    head = joined(*these[: these.index("")]) + b"\n"
    assert proved(head + signer(origin).sign(stated.text), known)
    others = [replace(stated, size=size) for size in (SIZE // 2, SIZE + 1, 2**62)]
    others += [replace(stated, root=bytes(32)), replace(stated, project="shoq")]
    # Of one size less the first would be in the same place; the beginning is known by the first.
    one = replace(stated, first="0" * 16) if version == 1 else replace(stated, size=SIZE - 1)
    for other in (*others, one):
        assert not proved(head + signer(origin).sign(other.text), known)
    assert not proved(head + OTHER.sign(stated.text), known)


def test_a_record_written_otherwise(origin: Path) -> None:
    """The record in a proof is taken in one form only, with every field, and with no more."""
    these, known = lines(proofs(origin, "3", "--payload")), trusted(origin)
    told = json.loads(b64decode(these[1].removeprefix("extra ")))

    def holds(text: str) -> bool:
        extra = b64encode(text.encode()).decode()
        return proved(joined(these[0], f"extra {extra}", *these[2:]), known)

    def written(value: object) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    assert holds(written(told))
    assert not holds(json.dumps(told))
    assert not holds(written(told) + " ")
    assert not holds(written({**told, "more": 1}))
    assert not holds(written(dict(reversed(told.items()))))
    assert not holds("[" * 100_000)
    assert not holds("{}")
    for field in told:
        assert not holds(written({key: each for key, each in told.items() if key != field}))
        wrongs: tuple[object, ...] = (None, "", "x", 2**63, 2**70, -1, [], "\ud800")
        for wrong in wrongs:
            if told[field] != wrong and (field, wrong) != ("opened", None):
                assert not holds(json.dumps({**told, field: wrong}, separators=(",", ":")))
    for field in told["opened"]:
        others: tuple[str | None, ...] = (None, "", "x", "00", told["opened"]["salt"].upper())
        for other in others:
            if told["opened"][field] != other:
                opened = {**told["opened"], field: other}
                assert not holds(written({**told, "opened": opened}))
    assert holds(
        written({key: each for key, each in told.items() if key != "opened"} | {"opened": None})
    )


def test_a_forged_record_is_not_proved(shop: Path) -> None:
    """From a journal that was rewritten no proof comes that an old seal bears out."""
    put_in_place(shop, FORGERIES["changed"](history(shop, "shop")))
    done = quick(shop, "seal", "prove", "3", "--seal", EIGHT)
    assert (done.code, done.out) == (exits.INVALID, "")
    assert "does not have the 8 records of shop that were sealed" in done.err


def test_one_seal_goes_on_from_another(origin: Path, tmp_path: Path) -> None:
    """That two seals are of one history is proved without the journal, by whoever has both."""
    content = proofs(origin, "--since", FIVE)
    assert content.startswith(b"old 5\n")
    assert content.endswith((origin.parent / "eight.seal").read_bytes())
    for name in ("five.seal", "audit.key.pub"):
        (tmp_path / name).write_bytes((origin.parent / name).read_bytes())
    (tmp_path / "proof").write_bytes(content)
    words = ("seal", "check", "proof", "--key", "audit.key.pub")
    said = good(tmp_path, *words, "--since", "five.seal", "--json").json
    assert (said["version"], said["old"], said["size"]) == (None, 5, 8)
    alone = quick(tmp_path, *words)
    assert (alone.code, "name the older one with --since" in alone.err) == (exits.INVALID, True)


def test_forged_consistency(origin: Path) -> None:
    """No flipped bit, and no other older seal, makes a proof that two seals are of one history."""
    content, known = proofs(origin, "--since", FIVE), trusted(origin)
    old, _ = seal.read((origin.parent / "five.seal").read_bytes())

    def follows(content: bytes, old: Seal) -> bool:
        if not proved(content, known):
            return False
        found = proof.read(content)
        return isinstance(found, proof.Consistency) and proof.follows(found, old)

    assert follows(content, old)
    assert not any(follows(flipped, old) for flipped in flips(content))
    for other in (
        replace(old, size=4),
        replace(old, size=6),
        replace(old, root=bytes(32)),
        replace(old, project="shoq"),
        replace(old, first="0" * 16),
    ):
        assert not follows(content, other)


def test_a_million_records() -> None:
    """A statement over a million hashes is made in a pass of a few seconds."""
    stated = seal.over("shop", (n.to_bytes(32) for n in range(1_000_000)))
    again = seal.compare([stated], (n.to_bytes(32) for n in range(1_000_001)))
    assert [each.ok for each in again] == [True]


# -- the document ----------------------------------------------------------------------------

PAGE = (Path(__file__).parents[1] / "docs/SEALS.md").read_text()


def test_the_vector_in_the_document() -> None:
    """SEALS.md has the key and the seal that the chain in FORMAT.md comes to."""
    chain = [test_record.FIRST, test_record.SECOND]
    stated = seal.over("app", (record.hash for record in chain))
    key = note.named(stated.origin, bytes(range(32)))
    assert f"\n    {key.verifier}\n" in PAGE
    assert f"```text\n{key.sign(stated.text).decode()}```\n" in PAGE


@pytest.mark.parametrize("payload", [False, True])
def test_the_program_in_the_document(origin: Path, tmp_path: Path, payload: bool) -> None:
    """A proof is checked by the few lines of SEALS.md, which use nothing of Passdown's."""
    [program] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert "passdown import" not in program
    assert "import journal" not in program
    key = (origin.parent / "audit.key.pub").read_text().strip()
    content = proofs(origin, "3", *(["--payload"] * payload))
    (tmp_path / "check.py").write_text(program)
    (tmp_path / "proof").write_bytes(content)
    command: list[str | bytes] = [sys.executable, "-I", "check.py", "proof", key]
    data = history(origin, "shop")[2].data.decode()
    done = finished(command, tmp_path)
    assert (done.code, done.out) == (0, f"proved 3 {data if payload else None}\n"), done
    these = lines(content)
    told = b64decode(these[1].removeprefix("extra ")).replace(b'"version":3', b'"version":4')
    extra = f"extra {b64encode(told).decode()}"
    (tmp_path / "proof").write_bytes(joined(these[0], extra, *these[2:]))
    assert finished(command, tmp_path).out.startswith("forged 4 ")


def test_the_outcomes_in_the_document() -> None:
    """SEALS.md has every outcome of `verify FILE`, in its order."""
    table = PAGE.partition("| outcome | means |")[2]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [*get_args(Outcome)]
