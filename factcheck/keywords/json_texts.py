"""JSON text out and in."""

from __future__ import annotations

import json
from typing import Any

from factcheck.errors import InputError


def json_text(data: Any, *, indent: int | None = None) -> str:
    """JSON data as text that can be encoded as UTF-8; the same data gives the same text."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    # Lone surrogates have no UTF-8 form; as `\udcff` they are valid JSON.
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def json_data(text: str | bytes) -> Any:
    """Inverse of `json_text`.

    Raises:
        InputError: Not JSON; says where.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"run: not valid JSON ({error.msg}, line {error.lineno})"
        raise InputError(message) from error
    except (ValueError, TypeError) as error:
        raise InputError(f"run: not valid JSON ({error})") from error
    except RecursionError as error:
        raise InputError("run: not valid JSON (nested too deeply)") from error
