/**
 * A test by its file in `test/e2e` and its title, and the sentences of the specification that it proves. In titles of tests that
 * are repeated for several values, `…` stands for the value.
 */
export type Proof = readonly [file: string, title: string, sentences: readonly string[]];

/** The routes of the specification. */
export const ROUTES: Readonly<Record<string, readonly Proof[]>> = {
  'Create a payment: `POST /v1/payments`': [
    [
      'payments-bad-input',
      'is refused without a key or a merchant of one’s own, before its body is checked',
      ['`Api-Key` is required', '`Merchant-Id` is required'],
    ],
    ['payments', 'and answered alike in every version of the API', ['`Pay-Version` is optional']],
    [
      'specification',
      'takes the headers of SDKs, and does without them',
      ['`Sdk-Name`, `Sdk-Version` and `Sdk-Platform` are optional'],
    ],
    ['payments', 'with the gateway URL and the id for later reads', ['`Idempotency-Key` is optional']],
    [
      'payments',
      'when the request is sent again, however it is spelled',
      ['A retry with the same key finds its payment'],
    ],
    ['payments-bad-input', 'is refused when it cannot be read at all', ['`Content-Type` is `application/json`']],
    ['payments-bad-input', 'names everything that is missing', ['`amount` is required', '`referenceId` is required']],
    [
      'payments',
      'with where to send the payer at the end: both URLs or none',
      ['`checkout`: an object or null, and not required'],
    ],
    [
      'payments-bad-input',
      'is refused for the checkout URL …',
      ['`checkout.errorUrl` and `checkout.successUrl` are URLs'],
    ],
    [
      'payments-bad-input',
      'is refused for an incomplete or invalid checkout',
      ['A checkout that is incomplete or has no URLs is an invalid request'],
    ],
    [
      'payments',
      'to end when the merchant says, from the next second to 30 days ahead, or in five minutes',
      ['`expiresAt`: Unix seconds or null', '`expiresAt` is five minutes from now by default'],
    ],
    ['payments-bad-input', 'is refused for an expiry …', ['`expiresAt` must be in the future if given']],
    [
      'payments',
      'with the gateway URL and the id for later reads',
      ['201 with `paymentId`, `status`, `expiresAt`, `isFinal` and `gatewayUrl`', '`pollInMs` in the answer'],
    ],
    ['payments-bad-input', 'names every broken field, whatever its problem', ['400 for an invalid request']],
    [
      'specification',
      'answers an invalid creation with 400 and an invalid key with 401, both with the error body',
      ['401 for an invalid API key', 'Each error has the error body'],
    ],
    [
      'specification',
      'answers an internal failure of a creation with 500 and the error body',
      ['500 for an internal failure'],
    ],
  ],
  'Details: `GET /v1/payments/{id}`': [
    [
      'payment-details',
      'names itself, its merchant, its price, its times and its page',
      ['`referenceId` and `status` are there always'],
    ],
    [
      'specification',
      'says of each status whether it is final, when to poll, why it failed and how it was paid',
      ['`failureCode` and `info` as of the payment'],
    ],
    [
      'settlement-views',
      'shows a held amount as not settled, and as settled once it is paid out, on every node',
      ['`settlement` as of the payment'],
    ],
    [
      'payments-bad-input',
      'is refused without a key or a merchant of one’s own, before its body is checked',
      ['`Api-Key` and `Merchant-Id` are required'],
    ],
    ['payments', 'by their own merchant alone', ['The payment is one of the merchant']],
    [
      'specification',
      'reads details and statuses with or without the optional headers',
      ['`Pay-Version`, `Sdk-Name`, `Sdk-Version`, `Sdk-Platform` and `Idempotency-Key` are optional'],
    ],
    ['payments', 'not when there is none', ['An unknown id is `payment_not_found`']],
  ],
  'Status: `GET /v1/gateway/payment/{id}/status` and `GET /v1/payments/{id}/status`': [
    [
      'long-poll',
      'is held until the status changes, on every status route',
      ['`maxPollMs`: waits for a change of the status', 'Both routes have the same purpose'],
    ],
    [
      'long-poll',
      'answers with the state as it is when its time is over',
      ['`maxPollMs`: the longest time to wait, in milliseconds'],
    ],
    ['long-poll', 'answers at once when nothing is to be waited for', ['`maxPollMs`: null and 0 are taken']],
    ['payments-bad-input', 'is refused for maxPollMs=…', ['`maxPollMs`: an integer, at least 0']],
    ['payments-bad-input', 'is refused when maxPollMs comes twice', ['`maxPollMs` is given once']],
    [
      'payments',
      'by any key or wallet app of their mode: the id is the capability',
      ['`Api-Key`, or `App-Id` and `Client-Id`'],
    ],
    [
      'specification',
      'reads details and statuses with or without the optional headers',
      ['`Pay-Version`, `Sdk-Name`, `Sdk-Version` and `Sdk-Platform` are optional'],
    ],
    [
      'specification',
      'says of each status whether it is final, when to poll, why it failed and how it was paid',
      ['`isFinal` and `status` are there always', '`failureCode`, `info` and `pollInMs` as of the payment'],
    ],
  ],
  'Payments of a merchant: `GET /v1/merchants/payments`': [
    [
      'payment-list-stats',
      'callers without a key, a merchant or the scope',
      ['`Api-Key` is required', '`Merchant-Id` is required'],
    ],
    [
      'payment-lists',
      'all six statuses in every version, and time that has run out, swept or not',
      ['`Pay-Version` overrides the version'],
    ],
    ['callers', 'are pinned per partner', ['Without `Pay-Version`, the partner’s pinned version']],
    [
      'payment-lists',
      'by the time they were made: from the first bound on, and before the second',
      ['`startTs`: RFC 3339, inclusive', '`endTs`: RFC 3339, exclusive'],
    ],
    [
      'payment-lists',
      'by tokens and networks',
      ['`token_symbol`: a repeated parameter', '`network`: CAIP-2 ids, with commas for several'],
    ],
    [
      'payment-list-pages',
      'by date or amount, up or down; newest first if nothing is said',
      ['`sortBy`: `date` or `amount`', '`sortDir`: `asc` or `desc`'],
    ],
    [
      'payment-list-pages',
      'the same on any page size, each payment once',
      ['`cursor`: the `nextCursor` of the previous answer'],
    ],
    ['payment-list-pages', 'not from a cursor that was altered or made up', ['`cursor` is opaque']],
    [
      'specification',
      'has fifty payments on a page unless the limit says otherwise, from 1 to 200',
      ['`limit`: 1 to 200, by default 50'],
    ],
    [
      'specification',
      'searches references by 3 to 35 characters of its own alphabet',
      ['`referenceId`: 3 to 35 characters', '`referenceId`: ASCII letters, digits, space and `/ : . , + -`'],
    ],
    [
      'specification',
      'takes the deprecated asset for token_symbol, and no CAIP-19 id as a symbol',
      [
        '`asset`: deprecated for `token_symbol`',
        '`token_symbol`: each at least one character',
        '`token_symbol`: no CAIP-19 ids',
      ],
    ],
    [
      'payment-lists',
      'by statuses as they are seen, repeated and with commas',
      ['`status`: a repeated parameter', '`status`: values of the payment’s status'],
    ],
    [
      'unknown-fields',
      'is a repeated parameter where it has brackets, as many clients write it',
      ['Repeated parameters with brackets are the same'],
    ],
    ['payment-lists', 'by a part of the reference, in any case', ['`referenceId`: a substring search']],
    ['payment-list-stats', 'all that is wrong at once', ['Values outside these lists are refused']],
    ['payment-lists', 'nothing where there is nothing', ['`data`, `nextCursor` and `stats` are there always']],
    [
      'payment-list-pages',
      'the same on any page size, each payment once',
      ['`nextCursor` is null when there are no more'],
    ],
    ['payment-lists', 'each payment as far as it is known', ['`data`: items of the list']],
  ],
  'Merchants: `GET /v1/merchants`': [
    ['callers', 'are asked for', ['`Api-Key` is required']],
    ['merchants', 'are filtered by status', ['`status`: `active`, `inactive` or `suspended`']],
    [
      'merchants',
      'take a search of 1 to 256 characters, however many bytes those are',
      ['`search`: 1 to 256 characters'],
    ],
    [
      'merchants',
      'are searched by name and id, without case, and with nothing but text in the text',
      ['`search`: without case, over name and id'],
    ],
    [
      'merchants',
      'appear on pages that stay stable while others are added',
      ['`cursor`: the `nextCursor` of the previous answer'],
    ],
    [
      'merchants',
      'refuse a cursor that was altered, is foreign, or belongs to another query',
      ['`cursor`: an opaque string'],
    ],
    [
      'merchants',
      'are 20 a page unless the limit says otherwise, from 1 to 100, and all are counted',
      [
        '`limit`: 1 to 100, by default 20',
        '`totalCount`: all that match, without paging',
        '`nextCursor`: a string or null',
      ],
    ],
    [
      'merchants',
      'are an empty page for a partner without any',
      ['`merchants`, `totalCount` and `nextCursor` are there always'],
    ],
    [
      'specification',
      'lists merchants with their logo, and an e-mail address only if there is one',
      ['`merchants`: an array of merchants'],
    ],
  ],
  'Create a merchant: `POST /v1/merchants`': [
    ['specification', 'answers in JSON, and takes nothing else', ['`Content-Type` is `application/json`']],
    [
      'callers',
      'of credentials come before the body and the query on every route of the API',
      ['`Api-Key` is required'],
    ],
    [
      'idempotency',
      'is required where something is made that must not be made twice',
      ['`Idempotency-Key` is required', '`Idempotency-Key`: 256 characters are refused'],
    ],
    ['idempotency', 'of 255 characters is fine', ['`Idempotency-Key`: 255 characters are taken']],
    [
      'idempotency',
      'gives a retry the first answer, however the retry is spelled',
      ['A retry with the same key returns the merchant that was created first'],
    ],
    [
      'merchants',
      'accept valid values, and return them unchanged',
      ['`merchantName`: 1 to 256 characters', '`merchantEmail`: an e-mail address', '`iconUrl`: HTTPS, or null'],
    ],
    [
      'merchants',
      'refuse invalid values, by name, on POST and on PATCH',
      ['`merchantName` and `merchantEmail` are required', 'An `iconUrl` without HTTPS is refused'],
    ],
    [
      'merchants',
      'are created, read, changed and deleted',
      ['The answer: `merchant` with `id`, `name`, `email`, `status` and `createdAt`'],
    ],
  ],
  'Other routes': [
    [
      'merchants',
      'are created, read, changed and deleted',
      [
        '`DELETE /v1/merchants/{merchantId}`',
        '`GET /v1/merchants/{merchantId}`',
        '`PATCH /v1/merchants/{merchantId}`: updates the profile',
        'PATCH: `iconUrl` null unsets the logo',
      ],
    ],
    [
      'merchants',
      'are changed only when something is to be changed',
      ['PATCH: at least one of `merchantName`, `merchantEmail`, `iconUrl`'],
    ],
    [
      'legacy-payment-list',
      'say where to go instead, and take either name of the key',
      ['`GET /v1/merchants/{merchantId}/payments` is deprecated'],
    ],
    ['legacy-payment-list', 'take their own parameters', ['The deprecated list filters by its own parameters']],
    [
      'settlements',
      'are registered, listed with the merchant, changed and removed',
      [
        'The merchant’s profile has its crypto and fiat settlements',
        '`GET /v1/merchants/{merchantId}/settlements`',
        'Crypto settlements have CAIP-19 assets and CAIP-10 destinations',
        '`DELETE …/settlements/crypto/{id}`: removes the settlement',
        '`PUT …/settlements/crypto/{id}`: changes the destination',
      ],
    ],
    [
      'specification',
      'no longer settles payments in an asset whose destination was removed',
      ['After `DELETE …/settlements/crypto/{id}`, payments in that asset are no longer settled automatically'],
    ],
    [
      'settlements',
      'when the destination is not an account on the chain of the asset',
      ['The destination is a CAIP-10 account on the chain of the asset, on POST and on PUT'],
    ],
    ['settlements', 'when the asset is not one of an EVM or Solana chain', ['`asset` is a CAIP-19 id']],
    ['settlements', 'take 1 to 50 at once', ['One or more crypto settlements are registered at once']],
    [
      'settlements',
      'are one per asset: another one is refused, and so is everything that came with it',
      ['Each pair of merchant and asset is unique'],
    ],
    ['settlements', 'in fiat are kept by the operator and listed to the partner', ['Fiat settlements are listed']],
    [
      'specification',
      'lists the payments of all merchants of the partner at GET /v1/payments',
      ['`GET /v1/payments` lists payments, page by page, with optional filters'],
    ],
    ['payments', 'while they wait for the payer', ['`GET /v1/gateway/payment/{id}`: information for the payer']],
    [
      'paying-options',
      'every asset the account holds enough of: no rate first, then no transaction of its own',
      ['`POST …/options` takes accounts and returns options'],
    ],
    [
      'paying-fetch',
      'gives the request that the option holds, and stores nothing',
      ['`POST …/fetch` fetches an action for a payment'],
    ],
    [
      'paying-confirm',
      'makes it work that any node can carry out, in the move itself',
      ['`POST …/confirm` confirms a payment'],
    ],
    [
      'gateway-transaction',
      'is shown once it was sent, follows a higher fee, and stays when it paid',
      ['A confirmed payment is submitted to the blockchain'],
    ],
    ['payments', 'by the payer, whose wallet is remembered', ['`POST /v1/gateway/payment/{id}/cancel`']],
    ['payments', 'by the merchant, while they wait for the payer', ['`POST /v1/payments/{id}/cancel`']],
    [
      'refunds-on-chain',
      'gives coin back by a transaction of the intermediate account’s own',
      ['`POST /v1/refunds` requests a full refund'],
    ],
    [
      'refunds-on-chain',
      'gives a held payment back, once: …',
      ['A second call for the same payment is answered with 409, also without an `Idempotency-Key`'],
    ],
    [
      'refunds-on-chain',
      'answers a request with the same Idempotency-Key with the same answer',
      ['A second refund of the same payment is answered with 409'],
    ],
  ],
};
