<?php

/**
 * A client of Till, an open, self-hosted payment gateway. One file, for PHP 8.1 or newer, without any package.
 *
 *     $till = new Till\Client('https://till.example', 'till_test_…', 'mrch_…');
 *     $payment = $till->createPayment(
 *         ['amount' => ['unit' => 'iso4217/USD', 'value' => '1000'], 'referenceId' => 'ORDER-42'],
 *         idempotencyKey: 'order-42',
 *     );
 *     echo "Pay at {$payment['gatewayUrl']}\n";
 *     if ($till->waitUntilFinal($payment['paymentId'])['status'] === 'succeeded') echo "Ship it.\n";
 */

declare(strict_types=1);

namespace Till;

/** Every error of this client. */
class TillError extends \RuntimeException
{
}

/** The gateway answered with an error. Decide by `errorCode`, and quote `requestId` when you report it. */
final class ApiError extends TillError
{
    public function __construct(
        public readonly int $status,
        public readonly string $errorCode,
        string $message,
        /** Every broken field, on validation errors: `field` and `message`. */
        public readonly array $issues = [],
        public readonly ?string $requestId = null,
        public readonly ?int $retryAfterS = null,
    ) {
        parent::__construct("$errorCode: $message");
    }
}

/** There was no readable answer: the request may have been carried out. Repeat it with the same key. */
final class ConnectionFailed extends TillError
{
    public function __construct(string $message, public readonly ?string $idempotencyKey = null)
    {
        parent::__construct($message);
    }
}

/** The payment was not final in time. It may yet succeed: ask again. */
final class WaitTimeout extends TillError
{
}

/** The request is not a webhook of the owner of the secret, or is too old. Answer it with 400 and do nothing else. */
final class WebhookError extends TillError
{
}

/**
 * A client of one gateway, with one key and one merchant. Requests that fail by the connection or with 429, 502, 503 or
 * 504 are sent again, `maxRetries` times at most, with the same Idempotency-Key.
 */
final class Client
{
    private const HOLD_MS = 20_000;
    private const FIRST_PAUSE_S = 0.25;
    private const LONGEST_PAUSE_S = 15.0;
    private const LONGEST_RETRY_AFTER_S = 60;

    private readonly string $base;

    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] private readonly string $apiKey,
        private readonly string $merchantId,
        private readonly int $maxRetries = 4,
        private readonly int $timeoutS = 30,
    ) {
        if (!preg_match('~^https?://[^\s?#@]+$~D', $baseUrl)) {
            throw new \ValueError('baseUrl must be an http or https URL without credentials, query and fragment.');
        }
        foreach ([$apiKey, $merchantId] as $value) self::checkHeader($value);
        $this->base = rtrim($baseUrl, '/');
    }

    /** The key is not shown by var_dump. */
    public function __debugInfo(): array
    {
        return ['base' => $this->base, 'merchantId' => $this->merchantId];
    }

    /** Creates a payment. Send the payer to `gatewayUrl`. The same key gives the same payment. */
    public function createPayment(array $payment, ?string $idempotencyKey = null): array
    {
        return $this->send('POST', '/v1/payments', $payment, $idempotencyKey);
    }

    /** A payment with its price, its order and how it stands. */
    public function getPayment(string $paymentId): array
    {
        return $this->send('GET', '/v1/payments/' . self::segment($paymentId));
    }

    /**
     * Refunds a payment that has succeeded: all that is left, or the `amount` of `$wish`, which needs a key. `reason` and
     * `destination` are optional. `refunds` of the payment shows the progress.
     */
    public function refund(string $paymentId, ?string $idempotencyKey = null, array $wish = []): array
    {
        return $this->send('POST', '/v1/refunds', ['paymentId' => $paymentId] + $wish, $idempotencyKey);
    }

    /** A refund, and what it waits for. */
    public function getRefund(string $refundId): array
    {
        return $this->send('GET', '/v1/refunds/' . self::segment($refundId));
    }

    /** Cancels a payment that nobody has signed yet, and returns the payment. */
    public function cancelPayment(string $paymentId): array
    {
        try {
            $this->send('POST', '/v1/payments/' . self::segment($paymentId) . '/cancel', []);
        } catch (ApiError $error) {
            // The answer to the first attempt may have been lost.
            $payment = $this->getPayment($paymentId);
            if ($error->errorCode !== 'invalid_state' || $payment['status'] !== 'cancelled') throw $error;
            return $payment;
        }
        return $this->getPayment($paymentId);
    }

    /** A page of the merchant's payments, the newest first: `data`, and `nextCursor` for the next page as `cursor`. */
    public function listPayments(array $query = []): array
    {
        return $this->send('GET', '/v1/merchants/payments' . self::query($query));
    }

    /** A page of refunds, such as those of one `paymentId`. */
    public function listRefunds(array $query = []): array
    {
        return $this->send('GET', '/v1/refunds' . self::query($query));
    }

    /** The events after the cursor `after`, the oldest first. `nextCursor` is the cursor for the next request. */
    public function listEvents(array $query = []): array
    {
        return $this->send('GET', '/v1/events' . self::query($query));
    }

    /** Creates a payment link, a page that creates payments. */
    public function createPaymentLink(array $link, ?string $idempotencyKey = null): array
    {
        return $this->send('POST', '/v1/payment-links', $link, $idempotencyKey);
    }

    /** A page of the merchant's payment links. */
    public function listPaymentLinks(array $query = []): array
    {
        return $this->send('GET', '/v1/payment-links' . self::query($query));
    }

    /** Waits for the end of a payment. Ship if its status is `succeeded`, and only then. */
    public function waitUntilFinal(string $paymentId, int $timeoutS = 900): array
    {
        $path = '/v1/payments/' . self::segment($paymentId) . '/status';
        $until = microtime(true) + $timeoutS;
        while (true) {
            $started = microtime(true);
            $holdMs = max(0, min(self::HOLD_MS, (int) (($until - $started) * 1000)));
            try {
                $state = $this->send('GET', "$path?maxPollMs=$holdMs", holdS: (int) ceil($holdMs / 1000));
            } catch (TillError $error) {
                $isPassing = self::mayPass($error) || ($error instanceof ApiError && $error->status >= 500);
                if (!$isPassing || microtime(true) >= $until) throw $error;
                $state = [];
            }
            if ($state['isFinal'] ?? false) return $state;
            if (microtime(true) >= $until) {
                throw new WaitTimeout("The payment $paymentId was not final within $timeoutS s.");
            }
            // The pause between two requests that were not held.
            $pauseS = min(1, $until - $started) - (microtime(true) - $started);
            if ($pauseS > 0) usleep((int) ($pauseS * 1_000_000));
        }
    }

    private function send(
        string $method,
        string $path,
        ?array $body = null,
        ?string $idempotencyKey = null,
        int $holdS = 0,
    ): array {
        $headers = ["Api-Key: $this->apiKey", "Merchant-Id: $this->merchantId", 'Accept: application/json'];
        $content = '';
        if ($method === 'POST') {
            $idempotencyKey ??= 'till-php-' . bin2hex(random_bytes(16));
            self::checkHeader($idempotencyKey);
            array_push($headers, "Idempotency-Key: $idempotencyKey", 'Content-Type: application/json');
            $content = json_encode($body, JSON_THROW_ON_ERROR);
        }
        $http = [
            'method' => $method,
            'header' => $headers,
            'content' => $content,
            'timeout' => $this->timeoutS + $holdS,
            'ignore_errors' => true,
            // A redirect would carry the key to another host, so none is followed.
            'follow_location' => 0,
            'protocol_version' => 1.1,
        ];
        for ($attempt = 0; ; $attempt += 1) {
            try {
                return self::attempt($this->base . $path, $http, $idempotencyKey);
            } catch (TillError $error) {
                $askedS = $error instanceof ApiError ? $error->retryAfterS ?? 0 : 0;
                $isLast = $attempt >= $this->maxRetries || $askedS > self::LONGEST_RETRY_AFTER_S;
                if ($isLast || !self::mayPass($error)) throw $error;
            }
            $pauseS = min(self::LONGEST_PAUSE_S, self::FIRST_PAUSE_S * 2 ** $attempt);
            usleep((int) (($askedS + $pauseS * random_int(50, 100) / 100) * 1_000_000));
        }
    }

    private static function attempt(string $url, array $http, ?string $idempotencyKey): array
    {
        $http['header'][] = 'Connection: close';
        $stream = @fopen($url, 'rb', false, stream_context_create(['http' => $http]));
        $text = $stream === false ? false : stream_get_contents($stream);
        $about = $stream === false ? [] : stream_get_meta_data($stream);
        if ($stream !== false) fclose($stream);
        if ($text === false || ($about['timed_out'] ?? true)) {
            throw new ConnectionFailed('The gateway did not answer.', $idempotencyKey);
        }
        return self::read($about['wrapper_data'] ?? [], $text, $idempotencyKey);
    }

    private static function read(array $lines, string $text, ?string $idempotencyKey): array
    {
        $status = preg_match('~^HTTP/\S+ (\d{3})~', $lines[0] ?? '', $match) ? (int) $match[1] : 0;
        $headers = [];
        foreach (array_slice($lines, 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + ['', ''];
            $headers[strtolower($name)] = trim($value);
        }
        $body = json_decode($text, true);
        if ($status >= 200 && $status < 300) {
            // PHP does not report a connection that is lost within the body. The request may have been carried out.
            return is_array($body) ? $body : throw new ConnectionFailed('The answer is incomplete.', $idempotencyKey);
        }
        $retryAfter = $headers['retry-after'] ?? '';
        $retryAfterS = preg_match('~^\d{1,9}$~D', $retryAfter) ? (int) $retryAfter : null;
        $isOurs = is_array($body) && is_string($body['code'] ?? null);
        throw new ApiError(
            $status,
            $isOurs ? $body['code'] : 'unreadable_answer',
            $isOurs ? (string) ($body['message'] ?? '') : "The answer, with status $status, is not one of Till's.",
            $isOurs ? $body['issues'] ?? [] : [],
            $headers['request-id'] ?? null,
            $retryAfterS,
        );
    }

    /** True if the same request may be sent again. With a 409, the first request with the same key is still running. */
    private static function mayPass(TillError $error): bool
    {
        if (!$error instanceof ApiError) return $error instanceof ConnectionFailed;
        $isRunning = $error->status === 409 && $error->retryAfterS !== null;
        return $isRunning || in_array($error->status, [429, 502, 503, 504], true);
    }

    /** Lists are joined by commas. */
    private static function query(array $values): string
    {
        $texts = array_map(fn($value) => is_array($value) ? implode(',', $value) : $value, $values);
        return $texts === [] ? '' : '?' . http_build_query($texts);
    }

    private static function segment(string $id): string
    {
        if (!preg_match('~^[A-Za-z0-9_-]{1,128}$~D', $id)) {
            throw new \ValueError('An id is 1 to 128 letters, digits, _ and -.');
        }
        return $id;
    }

    /** A line break would begin a header of its own. The message does not repeat the value, which may be a secret. */
    private static function checkHeader(#[\SensitiveParameter] string $value): void
    {
        if (!preg_match('~^[\x20-\x7e]+$~D', $value)) {
            throw new \ValueError('Keys and ids must be printable ASCII, and not empty.');
        }
    }
}

/**
 * Checks the signature and the age of a webhook, and returns its event.
 *
 * `body` is the request's body as it arrived: `file_get_contents('php://input')`. `headers` is `getallheaders()` or
 * `$_SERVER`. `secrets` is a `whsec_…` text, or a list of them while a secret is rotated. Webhooks can arrive twice and in
 * any order: `id` is the same for both, and of two events of one object the one with the greater `sequence` is newer.
 */
function verifyWebhook(
    string $body,
    array $headers,
    #[\SensitiveParameter] string|array $secrets,
    int $toleranceS = 300,
): array {
    $named = [];
    foreach ($headers as $name => $value) {
        $named[preg_replace('~^http-~', '', strtr(strtolower((string) $name), '_', '-'))] = $value;
    }
    [$id, $timestamp, $signatures] = array_map(
        fn (string $part) => (string) ($named["webhook-$part"] ?? ''),
        ['id', 'timestamp', 'signature'],
    );
    if ($id === '' || $timestamp === '' || $signatures === '') {
        throw new WebhookError('A header is missing: webhook-id, webhook-timestamp or webhook-signature.');
    }
    if (!preg_match('~^\d{1,12}$~D', $timestamp)) {
        throw new WebhookError('webhook-timestamp is not a number of seconds.');
    }
    if (abs(time() - (int) $timestamp) > $toleranceS) {
        throw new WebhookError('The webhook is too old, or from the future: compare the clocks.');
    }
    $isSigned = false;
    foreach ((array) $secrets as $secret) {
        $key = str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, 6), true) : false;
        if ($key === false || $key === '') throw new \ValueError('A secret must be whsec_ and base64.');
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        foreach (array_slice(explode(' ', $signatures), 0, 16) as $signature) {
            $isSigned = hash_equals($expected, $signature) || $isSigned;
        }
    }
    if (!$isSigned) {
        throw new WebhookError('No signature of the webhook fits: the secret is another one, or the body was changed.');
    }
    $event = json_decode($body, true);
    if (!is_array($event) || !is_string($event['type'] ?? null)) {
        throw new WebhookError('The body of the webhook is not an event.');
    }
    return $event;
}
