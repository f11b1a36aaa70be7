"""Enqueues one job for each of the users 1 to N, and prints how many seconds that took."""

import sys
import time

from tasks import app, push

users = int(sys.argv[1])
with app.producer_pool.acquire(block=True) as producer:
    begun = time.monotonic()
    for uid in range(1, users + 1):
        push.apply_async((uid, "20260607"), producer=producer)
    print(time.monotonic() - begun)
