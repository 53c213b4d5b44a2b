import pty, os, termios, shutil, curses
print(shutil.get_terminal_size().columns > 0, os.isatty(1))
m, s = pty.openpty(); os.write(s, b"typed\n"); print(os.read(m, 20).split()); print(os.ttyname(s).startswith("/dev/"))
