"""Coarse classes of operators, for sampling and statistics: a name alone decides.

A module and a function of one thing share their family: names are compared without prefix, case
and underscores, `nn.LogSoftmax` and `torch.log_softmax` both as `logsoftmax`.
"""

import re

_WORDS = {
    "elementwise": """
        abs absolute acos acosh add addcdiv addcmul airyai angle arccos arccosh arcsin arcsinh
        arctan arctan2 arctanh asin asinh atan atan2 atanh besselj0 besselj1 bessely0 bessely1
        ceil celu chebyshevpolynomialt chebyshevpolynomialu chebyshevpolynomialv
        chebyshevpolynomialw clamp clampmax clampmin clip clone copysign cos cosh deg2rad digamma
        div divide elu entr erf erfc erfcx erfinv exp exp2 expit expm1 fill fix floatpower floor
        floordivide fmax fmin fmod frac frexp gammainc gammaincc gammaln gelu glu hardshrink
        hardsigmoid hardswish hardtanh heaviside hermitepolynomialh hermitepolynomialhe hypot i0
        i0e i1 i1e igamma igammac laguerrepolynomiall ldexp leakyrelu legendrepolynomialp lerp
        lgamma log log10 log1p log2 logaddexp logaddexp2 logit logndtr logsigmoid maskedfill
        maximum minimum mish modifiedbesseli0 modifiedbesseli1 modifiedbesselk0 modifiedbesselk1
        mul multigammaln multiply mvlgamma nantonum ndtr ndtri neg negative nextafter polygamma
        pow prelu psi rad2deg reciprocal relu relu6 remainder round rrelu rsqrt rsub
        scaledmodifiedbesselk0 scaledmodifiedbesselk1 selu sgn shiftedchebyshevpolynomialt
        shiftedchebyshevpolynomialu shiftedchebyshevpolynomialv shiftedchebyshevpolynomialw
        sigmoid sign silu sin sinc sinh softplus softshrink softsign sphericalbesselj0 sqrt square
        sub subtract tan tanh tanhshrink threshold truedivide trunc where xlog1py xlogy zeta
        """,
    "reduction": """
        amax amin aminmax corrcoef cov dot frobeniusnorm logsumexp matrixnorm max mean median min
        mode nanmean nanmedian nanquantile nansum norm nuclearnorm prod quantile std stdmean sum
        trace trapezoid trapz var varmean vdot vecdot vectornorm
        """,
    "norm": """
        batchnorm crossmaplrn2d groupnorm instancenorm layernorm localresponsenorm normalize
        renorm rmsnorm syncbatchnorm
        """,
    "matmul": """
        addbmm addmm addmv addr baddbmm bilinear bmm chainmatmul einsum ger groupedmm grucell inner
        kron linear lstmcell matmul matrixpower mm multidot mv outer rnncell tensordot
        """,
    "scan": """
        cummax cummin cumprod cumsum cumulativetrapezoid diff gradient gru logcumsumexp lstm rnn
        """,
    "sort": "kthvalue msort sort topk uniqueconsecutive unique",
    "indexing": """
        diagonalscatter gather indexadd indexcopy indexfill indexput indexreduce indexselect
        maskedscatter maskedselect put repeatinterleave scatter scatteradd scatterreduce
        selectscatter slicescatter take takealongdim
        """,
    "layout": """
        blockdiag cartesianprod cat channelshuffle columnstack combinations concat concatenate
        constantpadnd diag diagembed diagflat dstack flatten flip fliplr flipud fold hstack pad
        pixelshuffle pixelunshuffle roll rot90 rowstack stack tile tril triu unflatten unfold
        vander vstack
        """,
    "embedding": "embedding embeddingbag",
    "resample": "affinegrid gridsample gridsampler gridsampler2d gridsampler3d interpolate",
    "distance": "cdist cosinesimilarity dist pairwisedistance pdist",
    "linalg": "cross det inv inverse logdet matrixexp slogdet solve",
}

_PATTERNS = (
    ("loss", r"loss|crossentropy|kldiv"),
    ("attention", r"attention|transformer"),
    ("conv", r"^conv"),
    ("pool", r"pool\d|unpool"),
    ("softmax", r"softmax|softmin"),
    ("resample", r"^upsampl"),
    ("spectral", r"^i?[hr]?fft([2n]|shift)?$"),
    ("layout", r"pad[123]d$"),
    ("norm", r"^(batch|instance|lazybatch|lazyinstance)norm\dd$"),
)

FAMILIES = tuple(dict.fromkeys([*_WORDS, *(name for name, _ in _PATTERNS), "other"]))
"""Every family that an operator may state."""

_BY_WORD = {word: name for name, words in _WORDS.items() for word in words.split()}


def family(name: str) -> str:
    """Family of the operator called *name*; `other` where nothing is known of it."""
    word = name.rpartition(".")[2].replace("_", "").lower()
    if word in _BY_WORD:
        return _BY_WORD[word]
    return next((found for found, pattern in _PATTERNS if re.search(pattern, word)), "other")
