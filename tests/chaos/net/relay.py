#!/usr/bin/python3
"""Passes the connections of nodes to their controller, and hurts them: relay.py TO_HOST:PORT LINK=HOST:PORT...

Commands come by stdin, one line of JSON each, and each is answered by a line "ok":
  {"link": "1", "do": "stall", "way": "up"|"down"|"both"}  nothing is read or written in these directions any more
  {"link": "1", "do": "delay", "seconds": 0.2}             bytes arrive so much later, in both directions
  {"link": "1", "do": "clear"}                             ends stalls and delays
  {"link": "1", "do": "cut"}                               the connections there are end
  {"link": "1", "do": "forget"}                            they are never read, written or ended again, so that each side
                                                           has a connection whose other side is gone
"Up" is the direction from a node to the controller.
"""
import asyncio
import json
import sys

CHUNK = 64 * 1024
QUEUED_CHUNKS = 64  # Of one direction of one connection.


class Link:
    """The connections of one node."""

    def __init__(self, to_host, to_port):
        self.to = to_host, to_port
        self.delay = 0.0
        self.open = {"up": asyncio.Event(), "down": asyncio.Event()}
        self.clear()
        self.connections = set()
        self.forgotten = []  # Keeps their sockets.

    def clear(self):
        self.delay = 0.0
        for gate in self.open.values():
            gate.set()

    def stall(self, way):
        for name, gate in self.open.items():
            if way in (name, "both"):
                gate.clear()

    def end_all(self, forget):
        for connection in list(self.connections):
            connection.end(forget)

    async def accept(self, reader, writer):
        try:
            there = await asyncio.wait_for(asyncio.open_connection(*self.to), 5)
        except (OSError, asyncio.TimeoutError):
            writer.close()
            return
        Connection(self, (reader, writer), there)


class Connection:
    def __init__(self, link, here, there):
        self.link, self.streams, self.forgets = link, (here, there), False
        link.connections.add(self)
        self.tasks = [asyncio.create_task(self.guard(self.pump(here[0], there[1], "up"))),
                      asyncio.create_task(self.guard(self.pump(there[0], here[1], "down")))]

    def end(self, forget):
        self.forgets = self.forgets or forget
        for task in self.tasks:
            task.cancel()
        self.close()

    def close(self):
        self.link.connections.discard(self)
        if self.forgets:
            self.link.forgotten.append(self.streams)
            for _, writer in self.streams:
                writer.transport.pause_reading()
            return
        for _, writer in self.streams:
            writer.close()

    async def guard(self, pump):
        """The end of one direction is the end of the connection."""
        try:
            await pump
        except (OSError, asyncio.IncompleteReadError):
            pass
        self.end(False)

    async def pump(self, reader, writer, way):
        queue = asyncio.Queue(QUEUED_CHUNKS)
        writing = asyncio.create_task(self.write(queue, writer, way))
        try:
            while True:
                await self.link.open[way].wait()
                data = await reader.read(CHUNK)
                if not data:
                    break
                await queue.put((asyncio.get_running_loop().time() + self.link.delay, data))
            await queue.put((0, b""))
            await writing
        finally:
            writing.cancel()

    async def write(self, queue, writer, way):
        while True:
            due, data = await queue.get()
            if not data:
                return
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            await self.link.open[way].wait()
            writer.write(data)
            await writer.drain()


def obey(links, command):
    link, action = links[command["link"]], command["do"]
    if action == "stall":
        link.stall(command["way"])
    elif action == "delay":
        link.delay = command["seconds"]
    elif action == "clear":
        link.clear()
    elif action in ("cut", "forget"):
        link.end_all(action == "forget")
    else:
        raise ValueError(f"relay: expected a command, got {action!r}")


def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


async def main(to, *places):
    links = {}
    for place in places:
        name, here = place.split("=", 1)
        links[name] = Link(*address(to))
        await asyncio.start_server(links[name].accept, *address(here))
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    print("ok", flush=True)
    while line := await commands.readline():
        obey(links, json.loads(line))
        print("ok", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: relay.py TO_HOST:PORT LINK=HOST:PORT...")
    asyncio.run(main(*sys.argv[1:]))
