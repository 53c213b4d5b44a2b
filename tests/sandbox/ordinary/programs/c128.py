import logging, queue, sys
from logging.handlers import QueueHandler, QueueListener, MemoryHandler
q = queue.Queue(); out = logging.StreamHandler(sys.stdout)
l = QueueListener(q, out); l.start()
log = logging.getLogger(); log.addHandler(QueueHandler(q)); log.warning("queued"); l.stop()
