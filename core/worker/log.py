"""The worker's log: one JSON object a line with a stable `event`, to a bounded file beside the database and to stderr.

Times are the record's own, in UTC. Fields are plain values; nothing of a payload is ever logged.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import sys
from pathlib import Path
from typing import Any

from core.clock import format_instant, from_epoch

NAME = "triggerdeck.worker"
HEARD = {NAME: logging.INFO, "core": logging.INFO, "dbos": logging.WARNING}
MOST_BYTES = 5_000_000
KEPT_FILES = 3
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class Lines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return `{"at", "level", "event", …fields}`; an exception is its type, message and place."""
        line: dict[str, Any] = {
            "at": format_instant(from_epoch(record.created)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line.update(getattr(record, "fields", None) or _extras(record))
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    """Return what other modules' loggers were given as `extra`."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


class Log:
    """Says what happened, by stable names."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def info(self, event: str, **fields: object) -> None:
        """Tell of something expected."""
        self._logger.info(event, extra={"fields": fields})

    def warning(self, event: str, **fields: object) -> None:
        """Tell of something that an operator may want to see."""
        self._logger.warning(event, extra={"fields": fields})

    def problem(self, event: str, *, error: BaseException | None = None, **fields: object) -> None:
        """Tell of something that needs somebody; with where it happened, if `error` is given."""
        trace = (type(error), error, error.__traceback__) if error is not None else None
        self._logger.error(event, extra={"fields": fields}, exc_info=trace)

    def close(self) -> None:
        """Close the file, and leave the loggers as they were found."""
        for handler in list(self._logger.handlers):
            for name in HEARD:
                logging.getLogger(name).removeHandler(handler)
            handler.close()
        for name in HEARD:
            logger = logging.getLogger(name)
            logger.propagate = True
            logger.setLevel(logging.NOTSET)


def log_path(database: Path) -> Path:
    """Return the log file's place: beside the database."""
    return database.with_name(f"{database.name}.worker.log")


def open_log(database: Path, *, stderr: bool) -> Log:
    """Open the log of one worker; the file holds at most 20 MB with its predecessors."""
    handlers: list[logging.Handler] = [
        logging.handlers.RotatingFileHandler(
            log_path(database), maxBytes=MOST_BYTES, backupCount=KEPT_FILES, encoding="utf-8", delay=True
        )
    ]
    if stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(Lines())
    for name, level in HEARD.items():
        _listen(logging.getLogger(name), level, handlers)
    logging.raiseExceptions = False  # a full disk must not end the worker by way of its log
    return Log(logging.getLogger(NAME))


def _listen(logger: logging.Logger, level: int, handlers: list[logging.Handler]) -> None:
    """Send what a logger says to our handlers and nowhere else."""
    logger.setLevel(level)
    logger.propagate = False
    for handler in handlers:
        logger.addHandler(handler)
