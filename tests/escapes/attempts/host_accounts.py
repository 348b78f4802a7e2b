# Reads the lists of users and of passwords.
for path in ("/etc/passwd", "/etc/shadow", "/etc/ssh/ssh_host_ed25519_key", "/etc/machine-id"):
    attempt(lambda: open(path).read())
