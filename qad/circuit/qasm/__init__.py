"""OpenQASM 2 (A. W. Cross et al., arXiv:1707.03429), read and written; of OpenQASM 3 what others write, read."""
