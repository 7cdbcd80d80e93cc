"""Arbitrary valid events, made from the models' own annotations."""

from datetime import UTC, datetime, timedelta, timezone
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from hypothesis import strategies as st
from pydantic import AwareDatetime, BaseModel, StringConstraints
from pydantic.fields import FieldInfo

from schemas.base import MAX_MINOR

# Any text that UTF-8 can carry: no lone surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
id_texts = st.text(
    st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1, max_size=20
)
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.tuples(st.integers(0, 7_000_000_000_000_000), zones).map(
    lambda drawn: (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=drawn[0])).astimezone(
        drawn[1]
    )
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)

PATTERNS = {r"^[A-Z]{3}$": st.text("ABCXYZ", min_size=3, max_size=3)}


def events(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    """Instances of the model, optional fields left out now and then."""
    fields = {
        name: _field(field) | st.just(_LEFT_OUT) if not field.is_required() else _field(field)
        for name, field in model.model_fields.items()
    }
    return st.fixed_dictionaries(fields).map(
        lambda values: model(**{k: v for k, v in values.items() if v is not _LEFT_OUT})
    )


_LEFT_OUT = object()


def _field(field: FieldInfo) -> st.SearchStrategy[Any]:
    return _of(field.annotation, tuple(field.metadata))


def _of(kind: Any, constraints: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        inner = tuple(
            item
            for part in parts[1:]
            for item in (part.metadata if isinstance(part, FieldInfo) else (part,))
        )
        return _of(parts[0], inner + constraints)
    if origin in (Union, UnionType):
        return st.one_of(*(_of(part) for part in parts))
    if origin is Literal:
        return st.sampled_from(parts)
    if origin is tuple:
        return st.lists(_of(parts[0]), max_size=3).map(tuple)
    if origin is dict:
        values = json_values if parts[1] is Any else _of(parts[1])
        return st.dictionaries(_of(parts[0]), values, max_size=3)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return events(kind)
    if kind in (datetime, AwareDatetime):
        return moments
    if kind is str:
        return _text(constraints)
    if kind is bool:
        return st.booleans()
    low, high = _bounds(constraints)
    if kind is int:
        return st.integers(max(low, -MAX_MINOR), min(high, MAX_MINOR))
    if kind is float:
        return st.floats(max(low, -1e9), min(high, 1e9))
    if kind is type(None):
        return st.none()
    raise NotImplementedError(f"no strategy for {kind!r}")


def _text(constraints: tuple[Any, ...]) -> st.SearchStrategy[str]:
    found = next((c for c in constraints if isinstance(c, StringConstraints)), None)
    pattern = (
        found.pattern
        if found
        else next((c.pattern for c in constraints if getattr(c, "pattern", None)), None)
    )
    if pattern is not None:
        return PATTERNS.get(str(pattern), id_texts)
    shortest = max([c.min_length for c in constraints if isinstance(c, MinLen)], default=0)
    longest = min([c.max_length for c in constraints if isinstance(c, MaxLen)], default=40)
    return texts.filter(lambda text: shortest <= len(text) <= longest)


def _bounds(constraints: tuple[Any, ...]) -> tuple[Any, Any]:
    low = max([c.ge for c in constraints if isinstance(c, Ge)], default=float("-inf"))
    high = min([c.le for c in constraints if isinstance(c, Le)], default=float("inf"))
    return low, high
