import logging
import logging.handlers
import pathlib
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "app.log"
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=400, backupCount=3)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    log = logging.getLogger("rotate")
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    for n in range(60):
        log.info("line number %03d", n)
    handler.close()
    log.removeHandler(handler)
    for file in sorted(pathlib.Path(folder).iterdir()):
        lines = file.read_text().splitlines()
        print(file.name, len(lines), "lines:", lines[0], "...", lines[-1])
