"""The loop of a worker that hosts environments or functions."""

import importlib
import json

from troupe_worker.channel import Closed, failure_of

# The class that carries out a command. Its module is imported at its first command, since some
# modules take long.
_OWNERS = {
    "make": ("hosting", "Environments"),
    "make_another": ("hosting", "Environments"),
    "share": ("hosting", "Environments"),
    "reset": ("hosting", "Environments"),
    "replace": ("hosting", "Environments"),
    "host": ("hosting", "Environments"),
    "close": ("hosting", "Environments"),
    "set_level": ("hosting", "Environments"),
    "set_options": ("hosting", "Environments"),
    "set_attr": ("hosting", "Environments"),
    "set_begins_next": ("hosting", "Environments"),
    "render": ("hosting", "Environments"),
    "check": ("check", "Checks"),
    "check_next": ("check", "Checks"),
    "measure": ("check", "Checks"),
    "load_rewards": ("functions", "Functions"),
    "score": ("functions", "Functions"),
    "open_items": ("functions", "Functions"),
    "next_items": ("functions", "Functions"),
    "open_table": ("tables", "Tables"),
    "next_rows": ("tables", "Tables"),
    "make_text": ("texts", "Texts"),
    "practises_text": ("texts", "Texts"),
    "practise_text": ("texts", "Texts"),
    "reset_text": ("texts", "Texts"),
    "step_text": ("texts", "Texts"),
}


class Renewed(Exception):
    """Troupe wants a process that has only imported its modules."""


class Worker:
    """Answers Troupe's commands, one at a time."""

    def __init__(self, channel):
        self.channel = channel
        self.owners = {}

    def serve(self, first=None):
        """Answers until Troupe closes the socket. `first` is a message that was read already."""
        while True:
            kind, text = first or self.channel.read()
            first = None
            if kind == b"S":
                self.channel.stepped(self.owners["hosting", "Environments"].step())
                continue
            try:
                command = json.loads(text)
                name = command.pop("do")
                if name == "renew":
                    raise Renewed
                if name == "is_renewed":
                    self.channel.answer({})
                    continue
                result = getattr(self.owner_of(name), "do_" + name)(**command)
            except (Closed, Renewed):
                raise
            except BaseException as error:  # also SystemExit and KeyboardInterrupt
                result = {"error": failure_of(error)}
            self.channel.answer(result)

    def prepare(self, message):
        """Imports what the first command needs. Returns whether it makes environments, which a
        process that is forked from this one may host."""
        command = json.loads(message[1])
        if command["do"] != "make":
            return False
        self.owner_of("make").prepare(command["request"])
        return True

    def owner_of(self, name):
        """Returns the object that carries out the command."""
        key = _OWNERS[name]
        if key not in self.owners:
            module = importlib.import_module("troupe_worker." + key[0])
            self.owners[key] = getattr(module, key[1])()
        return self.owners[key]
