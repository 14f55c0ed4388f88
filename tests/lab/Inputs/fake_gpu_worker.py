"""kiln_worker_torch.py with fake_torch in PyTorch's place. Any device that the lab asks for is the one that is made up, whose
clock is no time."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "fake_torch"), os.path.join(HERE, os.pardir, os.pardir, os.pardir, "python")]
import kiln_worker  # noqa: E402
import kiln_worker_torch  # noqa: E402


def on_made_up_gpu(provider):
    class OnMadeUpGpu(provider):
        def use(self, uri):
            super().use("cuda://0")

        def start(self, threads):
            super().start(threads)
            self.device["clock"] = "simulated"
    return OnMadeUpGpu()


kiln_worker.serve(on_made_up_gpu(kiln_worker_torch.Compiled if "--compiled" in sys.argv else kiln_worker_torch.Torch))
