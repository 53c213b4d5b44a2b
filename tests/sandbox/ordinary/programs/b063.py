import signal
import time


class TooSlow(Exception):
    pass


def on_alarm(signum, frame):
    raise TooSlow(signal.Signals(signum).name)


signal.signal(signal.SIGALRM, on_alarm)
signal.alarm(1)
try:
    time.sleep(30)
except TooSlow as exc:
    print("interrupted by", exc)
finally:
    signal.alarm(0)

ticks = []
signal.signal(signal.SIGALRM, lambda s, f: ticks.append(s))
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
while len(ticks) < 3:
    signal.pause()
signal.setitimer(signal.ITIMER_REAL, 0)
print("ticked at least three times:", len(ticks) >= 3)
print("nothing pending:", signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0))
