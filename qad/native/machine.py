"""From the text of an LLVM module to machine code that Python can call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.installed import require

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Engine: TypeAlias = Any  # llvmlite's ExecutionEngine; llvmlite has no types

__all__ = ["compiled", "description", "loaded"]


def llvm() -> Any:
    """llvmlite, which is optional: who imports this needs it."""
    require("machine code", "llvmlite")
    from llvmlite import binding

    return binding


binding: Any = llvm()


def features() -> str:
    """What this processor can do besides what all of its kind can."""
    try:
        return binding.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know it
        return ""


def target() -> Any:
    """This machine, as LLVM knows it: an object of its own for each engine, which then owns it."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    native = binding.Target.from_triple(binding.get_process_triple())
    return native.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features(), opt=3, reloc="default", codemodel="jitdefault", jit=True
    )


def description() -> str:
    """What machine code depends on besides its source."""
    parts = binding.get_process_triple(), binding.get_host_cpu_name(), features(), binding.llvm_version_info
    return repr(parts)


def compiled(text: str) -> bytes:
    """The machine code, an object file in bytes, of a module in LLVM's language."""
    module = binding.parse_assembly(text)
    machine = target()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, False
    options.loop_unrolling = False  # measured: code runs as fast as unrolled, and half of the time to make it is saved
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


def loaded(code: bytes, symbols: dict[str, int]) -> Engine:
    """An engine that holds machine code and knows the addresses of its functions; `symbols` are those that it needs."""
    for name, address in symbols.items():
        binding.add_symbol(name, address)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
