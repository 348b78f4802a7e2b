import threading,time
threading.Thread(target=lambda: os.execv("/usr/bin/python3",["python3","-c",f"import time; time.sleep(30) # {host['mark']}"])).start()
time.sleep(30)
