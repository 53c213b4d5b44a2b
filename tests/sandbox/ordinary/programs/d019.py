import logging
import logging.handlers
from pathlib import Path

logger = logging.getLogger("shop")
logger.setLevel(logging.INFO)
handler = logging.handlers.RotatingFileHandler("shop.log", maxBytes=200, backupCount=2)
handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
logger.addHandler(handler)
for n in range(30):
    logger.info("order %d shipped", n)
logger.debug("not shown")
print(sorted(p.name for p in Path().iterdir()))
print(Path("shop.log").read_text().splitlines()[-1])
