"""How fast it is, as ratios to references measured in the same run: `python -m benchmarks`."""

import os
import sys

# What is measured is the installed wheel. `python -m` puts the current folder first, where the
# source tree's own `journal` would be found; this package itself is already found by now.
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _ROOT]
