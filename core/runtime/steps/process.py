"""Runs one program as a process group of its own: gated start, live log, timeout, cancel, no survivors.

The program is started by the guard and stands still until its pid and start time are recorded; a worker that dies
before leaves a process that ends by itself, having done nothing.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core import failpoints
from core.flows.canonical import canonical_json
from core.runtime.context import StepContext, StepFailed
from core.runtime.guard import Child, Launch, NotStarted
from core.runtime.logs import LINE_LIMIT

_CHUNK = 65_536
_DRAIN_S = 2.0

Ending = Literal["exited", "timeout", "cancelled"]


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: its status (negative: the signal), and what made it end."""

    status: int
    ending: Ending


async def run_process(context: StepContext, launch: Launch) -> Exit:
    """Run a program to its end, or to its timeout or cancellation; nothing that it started is left behind."""
    read_in, write_in = os.pipe()
    outputs = {"out": os.pipe(), "err": os.pipe()}
    theirs = [read_in, *(write for _, write in outputs.values())]
    try:
        child = await context.tools.guard.start(launch, theirs)
    except BaseException as error:
        for descriptor in (write_in, *(read for read, _ in outputs.values())):
            os.close(descriptor)
        if isinstance(error, NotStarted):
            raise StepFailed("not_started", str(error)) from error
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    given: asyncio.WriteTransport | None = None
    readers = [asyncio.create_task(_read(context, stream, read)) for stream, (read, _) in outputs.items()]
    try:
        given = await _let_go(context, child, write_in)
        return await _await_end(context, child)
    finally:
        if given is not None and given.get_write_buffer_size():  # input that nobody read
            given.abort()
        await _end(context, child)
        await _finish_reading(readers)


async def _let_go(context: StepContext, child: Child, descriptor: int) -> asyncio.WriteTransport:
    """Record the process, then let it become the program; return the pipe that carries its input."""
    try:
        failpoints.reach("step.spawned")
        await context.record_pid(child.pid, child.started)
        failpoints.reach("step.recorded")
    except BaseException:
        os.close(descriptor)
        raise
    child.go()
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(descriptor, "wb", 0)
    transport, _ = await loop.connect_write_pipe(asyncio.Protocol, pipe)
    transport.write(canonical_json(context.input).encode() + b"\n")
    transport.write_eof()
    return transport


async def _await_end(context: StepContext, child: Child) -> Exit:
    ended = asyncio.create_task(child.wait())
    cancelled = asyncio.create_task(context.cancel.wait())
    try:
        await asyncio.wait({ended, cancelled}, timeout=context.timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            return Exit(ended.result().status, "exited")
        ending: Ending = "cancelled" if cancelled.done() else "timeout"
        child.ask_to_end()
        await asyncio.wait({ended}, timeout=context.tools.kill_after_s)
        return Exit((await child.end()).status, ending)
    finally:
        for task in (ended, cancelled):
            task.cancel()


async def _end(context: StepContext, child: Child) -> None:
    """Kill what is left: a step is over when its program is."""
    ended = await child.end()
    if ended.left:
        await context.log.note(f"{ended.left} of its processes could not be ended: they belong to another user")


async def _finish_reading(readers: Sequence[asyncio.Task[None]]) -> None:
    """Read what is still in the pipes; a process that could not be ended may hold them open, and is not waited for."""
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
