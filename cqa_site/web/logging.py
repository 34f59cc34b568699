"""Log lines as JSON: no bodies, labels, keys or e-mail addresses are ever passed to a logger."""

import json
import logging


class JsonLines(logging.Formatter):
    """One JSON object a line, so newlines in a message cannot forge a second entry."""

    def format(self, record: logging.LogRecord) -> str:
        """Render time, level, logger, message and, where there is one, the traceback."""
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
