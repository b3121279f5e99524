"""ASGI applications: their types, and how one is found by name."""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from types import ModuleType

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI 3 application."""


def load_app(name: str) -> AsgiApp:
    """
    Import the application that *name* points to.

    Args:
        name: ``module:attribute``, the attribute dotted if need be; or
            ``module:factory()``, to call it without arguments. Modules in the
            current directory are found.

    Raises:
        TargetError: there is no such thing, importing or calling it failed, or
            it is no application.
    """
    module_name, colon, path = name.partition(":")
    factory = path.removesuffix("()")
    if not colon or not module_name or not factory:
        raise TargetError(
            f"{name!a} names no app: write module:attribute, as in main:app or main:make_app()"
        )
    found = _attribute(_module(module_name), module_name, factory)
    if path != factory:
        found = _called(found, name)
    elif _is_factory(found):
        raise TargetError(f"{name} takes no arguments, so it makes the app: write {name}()")
    if not callable(found):
        raise TargetError(
            f"{name} is of type {type(found).__name__}, which is no ASGI app: name the app itself"
        )
    return cast("AsgiApp", found)


def attribute_named(name: str) -> object:
    """
    Import what ``module:attribute`` names; modules in the current directory are found.

    Raises:
        TargetError: there is no such thing, or importing it failed.
    """
    module_name, colon, path = name.partition(":")
    if not colon or not module_name or not path:
        raise TargetError(f"{name!a} names nothing: write module:attribute")
    return _attribute(_module(module_name), module_name, path)


def _module(name: str) -> ModuleType:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise TargetError(_no_module(name, folder)) from error
        raise TargetError(
            f"importing {name} failed, it needs the module {error.name}: install it here"
        ) from error
    except (Exception, SystemExit) as error:
        raise TargetError(
            f"importing {name} raised {type(error).__name__}: see that"
            f" `python -c 'import {name}'` works"
        ) from error


def _no_module(name: str, folder: str) -> str:
    if name.endswith(".py") or "/" in name:
        dotted = ".".join(Path(name).with_suffix("").parts)
        return f"{name} is a file: write the module's name, {dotted}"
    here = [path.stem for path in Path(folder).glob("*.py")]
    near = difflib.get_close_matches(name, here, n=1)
    if near:
        return f"there is no module {name}: did you mean {near[0]}?"
    return f"there is no module {name} here: start from the folder that holds it, or install it"


def _attribute(module: ModuleType, module_name: str, path: str) -> object:
    found: object = module
    for step in path.split("."):
        try:
            found = getattr(found, step)
        except AttributeError:
            names = [known for known in dir(found) if not known.startswith("_")]
            near = difflib.get_close_matches(step, names, n=1) or [
                known for known in ("app", "application", "create_app()") if known[:10] in names
            ]
            way_out = f"did you mean {near[0]}?" if near else "name the variable that holds the app"
            raise TargetError(f"{module_name} has no {path}: {way_out}") from None
    return found


def _called(factory: object, name: str) -> object:
    if not callable(factory):
        raise TargetError(f"{name} cannot be called: leave the () off")
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise TargetError(
            f"{name} raised {type(error).__name__}: make it work without arguments"
        ) from error


def _is_factory(found: object) -> bool:
    """Say whether *found* is a function without parameters: no app is."""
    return inspect.isfunction(found) and not inspect.signature(found).parameters
