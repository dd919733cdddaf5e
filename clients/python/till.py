"""A client of Till, an open, self-hosted payment gateway. One file, for Python 3.8 or newer, without any package.

    till = Till("https://till.example", "till_test_…", "mrch_…")
    payment = till.create_payment(
        {"amount": {"unit": "iso4217/USD", "value": "1000"}, "referenceId": "ORDER-42"}, idempotency_key="order-42"
    )
    print("Pay at", payment["gatewayUrl"])
    if till.wait_until_final(payment["paymentId"])["status"] == "succeeded":
        print("Ship it.")
"""

import base64
import binascii
import hashlib
import hmac
import http.client
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

_TIMEOUT_S = 30
_HOLD_MS = 20_000
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 15
_LONGEST_RETRY_AFTER_S = 60
_MAX_SIGNATURES = 16


class TillError(Exception):
    """Every error of this client."""


class ApiError(TillError):
    """The gateway answered with an error. Decide by `code`, and quote `request_id` when you report it."""

    def __init__(self, status, code, message, issues=(), request_id=None, retry_after_s=None):
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.issues = list(issues)
        self.request_id = request_id
        self.retry_after_s = retry_after_s


class ConnectionFailed(TillError):
    """There was no readable answer: the request may have been carried out. Repeat it with `idempotency_key`."""

    def __init__(self, message, idempotency_key=None):
        super().__init__(message)
        self.idempotency_key = idempotency_key


class WaitTimeout(TillError):
    """The payment was not final in time. It may yet succeed: ask again."""


class WebhookError(TillError):
    """The request is not a webhook of the owner of the secret, or is too old. Answer it with 400 and do nothing else."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another host, so none is followed."""

    def redirect_request(self, *_args, **_kwargs):
        return None


class Till:
    """A client of one gateway, with one key and one merchant.

    Requests that fail by the connection or with 429, 502, 503 or 504 are sent again, `max_retries` times at most, with
    the same Idempotency-Key.
    """

    def __init__(self, base_url, api_key, merchant_id, max_retries=4, timeout_s=_TIMEOUT_S):
        if not re.fullmatch(r"https?://[^\s?#@]+", base_url):
            raise ValueError("base_url must be an http or https URL without credentials, query and fragment.")
        if not re.fullmatch(r"[\x21-\x7e]+", api_key):
            raise ValueError("api_key must be an API key, without white space.")
        self._base = base_url.rstrip("/")
        self._headers = {"Api-Key": api_key, "Merchant-Id": merchant_id, "Accept": "application/json"}
        self._max_retries = max_retries
        self._timeout_s = timeout_s
        self._opener = urllib.request.build_opener(_NoRedirect)

    def create_payment(self, payment, idempotency_key=None):
        """Creates a payment. Send the payer to `gatewayUrl`. The same key gives the same payment."""
        return self._send("POST", "/v1/payments", payment, idempotency_key)

    def get_payment(self, payment_id):
        """A payment with its price, its order and how it stands."""
        return self._send("GET", f"/v1/payments/{_segment(payment_id)}")

    def refund(self, payment_id, idempotency_key=None, **wish):
        """Refunds a payment that has succeeded: all that is left, or the `amount` that is given, which needs a key.

        `reason` and `destination` are optional. `refunds` of the payment shows the progress.
        """
        return self._send("POST", "/v1/refunds", {"paymentId": payment_id, **wish}, idempotency_key)

    def get_refund(self, refund_id):
        """A refund, and what it waits for."""
        return self._send("GET", f"/v1/refunds/{_segment(refund_id)}")

    def cancel_payment(self, payment_id):
        """Cancels a payment that nobody has signed yet, and returns the payment."""
        try:
            self._send("POST", f"/v1/payments/{_segment(payment_id)}/cancel", {})
        except ApiError as error:
            # The answer to the first attempt may have been lost.
            payment = self.get_payment(payment_id)
            if error.code != "invalid_state" or payment["status"] != "cancelled":
                raise
            return payment
        return self.get_payment(payment_id)

    def list_payments(self, **query):
        """A page of the merchant's payments, the newest first: `data`, and `nextCursor` for the next page as `cursor`."""
        return self._send("GET", "/v1/merchants/payments" + _query(query))

    def list_refunds(self, **query):
        """A page of refunds, such as those of one `paymentId`."""
        return self._send("GET", "/v1/refunds" + _query(query))

    def list_events(self, **query):
        """The events after the cursor `after`, the oldest first. `nextCursor` is the cursor for the next request."""
        return self._send("GET", "/v1/events" + _query(query))

    def create_payment_link(self, link, idempotency_key=None):
        """Creates a payment link, a page that creates payments."""
        return self._send("POST", "/v1/payment-links", link, idempotency_key)

    def list_payment_links(self, **query):
        """A page of the merchant's payment links."""
        return self._send("GET", "/v1/payment-links" + _query(query))

    def wait_until_final(self, payment_id, timeout_s=900):
        """Waits for the end of a payment. Ship if its status is `succeeded`, and only then."""
        path = f"/v1/payments/{_segment(payment_id)}/status"
        until = time.monotonic() + timeout_s
        while True:
            started = time.monotonic()
            hold_ms = max(0, min(_HOLD_MS, int((until - started) * 1000)))
            try:
                state = self._send("GET", f"{path}?maxPollMs={hold_ms}", hold_s=hold_ms / 1000)
            except TillError as error:
                is_passing = _may_pass(error) or getattr(error, "status", 0) >= 500
                if not is_passing or time.monotonic() >= until:
                    raise
                state = {}
            if state.get("isFinal"):
                return state
            if time.monotonic() >= until:
                raise WaitTimeout(f"The payment {payment_id} was not final within {timeout_s} s.")
            # The pause between two requests that were not held.
            time.sleep(max(0, min(1, until - started) - (time.monotonic() - started)))

    def _send(self, method, path, body=None, idempotency_key=None, hold_s=0):
        headers = dict(self._headers)
        data = None
        if method == "POST":
            idempotency_key = idempotency_key or f"till-python-{uuid.uuid4().hex}"
            headers.update({"Idempotency-Key": idempotency_key, "Content-Type": "application/json"})
            data = json.dumps(body).encode()
        attempt = 0
        while True:
            request = urllib.request.Request(self._base + path, data=data, headers=headers, method=method)
            try:
                return self._attempt(request, self._timeout_s + hold_s, idempotency_key)
            except TillError as error:
                asked_s = getattr(error, "retry_after_s", None) or 0
                if attempt >= self._max_retries or not _may_pass(error) or asked_s > _LONGEST_RETRY_AFTER_S:
                    raise
            pause_s = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**attempt)
            time.sleep(asked_s + pause_s * random.uniform(0.5, 1))
            attempt += 1

    def _attempt(self, request, timeout_s, idempotency_key):
        try:
            with self._opener.open(request, timeout=timeout_s) as answer:
                return _read(answer.status, answer.headers, answer.read(), idempotency_key)
        except urllib.error.HTTPError as answer:
            with answer:
                return _read(answer.code, answer.headers, answer.read(), idempotency_key)
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailed(f"The gateway did not answer: {type(error).__name__}", idempotency_key) from error


def verify_webhook(body, headers, secrets, tolerance_s=300):
    """Checks the signature and the age of a webhook, and returns its event.

    `body` is the request's body as bytes, as it arrived. `headers` is a mapping. `secrets` is a `whsec_…` text, or a list
    of them while a secret is rotated. Webhooks can arrive twice and in any order: `id` is the same for both, and of two
    events of one object the one with the greater `sequence` is newer.
    """
    if not isinstance(body, (bytes, bytearray)):
        raise TypeError("body must be the bytes of the request as they arrived, not parsed JSON.")
    named = {str(name).lower(): value for name, value in headers.items()}
    webhook_id, timestamp, signatures = (
        named.get(f"webhook-{part}") or "" for part in ("id", "timestamp", "signature")
    )
    if not (webhook_id and timestamp and signatures):
        raise WebhookError("A header of the webhook is missing: webhook-id, webhook-timestamp or webhook-signature.")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookError("webhook-timestamp is not a number of seconds.")
    if not abs(time.time() - int(timestamp)) <= tolerance_s:
        raise WebhookError("The webhook is too old, or from the future: compare the clocks.")
    signed = f"{webhook_id}.{timestamp}.".encode() + bytes(body)
    given = [part[3:].encode() for part in signatures.split(" ")[:_MAX_SIGNATURES] if part.startswith("v1,")]
    is_signed = False
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        expected = base64.b64encode(hmac.new(_key(secret), signed, hashlib.sha256).digest())
        for signature in given:
            is_signed = hmac.compare_digest(expected, signature) or is_signed
    if not is_signed:
        raise WebhookError("No signature of the webhook fits: the secret is another one, or the body was changed.")
    try:
        event = json.loads(bytes(body))
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise WebhookError("The body of the webhook is not an event.")
    return event


def _key(secret):
    try:
        text = secret[len("whsec_"):] if secret.startswith("whsec_") else ""
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        # Without the secret in the message, and without the error that has it.
        raise ValueError("A secret must be whsec_ and base64.") from None
    return key


def _query(values):
    """Lists are repeated parameters."""
    return "?" + urllib.parse.urlencode(values, doseq=True) if values else ""


def _segment(text):
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", text):
        raise ValueError("An id is 1 to 128 letters, digits, _ and -.")
    return text


def _may_pass(error):
    """True if the same request may be sent again."""
    if isinstance(error, ConnectionFailed):
        return True
    # With a 409, the first request with the same key is still running.
    is_running = getattr(error, "status", 0) == 409 and error.retry_after_s is not None
    return is_running or getattr(error, "status", 0) in (429, 502, 503, 504)


def _read(status, headers, data, idempotency_key):
    try:
        body = json.loads(data)
    except ValueError:
        body = None
    if 200 <= status < 300:
        if isinstance(body, dict):
            return body
        # The request may have been carried out, and a proxy has changed the answer.
        raise ConnectionFailed(f"The answer, with status {status}, is not one of Till's.", idempotency_key)
    retry_after = headers.get("Retry-After") or ""
    about = {
        "request_id": headers.get("Request-Id"),
        "retry_after_s": int(retry_after) if re.fullmatch(r"[0-9]{1,9}", retry_after) else None,
    }
    if isinstance(body, dict) and isinstance(body.get("code"), str):
        raise ApiError(status, body["code"], body.get("message", ""), body.get("issues") or (), **about)
    raise ApiError(status, "unreadable_answer", f"The answer, with status {status}, is not one of Till's.", **about)
