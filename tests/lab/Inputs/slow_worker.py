"""An external provider that takes a while to start: small f32 products, and 0.4 seconds before the first."""
import os
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, os.pardir, os.pardir, os.pardir, "python"))
import kiln_worker  # noqa: E402
from small_matmul import SmallMatmul  # noqa: E402

time.sleep(0.4)
kiln_worker.serve(SmallMatmul("slow"))
