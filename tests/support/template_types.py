"""What a template reads that the types of what it is given do not have: a small type checker of Jinja templates.

An attribute of a NamedTuple, dataclass or model has to be declared; of what has no known type nothing is said.
"""

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Union, get_args, get_origin

from jinja2 import Environment, nodes
from pydantic import BaseModel

LOOP: Final = {"loop", "caller", "varargs", "kwargs", "namespace", "range", "dict"}


class Templates:
    """The templates of one environment, by name."""

    def __init__(self, env: Environment) -> None:
        self._env = env

    def faults(self, template: str, given: Mapping[str, Any]) -> list[str]:
        """Return what a template, and those that it includes or extends, reads in vain.

        Args:
            given: name -> type of what the template is rendered with.
        """
        return sorted(set(self._of(template, {**given})))

    def _of(self, template: str, scope: dict[str, Any]) -> Iterator[str]:
        assert self._env.loader is not None
        source, _, _ = self._env.loader.get_source(self._env, template)
        for fault in self._within(self._env.parse(source), scope):
            yield fault if fault.startswith("pages/") else f"{template}: {fault}"

    def _within(self, node: nodes.Node, scope: dict[str, Any]) -> Iterator[str]:  # noqa: C901, PLR0912  a case for each kind
        match node:
            case nodes.For():
                yield from self._within(node.iter, scope)
                inner = dict(scope)
                bind(node.target, item_of(self.type_of(node.iter, scope)), inner)
                for child in (*([node.test] if node.test else []), *node.body, *node.else_):
                    yield from self._within(child, inner)
            case nodes.Assign():
                yield from self._within(node.node, scope)
                bind(node.target, self.type_of(node.node, scope), scope)
            case nodes.AssignBlock():
                bind(node.target, Any, scope)
                yield from self._each(node.body, scope)
            case nodes.Macro():
                scope[node.name] = Any
                inner = {**scope, **{arg.name: Any for arg in node.args}}
                yield from self._each([*node.defaults, *node.body], inner)
            case nodes.FromImport():
                for name in node.names:
                    scope[name if isinstance(name, str) else name[1]] = Any
            case nodes.Include() | nodes.Extends():
                assert isinstance(node.template, nodes.Const)
                yield from self._of(node.template.value, scope)
            case nodes.Name(ctx="load"):
                if node.name not in scope and node.name not in self._env.globals and node.name not in LOOP:
                    yield f"line {node.lineno}: {node.name}"
            case nodes.Getattr():
                yield from self._within(node.node, scope)
                of = self.type_of(node.node, scope)
                if member_of(of, node.attr) is None:
                    yield f"line {node.lineno}: {plain(of).__name__}.{node.attr}"
            case _:
                yield from self._each(list(node.iter_child_nodes()), scope)

    def _each(self, children: Sequence[nodes.Node], scope: dict[str, Any]) -> Iterator[str]:
        for child in children:
            yield from self._within(child, scope)

    def type_of(self, node: nodes.Node, scope: Mapping[str, Any]) -> Any:  # noqa: PLR0911  likewise
        """Return the type of an expression; Any where it is not known."""
        match node:
            case nodes.Name():
                return scope.get(node.name, Any)
            case nodes.Getattr():
                return member_of(self.type_of(node.node, scope), node.attr)
            case nodes.Call(node=nodes.Getattr(attr="items") as read):
                of = plain(self.type_of(read.node, scope))
                return tuple[get_args(of), ...] if is_mapping(of) else Any  # type: ignore[misc]
            case nodes.Call(node=nodes.Getattr(attr="values") as read):
                of = plain(self.type_of(read.node, scope))
                return tuple[get_args(of)[1], ...] if is_mapping(of) else Any  # type: ignore[misc]
            case nodes.Getitem():
                of = plain(self.type_of(node.node, scope))
                if isinstance(node.arg, nodes.Slice):
                    return of
                return get_args(of)[1] if is_mapping(of) else item_of(of)
            case nodes.Filter(name="list" | "reverse" | "selectattr" | "rejectattr" | "sort") if node.node is not None:
                return self.type_of(node.node, scope)
        return Any


def plain(of: Any) -> Any:
    """Return a type without None; Any of a union that has more than one."""
    if get_origin(of) in {Union, types.UnionType}:
        rest = [each for each in get_args(of) if each is not types.NoneType]
        return plain(rest[0]) if len(rest) == 1 else Any
    return of


def is_mapping(of: Any) -> bool:
    origin = get_origin(of)
    return isinstance(origin, type) and issubclass(origin, Mapping) and len(get_args(of)) == 2


def item_of(of: Any) -> Any:
    """Return the type of what iteration gives: a tuple's, sequence's, or a mapping's keys."""
    found = plain(of)
    given = get_args(found)
    if get_origin(found) is tuple:
        return given[0] if len(given) == 2 and given[1] is ... else Any
    return given[0] if given and isinstance(get_origin(found), type) else Any


def bind(target: nodes.Node, of: Any, scope: dict[str, Any]) -> None:
    """Bind names to what is assigned to them, one by one where it is taken apart."""
    if isinstance(target, nodes.Name):
        scope[target.name] = of
    elif isinstance(target, nodes.Tuple):
        typed = get_args(of) if get_origin(of) is tuple else of
        given = typed if isinstance(typed, tuple) else ()
        parts = given if len(given) == len(target.items) else [Any] * len(target.items)
        for item, part in zip(target.items, parts, strict=True):
            bind(item, part, scope)


def member_of(of: Any, name: str) -> Any:
    """Return the type of a member, Any where it is not known; None where a declared type has no such member."""
    found = plain(of)
    if not isinstance(found, type) or not is_declared(found):
        return Any

    hints = typing.get_type_hints(found)
    if name in hints:
        return hints[name]
    member = getattr(found, name, None)
    if member is None:
        return None
    read = getattr(member, "fget", None) or getattr(member, "func", None)
    return typing.get_type_hints(read).get("return", Any) if read else Any


def is_declared(of: type) -> bool:
    """Return whether all that a type has is declared: a NamedTuple, a dataclass, a model."""
    return hasattr(of, "_fields") or hasattr(of, "__dataclass_fields__") or issubclass(of, BaseModel)
