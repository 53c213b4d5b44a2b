"""`python -m spanproof.cli`: the same as the `spanproof` command."""

import sys

from spanproof.cli import main

sys.exit(main())
