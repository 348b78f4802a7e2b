# Connects to a Unix socket in a folder of this machine, and makes one.
import socket
for path in (host["socket_path"], "/run/dbus/system_bus_socket", "/var/run/docker.sock"):
    attempt(lambda: socket.socket(socket.AF_UNIX).connect(path) or "connected")
attempt(lambda: socket.socket(socket.AF_UNIX).bind("/tmp/socket") or "bound")
