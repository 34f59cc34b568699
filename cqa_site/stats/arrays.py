"""Names of arrays; importing them loads numpy alone, where `ratings` would load pandas."""

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
