# Bank simulation: customers arrive, one desk serves.
import heapq
import random

random.seed(8)
events, clock, waiting, busy, served, waits = [], 0.0, [], False, 0, []
for n in range(20):
    clock += random.expovariate(1 / 3)
    heapq.heappush(events, (clock, "arrive", n))
while events:
    now, kind, customer = heapq.heappop(events)
    if kind == "leave":
        served += 1
        busy = False
    else:
        waiting.append((now, customer))
    if waiting and not busy:
        since, who = waiting.pop(0)
        waits.append(now - since)
        busy = True
        heapq.heappush(events, (now + random.uniform(1, 4), "leave", who))
print(served, f"longest wait {max(waits):.2f}, mean {sum(waits) / len(waits):.2f}")
