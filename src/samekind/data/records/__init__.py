"""Records that may be duplicates: what columns hold, which pairs to compare, how alike these are."""

from samekind.data.records.kinds import FieldKind, looks_like_records
from samekind.data.records.records import Records, records_of

__all__ = ["FieldKind", "Records", "looks_like_records", "records_of"]
