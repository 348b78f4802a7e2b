import time,resource
L=[]
def escaped2(w): os.write(3,("escaped: "+" | ".join(L)).replace("\n","~").encode())
print=lambda *a: L.append(" ".join(map(str,a)))
escaped=print
def t(p,data):
    try:
        fd=os.open(p,os.O_WRONLY); os.write(fd,data); os.close(fd); escaped(f"wrote {p} now {open(p).read()[:40]!r}\n")
    except OSError as e: print(p,e)
t("/proc/self/oom_score_adj",b"500"); t("/proc/self/oom_score_adj",b"0")
t("/proc/self/clear_refs",b"5"); t("/proc/self/coredump_filter",b"0xff"); t("/proc/self/autogroup",b"0")
t("/proc/pressure/cpu",b"some 150000 2000000"); t("/proc/self/attr/current",b"x"); t("/proc/self/timens_offsets",b"1 1 1")
for p in ("/proc/self/fd/0","/proc/self/fd/5","/proc/self/fd/6","/proc/self/fd/3"):
    for fl in (os.O_RDWR,os.O_WRONLY|os.O_TRUNC):
        try:
            os.open(p,fl); print("open",p,fl,"ok")
        except OSError as e: print(p,fl,e)
print(sorted(os.listdir("/proc/self/fd")), resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_STACK), resource.getrlimit(resource.RLIMIT_NPROC))
print(open("/proc/self/mountinfo").read())
print(open("/proc/cmdline").read(), os.listdir("/"), os.listdir("/proc")[-60:])
escaped2(0)
