#!/usr/bin/env bash
# The size of a queue, as a monitor would print it.
mkdir -p queue/{new,done}
for n in $(seq 1 7); do echo "job $n" > "queue/new/$n"; done
for job in queue/new/[1-3]; do mv "$job" queue/done/; done
waiting=$(find queue/new -type f | wc -l)
finished=$(find queue/done -type f | wc -l)
printf 'queue_jobs{state="waiting"} %d\nqueue_jobs{state="done"} %d\n' "$waiting" "$finished"
((waiting > 3)) && echo "queue is long" >&2
test "$waiting" -eq 4
