"""Gates of the libraries of OpenQASM and Braket that the table of gates lacks, and what others are written as."""

from __future__ import annotations

ALIASES = {
    "U": "u3", "CX": "cx", "i": "id", "si": "sdg", "ti": "tdg", "v": "sx", "vi": "sxdg", "ccnot": "ccx",
    "phaseshift": "p", "cphaseshift": "cp", "cv": "csx", "xx": "rxx", "yy": "ryy", "zz": "rzz",
}  # fmt: skip
WITHOUT_INCLUDE = ("U", "CX")
QELIB = {
    "id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "sxdg", "rx", "ry", "rz", "p", "u", "u1", "u2", "u3", "cx",
    "cy", "cz", "ch", "csx", "swap", "crx", "cry", "crz", "cp", "cu1", "cu3", "cu", "rxx", "rzz", "ccx", "cswap",
    "rccx", "rc3x", "c3x", "c3sqrtx", "c4x",
}  # fmt: skip

# gates of the table that qelib1.inc lacks, as definitions in OpenQASM; exact up to a global phase
DEFINITIONS = {
    "iswap": "gate iswap a,b { s a; s b; h a; cx a,b; cx b,a; h b; }",
    "iswapdg": "gate iswapdg a,b { h b; cx b,a; cx a,b; h a; sdg b; sdg a; }",
    "ryy": "gate ryy(t) a,b { rx(pi/2) a; rx(pi/2) b; cx a,b; rz(t) b; cx a,b; rx(-pi/2) a; rx(-pi/2) b; }",
    "c3sqrtxdg": "gate c3sqrtxdg a,b,c,d { c3x a,b,c,d; c3sqrtx a,b,c,d; }",
    "rc3xdg": "gate rc3xdg a,b,c,d { rc3x a,b,c,d; rc3x a,b,c,d; rc3x a,b,c,d; }",
    "ccz": "gate ccz a,b,c { h c; ccx a,b,c; h c; }",
}
