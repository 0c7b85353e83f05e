"""Short transactions: durable, never in each other's way, and failing in sentences."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from core.storage import store as stores
from core.storage.opening import open_store
from core.storage.store import Store, Transaction
from tests.integration.storage.looking import unusable

FULL, NORMAL = 2, 1
PUT = text("INSERT INTO fact VALUES (:name, :value)")


def pragma(tx: Transaction, name: str) -> object:
    return tx.connection.exec_driver_sql(f"PRAGMA {name}").scalar()


def put(tx: Transaction, name: str, value: str = "x") -> None:
    tx.run(PUT, [{"name": name, "value": value}])


def count(store: Store) -> int:
    with store.read() as tx:
        return int(tx.scalar(text("SELECT count(*) FROM fact WHERE name <> 'incarnation'")))


def test_writers_are_durable_and_readers_never_block_them(store: Store) -> None:
    with store.write() as tx:
        assert pragma(tx, "synchronous") == FULL
        assert pragma(tx, "journal_mode") == "wal"
        assert pragma(tx, "busy_timeout") == stores.BUSY_TIMEOUT_MS
        assert pragma(tx, "foreign_keys") == 1


def test_a_pooled_connection_is_durable_again_after_a_write_that_was_not(store: Store) -> None:
    seen = []
    for durable in (True, False, True, False, True):
        with store.write(durable=durable) as tx:
            seen.append((id(tx.connection.connection.dbapi_connection), pragma(tx, "synchronous")))
    assert [level for _, level in seen] == [FULL, NORMAL, FULL, NORMAL, FULL]
    assert len({connection for connection, _ in seen}) == 1


def test_a_writer_holds_the_lock_from_its_first_moment(store: Store, path: Path) -> None:
    other = sqlite3.connect(path, timeout=0)
    with store.write(), closing(other), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")


def test_a_reader_sees_one_snapshot(store: Store) -> None:
    with store.read() as reading:
        assert reading.scalar(text("SELECT count(*) FROM fact")) == 1
        with store.write() as tx:
            put(tx, "later")
        assert reading.scalar(text("SELECT count(*) FROM fact")) == 1
    assert count(store) == 1


def test_what_a_reader_writes_is_not_kept(store: Store) -> None:
    with store.read() as tx:
        put(tx, "lost")
    assert count(store) == 0


def test_an_error_rolls_all_of_a_write_back(store: Store) -> None:
    def fail() -> None:
        with store.write() as tx:
            put(tx, "lost")
            raise KeyError("oops")

    with pytest.raises(KeyError):
        fail()
    assert count(store) == 0


def test_a_rehearsal_is_undone_and_the_write_around_it_kept(store: Store) -> None:
    with store.write() as tx:
        put(tx, "kept")
        with tx.rehearsal():
            put(tx, "undone")
            assert tx.scalar(text("SELECT count(*) FROM fact WHERE name = 'undone'")) == 1
        put(tx, "kept too")
    assert count(store) == 2


def test_a_write_inside_a_write_is_named_as_our_mistake(store: Store) -> None:
    with store.write(), pytest.raises(RuntimeError, match="inside a write"), store.write():
        pass
    with store.write() as tx:
        put(tx, "the lock is free again")
    assert count(store) == 1


def test_many_threads_write_and_read_without_a_lock_error(store: Store) -> None:
    def work(thread: int) -> None:
        for number in range(25):
            with store.write(durable=number % 2 == 0) as tx:
                put(tx, f"{thread}/{number}")
            with store.read() as tx:
                tx.all(text("SELECT * FROM fact"))

    with ThreadPoolExecutor(20) as pool:
        for done in [pool.submit(work, thread) for thread in range(20)]:
            done.result(timeout=60)
    assert count(store) == 500


def test_many_processes_write_while_a_reader_holds_its_snapshot(store: Store, path: Path) -> None:
    code = (
        "import sys; from sqlalchemy import text; from core.storage.opening import open_store\n"
        "s = open_store(sys.argv[1])\n"
        "for n in range(40):\n"
        "    with s.write() as tx:\n"
        "        tx.run(text('INSERT INTO fact VALUES (:n, :v)'), [{'n': f'{sys.argv[2]}/{n}', 'v': ''}])\n"
        "s.close()"
    )
    with store.read() as reading:
        assert reading.scalar(text("SELECT count(*) FROM fact")) == 1
        started = [
            subprocess.Popen([sys.executable, "-c", code, str(path), str(name)], stderr=subprocess.PIPE)
            for name in range(3)
        ]
        assert [process.communicate(timeout=60)[1] for process in started] == [b""] * 3
        assert reading.scalar(text("SELECT count(*) FROM fact")) == 1
    assert count(store) == 120


def test_a_lock_that_is_never_given_up_ends_in_a_sentence(
    path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "BUSY_TIMEOUT_MS", 1)
    impatient = open_store(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with unusable("held by another program; wait"), impatient.write():
            pass
    impatient.close()


def test_a_full_disk_ends_in_a_sentence_and_the_store_goes_on(store: Store) -> None:
    with unusable("the disk is full; free some space"), store.write() as tx:
        pages = pragma(tx, "page_count")
        tx.connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        put(tx, "large", "x" * 1_000_000)
    store.engine.dispose()
    with store.write() as tx:
        put(tx, "small")
    assert count(store) == 1


def test_a_file_that_turns_read_only_ends_in_a_sentence(store: Store) -> None:
    with unusable("cannot be written; make the file"), store.write() as tx:
        tx.connection.exec_driver_sql("PRAGMA query_only=1")
        put(tx, "never")


def test_a_file_that_becomes_something_else_ends_in_a_sentence(path: Path) -> None:
    store = open_store(path)
    store.close()
    path.write_bytes(b"not a database any more" * 1_000)
    with unusable("is not an SQLite database"), store.read() as tx:
        tx.all(text("SELECT * FROM fact"))
    store.close()


def test_a_broken_constraint_stays_what_it_is(store: Store) -> None:
    def twice() -> None:
        with store.write() as tx:
            put(tx, "once")
            put(tx, "once")

    with pytest.raises(IntegrityError):
        twice()


def test_a_store_that_was_opened_for_reading_refuses_to_write(path: Path, store: Store) -> None:
    reading = open_store(path, read_only=True)
    with unusable("was opened read-only"), reading.write():
        pass
    reading.close()


@pytest.fixture
def second(path: Path, store: Store) -> Iterator[Store]:
    other = open_store(path)
    yield other
    other.close()


def test_the_data_version_moves_with_every_commit_and_with_nothing_else(store: Store, second: Store) -> None:
    seen = [store.data_version(), store.data_version()]
    for writer in (store, second):
        with writer.write() as tx:
            put(tx, f"by {id(writer)}")
        seen.append(store.data_version())
    assert seen[0] == seen[1]
    assert len(set(seen[1:])) == 3


def test_the_data_version_may_be_asked_from_any_thread(store: Store) -> None:
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.append(store.data_version())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert answers == [answers[0]] * 8


def test_nothing_is_written_into_a_file_that_was_taken_away(store: Store, path: Path) -> None:
    aside = path.with_suffix(".aside")
    path.rename(aside)
    for look in (store.data_version, lambda: store.write().__enter__()):
        with unusable("was removed, or another file was put in its place"):
            look()
    aside.rename(path)
    with store.write() as tx:
        put(tx, "back again")
    assert count(store) == 1
