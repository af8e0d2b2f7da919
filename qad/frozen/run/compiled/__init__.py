"""The compiled loop of frozen programs, the last pass: tables of small steps, carried out without Python.

Consecutive steps that the loop knows (`lowering`) are rows of a table (`rows`, `table`), and a run of them is one call
(`runs`, `loop`); chains of large arrays are carried out block by block (`blocks`).  The loop is the same for all
programs, and is compiled once on a machine (the extra ``fast``); without it all steps are NumPy's calls, and no result
changes beyond rounding.  Replays with it are 5.3 times as fast on 1000 small operations, 3.0 on a program of 40 gates,
3.9 on a chain of large elementwise functions, 1.8 on the energy of a chain of bond 8, 1.0 to 2.2 on Hessians.
"""
