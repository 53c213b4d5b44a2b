import logging
import sys


class Upper(logging.Formatter):
    def format(self, record):
        return super().format(record).upper()


class OnlyEven(logging.Filter):
    def filter(self, record):
        return getattr(record, "n", 0) % 2 == 0


plain = logging.StreamHandler(sys.stdout)
plain.setFormatter(logging.Formatter("%(levelname)-8s %(name)s: %(message)s"))
loud = logging.StreamHandler(sys.stdout)
loud.setFormatter(Upper("!! %(message)s"))
loud.addFilter(OnlyEven())
loud.setLevel(logging.WARNING)
log = logging.getLogger("shop.orders")
log.setLevel(logging.DEBUG)
log.propagate = False
log.addHandler(plain)
log.addHandler(loud)
for n in range(4):
    log.warning("order %d is late", n, extra={"n": n})
log.debug("all orders checked")
try:
    {}["missing"]
except KeyError as exc:
    log.error("lookup failed: %r", exc)
