"""Parsing of evaluation schemas, and validation of gold records; every error names its path."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from factcheck.documents import shown
from factcheck.errors import GoldValidationError, InputError, ParameterError, SchemaError
from factcheck.fields import schemas as keys
from factcheck.fields.comparators import Registry, default_registry
from factcheck.fields.schemas import ComparatorSpec, TransformSpec, parse_xeval_entry
from factcheck.fields.schemas.references import annotate_xeval
from factcheck.fields.types import (
    THRESHOLD,
    TRUE_OR_FALSE,
    BuiltinComparator,
    BuiltinTransform,
    Checks,
    is_number,
)
from factcheck.fields.values import as_record, id_of, json_type
from factcheck.settings import require_list

Strategy = Literal["ordered", "key_field", "hungarian"]
_STRATEGIES = ("key_field", "hungarian")
_MAX_WEIGHT = 1e6
_UNLIKELY = {"numeric": ("string", "boolean"), "exact": ("number", "integer")}
"""Types on which a comparator is probably a mistake, unless a transform converts the values."""
_NUMERIC = frozenset({"integer", "number"})
_log = logging.getLogger("factcheck.fields")


@dataclass
class SchemaNode:
    """A field of an evaluation schema and the fields below it."""

    path: str
    """Path such as `items[].name`; empty for the root."""
    json_type: str
    """Effective type; `"multi"` if several are allowed."""
    comparator: ComparatorSpec = field(default_factory=ComparatorSpec)
    children: list[SchemaNode] = field(default_factory=list)
    """Properties of an object. The last may be a node without a name, for the items of an array or
    for all other keys."""
    skip: bool = False
    transforms: list[TransformSpec] = field(default_factory=list)
    align: dict[str, Any] | None = None
    """Alignment of array elements; `None`: by position."""
    allowed_types: list[str] | None = None
    """Types of a field that allows several."""
    name: str | None = None
    """Name of the property; `None` for items and the root."""
    threshold: float = 1.0
    """Minimum score of a match, in (0, 1]."""
    weight: float = 1.0
    """Weight of the field in precision, recall and F1."""
    description: str = ""
    unroll: Callable[[], SchemaNode] | None = field(default=None, repr=False, compare=False)
    """Returns the target node of a recursive reference; `None` for any other node."""

    @property
    def strategy(self) -> Strategy:
        return strategy_of(self.align or {})

    @property
    def is_rest(self) -> bool:
        """Whether this is the node for items of an array, or for all other keys of an object."""
        return self.name is None and self.path.endswith("[]")

    @property
    def named(self) -> dict[str, SchemaNode]:
        """Properties by name; a node without a name is named by the end of its path."""
        start = len(self.path) + 1 if self.path else 0
        found = {}
        for child in self.children:
            if not child.is_rest:
                name = child.path[start:] if child.name is None else child.name
                found[name] = child
        return found

    def compared(self) -> Iterator[SchemaNode]:
        """Yield the compared fields in the subtree; recursive references are not followed."""
        if not self.skip and (self.comparator.name or not self.children):
            yield self
        elif not self.skip:
            for child in self.children:
                yield from child.compared()


def strategy_of(align: Mapping[str, Any]) -> Strategy:
    chosen = align.get("match_by")
    return chosen if chosen in _STRATEGIES and align.get("ordered") is not True else "ordered"


def parse_eval_schema(raw_schema: Any, registry: Registry | None = None) -> SchemaNode:
    """Parse and validate an evaluation schema.

    Args:
        raw_schema: A resolved JSON schema with `x-eval-*` keys, or a pydantic model class, whose
            fields get the default comparators of their types.
        registry: Comparators and transforms that the schema may name.

    Raises:
        SchemaError: A key is invalid; the message names the path and the allowed values.
    """
    schema = annotate_xeval(raw_schema) if isinstance(raw_schema, type) else raw_schema
    if not isinstance(schema, dict):
        raise SchemaError(f"Eval schema must be an object, not {type(schema).__name__}")
    root = _Parser(registry or default_registry, schema).node(schema, "", None, 1.0, 0)
    weights = [node.weight for node in root.compared()]
    if weights and not any(weights):
        raise SchemaError(f"every field has {keys.WEIGHT} 0; set at least one above 0")
    return root


class _Parser:
    def __init__(self, registry: Registry, root: dict[str, Any]) -> None:
        self._registry = registry
        self._root = root

    def node(
        self, schema: dict[str, Any], path: str, name: str | None, weight: float, depth: int
    ) -> SchemaNode:
        keys.check_depth(depth, path)
        _check_keys(schema, path)
        node = SchemaNode(
            path,
            _kind(schema, path),
            skip=_setting(schema, keys.SKIP, path, False),
            name=name,
            weight=float(_setting(schema, keys.WEIGHT, path, weight)),
            description=found if isinstance(found := schema.get("description"), str) else "",
        )
        if keys.is_recursive(schema) and keys.COMPARE not in schema and not node.skip:
            own = {key: schema[key] for key in schema if key.startswith(keys.PREFIX)}
            target = {**self._target(schema["$ref"], path), **own, keys.WEIGHT: node.weight}
            node.unroll = partial(self.node, target, path, name, node.weight, depth)
            return node
        children = keys.sub_schemas(schema)
        required = keys.container(schema)[0]
        if children and node.json_type != required:
            keyword = "items" if required == "array" else "properties"
            raise SchemaError(
                f"'{keyword}' requires type '{required}', but the type is {schema['type']!r}", path
            )
        if node.json_type == keys.MULTI:
            node.allowed_types = list(keys.declared_types(schema["type"]))
        self._set_comparison(node, schema, is_leaf=not children)
        if keys.ALIGN in schema:
            node.align = _checked_align(schema, node.json_type, path)
        for key, child in children.items():
            where = f"{path}[]" if key is None else keys.join(path, key)
            node.children.append(self.node(child, where, key, node.weight, depth + 1))
        if node.strategy == "key_field":
            _warn_of_keys(key_names(node.align or {}), node)
        return node

    def _target(self, ref: str, path: str) -> dict[str, Any]:
        """Return the target of a recursive reference."""
        definitions = self._root.get("$defs", {})
        target = self._root if ref == "#" else definitions.get(ref.removeprefix("#/$defs/"))
        if not isinstance(target, dict):
            raise SchemaError(f"the reference {ref!r:.80} has no target", path)
        return target

    def _set_comparison(self, node: SchemaNode, schema: dict[str, Any], *, is_leaf: bool) -> None:
        path, kind = node.path, node.json_type
        if keys.COMPARE in schema:
            find = self._registry.get_comparator
            spec = ComparatorSpec(*_look_up(find, schema[keys.COMPARE], keys.COMPARE, path))
            node.comparator = spec
            if kind in _UNLIKELY.get(spec.name, ()) and not schema.get(keys.TRANSFORM):
                keys.warn(path, f"comparator {spec.name!r} on a field of type {kind} is unusual")
        elif is_leaf and not node.skip:
            raise SchemaError(
                f"missing {keys.COMPARE}; add it, or call annotate_xeval(schema)", path
            )
        elif keys.THRESHOLD in schema:
            raise SchemaError(f"{keys.THRESHOLD} requires {keys.COMPARE}", path)
        node.threshold = float(_setting(schema, keys.THRESHOLD, path, 1.0))
        for place, entry in enumerate(_setting(schema, keys.TRANSFORM, path, [])):
            where = f"{keys.TRANSFORM}[{place}]"
            if not isinstance(entry, (str, dict)):
                raise SchemaError(f"{where} must be a string or object, not {entry!r}", path)
            transform = _look_up(self._registry.get_transform, entry, where, path)
            node.transforms.append(TransformSpec(*transform))
        if node.transforms and not is_leaf and not node.comparator.name:
            keys.warn(path, f"{keys.TRANSFORM} has no effect without a comparator")


_SETTINGS: Checks = {
    keys.SKIP: TRUE_OR_FALSE,
    keys.TRANSFORM: ("a list such as ['strip']", lambda value: isinstance(value, list)),
    keys.THRESHOLD: THRESHOLD,
    keys.WEIGHT: (
        f"a number from 0 to {_MAX_WEIGHT:g}",
        lambda value: is_number(value) and 0 <= value <= _MAX_WEIGHT,
    ),
}


def _setting(schema: Mapping[str, Any], key: str, path: str, default: Any) -> Any:
    value = schema.get(key, default)
    expected, accepts = _SETTINGS[key]
    if not accepts(value):
        raise SchemaError(f"{key} must be {expected}, not {shown(value)}", path)
    return value


def _look_up(
    find: Callable[[str], Any], entry: Any, where: str, path: str
) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of an entry after validating both."""
    try:
        name, params = parse_xeval_entry(entry)
        found = find(name)
    except KeyError as error:
        raise SchemaError(f"{where}: {error}", path) from error
    except (TypeError, ValueError) as error:
        kind = "comparator" if where == keys.COMPARE else "transform"
        raise SchemaError(f"{where}: Unknown {kind} {entry!r:.80}: {error}", path) from error
    is_builtin = isinstance(found, (BuiltinComparator, BuiltinTransform))
    check = found.bind if is_builtin else getattr(found, "check_params", None)
    if callable(check):
        try:
            check(params)
        except ParameterError as error:
            raise ParameterError(f"{where}: {error}", path) from error
    return name, params


def _check_keys(schema: dict[Any, Any], path: str) -> None:
    keys.check_names(schema, path)
    if isinstance(properties := schema.get("properties"), dict):
        keys.check_names(properties, path)
    for key in schema:
        if key.startswith(keys.PREFIX) and key not in keys.XEVAL_KEYS:
            known = ", ".join(keys.XEVAL_KEYS)
            keys.warn(path, f"Unknown x-eval key {key!r} is ignored; expected one of {known}")


def _kind(schema: dict[str, Any], path: str) -> str:
    kind = keys.effective_type(schema)
    if not kind or (kind == keys.ANY and not path and keys.COMPARE not in schema):
        hint = "set a type such as 'string' or ['string', 'null']"
        if "$ref" in schema:
            hint = "resolve the schema first: resolve_schema_references(schema)"
        raise SchemaError(f"Missing or invalid 'type' {schema.get('type')!r}; {hint}", path)
    return kind


def _checked_align(schema: Mapping[str, Any], kind: str, path: str) -> dict[str, Any]:
    align = schema[keys.ALIGN]
    problem = next(_align_problems(align, schema.get("items"), kind), "")
    if problem:
        raise SchemaError(f"{keys.ALIGN}: {problem}", path)
    if align.get("match_by", "") is None:
        keys.warn(path, f"{keys.ALIGN} without match_by; elements are compared by position")
    return dict(align)


def _align_problems(align: Any, items: Any, kind: str) -> Iterator[str]:
    """Yield what is wrong with an alignment; the first problem counts."""
    if kind != "array":
        yield f"requires type 'array', but the type is {kind!r}"
    if not isinstance(align, dict) or not align.keys() & {"ordered", "match_by"}:
        yield f"must be a dict with 'ordered' or 'match_by', not {align!r}"
    ordered, chosen = align.get("ordered", False), align.get("match_by")
    if not isinstance(ordered, bool):
        yield f"'ordered' must be true or false, not {ordered!r}"
    if chosen not in (None, *_STRATEGIES) or not (ordered or "match_by" in align):
        yield f"'match_by' must be one of {_STRATEGIES}, not {chosen!r}"
    threshold, strategy = align.get("threshold", 0), strategy_of(align)
    in_range = is_number(threshold) and 0 <= threshold <= 1
    if not in_range or (threshold and strategy != "hungarian"):
        yield f"'threshold' must be a number from 0 to 1, with 'hungarian', not {threshold!r}"
    if strategy != "key_field":
        return
    names = key_names(align)
    if not names or not all(isinstance(name, str) and name for name in names):
        yield (
            "match_by 'key_field' requires a 'key', the name of a field of the elements or a list "
            f"of names, not {align.get('key')!r}"
        )
    if not isinstance(items, dict):
        yield "match_by 'key_field' requires 'items' with a schema"
    elif (of_items := keys.effective_type(items)) not in (None, keys.ANY, "object"):
        yield f"match_by 'key_field' requires items type 'object', not {of_items!r}"


def key_names(align: Mapping[str, Any]) -> list[Any]:
    """Return the names of the parts of a key, valid or not."""
    key = align.get("key")
    return key if isinstance(key, list) else [key]


def _warn_of_keys(names: list[str], node: SchemaNode) -> None:
    items = node.children[-1] if node.children else node
    if not items.named:
        keys.warn(node.path, "the items have no 'properties', so there is no key")
        return
    for name in names:
        if not key_path(items, name)[0]:
            keys.warn(node.path, f"key {name!r} not found among {sorted(items.named)}")


def key_path(items: SchemaNode, name: str) -> tuple[tuple[str, ...], SchemaNode | None]:
    """Resolve the name of a key to property names and its node; dots separate nested names.

    A property whose own name contains the dots takes precedence. Without a match both are empty.
    """
    properties = items.named
    if name in properties:
        return (name,), properties[name]
    head, _, rest = name.partition(".")
    if not rest or head not in properties:
        return (), None
    steps, node = key_path(properties[head], rest)
    return ((head, *steps), node) if steps else ((), None)


def validate_gold(
    gold: Iterable[Any],
    schema: Any,
    id_field: str | None = None,
    warn_missing: bool = True,  # noqa: FBT001, FBT002 - the contract
    strict_types: bool = False,  # noqa: FBT001, FBT002 - the contract
    registry: Registry | None = None,
) -> None:
    """Validate the ids, keys and, with `strict_types`, the types of gold records.

    A key outside the schema is an error, because it would never be scored. A missing key, a
    container of the wrong type, and a value of none of several declared types are logged as
    warnings, once per record and field. Null is always valid.

    Args:
        gold: Gold records.
        schema: A resolved schema with `x-eval-*` keys, or a pydantic model class.
        id_field: Key of the record id; the schema need not have it.
        warn_missing: Whether to warn about missing keys.
        strict_types: Whether every value must have its declared type. Integers and numbers are
            interchangeable; booleans are neither.
        registry: As in `parse_eval_schema`.

    Raises:
        GoldValidationError: A record is invalid; the message names record, path and problem.
        SchemaError: The schema is invalid.
    """
    if id_field is not None and not isinstance(id_field, str):
        raise InputError(f"id_field must be the name of a key, not {id_field!r}")
    root = parse_eval_schema(schema, registry)
    for position, raw in enumerate(require_list("gold", gold)):
        record = as_record(raw)
        record_id: str | int = position
        if id_field:
            try:
                record_id = id_of(record, id_field, f"gold record {position}")
            except InputError as error:
                raise GoldValidationError(str(error), position, keys.join("", id_field)) from error
        exempt = frozenset({id_field} if id_field else ())
        problems = list(_problems(record, root, exempt, strict=strict_types))
        for where, problem, is_error in problems:
            if is_error:
                place = repr(where or "the record")
                message = f"gold record {record_id!r}: {place} {problem}"
                raise GoldValidationError(message, record_id, where)
        for where, problem, _ in dict.fromkeys(problems):
            if warn_missing or problem != _MISSING:
                _log.warning("gold record %r: %s %s", record_id, where or "the record", problem)


_MISSING = "is missing; write null if it has no value"
_Problem = tuple[str, str, bool]
"""Path, what is wrong there, and whether it is an error."""


def _problems(
    value: Any, node: SchemaNode, exempt: frozenset[str] = frozenset(), *, strict: bool
) -> Iterator[_Problem]:
    if value is None:
        return
    if node.unroll:
        node = node.unroll()
    is_container = bool(node.children) and not node.comparator.name
    types = node.allowed_types or ([] if node.json_type == keys.ANY else [node.json_type])
    actual, declared = json_type(value) or type(value).__name__, " or ".join(types)
    if not types or actual in types or (actual in _NUMERIC and not _NUMERIC.isdisjoint(types)):
        if is_container:
            yield from _problems_of_parts(value, node, exempt, strict=strict)
    elif strict:
        problem = f"is {shown(value)} ({actual}), not the schema-declared type {declared}"
        yield node.path, problem, True
    elif len(types) > 1:
        problem = f"is of type {actual}, not one of the declared types {declared}"
        yield node.path, problem, False
    elif is_container:
        yield node.path, f"should be of type {declared}, but is of type {actual}", False


def _problems_of_parts(
    value: Any, node: SchemaNode, exempt: frozenset[str], *, strict: bool
) -> Iterator[_Problem]:
    children = {child.name: child for child in node.children}
    rest = children.pop(None, None)
    if rest is None:
        for name in value:
            if name not in children and name not in exempt:
                where = keys.join(node.path, str(name))
                yield where, "is not in schema; add it there, or remove it", True
        for child in node.children:
            if child.name not in value and not child.skip:
                yield child.path, _MISSING, False
    for name, part in keys.members(value):
        if name not in exempt and (known := children.get(name, rest)) is not None:
            yield from _problems(part, known, strict=strict)
