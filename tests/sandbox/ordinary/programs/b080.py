import sched
import threading
import time
import xml.etree.ElementTree as ET


def cleanup():
    time.sleep(3600)


threading.Thread(target=cleanup, name="cleanup", daemon=True).start()
report = ET.Element("report")
scheduler = sched.scheduler(time.monotonic, time.sleep)


def step(name):
    ET.SubElement(report, "step", name=name).text = name.title()


scheduler.enter(0.03, 1, step, ("third",))
scheduler.enter(0.01, 1, step, ("first",))
scheduler.enter(0.02, 1, step, ("second",))
scheduler.run()
ET.indent(report)
print(ET.tostring(report, encoding="unicode"))
print([e.text for e in report.iter("step")])
print(sorted(t.name for t in threading.enumerate()))
