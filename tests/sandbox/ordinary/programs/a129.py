import json
import logging
import subprocess
import sys
import tempfile
from pathlib import Path

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("jobs")
JOB = "import json,sys; n=int(sys.argv[1]); print(json.dumps({'n': n, 'sum': sum(i*i for i in range(n))}))"

with tempfile.TemporaryDirectory() as tmp:
    script = Path(tmp) / "job.py"
    script.write_text(JOB)
    outputs = []
    with logging_redirect_tqdm():
        for n in tqdm([10, 100, 1000, 10000], desc="jobs"):
            res = subprocess.run([sys.executable, str(script), str(n)], capture_output=True, text=True, check=True)
            outputs.append(json.loads(res.stdout))
            log.info("finished %d", n)
    (Path(tmp) / "all.json").write_text(json.dumps(outputs))
    print("total bytes written > 0:", (Path(tmp) / "all.json").stat().st_size > 0)

for o in outputs:
    print(o["n"], o["sum"])
print("temp dir removed:", not Path(tmp).exists())
