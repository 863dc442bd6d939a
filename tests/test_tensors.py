"""PyTorch tensors: those with gradients, of bfloat16 or on another device are converted, or refused by us."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import blobs
from samekind import LabelOracle, SameKindClustering, Session, solve
from samekind.flow import check_answers
from samekind.measures import adjusted_rand_index
from samekind.points import ArrayPoints

X, Y = blobs((12, 9))


class Tensor:
    """Stands in for a tensor of PyTorch: NumPy gets out of it just what it gets out of a real one."""

    def __init__(self, values, dtype="torch.float32", requires_grad=False, device="cpu", layout=""):
        self._values = np.asarray(values)
        self.dtype, self.requires_grad, self.device, self.layout = (
            dtype,
            requires_grad,
            device,
            layout,
        )

    def _with(self, **changes):
        return Tensor(
            self._values,
            **{k: v for k, v in vars(self).items() if k != "_values"} | changes,
        )

    def detach(self):
        return self._with(requires_grad=False)

    def cpu(self):
        return self._with(device="cpu")

    def float(self):
        return self._with(dtype="torch.float32")

    def __len__(self):
        return len(self._values)

    def __array__(self, dtype=None, copy=None):
        if self.layout == "sparse":
            raise TypeError(
                "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first"
            )
        if self.device != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy.")
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return np.array(self._values, dtype=dtype)


AWKWARD = [
    {"requires_grad": True},
    {"dtype": "torch.bfloat16"},
    {"device": "cuda:0"},
    {"dtype": "torch.bfloat16", "requires_grad": True, "device": "cuda:0"},
]


@pytest.mark.parametrize("how", AWKWARD, ids=lambda how: "-".join(map(str, how.values())))
def test_are_taken_for_what_they_hold(how):
    rows = X.astype(np.float32)
    np.testing.assert_array_equal(ArrayPoints(Tensor(rows, **how)).rows(np.arange(21)), rows)
    found = solve(Tensor(rows, **how), LabelOracle(Tensor(Y, **how)), random_state=0)
    assert found.labels_.tolist() == solve(rows, LabelOracle(Y), random_state=0).labels_.tolist()
    assert (
        SameKindClustering(random_state=0).fit(Tensor(rows, **how), Tensor(Y, **how)).labels_.size
    )
    assert adjusted_rand_index(Tensor(Y, **how), Y) == 1
    assert check_answers(Tensor([1, 0], **how), 2).tolist() == [1, 0]


def test_what_numpy_cannot_hold_is_refused_in_our_words():
    with pytest.raises(ValueError, match=r"X is a tensor .*X\.to_dense\(\) if it is sparse"):
        Session(Tensor(X, layout="sparse"))


def test_with_pytorch_itself():
    torch = pytest.importorskip("torch")
    rows = torch.tensor(X, dtype=torch.bfloat16, requires_grad=True)
    expected = rows.detach().float().numpy()
    np.testing.assert_array_equal(ArrayPoints(rows).rows(np.arange(21)), expected)
    with pytest.raises(ValueError, match="to_dense"):
        Session(torch.tensor(X).to_sparse())
