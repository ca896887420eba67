"""The process of users' code: it answers requests from a pipe, see `benchmark.plugins.user_process`."""

import sys
from multiprocessing.connection import Connection

from benchmark.workers.worker import answer_requests

if __name__ == "__main__":
    answer_requests(Connection(int(sys.argv[1])))
