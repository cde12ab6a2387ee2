"""Types of reply fields: the schemas put together for them are the ones that pydantic makes."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter

from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.replies.field_types import type_schema
from tradetui.wire.replies.record import Record

RECORDS = sorted({endpoint.row for endpoint in CATALOGUE.values()}, key=lambda record: record.__name__)


def without_metadata(schema: Any) -> Any:
    """A schema without what only pydantic's JSON schemas use."""
    if not isinstance(schema, dict):
        return schema
    return {name: without_metadata(part) for name, part in schema.items() if name not in ("metadata", "serialization")}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record.__name__))
def test_every_field_is_read_by_the_schema_that_pydantic_makes(record: type[Record]) -> None:
    for name, field in record.model_fields.items():
        if name in Record.model_fields or field.alias in record.normalizers:
            continue
        field_type: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        expected = TypeAdapter(field_type).core_schema
        assert without_metadata(type_schema(field.annotation, field.metadata)) == without_metadata(expected), name


def test_rows_are_read_without_looking_for_plugins() -> None:
    program = """if True:
        import sys
        from tradetui.wire.models.futures import FuturesFill
        from tradetui.wire.replies.record import read_rows
        read_rows(FuturesFill, [])
        print("importlib.metadata" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
