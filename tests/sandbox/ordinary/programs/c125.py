import logging, logging.handlers
log = logging.getLogger("app"); log.setLevel(logging.INFO)
h = logging.handlers.RotatingFileHandler("app.log", maxBytes=200, backupCount=2)
h.setFormatter(logging.Formatter("%(levelname)s %(message)s")); log.addHandler(h)
for i in range(30): log.info("line %d", i)
import glob
print(sorted(glob.glob("app.log*")), open("app.log").readlines()[-1].strip())
