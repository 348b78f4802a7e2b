#!/usr/bin/python3
"""Takes a picture of the page of a running program: draw_live_page.py URL PNG [CHROMIUM]

It needs Debian's chromium, which it opens without a window, and speaks Chromium's DevTools protocol with it: the page
is looked at for WAIT seconds before its picture is taken, so that it has rates and their courses.
"""
import base64
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

WIDTH, HEIGHT, WAIT, PATIENCE = 1200, 1090, 25, 240  # pixels and seconds


class DevTools:
    """A connection to a page of Chromium: messages in JSON over a WebSocket (RFC 6455)."""

    def __init__(self, port):
        opened = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=PATIENCE))
        path = next(page for page in opened if page["type"] == "page")["webSocketDebuggerUrl"].split("/", 3)[3]
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        self.stream, self.number = self.socket.makefile("rb"), 0
        while self.stream.readline().strip():
            pass

    def ask(self, method, **params):
        self.number += 1
        text = json.dumps({"id": self.number, "method": method, "params": params}).encode()
        mask = os.urandom(4)
        self.socket.sendall(struct.pack(">BBH", 0x81, 0x80 | 126, len(text)) + mask +
                            bytes(byte ^ mask[i % 4] for i, byte in enumerate(text)))
        while True:
            answer = json.loads(self.message())
            if answer.get("id") == self.number:
                return answer["result"]

    def message(self):
        whole = b""
        while True:
            first, length = self.stream.read(2)
            if length == 126:
                length, = struct.unpack(">H", self.stream.read(2))
            elif length == 127:
                length, = struct.unpack(">Q", self.stream.read(8))
            whole += self.stream.read(length)
            if first & 0x80:
                return whole


def take(url, png, chromium):
    urllib.request.urlopen(url, timeout=PATIENCE).close()  # so that no picture of an error is taken
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                                    "--remote-debugging-port=0", f"--user-data-dir={profile}",
                                    f"--window-size={WIDTH},{HEIGHT}", url],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            told, until = Path(profile) / "DevToolsActivePort", time.monotonic() + PATIENCE
            while not (told.exists() and told.read_text().count("\n")):
                if browser.poll() is not None or time.monotonic() > until:
                    sys.exit("draw_live_page: chromium does not start")
                time.sleep(0.2)
            page = DevTools(int(told.read_text().split()[0]))
            time.sleep(WAIT)
            picture = page.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                               clip={"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1})
            Path(png).write_bytes(base64.b64decode(picture["data"]))
        finally:
            browser.terminate()
            browser.wait()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    take(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else "chromium")
