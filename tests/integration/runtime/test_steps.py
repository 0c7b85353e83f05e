"""Command, python and http steps against real processes and a real server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.clock import ManualClock
from core.runtime import logs as log_bounds
from tests.integration.runtime.conftest import MakeRig
from tests.integration.runtime.rig import START, Rig, python, sh

SECRET = 'correct horse/battery"staple'  # noqa: S105 - the test is that it shows nowhere


async def finished(rig: Rig, *steps: dict[str, Any], given: dict[str, Any] | None = None) -> str:
    work_id = rig.fire(*steps, given=given)
    await rig.until(work_id)
    return work_id


def status(rig: Rig, work_id: str) -> tuple[Any, Any, Any]:
    return tuple(rig.column(work_id, name) for name in ("status", "result", "error_code"))  # type: ignore[return-value]


# -- command ---------------------------------------------------------------------------------------------------------


async def test_the_input_stands_on_stdin_and_the_output_is_what_the_file_holds(rig: Rig) -> None:
    script = (
        "import json, os, sys; n = json.load(sys.stdin)['n'] + 1;"
        "json.dump({'n': n}, open(os.environ['TRIGGERDECK_OUTPUT'], 'w'))"
    )
    work_id = await finished(rig, python(script), given={"n": 41})
    assert rig.outputs(work_id) == [{"n": 42}]
    assert status(rig, work_id) == ("completed", "success", None)


async def test_a_later_step_sees_the_outputs_of_earlier_ones_with_their_types(rig: Rig) -> None:
    first = sh("echo '{\"rows\": [1, 2]}' > $TRIGGERDECK_OUTPUT", step_id="fetch")
    second = sh("echo {{ steps.fetch.output.rows | length }} {{ input.name }}", step_id="show")
    work_id = await finished(rig, first, second, given={"name": "x"})
    assert rig.log(work_id, "out") == ["2 x"]


async def test_the_environment_tells_the_step_where_it_stands_and_keeps_the_workers_to_itself(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKER_ONLY", "private")
    work_id = await finished(rig, sh("env"))
    lines = dict(line.split("=", 1) for line in rig.log(work_id, "out"))
    assert "WORKER_ONLY" not in lines
    assert lines["TRIGGERDECK_WORK_ID"] == lines["TRIGGERDECK_OCCURRENCE_ID"] == work_id
    assert lines["TRIGGERDECK_ATTEMPT"] == "1"
    assert lines["TRIGGERDECK_IDEMPOTENCY_KEY"] == f"{work_id}.one"
    assert lines["TRIGGERDECK_NOMINAL_AT"].endswith("Z")
    assert "TRIGGERDECK_TRIGGER" in lines


async def test_no_shell_reads_the_arguments(rig: Rig) -> None:
    step = {"id": "one", "command": {"argv": ["echo", "$HOME; rm -rf /", "{{ input.text }}"]}}
    work_id = await finished(rig, step, given={"text": "`id` $(id)"})
    assert rig.log(work_id, "out") == ["$HOME; rm -rf / `id` $(id)"]


async def test_a_status_other_than_zero_fails_the_work_and_says_which(rig: Rig) -> None:
    work_id = await finished(rig, sh("echo lost >&2; exit 3"), sh("echo never", step_id="two"))
    assert status(rig, work_id) == ("failed", "failed", "exit_status")
    assert rig.column(work_id, "error_message") == "step one: the program ended with status 3"
    assert rig.log(work_id, "err") == ["lost"]
    assert rig.log(work_id, "out") == []
    assert [line.kind for line in rig.notifications()] == ["work_failed"]


async def test_a_program_that_does_not_exist_fails_with_a_clear_sentence(rig: Rig) -> None:
    work_id = await finished(rig, {"id": "one", "command": {"argv": ["no-such-program"]}, "retry": {"attempts": 5}})
    assert status(rig, work_id)[2] == "command_not_found"
    assert rig.steps(work_id)[0].attempt == 1


async def test_a_missing_folder_fails_with_a_clear_sentence(rig: Rig) -> None:
    work_id = await finished(rig, {"id": "one", "command": {"argv": ["true"], "cwd": "/no/such/folder"}})
    assert status(rig, work_id)[2] == "folder_missing"


async def test_output_that_is_not_json_or_too_large_fails_the_step(rig: Rig) -> None:
    broken = await finished(rig, sh("echo '{oops' > $TRIGGERDECK_OUTPUT"))
    large = await finished(rig, sh("head -c 70000 /dev/zero > $TRIGGERDECK_OUTPUT"))
    assert status(rig, broken)[2] == "output_invalid"
    assert status(rig, large)[2] == "output_too_large"


async def test_no_work_by_output_or_exit_status_ends_the_run_well_and_skips_the_rest(rig: Rig) -> None:
    code = {"id": "one", "command": {"argv": ["/bin/sh", "-c", "exit 75"], "noWorkExitCode": 75}}
    by_code = await finished(rig, code, sh("echo never", step_id="two"))
    by_output = await finished(
        rig, sh("echo '{\"noWork\": true}' > $TRIGGERDECK_OUTPUT"), sh("echo never", step_id="two")
    )
    for work_id in (by_code, by_output):
        assert status(rig, work_id) == ("completed", "no_work", None)
        assert [step.status for step in rig.steps(work_id).values()] == ["completed", "skipped"]
        assert rig.log(work_id) == []


async def test_a_false_when_skips_the_step(rig: Rig) -> None:
    work_id = await finished(
        rig, sh("echo a", step_id="a", when="input.n > 3"), sh("echo {{ steps.a.status }}", step_id="b"), given={"n": 1}
    )
    assert rig.log(work_id, "out") == ["skipped"]


async def test_an_expression_that_fails_at_run_time_fails_the_step(rig: Rig) -> None:
    work_id = await finished(rig, sh("echo {{ input.missing }}"))
    assert status(rig, work_id)[2] == "expression_failed"


async def test_a_retry_runs_the_step_again_after_its_backoff(rig: Rig, tmp_path: Path) -> None:
    script = f"echo x >> {tmp_path}/tries; test $TRIGGERDECK_ATTEMPT = 3"
    work_id = await finished(rig, sh(script, retry={"attempts": 3, "backoff": "PT0.05S"}))
    assert status(rig, work_id)[0] == "completed"
    assert (tmp_path / "tries").read_text().split() == ["x"] * 3
    assert rig.run(work_id).segment == 2, "each backoff ended a segment instead of holding a slot"


async def test_retries_end_after_the_last_attempt(rig: Rig) -> None:
    work_id = await finished(rig, sh("exit 1", retry={"attempts": 2, "backoff": "PT0.01S"}))
    assert status(rig, work_id)[0] == "failed"
    assert rig.steps(work_id)[0].attempt == 2


async def test_a_flows_timeout_bounds_the_whole_run(rig: Rig) -> None:
    work_id = rig.fire(sh("exec sleep 300"), timeout="PT0.3S")
    await rig.until(work_id)
    assert status(rig, work_id)[2] == "deadline"


async def test_a_flows_timeout_also_ends_a_wait(rig: Rig) -> None:
    work_id = rig.fire({"id": "pause", "wait": {"for": "PT1H"}}, timeout="PT0.2S")
    await rig.until(work_id)
    assert status(rig, work_id)[2] == "deadline"


async def test_a_wait_ends_the_segment_and_holds_no_slot(make_rig: MakeRig) -> None:
    clock = ManualClock(START)
    rig = await make_rig(clock=clock)
    work_id = rig.fire({"id": "pause", "wait": {"for": "PT1H"}}, sh("echo after", step_id="b"))
    await rig.until_step(work_id, 0, "waiting")
    assert rig.run(work_id).status == "sleeping"
    assert await rig.execution.pass_once() == START + timedelta(hours=1)
    assert rig.execution.running == 0
    clock.advance(timedelta(hours=1))
    await rig.until(work_id)
    assert rig.log(work_id, "out") == ["after"]


async def test_a_wait_until_a_past_instant_goes_on_at_once(rig: Rig) -> None:
    work_id = await finished(
        rig, {"id": "pause", "wait": {"until": "{{ input.at }}"}}, given={"at": "2020-01-01T00:00:00Z"}
    )
    assert status(rig, work_id)[0] == "completed"
    assert rig.run(work_id).segment == 0


async def test_cancel_reaches_the_grandchild_and_one_that_ignores_the_first_signal(rig: Rig, tmp_path: Path) -> None:
    grandchild = f"trap '' TERM; echo $$ > {tmp_path}/pid; sleep 300 & wait; sleep 300"
    (tmp_path / "grandchild.sh").write_text(grandchild)
    work_id = rig.fire(sh(f"sh {tmp_path}/grandchild.sh & wait"))
    await rig.until_step(work_id, 0, "running")
    async with asyncio.timeout(10):
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await rig.next_event()
    pid = int((tmp_path / "pid").read_text())
    rig.cancel(work_id)
    await rig.until(work_id)
    assert status(rig, work_id) == ("cancelled", "cancelled", "cancelled")
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def test_what_a_program_leaves_in_its_group_ends_with_it(rig: Rig, tmp_path: Path) -> None:
    work_id = await finished(rig, sh(f"sleep 300 & echo $! > {tmp_path}/pid"))
    pid = int((tmp_path / "pid").read_text())
    assert status(rig, work_id)[0] == "completed"
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def test_a_cancelled_step_may_clean_up_after_the_first_signal(rig: Rig, tmp_path: Path) -> None:
    script = f"trap 'echo cleaned > {tmp_path}/mark; exit 1' TERM; touch {tmp_path}/ready; while :; do sleep 0.01; done"
    work_id = rig.fire(sh(script))
    await rig.until_step(work_id, 0, "running")
    async with asyncio.timeout(10):
        while not (tmp_path / "ready").exists():
            await rig.next_event()
    rig.cancel(work_id)
    await rig.until(work_id)
    assert (tmp_path / "mark").read_text() == "cleaned\n"


# -- logs and secrets ------------------------------------------------------------------------------------------------


async def test_secrets_reach_the_step_and_are_masked_in_log_output_and_error(make_rig: MakeRig) -> None:
    rig = await make_rig(secrets={"CRM_TOKEN": SECRET})
    script = (
        "import json,os,sys; t=os.environ['TOKEN']; print('token is', t); print(json.dumps(t), file=sys.stderr);"
        "json.dump({'t': t, 'n': len(t)}, open(os.environ['TRIGGERDECK_OUTPUT'], 'w'))"
    )
    step = {"id": "one", "command": {"argv": ["python3", "-c", script], "env": {"TOKEN": {"secretRef": "CRM_TOKEN"}}}}
    work_id = await finished(rig, step)
    assert rig.outputs(work_id) == [{"t": "•••", "n": len(SECRET)}]
    assert "token is •••" in rig.log(work_id, "out")
    assert not any("battery" in line for line in rig.log(work_id))
    rig.store.close()
    for path in filter(Path.is_file, rig.folder.rglob("deck.sqlite3*")):
        assert b"battery" not in path.read_bytes()


async def test_a_secret_that_does_not_exist_fails_the_step_before_it_starts(rig: Rig) -> None:
    step = {"id": "one", "command": {"argv": ["echo", "ran"], "env": {"TOKEN": {"secretRef": "NOWHERE"}}}}
    work_id = await finished(rig, step)
    assert status(rig, work_id)[2] == "secret_missing"
    assert rig.log(work_id, "out") == []


async def test_a_log_is_bounded_and_says_so_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_bounds, "LINES_LIMIT", 100)
    work_id = await finished(rig, python("for n in range(50000): print(n)"))
    assert status(rig, work_id)[0] == "completed"
    assert rig.log(work_id, "out") == [str(number) for number in range(100)]
    assert len(rig.log(work_id, "note")) == 1


async def test_a_line_without_end_is_cut_and_bytes_that_are_no_text_are_shown_as_such(rig: Rig) -> None:
    work_id = await finished(rig, python("import sys; sys.stdout.buffer.write(b'a' * 20000 + b'\\n\\xff\\xfe\\n')"))
    lines = rig.log(work_id, "out")
    assert [len(line) for line in lines] == [8192, 8192, 3616, 2]


async def test_the_log_is_there_while_the_step_still_runs(rig: Rig) -> None:
    work_id = rig.fire(sh("echo early; exec sleep 300"))
    async with asyncio.timeout(10):
        while rig.log(work_id, "out") != ["early"]:
            await rig.execution.pass_once()
            await rig.next_event()
    assert rig.work(work_id).status == "running"
    rig.cancel(work_id)
    await rig.until(work_id)


async def test_logs_never_enter_the_change_table(rig: Rig) -> None:
    work_id = await finished(rig, sh("seq 1 50"))
    assert len(rig.log(work_id)) == 50
    assert rig.change_kinds() <= {"work", "occurrence", "flow", "access", "worker"}


# -- python ----------------------------------------------------------------------------------------------------------

MODULE = """
import os, time
def plain(value): return {"got": value, "key": os.environ["TRIGGERDECK_IDEMPOTENCY_KEY"]}
def add(a, b=0): return a + b
def boom(value): raise ValueError("no such luck")
def forever(value): time.sleep(300)
"""


@pytest.fixture
def module_folder(tmp_path: Path) -> Path:
    (tmp_path / "their_module.py").write_text(MODULE)
    return tmp_path


async def test_a_python_step_calls_a_function_and_keeps_what_it_returns(rig: Rig, module_folder: Path) -> None:
    def call(step_id: str, **rest: Any) -> dict[str, Any]:
        return {"id": step_id, "python": {"cwd": str(module_folder), **rest}}

    steps = (
        call("plain", callable="their_module:plain"),
        call("keywords", callable="their_module:add", args={"a": "{{ input.n }}", "b": 2}),
        call("positions", callable="their_module:add", args=[1, 2]),
    )
    work_id = await finished(rig, *steps, given={"n": 40})
    assert rig.outputs(work_id) == [{"got": {"n": 40}, "key": f"{work_id}.plain"}, 42, 3]


async def test_a_python_step_that_raises_fails_with_its_traceback_in_the_log(rig: Rig, module_folder: Path) -> None:
    work_id = await finished(rig, {"id": "one", "python": {"callable": "their_module:boom", "cwd": str(module_folder)}})
    assert status(rig, work_id)[0] == "failed"
    assert any("ValueError: no such luck" in line for line in rig.log(work_id, "err"))


async def test_a_python_step_can_be_timed_out(rig: Rig, module_folder: Path) -> None:
    step = {"id": "one", "python": {"callable": "their_module:forever", "cwd": str(module_folder)}, "timeout": "PT0.5S"}
    work_id = await finished(rig, step)
    assert status(rig, work_id)[2] == "timeout"


# -- http ------------------------------------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    seen: list[tuple[str, str, dict[str, str], str]]
    failures: int
    release: threading.Event

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.seen.append((self.command, self.path, dict(self.headers), body))
        if self.path == "/slow":
            self.release.wait(30)
        code = (
            503 if self.path == "/flaky" and len(self.seen) <= self.failures else 404 if self.path == "/gone" else 200
        )
        answer = json.dumps({"path": self.path, "noWork": self.path == "/nothing"}).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = handle_any  # noqa: N815 - the names that the server looks for

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ARG002 - the base class's names
        return


class Server:
    def __init__(self) -> None:
        self.handler = type("Bound", (Handler,), {"seen": [], "failures": 0, "release": threading.Event()})
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self.handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    @property
    def seen(self) -> list[tuple[str, str, dict[str, str], str]]:
        return self.handler.seen  # type: ignore[attr-defined, no-any-return]

    def close(self) -> None:
        self.handler.release.set()  # type: ignore[attr-defined]
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    started = Server()
    yield started
    started.close()


async def test_an_http_step_sends_json_headers_and_an_idempotency_key(make_rig: MakeRig, server: Server) -> None:
    rig = await make_rig(secrets={"TOKEN": "s3cr3t-value"})
    http = {
        "method": "POST",
        "url": server.url + "/load?n={{ input.n }}",
        "headers": {"X-Token": {"secretRef": "TOKEN"}},
        "json": {"rows": "{{ input.n }}"},
    }
    work_id = await finished(rig, {"id": "post", "http": http}, given={"n": 7})
    assert status(rig, work_id)[0] == "completed"
    method, path, headers, body = server.seen[0]
    assert (method, path, json.loads(body)) == ("POST", "/load?n=7", {"rows": 7})
    assert headers["X-Token"] == "s3cr3t-value"
    assert headers["Idempotency-Key"] == f"{work_id}.post"
    assert rig.outputs(work_id)[0]["body"]["path"] == "/load?n=7"
    assert rig.outputs(work_id)[0]["status"] == 200


async def test_an_http_step_retries_what_may_pass_and_not_what_will_not(rig: Rig, server: Server) -> None:
    server.handler.failures = 2  # type: ignore[attr-defined]
    retry = {"attempts": 3, "backoff": "PT0.01S"}
    flaky = await finished(rig, {"id": "one", "http": {"url": server.url + "/flaky"}, "retry": retry})
    assert status(rig, flaky)[0] == "completed"
    assert rig.steps(flaky)[0].attempt == 3
    gone = await finished(rig, {"id": "one", "http": {"url": server.url + "/gone"}, "retry": retry})
    assert status(rig, gone)[2] == "http_status"
    assert rig.steps(gone)[0].attempt == 1


async def test_an_expected_status_is_success_and_no_work_counts(rig: Rig, server: Server) -> None:
    expected = {"id": "one", "http": {"url": server.url + "/gone", "expect": {"status": 404}}}
    assert status(rig, await finished(rig, expected))[0] == "completed"
    nothing = await finished(rig, {"id": "one", "http": {"url": server.url + "/nothing"}})
    body = await finished(rig, {"id": "one", "http": {"url": server.url + "/x"}})
    assert status(rig, body)[1] == "success"
    assert status(rig, nothing)[1] == "no_work"


async def test_an_http_step_is_timed_out_and_cancelled(rig: Rig, server: Server) -> None:
    slow = {"id": "one", "http": {"url": server.url + "/slow"}}
    timed_out = await finished(rig, {**slow, "timeout": "PT0.2S"})
    assert status(rig, timed_out)[2] == "timeout"
    work_id = rig.fire(slow)
    async with asyncio.timeout(10):
        while len(server.seen) < 2:
            await rig.execution.pass_once()
            await rig.next_event()
    rig.cancel(work_id)
    await rig.until(work_id)
    assert status(rig, work_id)[0] == "cancelled"


async def test_a_server_that_is_not_there_fails_with_a_sentence(rig: Rig, server: Server) -> None:
    closed = server.url.replace(str(server.http.server_port), "1")
    work_id = await finished(rig, {"id": "one", "http": {"url": closed + "/"}})
    assert status(rig, work_id)[2] == "http_failed"


# -- awkward programs ------------------------------------------------------------------------------------------------


async def test_input_that_nobody_reads_holds_nothing_up(rig: Rig) -> None:
    work_id = await finished(rig, sh("exec true"), given={"text": "x" * 65_000})
    assert status(rig, work_id)[0] == "completed"


async def test_the_whole_input_arrives_even_if_it_is_read_late(rig: Rig) -> None:
    work_id = await finished(rig, sh("sleep 0.1; wc -c"), given={"text": "x" * 65_000})
    assert int(rig.log(work_id, "out")[0]) == len('{"text":""}') + 65_000 + 1


async def test_a_script_that_names_no_interpreter_is_run_by_the_shell(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("echo $1 from a plain script\n")
    (tmp_path / "plain").chmod(0o755)
    work_id = await finished(rig, {"id": "one", "command": {"argv": ["./plain", "hello"], "cwd": str(tmp_path)}})
    assert rig.log(work_id, "out") == ["hello from a plain script"]


async def test_a_program_that_the_system_cannot_run_says_why(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("#!/nowhere/at/all\n")
    (tmp_path / "odd").chmod(0o755)
    work_id = await finished(rig, {"id": "one", "command": {"argv": ["./odd"], "cwd": str(tmp_path)}})
    assert status(rig, work_id)[2] == "exit_status"
    assert rig.log(work_id, "err") == ["./odd cannot be run: no such file or directory"]


async def test_a_program_that_ends_by_a_signal_says_which(rig: Rig) -> None:
    work_id = await finished(rig, sh("kill -USR1 $$"))
    assert rig.column(work_id, "error_message") == "step one: the program was ended by SIGUSR1"


async def test_a_python_step_finds_the_library_behind_names_that_our_folder_has_too(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "uses_http.py").write_text("import http.client\ndef f(value): return http.client.OK\n")
    work_id = await finished(rig, {"id": "one", "python": {"callable": "uses_http:f", "cwd": str(tmp_path)}})
    assert rig.outputs(work_id) == [200]
