import sched
import time

order = []
scheduler = sched.scheduler(time.monotonic, time.sleep)
scheduler.enter(0.06, 1, order.append, ("third",))
scheduler.enter(0.0, 1, order.append, ("first",))
scheduler.enter(0.03, 1, order.append, ("second",))
late = scheduler.enter(20, 1, order.append, ("never",))
scheduler.cancel(late)
scheduler.run()
print(order, scheduler.empty())
