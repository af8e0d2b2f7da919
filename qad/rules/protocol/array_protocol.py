"""What the array-API standard asks of the array itself; its namespace, `qad.array_api`, comes when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.extend import attach, stack_of, value_of
from qad.rules.making.devices import to_device

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any, NoReturn

    from qad.extend import Tensor
    from qad.typing import Value

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def attach_namespace(load: Callable[[], ModuleType]) -> None:
    """Give Tensor the method that names the array-API standard's namespace, which `load` loads."""

    def __array_namespace__(x: Tensor, *, api_version: str | None = None) -> ModuleType:
        """The array-API standard's namespace: functions that take Tensors and give Tensors.

        Parameters
        ----------
        api_version : str, optional
            A version of the standard, such as "2024.12", which is the newest.

        Raises
        ------
        ArgumentError
            For a version that is not known.

        Examples
        --------
        >>> import numpy as np, qad
        >>> def entropy(p):
        ...     xp = p.__array_namespace__()
        ...     return -xp.sum(p * xp.log(p))
        >>> qad.grad(entropy)(np.array([0.5, 0.5]))
        array([-0.30685282, -0.30685282])
        """
        if api_version not in (None, *VERSIONS):
            raise ArgumentError(
                f"the versions of the array-API standard are {', '.join(VERSIONS)}, not {api_version!r}"
            )
        return load()

    attach("__array_namespace__", __array_namespace__)


def device(x: Tensor) -> Any:
    """Where the values are: "cpu" for ndarrays."""
    return getattr(stack_of(x), "device", "cpu")


def to_device_of(x: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """`x` there, by `qad.to_device`; `x` itself, where it is on that device."""
    return x if device == x.device else to_device(x, device)


def contains(x: Tensor, value: Value) -> bool:
    """Whether some entry equals `value`."""
    return value_of(value) in value_of(x)


def dlpack(
    x: Tensor, *, stream: Any = None, max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None, copy: bool | None = None,
) -> Any:  # fmt: skip
    """The values for another library; NumPy raises a BufferError where it cannot give them so."""
    asked = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    given = {name: value for name, value in asked.items() if value is not None}  # before 2.1 NumPy knows `stream` alone
    return x.__array__().__dlpack__(**given)


attach("device", device, property=True)
attach("to_device", to_device_of)
attach("__contains__", contains)
attach("__dlpack__", dlpack)
attach("__dlpack_device__", lambda x: value_of(x).__dlpack_device__())


def refuse_torch(function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
    """What torch asks when one of its functions is given a Tensor, which it cannot differentiate."""
    raise ArgumentError(
        f"torch's {getattr(function, '__name__', function)} was given a Tensor of qad: qad.interop.torch.primitive(f) "
        "makes a function of torch one of qad's, qad.interop.torch.wrap(f) one of qad torch's, x.numpy() is a constant"
    )


attach("__torch_function__", staticmethod(refuse_torch))
