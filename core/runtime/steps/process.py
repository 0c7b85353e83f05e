"""Runs one program as a process group of its own: gated start, live log, timeout, cancel, no survivors.

The program is started through a shell that waits for one line on its standard input before it becomes the program.
That line is sent when pid and start time are recorded and the guard knows the group; a worker that dies before leaves
a shell that ends by itself, having done nothing. The input document follows on the same pipe.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core import failpoints
from core.flows.canonical import canonical_json
from core.runtime.context import StepContext
from core.runtime.guard import signal_group, started_at
from core.runtime.logs import LINE_LIMIT

_GATE = 'read -r TRIGGERDECK_GATE && exec "$@"'
_CHUNK = 65_536
_DRAIN_S = 2.0

Ending = Literal["exited", "timeout", "cancelled"]


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: its status (negative: the signal), and what made it end."""

    status: int
    ending: Ending


async def run_process(context: StepContext, argv: Sequence[str], *, env: dict[str, str], cwd: Path) -> Exit:
    """Run a program to its end, or to its timeout or cancellation; nothing of its group is left behind."""
    read_in, write_in = os.pipe()
    outputs = {"out": os.pipe(), "err": os.pipe()}
    theirs = [read_in, *(write for _, write in outputs.values())]
    try:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            _GATE,
            "sh",
            *argv,
            stdin=read_in,
            stdout=outputs["out"][1],
            stderr=outputs["err"][1],
            start_new_session=True,
            env=env,
            cwd=cwd,
        )
    except BaseException:
        for descriptor in (write_in, *(read for read, _ in outputs.values())):
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    gate: asyncio.WriteTransport | None = None
    readers = [asyncio.create_task(_read(context, stream, read)) for stream, (read, _) in outputs.items()]
    try:
        gate = await _open_gate(context, process.pid, write_in)
        return await _await_end(context, process)
    finally:
        if gate is not None and gate.get_write_buffer_size():  # input that nobody read
            gate.abort()
        await _end_group(context, process)
        await _finish_reading(readers)


async def _open_gate(context: StepContext, pid: int, descriptor: int) -> asyncio.WriteTransport:
    """Record the process, then let it become the program; return the pipe that carries its input."""
    context.tools.guard.add(pid)
    failpoints.reach("step.spawned")
    try:
        await context.record_pid(pid, started_at(pid) or 0.0)
    except BaseException:
        os.close(descriptor)
        raise
    failpoints.reach("step.recorded")
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(descriptor, "wb", 0)
    transport, _ = await loop.connect_write_pipe(asyncio.Protocol, pipe)
    transport.write(b"\n" + canonical_json(context.input).encode() + b"\n")
    transport.write_eof()
    return transport


async def _await_end(context: StepContext, process: asyncio.subprocess.Process) -> Exit:
    ended = asyncio.create_task(process.wait())
    cancelled = asyncio.create_task(context.cancel.wait())
    try:
        await asyncio.wait({ended, cancelled}, timeout=context.timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            return Exit(ended.result(), "exited")
        ending: Ending = "cancelled" if cancelled.done() else "timeout"
        signal_group(process.pid, signal.SIGTERM)
        await asyncio.wait({ended}, timeout=context.tools.kill_after_s)
        signal_group(process.pid, signal.SIGKILL)
        return Exit(await ended, ending)
    finally:
        for task in (ended, cancelled):
            task.cancel()


async def _end_group(context: StepContext, process: asyncio.subprocess.Process) -> None:
    """Kill what is left of the group: a step is over when its program is."""
    signal_group(process.pid, signal.SIGKILL)
    if process.returncode is None:
        await process.wait()
    context.tools.guard.end(process.pid)


async def _finish_reading(readers: Sequence[asyncio.Task[None]]) -> None:
    """Read what is still in the pipes; a process that left the group may hold them open, and is not waited for."""
    _, late = await asyncio.wait(readers, timeout=_DRAIN_S)
    for reader in late:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


async def _read(context: StepContext, stream: str, descriptor: int) -> None:
    """Pass a pipe to the log, line by line; a line without end is cut at LINE_LIMIT."""
    reader = asyncio.StreamReader(limit=_CHUNK)
    pipe = os.fdopen(descriptor, "rb", 0)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    try:
        while chunk := await reader.read(_CHUNK):
            lines = (rest + decoder.decode(chunk)).split("\n")
            rest = lines.pop()
            for line in lines:
                await _put(context, stream, line)
            while len(rest) > LINE_LIMIT:
                await _put(context, stream, rest[:LINE_LIMIT])
                rest = rest[LINE_LIMIT:]
        if rest:
            await _put(context, stream, rest)
    finally:
        with contextlib.suppress(OSError):
            transport.close()


async def _put(context: StepContext, stream: str, line: str) -> None:
    text = line.rstrip("\r")
    for start in range(0, len(text) or 1, LINE_LIMIT):
        await context.log.line(stream, text[start : start + LINE_LIMIT])
