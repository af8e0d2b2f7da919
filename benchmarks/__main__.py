"""The command line, `python -m benchmarks [NAME ...]`: sets the threads, then runs and reports."""

import argparse
import importlib
import os
import sys

from . import NAMES, RESULTS

# read by OpenBLAS, MKL, BLIS, Accelerate, Numba and torch
THREAD_VARIABLES = [f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")]
THREAD_VARIABLES.append("VECLIB_MAXIMUM_THREADS")


def parse(arguments=None):
    """Read and check the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run qad beside its peers.")
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all where none is given")
    add("--list", action="store_true", help="say what there is to run and which peers are installed")
    add("--threads", type=int, default=1, help="threads of every library (default 1)")
    add("--repeats", type=int, help="interleaved rounds (default 50, fewer where a round takes seconds)")
    add("--json", default=str(RESULTS / "{name}.json"), metavar="FILE", help="default %(default)s")
    add("--plot", default=str(RESULTS / "{name}.png"), metavar="FILE", help="default %(default)s")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no benchmark '{unknown[0]}', only {', '.join(NAMES)}")
    if options.threads < 1 or (options.repeats is not None and options.repeats < 1):
        parser.error("--threads and --repeats are at least 1")
    options.names = options.names or list(NAMES)
    if len(options.names) > 1 and not ("{name}" in options.json and "{name}" in options.plot):
        parser.error("where several benchmarks run, --json and --plot need {name} in their path")
    return options


def limit_threads(threads):
    """Give every library `threads` threads, and the process as many processors.

    Each library reads its variable once, when it is first imported. Jitted jax listens to none of them, and still uses
    every processor when it is told to use a single thread. So the process is kept on `threads` processors where the
    system can do that, and elsewhere `NPROC` bounds the threads of jax. Calls of jax that need one processor anyhow do
    not become slower by it; see `peers.import_jax`.
    """
    if "numpy" in sys.modules:
        raise RuntimeError("NumPy is imported already: its BLAS no longer listens to OMP_NUM_THREADS")
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    else:
        os.environ["NPROC"] = str(threads)
    if threads == 1:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"


def main(arguments=None):
    """Run what the command line asks for."""
    options = parse(arguments)
    limit_threads(options.threads)
    from . import peers, report, runner

    benchmarks = {name: importlib.import_module(f"benchmarks.{name}") for name in options.names}
    if options.list:
        for name, module in benchmarks.items():
            print(f"{name:16}{module.__doc__.splitlines()[0]}")
        print(f"\ninstalled: {', '.join(peers.installed())}\nmissing: {', '.join(peers.missing()) or 'none'}")
        return
    for name, module in benchmarks.items():
        results = runner.run(module, threads=options.threads, repeats=options.repeats)
        print(report.text(results), end="\n\n", flush=True)
        report.write_json(results, options.json.format(name=name))
        report.write_plot(results, options.plot.format(name=name))
        print(f"drawn in {options.plot.format(name=name)}", end="\n\n", flush=True)


if __name__ == "__main__":
    main()
