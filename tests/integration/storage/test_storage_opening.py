"""What cannot be used is refused in one sentence, and nothing of it is touched."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
from sqlalchemy import text

from core.clock import ManualClock, from_epoch
from core.errors import StorageUnusable, Usage
from core.storage.files import APPLICATION_ID, SCHEMA
from core.storage.opening import open_store, schema_version
from tests.integration.storage.looking import contents, unusable

AsSomebody = Callable[[], AbstractContextManager[None]]


def refusal(location: object, **options: bool) -> StorageUnusable:
    with pytest.raises(StorageUnusable) as caught:
        open_store(str(location), **options)
    assert caught.value.exit_status == 6
    sentence = caught.value.sentence()
    assert "\n" not in sentence
    assert caught.value.remedy
    return caught.value


def make_database(path: Path) -> None:
    open_store(path).close()


def test_a_fresh_file_carries_our_application_id_and_its_schema_in_the_file_itself(path: Path) -> None:
    make_database(path)
    head = path.read_bytes()[:100]
    assert int.from_bytes(head[68:72], "big") == APPLICATION_ID
    assert int.from_bytes(head[60:64], "big") == SCHEMA
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_fresh_file_has_an_incarnation_that_stays(path: Path) -> None:
    query = text("SELECT value FROM fact WHERE name = 'incarnation'")
    found = []
    for start in (10, 20):
        store = open_store(path, clock=ManualClock(from_epoch(start)))
        with store.read() as tx:
            found.append(tx.scalar(query))
        store.close()
    assert found[0] is not None
    assert found[0] == found[1]


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.touch()
    make_database(path)
    assert path.stat().st_size > 0


def test_a_url_and_a_path_name_the_same_file(path: Path) -> None:
    make_database(path)
    store = open_store(f"sqlite:///{path}", create=False)
    with store.read() as tx:
        assert schema_version(tx) == "0001"
    store.close()


@pytest.mark.parametrize("name", ["a b.sqlite3", "what?mode=memory.sqlite3", "50%25 #1.sqlite3", "ünï.sqlite3"])
def test_any_file_name_works(tmp_path: Path, name: str) -> None:
    store = open_store(tmp_path / name)
    assert store.data_version() > 0
    store.close()
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_postgresql_is_refused_for_now() -> None:
    assert "PostgreSQL is not supported yet" in refusal("postgresql://host/deck").message


@pytest.mark.parametrize("location", ["mysql://host/deck", "sqlite://", "sqlite:///", ":memory:", "", "a\0b"])
def test_what_names_no_file_is_a_wrong_request(location: str) -> None:
    with pytest.raises(Usage) as caught:
        open_store(location)
    assert "name a SQLite file" in caught.value.remedy


def test_a_text_file_is_not_a_database(path: Path) -> None:
    path.write_text("Dear diary, " * 100)
    before = contents(path.parent)
    assert "is not an SQLite database" in refusal(path).message
    assert contents(path.parent) == before


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_somebody_elses_database_is_left_alone(path: Path, journal: str) -> None:
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute(f"PRAGMA journal_mode={journal}").fetchall()
        theirs.execute("CREATE TABLE notes (body TEXT)")
        theirs.commit()
    before = contents(path.parent)
    assert "not one of Triggerdeck" in refusal(path).message
    assert "not one of Triggerdeck" in refusal(path, read_only=True).message
    assert contents(path.parent) == before


def test_a_newer_schema_is_refused_even_with_a_log_that_a_crash_left(path: Path) -> None:
    make_database(path)
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version={SCHEMA + 1}")
    leave_a_log(path)
    before = contents(path.parent)
    assert f"{path.name}-wal" in before
    assert "newer Triggerdeck" in refusal(path).message
    assert contents(path.parent) == before


def leave_a_log(path: Path) -> None:
    """Write and die, so that the log stays beside the file."""
    code = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA wal_autocheckpoint=0');"
        "c.execute(\"INSERT INTO fact VALUES ('left', 'behind')\"); c.commit(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def test_a_log_that_a_crash_left_is_read(path: Path) -> None:
    make_database(path)
    leave_a_log(path)
    store = open_store(path)
    with store.read() as tx:
        assert tx.scalar(text("SELECT value FROM fact WHERE name = 'left'")) == "behind"
    store.close()


@pytest.mark.parametrize("spilled", [True, False])
def test_a_first_start_that_was_cut_short_is_begun_anew(path: Path, spilled: bool) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from core.clock import SystemClock; from core.storage import schema\n"
        "with schema._plain_engine(Path(sys.argv[1])).connect() as c:\n"
        f"    c.connection.dbapi_connection.execute('PRAGMA cache_size={1 if spilled else 10_000}').close()\n"
        "    with c.begin():\n"
        "        schema._make_or_migrate(c, SystemClock()); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert path.with_name(f"{path.name}-journal").exists()
    assert (path.stat().st_size > 0) is spilled
    make_database(path)
    store = open_store(path, create=False)
    assert store.faults() == ()
    store.close()


def test_a_newer_revision_inside_is_refused_as_well(path: Path) -> None:
    make_database(path)
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("UPDATE alembic_version SET version_num = '0099'")
        newer.commit()
    assert "newer Triggerdeck" in refusal(path).message


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "nowhere" / "deck.sqlite3").message
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_a_database(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path).message


def test_a_pipe_is_not_a_database(path: Path) -> None:
    os.mkfifo(path)
    assert "not a regular file" in refusal(path).message


@pytest.mark.parametrize("options", [{"create": False}, {"read_only": True}])
def test_nothing_is_made_where_nothing_may_be(path: Path, options: dict[str, bool]) -> None:
    assert "there is no database" in refusal(path, **options).message
    assert not path.exists()


def test_a_read_only_file_wants_read_only_opening(path: Path, as_somebody: AsSomebody) -> None:
    make_database(path)
    path.chmod(0o444)
    path.parent.chmod(0o777)
    before = contents(path.parent)
    with as_somebody():
        found = refusal(path)
    assert "is read-only" in found.message
    assert "--read-only" in found.remedy
    assert contents(path.parent) == before


def test_a_read_only_folder_wants_read_only_opening(path: Path, as_somebody: AsSomebody) -> None:
    make_database(path)
    path.chmod(0o666)
    path.parent.chmod(0o555)
    before = contents(path.parent)
    with as_somebody():
        found = refusal(path)
    assert "the folder" in found.message
    assert "read-only" in found.message
    assert contents(path.parent) == before


def test_a_read_only_folder_can_be_read(path: Path, as_somebody: AsSomebody) -> None:
    make_database(path)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    before = contents(path.parent)
    with as_somebody():
        store = open_store(path, read_only=True)
        with store.read() as tx:
            assert schema_version(tx) == "0001"
        assert store.data_version() == store.data_version()
        store.close()
    assert contents(path.parent) == before


def test_an_unreadable_file_is_refused(path: Path, as_somebody: AsSomebody) -> None:
    make_database(path)
    path.chmod(0o000)
    with as_somebody():
        assert "may not be read" in refusal(path).message


def test_a_folder_that_may_not_be_entered_is_refused(tmp_path: Path, as_somebody: AsSomebody) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o700)
    make_database(locked / "deck.sqlite3")
    locked.chmod(0o600 if os.geteuid() else 0o700)
    with as_somebody():
        assert "may not be entered" in refusal(locked / "deck.sqlite3").message
    locked.chmod(0o700)


def test_a_folder_that_may_not_be_written_gets_no_new_file(path: Path, as_somebody: AsSomebody) -> None:
    path.parent.chmod(0o555)
    with as_somebody():
        assert "cannot be written" in refusal(path).message


def test_opening_a_file_again_keeps_the_locks_of_whoever_has_it_open_here(path: Path) -> None:
    store = open_store(path)
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA locking_mode=EXCLUSIVE').fetchall(); c.execute('PRAGMA journal_mode=DELETE').fetchall()"
    )
    with store.read() as tx:
        tx.scalar(text("SELECT count(*) FROM fact"))
        open_store(path).close()
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert "database is locked" in done.stderr
    store.close()


@pytest.mark.parametrize(
    ("start", "junk"),
    [(16, b"\x03\x03"), (16, b"\0\0"), (18, b"\x09\x09"), (100, b"\xff" * 400), (20, b"\xff")],
    ids=["page size", "no page size", "format", "first page", "reserved space"],
)
def test_a_damaged_header_is_refused_and_left_as_it_is(path: Path, start: int, junk: bytes) -> None:
    make_database(path)
    data = bytearray(path.read_bytes())
    data[start : start + len(junk)] = junk
    path.write_bytes(data)
    refusal(path)
    assert path.read_bytes() == bytes(data)


@pytest.mark.parametrize("keep", [50, 512, 4096, 20_000])
def test_a_file_that_was_cut_is_refused_and_left_as_it_is(path: Path, keep: int) -> None:
    make_database(path)
    data = path.read_bytes()[:keep]
    path.write_bytes(data)
    assert "damaged" in refusal(path).message
    assert path.read_bytes() == data


def test_damaged_pages_that_surface_later_are_refused_in_one_sentence(path: Path) -> None:
    store = open_store(path)
    with store.write() as tx:
        for number in range(2_000):
            tx.run(text("INSERT INTO fact VALUES (:name, :value)"), [{"name": f"n{number}", "value": "x" * 200}])
    store.close()
    data = bytearray(path.read_bytes())
    half = len(data) // 2
    data[half:] = b"\xa5" * (len(data) - half)
    path.write_bytes(data)
    store = open_store(path)
    with unusable("is damaged; restore it"), store.read() as tx:
        tx.all(text("SELECT * FROM fact"))
    assert store.faults()
    store.close()


def test_damaged_text_is_refused_in_one_sentence(path: Path) -> None:
    make_database(path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("INSERT INTO fact VALUES ('broken', CAST(x'c3' AS TEXT))")
        raw.commit()
    store = open_store(path)
    with unusable("is damaged; restore it"), store.read() as tx:
        tx.all(text("SELECT * FROM fact"))
    store.close()


def test_a_sound_file_has_no_faults(path: Path) -> None:
    store = open_store(path)
    assert store.faults() == ()
    store.close()


def test_an_open_up_to_date_file_needs_no_alembic(path: Path) -> None:
    make_database(path)
    code = (
        "import sys; from core.storage.opening import open_store; open_store(sys.argv[1]).close();"
        "open_store(sys.argv[1] + 'b').close(); print('alembic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_many_processes_make_one_database(path: Path) -> None:
    code = (
        "import sys; from core.storage.opening import open_store; from core.access.service import open_scope;"
        "s = open_store(sys.argv[1]); print(open_scope(s).workspace_id); s.close()"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    answers = [process.communicate(timeout=60) for process in started]
    assert [error for _, error in answers] == [b""] * 4
    assert len({output for output, _ in answers}) == 1
