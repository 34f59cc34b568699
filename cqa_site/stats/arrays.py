"""Type names of arrays; importing them loads only numpy, and not pandas as `ratings` does."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
# Also of single precision, as models return them.
Floats = NDArray[np.floating[Any]]
