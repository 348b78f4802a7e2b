# Makes hard links to files outside of its folder.
for path in (host["secret_file"], "/usr/bin/python3", "/proc/self/exe", "/proc/self/fd/0"):
    attempt(lambda: os.link(path, "/tmp/hard") or f"link to {path}")
