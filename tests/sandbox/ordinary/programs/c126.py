import logging
from logging.handlers import SysLogHandler
log = logging.getLogger("svc")
try:
    log.addHandler(SysLogHandler(address="/dev/log"))
except OSError:
    log.addHandler(logging.NullHandler())
log.warning("disk is at 80 %")
print("logged")
