"""Lets `python -m tradetui` be the command."""

import sys

from tradetui.cli import main

sys.exit(main())
