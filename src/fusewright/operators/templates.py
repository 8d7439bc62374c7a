"""Valid calls written by hand, where torch's own samples have none, or none that fits a kernel."""

from typing import NamedTuple

from fusewright.records import TensorSpec


class Template(NamedTuple):
    """A call or a constructor as text, and the tensors of one valid call."""

    text: str
    inputs: tuple[TensorSpec, ...]

    @property
    def name(self) -> str:
        """What stands before the first parenthesis."""
        return self.text.partition("(")[0]


def _of(text: str, *inputs: TensorSpec | tuple[int, ...]) -> Template:
    specs = (spec if isinstance(spec, TensorSpec) else TensorSpec(shape=spec) for spec in inputs)
    return Template(text, tuple(specs))


def _within(low: float, high: float, *shape: int) -> TensorSpec:
    return TensorSpec(shape=shape, low=low, high=high)


def _indices(count: int, *shape: int) -> TensorSpec:
    return TensorSpec(shape=shape, dtype="int64", low=0, high=count - 1)


def _constant(value: int, *shape: int) -> TensorSpec:
    return TensorSpec(shape=shape, dtype="int64", low=value, high=value)


_MASK = TensorSpec(shape=(4, 8), dtype="bool")

FUNCTIONS = (
    _of("torch.clamp({0}, -1.0, 2.0)", (4, 8)),
    _of("torch.where({0}, {1}, {2})", _MASK, (4, 8), (4, 8)),
    _of("torch.masked_fill({0}, {1}, -1.5)", (4, 8), _MASK),
    _of("torch.einsum('bij,bjk->bik', {0}, {1})", (2, 3, 4), (2, 4, 5)),
    _of("torch.matmul({0}, {1})", (2, 3, 4), (2, 4, 5)),
    _of("torch.polygamma(1, {0})", _within(0.5, 4.0, 4, 8)),
    _of("torch.chain_matmul({0}, {1}, {2})", (3, 4), (4, 5), (5, 6)),
    _of("torch.nan_to_num({0}, nan=0.5)", (4, 8)),
    _of("torch.round({0}, decimals=1)", (4, 8)),
    _of("torch.index_copy({0}, 0, {1}, {2})", (5, 8), _indices(5, 3), (3, 8)),
    _of("torch.linalg.vector_norm({0}, dim=1)", (4, 8)),
    _of("torch.linalg.matrix_norm({0})", (2, 4, 5)),
    _of("torch.linalg.multi_dot([{0}, {1}, {2}])", (3, 4), (4, 5), (5, 6)),
    _of("torch.linalg.matrix_power({0}, 3)", (2, 4, 4)),
    _of("torch.mvlgamma({0}, 2)", _within(1.5, 4.0, 4, 8)),
    _of("torch.max({0}, dim=1)", (4, 8)),
    _of("torch.min({0}, dim=1)", (4, 8)),
    _of("torch.quantile({0}, 0.25, dim=1)", (4, 8)),
    _of("torch.nanquantile({0}, 0.25, dim=1)", (4, 8)),
    _of("torch.cov({0})", (4, 8)),
    _of("torch.corrcoef({0})", (4, 8)),
    _of("torch.diff({0}, dim=1)", (4, 8)),
    _of("torch.gradient({0}, dim=1)", (4, 8)),
    _of("torch.cdist({0}, {1}, p=2.0)", (2, 5, 4), (2, 6, 4)),
    _of("torch.flip({0}, dims=(1,))", (4, 8)),
    _of("torch.tile({0}, (1, 2))", (4, 8)),
    _of("torch.repeat_interleave({0}, 2, dim=1)", (4, 8)),
    _of("F.celu({0}, alpha=1.5)", (4, 8)),
    _of("F.batch_norm({0}, None, None, {1}, {2}, training=True)", (4, 3, 5, 5), (3,), (3,)),
    _of("F.instance_norm({0}, weight={1}, bias={2})", (2, 3, 5, 5), (3,), (3,)),
    _of("F.layer_norm({0}, (8,), {1}, {2})", (4, 8), (8,), (8,)),
    _of("F.rms_norm({0}, (8,), {1})", (4, 8), (8,)),
    _of("F.group_norm({0}, 2, {1}, {2})", (2, 6, 5, 5), (6,), (6,)),
    _of("F.normalize({0}, dim=1)", (4, 8)),
    _of("F.softplus({0})", (4, 8)),
    _of("F.linear({0}, {1}, {2})", (4, 8), (5, 8), (5,)),
    _of("F.conv1d({0}, {1}, {2}, padding=1)", (2, 3, 8), (4, 3, 3), (4,)),
    _of("F.conv2d({0}, {1}, {2}, padding=1)", (2, 3, 6, 6), (4, 3, 3, 3), (4,)),
    _of("F.conv3d({0}, {1}, {2}, padding=1)", (2, 3, 4, 4, 4), (4, 3, 3, 3, 3), (4,)),
    _of("F.conv_transpose1d({0}, {1}, {2}, stride=2)", (2, 3, 5), (3, 4, 3), (4,)),
    _of("F.conv_transpose2d({0}, {1}, {2}, stride=2)", (2, 3, 5, 5), (3, 4, 3, 3), (4,)),
    _of("F.conv_transpose3d({0}, {1}, {2}, stride=2)", (2, 3, 3, 3, 3), (3, 4, 3, 3, 3), (4,)),
    _of("F.conv_tbc({0}, {1}, {2})", (6, 2, 4), (3, 4, 5), (5,)),
    _of("F.max_pool1d({0}, 2)", (2, 3, 8)),
    _of("F.max_pool2d({0}, 2)", (2, 3, 8, 8)),
    _of("F.max_pool3d({0}, 2)", (2, 3, 4, 4, 4)),
    _of("F.adaptive_max_pool1d({0}, 4)", (2, 3, 8)),
    _of("F.adaptive_max_pool2d({0}, 4)", (2, 3, 8, 8)),
    _of("F.adaptive_max_pool3d({0}, 2)", (2, 3, 4, 4, 4)),
    _of("F.pdist({0})", (5, 4)),
    _of("F.pixel_shuffle({0}, 2)", (2, 8, 4, 4)),
    _of("F.pixel_unshuffle({0}, 2)", (2, 2, 4, 4)),
    _of("F.unfold({0}, (2, 2))", (2, 3, 5, 5)),
    _of("F.triplet_margin_with_distance_loss({0}, {1}, {2})", (4, 8), (4, 8), (4, 8)),
    _of("F.gaussian_nll_loss({0}, {1}, {2})", (4, 8), (4, 8), _within(0.1, 2, 4, 8)),
    _of("F.poisson_nll_loss({0}, {1})", (4, 8), _within(0, 5, 4, 8)),
    _of("F.embedding({0}, {1})", _indices(10, 4, 6), (10, 8)),
    _of("F.embedding_bag({0}, {1}, mode='mean')", _indices(10, 4, 6), (10, 8)),
    _of(
        "F.scaled_dot_product_attention({0}, {1}, {2}, dropout_p=0.0)",
        (2, 2, 6, 8),
        (2, 2, 6, 8),
        (2, 2, 6, 8),
    ),
    _of("F.lp_pool1d({0}, 2.0, 2)", (2, 3, 8)),
    _of("F.lp_pool2d({0}, 2.0, 2)", (2, 3, 8, 8)),
    _of("F.lp_pool3d({0}, 2.0, 2)", (2, 3, 4, 4, 4)),
    _of("F.fold({0}, (4, 4), (2, 2), stride=2)", (2, 12, 4)),
    _of("F.affine_grid({0}, (2, 3, 4, 4), align_corners=False)", (2, 2, 3)),
    _of("F.grid_sample({0}, {1}, align_corners=False)", (2, 3, 5, 5), _within(-1, 1, 2, 4, 4, 2)),
    _of("F.interpolate({0}, scale_factor=2.0, mode='bilinear')", (2, 3, 4, 4)),
    _of("F.pad({0}, (1, 1, 1, 1), mode='reflect')", (2, 3, 5, 5)),
    _of("F.kl_div({0}, {1}, reduction='batchmean')", (4, 8), _within(0.01, 1, 4, 8)),
    _of("F.cross_entropy({0}, {1})", (4, 10), _indices(10, 4)),
    _of("F.nll_loss({0}, {1})", (4, 10), _indices(10, 4)),
    _of("F.multi_margin_loss({0}, {1})", (4, 10), _indices(10, 4)),
    _of(
        "F.ctc_loss({0}, {1}, {2}, {3})",
        (12, 2, 6),
        TensorSpec(shape=(2, 4), dtype="int64", low=1, high=5),
        _constant(12, 2),
        _constant(4, 2),
    ),
    _of("torch.masked.sum({0}, 1, mask={1})", (4, 8), _MASK),
    _of("torch.masked.cumsum({0}, 1, mask={1})", (4, 8), _MASK),
    _of("torch.masked.normalize({0}, 2.0, 1, mask={1})", (4, 8), _MASK),
    _of("torch.masked.softmax({0}, 1, mask={1})", (4, 32), TensorSpec(shape=(4, 32), dtype="bool")),
    # A spectrum is complex: what a model goes on with is its magnitude, and a real tensor.
    _of("torch.fft.fft({0}, dim=0).abs()", (8, 3)),
    _of("torch.fft.fft2({0}).abs()", (3, 4, 8)),
    _of("torch.fft.fftn({0}, dim=(0, 1, 2)).abs()", (2, 3, 4, 8)),
    _of("torch.fft.rfft({0}, norm='ortho').abs()", (4, 8)),
    _of("torch.fft.rfft2({0}, norm='ortho').abs()", (3, 4, 8)),
    _of("torch.fft.rfftn({0}, dim=(1, 2, 3), norm='ortho').abs()", (2, 3, 4, 8)),
    _of("torch.fft.ifft({0}).real", (4, 8)),
    _of("torch.fft.ifft2({0}).real", (3, 4, 8)),
    _of("torch.fft.ifftn({0}, dim=(1, 2, 3)).real", (2, 3, 4, 8)),
)
"""Functions that OpInfo leaves out, or samples in a form that nobody writes in a model."""

MODULES = (
    _of("nn.Linear(8, 5)", (4, 8)),
    _of("nn.CELU(alpha=1.5)", (4, 8)),
    _of("nn.BatchNorm1d(3, track_running_stats=False)", (4, 3, 5)),
    _of("nn.BatchNorm2d(3, track_running_stats=False)", (4, 3, 5, 5)),
    _of("nn.BatchNorm3d(3, track_running_stats=False)", (4, 3, 4, 4, 4)),
    _of("nn.InstanceNorm1d(3, affine=True)", (4, 3, 5)),
    _of("nn.InstanceNorm2d(3, affine=True)", (4, 3, 5, 5)),
    _of("nn.InstanceNorm3d(3, affine=True)", (4, 3, 4, 4, 4)),
    _of("nn.CrossMapLRN2d(3)", (2, 6, 5, 5)),
    _of("nn.LPPool1d(2.0, 2)", (2, 3, 8)),
    _of("nn.LPPool2d(2.0, 2)", (2, 3, 8, 8)),
    _of("nn.LPPool3d(2.0, 2)", (2, 3, 4, 4, 4)),
    _of("nn.ChannelShuffle(2)", (2, 4, 5, 5)),
    _of("nn.PixelShuffle(2)", (2, 8, 4, 4)),
    _of("nn.PixelUnshuffle(2)", (2, 2, 4, 4)),
    _of("nn.Upsample(scale_factor=2, mode='bilinear')", (2, 3, 4, 4)),
    _of("nn.UpsamplingNearest2d(scale_factor=2)", (2, 3, 4, 4)),
    _of("nn.UpsamplingBilinear2d(scale_factor=2)", (2, 3, 4, 4)),
    _of("nn.Flatten()", (2, 3, 4)),
    _of("nn.Unflatten(1, (2, 3))", (4, 6)),
    _of("nn.Fold((4, 4), (2, 2), stride=2)", (2, 12, 4)),
    _of("nn.Unfold((2, 2))", (2, 3, 5, 5)),
    _of("nn.Embedding(10, 8)", _indices(10, 4, 6)),
    _of("nn.EmbeddingBag(10, 8, mode='mean')", _indices(10, 4, 6)),
    _of("nn.MultiheadAttention(8, 2, batch_first=True)", (2, 6, 8), (2, 6, 8), (2, 6, 8)),
    _of(
        "nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, dropout=0.0, batch_first=True)",
        (2, 6, 8),
    ),
    _of(
        "nn.TransformerDecoderLayer(8, 2, dim_feedforward=16, dropout=0.0, batch_first=True)",
        (2, 6, 8),
        (2, 5, 8),
    ),
    _of(
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 2)",
        (2, 6, 8),
    ),
    _of(
        "nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True), 2)",
        (2, 6, 8),
        (2, 5, 8),
    ),
    _of("nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True)", (2, 6, 8), (2, 5, 8)),
    _of("nn.RNN(8, 6, batch_first=True)", (2, 5, 8)),
    _of("nn.GRU(8, 6, batch_first=True)", (2, 5, 8)),
    _of("nn.LSTM(8, 6, batch_first=True)", (2, 5, 8)),
    _of("nn.RNNCell(8, 6)", (4, 8)),
    _of("nn.GRUCell(8, 6)", (4, 8)),
    _of("nn.LSTMCell(8, 6)", (4, 8)),
    _of("nn.AdaptiveLogSoftmaxWithLoss(8, 12, [4, 8])", (4, 8), _indices(12, 4)),
    _of("nn.CrossEntropyLoss()", (4, 10), _indices(10, 4)),
    _of("nn.NLLLoss()", (4, 10), _indices(10, 4)),
    _of("nn.LinearCrossEntropyLoss(5, 4)", (8, 5), _indices(4, 8)),
    _of("nn.LocalResponseNorm(3)", (2, 6, 5, 5)),
    _of("nn.KLDivLoss(reduction='batchmean')", (4, 8), _within(0.01, 1, 4, 8)),
    _of("nn.GaussianNLLLoss()", (4, 8), (4, 8), _within(0.1, 2, 4, 8)),
    _of(
        "nn.CTCLoss()",
        (12, 2, 6),
        TensorSpec(shape=(2, 4), dtype="int64", low=1, high=5),
        _constant(12, 2),
        _constant(4, 2),
    ),
)
"""Modules that ModuleInfo leaves out, or constructs in a form that nobody writes in a model."""
