"""``python -m tests.fuzz transforms 0 5000`` checks the programs of five thousand seeds and prints those that fail.

Each kind of program is a module of this folder with a function ``check(seed)``, which says in words what is wrong.
More words are handed on: ``python -m tests.fuzz views 0 100000 eager constant batches`` looks at these roads alone.
"""

import gc
import sys
import warnings
from importlib import import_module

import numpy as np

if __name__ == "__main__":
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    kind, first, last, *roads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
    check = import_module(f"tests.fuzz.{kind}").check
    failed = 0
    gc.freeze()  # what is imported is not looked through again and again
    for seed in range(first, last):
        try:
            problems = check(seed, *roads)
        except Exception as error:
            problems = [f"{type(error).__name__}: {error}"[:300]]
        if problems:
            failed += 1
            print(seed, problems, flush=True)
    print(f"{last - first} programs, {failed} failed")
    sys.exit(failed > 0)
