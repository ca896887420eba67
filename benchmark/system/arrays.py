"""Types of the arrays that most functions take: float64 numbers, truth values, and positions of rows or columns."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]
