"""Type aliases for arrays; importing them loads only numpy, while `ratings` also loads pandas."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
# Includes single precision, which models return.
Floats = NDArray[np.floating[Any]]
