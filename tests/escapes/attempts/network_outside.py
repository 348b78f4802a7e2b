# Sends packets to other machines.
import socket
attempt(lambda: socket.create_connection(("1.1.1.1", 53), 1))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)))
attempt(lambda: socket.getaddrinfo("example.com", 80))
