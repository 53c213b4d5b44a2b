import sched, time, signal
s = sched.scheduler(time.monotonic, time.sleep); got = []
for d, v in [(0.02, "b"), (0.01, "a")]: s.enter(d, 1, got.append, (v,))
s.run(); print(got)
signal.signal(signal.SIGALRM, lambda *a: got.append("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause(); print(got[-1])
