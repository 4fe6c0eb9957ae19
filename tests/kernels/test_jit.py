"""What has been compiled once is loaded quickly."""

import subprocess
import sys

import numpy as np

from coclick.kernels.depths import tightest

NEW_PROCESS = """
import sys
import numpy as np
from coclick.kernels.depths import tightest
assert tightest(np.array([3.0, 4.0]), np.array([9.0, 9.0]), 1.0) == 5.0
assert tightest.stats.cache_hits and not tightest.stats.cache_misses
print([name for name in ("numba.np.linalg", "scipy.linalg") if name in sys.modules])
"""


def test_compiled_code_is_loaded_without_what_only_the_compiler_needs():
    assert tightest(np.array([3.0, 4.0]), np.array([9.0, 9.0]), 1.0) == 5.0  # compiled by now, if not before
    found = subprocess.run([sys.executable, "-c", NEW_PROCESS], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
