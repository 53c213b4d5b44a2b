import logging
import sys

logging.basicConfig(stream=sys.stdout, level=logging.WARNING, format="%(name)s %(levelname)s: %(message)s")
log = logging.getLogger("app.orders")
log.info("not shown")
log.warning("stock of %s is low", "tea")
try:
    {}["price"]
except KeyError as error:
    log.error("no %s", error, exc_info=False)


class Redact(logging.Filter):
    def filter(self, record):
        record.msg = str(record.msg).replace("4242", "****")
        return True


log.addFilter(Redact())
log.error("card 4242 declined")
