<?php

/** Prints what the client makes of answers that fail, and of webhooks, one JSON value in each line. */

require getenv('CLIENT_FOLDER') . '/till.php';

function say(mixed ...$values): void
{
    echo json_encode($values, JSON_UNESCAPED_SLASHES), "\n";
}

$till = new Till\Client(getenv('STUB_URL'), 'till_test_key', 'mrch_1', maxRetries: 3);
say('created', $till->createPayment(['referenceId' => 'ORDER-1'])['paymentId']);
foreach (['pay_moved', 'pay_broken'] as $paymentId) {
    try {
        say($till->getPayment($paymentId));
    } catch (Till\ApiError $error) {
        say($error->errorCode, $error->status, $error->requestId);
    }
}
foreach (['pay_cut', 'pay_page'] as $paymentId) {
    try {
        $till->getPayment($paymentId);
    } catch (Till\ConnectionFailed) {
        say('no answer');
    }
}
foreach (['', '..', 'pay_1/cancel'] as $paymentId) {
    try {
        $till->getPayment($paymentId);
    } catch (ValueError) {
        say('refused');
    }
}
try {
    new Till\Client(getenv('STUB_URL'), "till_test_key\n", 'mrch_1');
} catch (ValueError $error) {
    say('refused', str_contains($error->getMessage(), 'till_test_key'));
}

$webhook = json_decode(getenv('WEBHOOK'), true);
foreach ([$webhook['secret'], [$webhook['other'], $webhook['secret']], $webhook['other'], []] as $secrets) {
    try {
        say(Till\verifyWebhook($webhook['body'], $webhook['headers'], $secrets)['type']);
    } catch (Till\WebhookError) {
        say('forged');
    }
}
