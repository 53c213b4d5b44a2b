import os, pwd, getpass, platform, socket, sys
print(getpass.getuser() != "", os.path.expanduser("~") != "", platform.system(), socket.gethostname() != "", os.cpu_count() >= 1)
print(len(os.getloadavg()), os.sysconf("SC_PAGE_SIZE"), sys.getfilesystemencoding(), os.getpid() > 0)
