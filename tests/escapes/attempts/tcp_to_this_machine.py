# Connects to a port of this machine that listens on the loopback address.
import socket
attempt(lambda: socket.create_connection(("127.0.0.1", host["port"]), 1))
