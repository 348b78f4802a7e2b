# Executes a program in a thread other than the first, and outlives a trainer that is killed.
import threading, time
words = ["python3", "-c", f"import time; time.sleep(300) # {host['mark']}"]
threading.Thread(target=lambda: os.execv("/usr/bin/python3", words)).start()
time.sleep(100)
