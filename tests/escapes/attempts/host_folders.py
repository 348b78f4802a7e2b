# Lists the folders of users and of the system's data.
for path in ("/root", "/home", "/var", "/run", "/srv", "/boot", "/work", "/etc/ssh", "/sys/class"):
    attempt(lambda: os.listdir(path))
