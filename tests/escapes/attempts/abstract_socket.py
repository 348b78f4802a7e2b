# Connects to an abstract Unix socket, which belongs to a network namespace.
import socket
attempt(lambda: socket.socket(socket.AF_UNIX).connect("\0" + host["abstract"]) or "connected")
