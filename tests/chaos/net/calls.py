"""Clients that call roles on the nodes, and the judgement of the history that they write: what ./dev chaos --net runs."""
import contextlib
import json
import subprocess

import run

REPLICAS, CALLERS = 2, 2
KINDS_OF_CALLS = ("work", "ask", "read", "produce", "publish", "enter", "step")
STATUS_LIMIT = 2  # Seconds after which a controller that writes no status does not serve.


class Calls(run.Run):
    def __init__(self, options, folder, networked):
        super().__init__(options, folder, networked)
        self.program = str(options.build / "tests/chaos/chaos_net")
        self.environment |= {"CHAOS_NET_FOLDER": str(self.folder), "CHAOS_NET_REPLICAS": str(REPLICAS),
                             "CHAOS_NET_CALLERS": str(CALLERS)}

    def make_secrets(self, hosts):
        subprocess.run([self.program, "certify", self.secrets, str(run.NODES), *hosts], check=True, timeout=60)

    def controller_words(self):
        return ("controller", "--listen", self.place_of_controller(), *self.known_by("controller"), "--threads", "2",
                "--log-level", "warn", "--metrics-port", "0")

    def controller_environment(self):
        return {"CHAOS_NET_LIFE": str(self.life)}

    def node_words(self):
        return ("--log-level", "warn")

    def status(self):
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.folder / "status").read_text())
        return {}

    def serves_at(self, healed):
        """When it was seen that all nodes and replicas are there and that a call of each kind that began after `healed`
        was answered; None: that is not so."""
        status = self.status()
        if status.get("at", 0) <= max(healed, run.now() - STATUS_LIMIT):
            return None
        serves = (status["life"] == self.life and status["nodes"] == run.NODES and status["serve"]
                  and all(status["answered"].get(kind, 0) > healed for kind in KINDS_OF_CALLS))
        return status["at"] if serves else None

    def ask_to_end(self):
        (self.folder / "end").touch()

    def judge(self):
        """The verdict as text, its figures, and whether everything was as promised."""
        done = subprocess.run([self.program, "judge", str(self.folder), "--json"], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600, check=False)
        text, _, last = done.stdout.rstrip().rpartition("\n")
        try:
            return text, json.loads(last), done.returncode == 0
        except ValueError:
            return done.stdout, {}, False
