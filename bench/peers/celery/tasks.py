"""One job a user: an HTTP push, acknowledged after it was made."""

import json
import os

import requests
from celery import Celery

app = Celery("peer", broker=os.environ["PEER_BROKER"])
app.conf.update(
    task_default_queue="peer",
    task_default_queue_type="quorum",
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=100,
    # a message counts as enqueued when the broker has confirmed it
    broker_transport_options={"confirm_publish": True},
)

URL = os.environ["PEER_URL"]
session = requests.Session()


@app.task(name="push")
def push(uid, day):
    identity = f"nightly.{day}.{uid}"
    steps = 1000 + uid * 2654435761 % 20000
    body = json.dumps({
        "id": identity,
        "campaign": "nightly",
        "day": day,
        "uid": str(uid),
        "device": f"{uid:0163d}",
        "language": "en",
        "title": f"{steps} steps today",
        "body": f"You walked {steps} steps today. See where you stand among your friends.",
        "steps": steps,
    })
    headers = {"content-type": "application/json", "idempotency-key": identity}
    session.post(URL, data=body, headers=headers, timeout=15).raise_for_status()
