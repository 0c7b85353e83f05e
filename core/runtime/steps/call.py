"""The child process of a python step; run as a file, so that it imports nothing but the function's own module.

Called as `python -P call.py MODULE:FUNCTION ARGS_FILE`; `-P` keeps this folder out of the path, since its names would
hide the library's.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def main(target: str, args_file: str) -> None:
    """Call the function and write what it returns to $TRIGGERDECK_OUTPUT."""
    sys.path.insert(0, str(Path.cwd()))
    module, _, name = target.partition(":")
    function: Any = importlib.import_module(module)
    for part in name.split("."):
        function = getattr(function, part)
    args = json.loads(Path(args_file).read_text(encoding="utf-8"))
    value = json.loads(sys.stdin.read() or "{}")
    if args is None:
        result = function(value)
    elif isinstance(args, list):
        result = function(*args)
    else:
        result = function(**args)
    if result is not None:
        text = json.dumps(result, allow_nan=False)
        Path(os.environ["TRIGGERDECK_OUTPUT"]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
