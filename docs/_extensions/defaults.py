"""Give parameters that share one description their own defaults and types. griffe uses those of the first for all."""

from typing import Any

import griffe


class OwnDefaults(griffe.Extension):
    """Correct the parsed parameters. Runs after griffe's `dataclasses`, which adds the parameters of classes."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        for described in _described(pkg):
            for section in described.docstring.parsed:
                if section.kind is griffe.DocstringSectionKind.parameters:
                    _settle(section.value, described.parameters)


def _described(found: Any) -> Any:
    """Yield all classes and functions with a docstring, recursively."""
    for member in list(found.members.values()):
        if not member.is_alias:
            if (member.is_class or member.is_function) and member.docstring:
                yield member
            yield from _described(member)


def _settle(documented: list[griffe.DocstringParameter], signature: griffe.Parameters) -> None:
    types = [parameter.annotation for parameter in signature]
    for entry in documented:
        if entry.name in signature:
            own = signature[entry.name]
            entry.value = own.default
            if any(entry.annotation is found for found in types):  # taken from the signature, not from the docstring
                entry.annotation = own.annotation
