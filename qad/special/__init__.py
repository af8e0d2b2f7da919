"""SciPy's special functions with derivatives: SciPy's own ufuncs, which take Tensors, and what SciPy has no ufunc for.

``qad.special.erf is scipy.special.erf``: a program that calls ``scipy.special.erf(x)`` on a Tensor finds the rule too.
Complex arguments are differentiated where SciPy takes them. Orders and shape parameters (the ``v`` of ``jv``) are
constants unless the table says otherwise, and refuse a recorded Tensor.

===================  ==========================================================================================
Gamma and relatives  gamma gammaln loggamma rgamma digamma psi polygamma beta betaln gammainc gammaincc betainc
Errors               erf erfc erfcx erfi erfinv erfcinv dawsn wofz ndtr log_ndtr ndtri
Logarithms, sums     logsumexp softmax log_softmax xlogy xlog1py entr rel_entr kl_div expit logit log_expit exprel
Exponential          exp2 exp10 expm1 log1p cbrt cosm1 expi exp1 expn lambertw sinc
Bessel, Airy         jv jn yv iv kv hankel1 hankel2 j0 j1 y0 y1 i0 i1 k0 k1 airy
Hypergeometric       hyp0f1 hyp1f1 hyp2f1
Polynomials          eval_legendre eval_chebyt eval_chebyu eval_hermite eval_hermitenorm eval_laguerre
                     eval_genlaguerre eval_gegenbauer eval_jacobi
===================  ==========================================================================================
"""

from typing import TYPE_CHECKING

from numpy import sinc

if TYPE_CHECKING:
    from scipy.special import *  # of which these have derivatives

from qad.special import bessel, errors, gammas, hypergeometric, polynomials, scipys  # their rules
from qad.special.exponentials import exprel, lambertw, log_softmax, logsumexp, softmax
from qad.special.gammas import polygamma

__all__ = [
    "airy", "beta", "betainc", "betaln", "cbrt", "cosm1", "dawsn", "digamma", "entr", "erf", "erfc", "erfcinv",
    "erfcx", "erfi", "erfinv", "eval_chebyt", "eval_chebyu", "eval_gegenbauer", "eval_genlaguerre",
    "eval_hermite", "eval_hermitenorm", "eval_jacobi", "eval_laguerre", "eval_legendre", "exp1", "exp10",
    "exp2", "expi", "expit", "expm1", "expn", "exprel", "gamma", "gammainc", "gammaincc", "gammaln", "hankel1",
    "hankel2", "hyp0f1", "hyp1f1", "hyp2f1", "i0", "i1", "iv", "j0", "j1", "jn", "jv", "k0", "k1", "kl_div",
    "kv", "lambertw", "log1p", "log_expit", "log_ndtr", "log_softmax", "loggamma", "logit", "logsumexp", "ndtr",
    "ndtri", "polygamma", "psi", "rel_entr", "rgamma", "sinc", "softmax", "wofz", "xlog1py", "xlogy", "y0",
    "y1", "yv",
]  # fmt: skip

globals().update({name: getattr(scipys, name) for name in __all__ if name not in globals()})
