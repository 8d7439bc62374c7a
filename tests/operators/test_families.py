"""Families of operators by name."""

import pytest

from fusewright.operators.families import FAMILIES, family


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("F.gelu", "nn.GELU", "torch.logaddexp", "torch.special.i0e"), "elementwise"),
        (("torch.logsumexp", "torch.linalg.vector_norm", "torch.norm"), "reduction"),
        (("F.softmin", "nn.LogSoftmax", "torch.log_softmax"), "softmax"),
        (("nn.BatchNorm2d", "F.rms_norm", "F.normalize"), "norm"),
        (("nn.Linear", "torch.baddbmm", "torch.einsum"), "matmul"),
        (("nn.ConvTranspose3d", "F.conv1d"), "conv"),
        (("nn.AdaptiveMaxPool2d", "F.lp_pool1d"), "pool"),
        (("torch.fft.fft", "torch.fft.irfft2", "torch.fft.ihfft"), "spectral"),
        (("nn.MultiheadAttention", "F.scaled_dot_product_attention"), "attention"),
        (("torch.cumsum", "nn.LSTM"), "scan"),
        (("torch.topk",), "sort"),
        (("torch.gather",), "indexing"),
        (("nn.ReflectionPad2d", "F.pixel_shuffle", "torch.cat"), "layout"),
        (("nn.BCEWithLogitsLoss", "F.cross_entropy", "F.kl_div"), "loss"),
        (("nn.EmbeddingBag", "F.embedding"), "embedding"),
        (("nn.Upsample", "F.grid_sample"), "resample"),
        (("nn.CosineSimilarity", "torch.cdist"), "distance"),
        (("torch.matrix_exp",), "linalg"),
        (("hf.LlamaRMSNormGated", "nn.Unheard"), "other"),
    ],
)
def test_a_name_has_a_family(names, expected):
    assert {family(name) for name in names} == {expected}
    assert expected in FAMILIES
