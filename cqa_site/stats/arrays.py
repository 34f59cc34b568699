"""Names of arrays; importing them loads numpy alone, where `ratings` would load pandas."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
# Of single precision, too, as models give them.
Floats = NDArray[np.floating[Any]]
