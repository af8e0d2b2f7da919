"""What a function can reach beyond its arguments: through closures, defaults, named globals, attributes."""

from types import CodeType, FunctionType, MethodType, ModuleType

__all__ = ["reachable"]

DEPTH, WIDTH = 4, 256  # how many steps away, and how many entries of a container


def reachable(f, kinds) -> list:
    """The objects of these kinds that `f` can reach, each once."""
    return list(_search(f, kinds, DEPTH, set()))


def _search(x, kinds, depth, seen):
    if id(x) in seen or depth < 0 or isinstance(x, (type, ModuleType, str, int, float)):
        return
    seen.add(id(x))
    if isinstance(x, kinds):
        yield x
        return
    for each in _within(x):
        yield from _search(each, kinds, depth - 1, seen)


def _within(x):
    """What is one step away."""
    if isinstance(x, MethodType):
        return x.__func__, x.__self__
    if isinstance(x, FunctionType):
        named = [x.__globals__[name] for name in _names(x.__code__) if name in x.__globals__]
        return [*map(_content, x.__closure__ or ()), *(x.__defaults__ or ()), *named]
    if isinstance(x, (tuple, list)):
        return x[:WIDTH]
    if isinstance(x, dict):
        return list(x.values())[:WIDTH]
    return list(getattr(x, "__dict__", {}).values())[:WIDTH]


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # an empty cell
        return None


def _names(code):
    """Names of globals and attributes, those of inner functions too."""
    names = set(code.co_names)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            names |= _names(each)
    return names
