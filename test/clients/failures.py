"""Prints what the client makes of answers that fail, and of webhooks, one JSON value in each line."""

import json
import os
import sys

sys.path.insert(0, os.environ["CLIENT_FOLDER"])

from till import ApiError, ConnectionFailed, Till, WebhookError, verify_webhook  # noqa: E402


def say(*values):
    print(json.dumps(values), flush=True)


till = Till(os.environ["STUB_URL"], "till_test_key", "mrch_1", max_retries=3)
say("created", till.create_payment({"referenceId": "ORDER-1"})["paymentId"])
for payment_id in ["pay_moved", "pay_broken"]:
    try:
        say(till.get_payment(payment_id))
    except ApiError as error:
        say(error.code, error.status, error.request_id)
for payment_id in ["pay_cut", "pay_page"]:
    try:
        till.get_payment(payment_id)
    except ConnectionFailed:
        say("no answer")
for payment_id in ["", "..", "pay_1/cancel"]:
    try:
        till.get_payment(payment_id)
    except ValueError:
        say("refused")
try:
    Till(os.environ["STUB_URL"], "till_test_key\n", "mrch_1")
except ValueError as error:
    say("refused", "till_test_key" in str(error))

webhook = json.loads(os.environ["WEBHOOK"])
for secrets in [webhook["secret"], [webhook["other"], webhook["secret"]], webhook["other"], []]:
    try:
        say(verify_webhook(webhook["body"].encode(), webhook["headers"], secrets)["type"])
    except WebhookError:
        say("forged")
