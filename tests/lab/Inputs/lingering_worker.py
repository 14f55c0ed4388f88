#!/usr/bin/env python3
"""A worker that leaves processes behind: each time that it loads a problem, one in a session of its own that has no parent
any more computes for a minute. Their numbers go to a file. The folder of kiln_worker.py and that file are the arguments."""

import os
import signal
import sys

sys.path.insert(0, sys.argv[1])
import kiln_worker
import small_matmul


class Lingering(small_matmul.SmallMatmul):
    def load(self, problem, module, function, sets):
        super().load(problem, module, function, sets)
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                signal.alarm(60)
                with open(sys.argv[2], "a") as file:
                    print(os.getpid(), file=file)
                while True:
                    pass
            os._exit(0)
        os.waitpid(child, 0)


kiln_worker.serve(Lingering("lingering"))
