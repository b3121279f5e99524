"""
Servers that are hostile, one way each: raw bytes over asyncio, on 127.0.0.1.

A behaviour is a coroutine that gets the connection once a request head was
read. The connection is dropped when it returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

Behaviour: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

BEHAVIOURS: dict[str, Behaviour] = {}
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
CHUNKED = STREAM + b"transfer-encoding: chunked\r\n\r\n"
BLOCK = b"x" * 65536


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def hostile(behaviour: Behaviour) -> Behaviour:
    BEHAVIOURS[behaviour.__name__] = behaviour
    return behaviour


@contextlib.asynccontextmanager
async def serve(behaviour: Behaviour, ssl=None) -> AsyncIterator[int]:
    """Serve one behaviour; give the port. Every connection is over at the end."""
    tasks: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        writers.append(writer)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await reader.readuntil(b"\r\n\r\n")
                await behaviour(reader, writer)
                await writer.drain()
        except asyncio.CancelledError:
            pass  # the end of the test
        finally:
            tasks.discard(task)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=ssl)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0)  # a connection that was taken a moment ago has its task now
        for task in list(tasks):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for writer in writers:  # a cancelled task may not have seen its connection's end
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        await server.wait_closed()


async def forever() -> None:
    await asyncio.Event().wait()


async def flood(writer: asyncio.StreamWriter, data: bytes) -> None:
    while True:
        writer.write(data)
        await writer.drain()


@hostile
async def never_answers(reader, writer):
    await forever()


@hostile
async def closes_at_once(reader, writer):
    pass


@hostile
async def resets(reader, writer):
    writer.transport.abort()


@hostile
async def half_a_head(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-ty")


@hostile
async def garbage(reader, writer):
    writer.write(bytes(range(128, 256)) * 8 + b"\r\n\r\n")


@hostile
async def another_protocol(reader, writer):
    writer.write(b"220 mail.example ESMTP\r\n")


@hostile
async def status_line_drip(reader, writer):
    while True:
        writer.write(b"H")
        await asyncio.sleep(0.01)


@hostile
async def head_flood(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\n")
    await flood(writer, b"x-filler: " + b"y" * 8192 + b"\r\n")


@hostile
async def interim_flood(reader, writer):
    await flood(writer, b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" * 100)


@hostile
async def endless_stream(reader, writer):
    writer.write(CHUNKED)
    event = chunk(b'data: {"type":"TEXT_MESSAGE_CONTENT"}\n\n')
    while True:
        writer.write(event)
        await writer.drain()
        await asyncio.sleep(0.005)


@hostile
async def endless_comments(reader, writer):
    writer.write(CHUNKED)
    while True:
        writer.write(chunk(b": ping\n"))
        await asyncio.sleep(0.01)


@hostile
async def stream_flood(reader, writer):
    writer.write(CHUNKED)
    await flood(writer, chunk(b'data: {"type":"RAW"}\n\n' * 1000))


@hostile
async def one_endless_line(reader, writer):
    writer.write(CHUNKED + chunk(b"data: "))
    await flood(writer, chunk(BLOCK))


@hostile
async def gigabyte(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n")
    await flood(writer, BLOCK)


@hostile
async def slow_drip(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
    while True:
        writer.write(b"x")
        await asyncio.sleep(0.01)


@hostile
async def cut_chunked(reader, writer):
    writer.write(CHUNKED + chunk(b'data: {"type":"RUN_STARTED"}\n\n') + b"ff\r\ndata: {")


@hostile
async def reset_in_body(reader, writer):
    writer.write(CHUNKED + chunk(b'data: {"type":"RUN_STARTED"}\n\n'))
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.transport.abort()


@hostile
async def bad_chunk(reader, writer):
    writer.write(CHUNKED + b"zz\r\nno\r\n")


@hostile
async def short_of_its_length(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this")


@hostile
async def longer_than_its_length(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfour and more")


@hostile
async def two_lengths(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nfour!")


@hostile
async def invalid_utf8(reader, writer):
    writer.write(CHUNKED + chunk(b'data: {"type":"\xff\xfe\xc3"}\n\n') + chunk(b""))


@hostile
async def gzip_bomb(reader, writer):
    bomb = gzip.compress(bytes(64 * 1024 * 1024))
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(bomb)
    )
    writer.write(bomb)


@hostile
async def false_gzip(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9\r\n\r\nnot gzip!")


@hostile
async def redirect_elsewhere(reader, writer):
    writer.write(
        b"HTTP/1.1 307 Away\r\nlocation: http://192.0.2.1/\r\ncontent-length: 0\r\n"
        b"set-cookie: a=b\r\n\r\n"
    )


@hostile
async def odd_status(reader, writer):
    writer.write(b"HTTP/1.1 999 \xff\xfe\r\ncontent-length: 0\r\n\r\n")


@hostile
async def switches(reader, writer):
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")
    await forever()


@hostile
async def stays_open_after_the_end(reader, writer):
    writer.write(CHUNKED + chunk(b'data: {"type":"RUN_FINISHED"}\n\n'))
    await forever()


@hostile
async def deep_json(reader, writer):
    data = b"data: " + b'{"a":' * 10000 + b"1" + b"}" * 10000 + b"\n\n"
    writer.write(CHUNKED + chunk(data) + chunk(b""))


@hostile
async def odd_types(reader, writer):
    data = b'data: {"type":["RUN_FINISHED"]}\n\ndata: [1]\n\ndata: [DONE]\n\ndata: {"a":NaN}\n\n'
    writer.write(CHUNKED + chunk(data) + chunk(b""))
