"""What `opentelemetry-instrument` loads before the program begins: the standard variables are mended.

The launcher imports this module by its entry point, in the process that becomes the program's. In there the
SDK reads the variables before anything of ours does, and at some that it cannot read it gives up with a
traceback, so that nothing is traced. Holds no name that begins with `OTEL_`: each would be an option of the
launcher's.
"""

from __future__ import annotations

from spanproof.instrumentors.provider.environment import mend

mend()
