# Reads a file of this machine whose mode lets every user read it.
for path in (host["secret_file"], "/proc/self/root" + host["secret_file"], "/proc/1/root" + host["secret_file"]):
    attempt(lambda: open(path).read())
