# Makes the machine write all that it keeps for its disks, and wait for that.
for call, arguments in ((162, ()), (306, (os.open("/usr", os.O_RDONLY),))):
    syscall(call, *arguments)
