# Puts a pipe and a device in the place of files that are returned, so that the reader waits.
os.mkfifo("/tmp/out")
os.symlink("/dev/zero", "/tmp/link")
