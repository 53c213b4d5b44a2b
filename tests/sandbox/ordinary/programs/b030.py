import logging
import logging.config
import logging.handlers

logging.config.dictConfig({
    "version": 1,
    "formatters": {"short": {"format": "[{levelname[0]}] {message}", "style": "{"}},
    "handlers": {
        "out": {"class": "logging.StreamHandler", "formatter": "short", "stream": "ext://sys.stdout"},
        "mem": {
            "class": "logging.handlers.MemoryHandler",
            "capacity": 10,
            "flushLevel": logging.ERROR,
            "target": "out",
        },
    },
    "root": {"level": "INFO", "handlers": ["mem"]},
})
log = logging.getLogger()
log.info("kept in memory")
log.debug("dropped")
log.warning("kept too")
print("nothing has been written so far")
log.error("now everything is flushed")
logging.shutdown()
