import signal

seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(signal.Signals(number).name))
signal.raise_signal(signal.SIGUSR1)
print(seen, signal.getsignal(signal.SIGINT) is signal.default_int_handler)


class TooSlow(Exception):
    pass


def on_alarm(number, frame):
    raise TooSlow


signal.signal(signal.SIGALRM, on_alarm)
signal.setitimer(signal.ITIMER_REAL, 0.02)
try:
    while True:
        pass
except TooSlow:
    print("stopped")
