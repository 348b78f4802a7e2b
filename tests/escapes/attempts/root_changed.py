# Changes the root folder.
os.makedirs("/tmp/root", exist_ok=True)
attempt(lambda: os.chroot("/tmp/root") or "chroot")
syscall(155, b"/tmp", b"/tmp/root")
