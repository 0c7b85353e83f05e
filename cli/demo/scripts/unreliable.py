"""Fail on purpose: the other side is never there."""

import os
import sys

print(f"attempt {os.environ.get('TRIGGERDECK_ATTEMPT', '?')}: calling the partner", flush=True)
print("the partner does not answer", file=sys.stderr)
sys.exit(1)
