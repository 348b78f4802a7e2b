import threading,time
threading.Thread(target=lambda: time.sleep(30)).start()
libc.syscall(60,0)
