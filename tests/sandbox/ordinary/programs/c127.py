import logging.config, sys
logging.config.dictConfig({"version": 1, "formatters": {"f": {"format": "%(name)s:%(message)s"}}, "handlers": {"c": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout", "formatter": "f"}}, "root": {"handlers": ["c"], "level": "DEBUG"}})
logging.getLogger("a.b").debug("hello")
try: 1 / 0
except ZeroDivisionError: logging.getLogger("a").error("oops %s", "x")
