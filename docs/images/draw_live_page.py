#!/usr/bin/python3
"""Takes a picture of the page of a running program: draw_live_page.py URL PNG [CHROMIUM]

It needs Debian's chromium. A screenshot is taken once a page has loaded, which is too early for the rates of the page:
they come with its second look at the metrics. So the page is shown in a frame, beside a picture that takes WAIT seconds.
"""
import http.server
import subprocess
import sys
import tempfile
import threading
import time

WIDTH, HEIGHT, WAIT = 1200, 1090, 30


def wrapper(url):
    """A server of one page with the other one in it."""
    page = (f'<body style="margin:0;overflow:hidden"><iframe src="{url}" width="{WIDTH}" height="{HEIGHT}" '
            'style="border:0"></iframe><img src="/later" width="1" height="1">').encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/later":
                time.sleep(WAIT)
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page if self.path == "/" else b"")

        def log_message(self, *_):
            pass

    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def take(url, png, chromium):
    server = wrapper(url)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={png}",
                        f"http://127.0.0.1:{server.server_port}/"],
                       check=True, timeout=300, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    take(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else "chromium")
