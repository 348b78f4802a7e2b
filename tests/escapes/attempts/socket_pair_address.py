# Sends through an unconnected end of a socket pair to an abstract address.
import socket
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
attempt(lambda: one.sendto(b"x", "\0" + host["abstract_datagram"]))
