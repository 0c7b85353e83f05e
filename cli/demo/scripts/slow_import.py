"""Take longer than the Trigger's interval, one line a batch."""

import sys
import time

for batch in range(1, int(sys.argv[1]) + 1):
    print(f"batch {batch} of {sys.argv[1]}", flush=True)
    time.sleep(1)
