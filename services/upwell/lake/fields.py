"""The copies of a row that its points carry, so that the store can filter before the registry has the last word."""

from upwell.access import NOBODY, payload_of
from upwell.ports import DocumentRow
from upwell.records import MAX_VERSION

Fields = dict[str, str | int | list[str] | None]


def fields_of(row: DocumentRow) -> Fields:
    """The copied fields of a row: always the same names, so that a stamp leaves nothing of an older one.

    A document that is deleted, on hold too, admits nobody. `meta` has one `name=value` a metadata entry.
    """
    fields: Fields = {
        "media_type": row.media_type,
        "language": row.language,
        "modified_at": row.modified_at if row.modified_at is not None and abs(row.modified_at) <= MAX_VERSION else None,
        "meta": [f"{name}={value}" for name, value in sorted(row.metadata.items())],
    }
    for name, value in payload_of(NOBODY if row.deleted else row.effective_acl).items():
        if not isinstance(value, int | str | list):
            raise TypeError(name)
        fields[name] = value
    return fields
