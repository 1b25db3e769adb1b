"""An evaluation schema, checked and parsed into nodes; every error names its path."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from factcheck.documents import shown
from factcheck.errors import ParameterError, SchemaError
from factcheck.fields.registry import Registry, default_registry
from factcheck.fields.schemas import structure as keys
from factcheck.fields.schemas.combinations import check_names
from factcheck.fields.schemas.references import annotate_xeval, as_schema
from factcheck.fields.schemas.structure import ComparatorSpec, TransformSpec, parse_xeval_entry
from factcheck.fields.types import BuiltinComparator, BuiltinTransform

Strategy = Literal["ordered", "key_field", "hungarian"]
_STRATEGIES = ("key_field", "hungarian")
_ALIGN_KEYS = ("ordered", "match_by", "key", "threshold")
_MAX_WEIGHT = 1e6
_log = logging.getLogger("factcheck.fields")


@dataclass
class SchemaNode:
    """One field of an evaluation schema and the fields below it."""

    path: str
    """`items[].name`; empty for the root."""
    json_type: str
    """The effective type; `"multi"` if several are allowed."""
    comparator: ComparatorSpec = field(default_factory=ComparatorSpec)
    children: list[SchemaNode] = field(default_factory=list)
    """The properties of an object or positions of a tuple; the last may be the one node, without a
    name, of the items of an array or of all other keys or items."""
    skip: bool = False
    transforms: list[TransformSpec] = field(default_factory=list)
    align: dict[str, Any] | None = None
    """How array elements are aligned; `None`: by position."""
    allowed_types: list[str] | None = None
    """The types of a field that allows several."""
    name: str | None = None
    """Name of the property; `None` for items and the root."""
    threshold: float = 1.0
    """Lowest score of a match, in (0, 1]."""
    weight: float = 1.0
    """Weight of the field in precision, recall and F1."""
    description: str = ""
    unroll: Callable[[], SchemaNode] | None = field(default=None, repr=False, compare=False)
    """Gives the node that a recursive reference stands for; `None` for any other node."""

    @property
    def strategy(self) -> Strategy:
        return strategy_of(self.align or {})

    @property
    def is_rest(self) -> bool:
        """Whether it stands for the items of an array, or all other keys of an object."""
        return self.name is None and self.path.endswith("[]")

    @property
    def named(self) -> dict[str, SchemaNode]:
        """The properties by name; that of a node made by hand is the end of its path."""
        start = len(self.path) + 1 if self.path else 0
        return {
            child.path[start:] if child.name is None else child.name: child
            for child in self.children
            if not child.is_rest
        }


def strategy_of(align: Mapping[str, Any]) -> Strategy:
    chosen = align.get("match_by")
    return chosen if chosen in _STRATEGIES and align.get("ordered") is not True else "ordered"


def parse_eval_schema(raw_schema: Any, registry: Registry | None = None) -> SchemaNode:
    """Parse and check an evaluation schema.

    Args:
        raw_schema: A resolved JSON schema with `x-eval-*` keys, or a pydantic model class, whose
            fields get the default comparators of their types.
        registry: Comparators and transforms that the schema may name.

    Raises:
        SchemaError: Says which key at which path is invalid, and what is allowed.
    """
    schema = annotate_xeval(raw_schema) if isinstance(raw_schema, type) else as_schema(raw_schema)
    if not isinstance(schema, dict):
        raise SchemaError(f"Eval schema must be an object, not {type(schema).__name__}")
    root = _Parser(registry or default_registry, schema).node(schema, "", None, 1.0, 0)
    weights = list(_weights(root))
    if weights and not any(weights):
        raise SchemaError(f"every field has {keys.WEIGHT} 0, so none would count; set one above 0")
    return root


def _weights(node: SchemaNode) -> Iterator[float]:
    """Of the fields that are compared."""
    if not node.skip:
        if node.comparator.name or not node.children:
            yield node.weight
        for child in [] if node.comparator.name else node.children:
            yield from _weights(child)


class _Parser:
    def __init__(self, registry: Registry, root: dict[str, Any]) -> None:
        self._registry = registry
        self._root = root

    def node(
        self, schema: dict[str, Any], path: str, name: str | None, weight: float, depth: int
    ) -> SchemaNode:
        if depth > keys.MAX_DEPTH:
            raise SchemaError(
                f"nested more than {keys.MAX_DEPTH} levels deep; flatten it", path[:80]
            )
        _check_keys(schema, path)
        kind = _kind(schema, path)
        children = keys.sub_schemas(schema)
        if keys.is_recursive(schema) and keys.COMPARE not in schema and not _skip(schema, path):
            weight = _number(schema, keys.WEIGHT, path, weight, highest=_MAX_WEIGHT)
            target = {**_target(self._root, schema["$ref"], path), keys.WEIGHT: weight}
            unroll = partial(self.node, target, path, name, weight, depth + 1)
            return SchemaNode(path, kind, name=name, weight=weight, unroll=unroll)
        _check_children(schema, kind, children, path)
        description = schema.get("description")
        node = SchemaNode(
            path,
            kind,
            skip=_skip(schema, path),
            name=name,
            weight=_number(schema, keys.WEIGHT, path, weight, highest=_MAX_WEIGHT),
            description=description if isinstance(description, str) else "",
        )
        if kind == keys.MULTI:
            node.allowed_types = list(keys.declared_types(schema["type"]))
        if keys.COMPARE in schema:
            node.comparator = self._comparator(schema, kind, path)
        elif not children and not node.skip:
            raise SchemaError(
                f"missing {keys.COMPARE}; name a comparator, or call annotate_xeval(schema)", path
            )
        compared = bool(node.comparator.name)
        node.threshold = _threshold(schema, path, compared=compared)
        node.transforms = self._transforms(schema, path)
        if node.transforms and children and not compared:
            _log.warning("%s: %s has no effect without a comparator", path, keys.TRANSFORM)
        if keys.ALIGN in schema:
            node.align = _checked_align(schema, kind, path)
        node.children = [
            self.node(
                child.schema,
                f"{path}[]" if child.name is None else keys.join(path, child.name),
                child.name,
                node.weight,
                depth + 1,
            )
            for child in children
        ]
        if node.strategy == "key_field":
            _warn_of_key((node.align or {})["key"], node)
        return node

    def _comparator(self, schema: dict[str, Any], kind: str, path: str) -> ComparatorSpec:
        find, entry = self._registry.get_comparator, schema[keys.COMPARE]
        name, params = _looked_up(find, entry, keys.COMPARE, path)
        unlikely = {"numeric": {"string", "boolean"}, "exact": {"number", "integer"}}
        if kind in unlikely.get(name, ()) and not schema.get(keys.TRANSFORM):
            _log.warning("%s: the comparator %r on a field of type %s", path, name, kind)
        return ComparatorSpec(name, params)

    def _transforms(self, schema: dict[str, Any], path: str) -> list[TransformSpec]:
        entries = schema.get(keys.TRANSFORM, [])
        if not isinstance(entries, list):
            raise SchemaError(
                f"{keys.TRANSFORM} must be a list, not {entries!r}; write ['strip']", path
            )
        specs = []
        for place, entry in enumerate(entries):
            where = f"{keys.TRANSFORM}[{place}]"
            if not isinstance(entry, (str, dict)):
                raise SchemaError(f"{where} must be a string or object, not {entry!r}", path)
            found = _looked_up(self._registry.get_transform, entry, where, path)
            specs.append(TransformSpec(*found))
        return specs


def _looked_up(
    find: Callable[[str], Any], entry: Any, where: str, path: str
) -> tuple[str, dict[str, Any]]:
    """Name and parameters of what an entry names, both checked."""
    name, params = "", dict[str, Any]()
    # By contract an empty name is an unknown comparator, not a malformed entry.
    if entry != "" or where != keys.COMPARE:
        (key,) = entry if isinstance(entry, dict) and len(entry) == 1 else ("-",)
        if not isinstance(key, str) or not key:
            raise SchemaError(f"{where}: Unknown comparator {key!r}", path)
        try:
            name, params = parse_xeval_entry(entry)
        except (TypeError, ValueError) as error:
            raise SchemaError(f"{where}: {error}", path) from error
    try:
        found = find(name)
    except KeyError as error:
        raise SchemaError(f"{where}: {error}", path) from error
    is_builtin = isinstance(found, (BuiltinComparator, BuiltinTransform))
    check = found.bind if is_builtin else getattr(found, "check_params", None)
    if callable(check):
        try:
            check(params)
        except ParameterError as error:
            raise ParameterError(f"{where}: {error}", path) from error
    return name, params


def _check_keys(schema: dict[Any, Any], path: str) -> None:
    check_names(schema, path)
    if isinstance(properties := schema.get("properties"), dict):
        check_names(properties, path)
    for key in schema:
        if key.startswith(keys.PREFIX) and key not in keys.XEVAL_KEYS:
            _log.warning(
                "%s: Unknown x-eval key %r is ignored; expected one of %s",
                path or "the root",
                key,
                ", ".join(keys.XEVAL_KEYS),
            )


def _target(root: dict[str, Any], ref: str, path: str) -> dict[str, Any]:
    """What a recursive reference stands for."""
    target = root if ref == "#" else root.get("$defs", {}).get(ref.removeprefix("#/$defs/"))
    if not isinstance(target, dict):
        raise SchemaError(f"the reference {ref!r:.80} leads nowhere", path)
    return target


def _kind(schema: dict[str, Any], path: str) -> str:
    kind = keys.effective_type(schema)
    if not kind or (kind == keys.ANY and not path and keys.COMPARE not in schema):
        hint = "name one, such as 'string', or ['string', 'null']"
        if "$ref" in schema:
            hint = "resolve the schema first: resolve_schema_references(schema)"
        raise SchemaError(f"Missing or invalid 'type' {schema.get('type')!r}; {hint}", path)
    return kind


def _check_children(
    schema: dict[str, Any], kind: str, children: Sequence[keys.Child], path: str
) -> None:
    fitting = keys.container(schema)[0]
    if children and kind != fitting:
        keyword = "items" if fitting == "array" else "properties"
        raise SchemaError(
            f"'{keyword}' requires type '{fitting}', but the type is {schema['type']!r}", path
        )


def _skip(schema: dict[str, Any], path: str) -> bool:
    skip = schema.get(keys.SKIP, False)
    if not isinstance(skip, bool):
        raise SchemaError(f"{keys.SKIP} must be true or false, not {skip!r}", path)
    return skip


def _is_number(value: Any, highest: float) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 <= value <= highest


def _number(
    schema: dict[str, Any], key: str, path: str, default: float, *, highest: float
) -> float:
    value = schema.get(key, default)
    if not _is_number(value, highest):
        raise SchemaError(f"{key} must be a number from 0 to {highest:g}, not {shown(value)}", path)
    return float(value)


def _threshold(schema: dict[str, Any], path: str, *, compared: bool) -> float:
    if keys.THRESHOLD in schema and not compared:
        raise SchemaError(f"{keys.THRESHOLD} requires {keys.COMPARE}", path)
    threshold = _number(schema, keys.THRESHOLD, path, 1.0, highest=1.0)
    if not threshold:
        raise SchemaError(f"{keys.THRESHOLD} is 0, so that everything would match", path)
    return threshold


def _align_problem(align: Any) -> str:
    if not isinstance(align, dict):
        return f"must be a dict with 'ordered' or 'match_by', not {align!r}"
    if "ordered" not in align and "match_by" not in align:
        return f"requires 'ordered' or 'match_by'; found {list(align)!r}"
    ordered, chosen = align.get("ordered", False), align.get("match_by")
    if not isinstance(ordered, bool):
        return f"'ordered' must be true or false, not {ordered!r}"
    if chosen not in (None, *_STRATEGIES) or not (ordered or "match_by" in align):
        return f"'match_by' must be one of {_STRATEGIES}, not {chosen!r}"
    threshold = align.get("threshold", 0)
    if not _is_number(threshold, 1.0) or (threshold and strategy_of(align) != "hungarian"):
        return f"'threshold' must be a number from 0 to 1, with 'hungarian'; found {threshold!r}"
    return ""


def _checked_align(schema: Mapping[str, Any], kind: str, path: str) -> dict[str, Any]:
    align = schema[keys.ALIGN]
    problem = _align_problem(align)
    if kind != "array":
        problem = f"requires type 'array', but the type is {kind!r}"
    if not problem and strategy_of(align) == "key_field":
        problem = _key_problem(align.get("key"), schema.get("items"))
    if problem:
        raise SchemaError(f"{keys.ALIGN}: {problem}", path)
    if align.get("match_by", "") is None:
        _log.warning("%s: %s has no match_by; elements are compared by position", path, keys.ALIGN)
    for key in align:
        if key not in _ALIGN_KEYS:
            expected = ", ".join(_ALIGN_KEYS)
            _log.warning(
                "%s: unknown key %r in %s; expected one of %s", path, key, keys.ALIGN, expected
            )
    return dict(align)


def _key_problem(key: Any, items: Any) -> str:
    names = key if isinstance(key, list) and key else [key]
    if not all(isinstance(name, str) and name for name in names):
        return (
            "match_by 'key_field' requires a 'key', the name of a field of the elements or a list "
            f"of names; found {key!r}"
        )
    if not isinstance(items, dict):
        return "match_by 'key_field' requires 'items' with a schema"
    kind = keys.effective_type(items)
    if kind not in (None, keys.ANY, "object"):
        return f"match_by 'key_field' requires items type 'object', not {kind!r}"
    return ""


def _warn_of_key(key: Any, node: SchemaNode) -> None:
    items = node.children[-1] if node.children else node
    if not items.named:
        _log.warning("%s: the items have no 'properties', so no key to match by", node.path)
        return
    for name in key if isinstance(key, list) else [key]:
        if not key_path(items, name)[0]:
            _log.warning("%s: key %r not found among %s", node.path, name, sorted(items.named))


def key_path(items: SchemaNode, name: str) -> tuple[tuple[str, ...], SchemaNode | None]:
    """The names that lead to a key, and its field: `id.value` is two unless a property has it."""
    found = items.named
    if name in found:
        return (name,), found[name]
    head, _, rest = name.partition(".")
    if not rest or head not in found:
        return (), None
    steps, field_ = key_path(found[head], rest)
    return ((head, *steps), field_) if steps else ((), None)
