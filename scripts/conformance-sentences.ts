import { CODES } from './conformance-codes.ts';
import { type Proof, ROUTES } from './conformance-routes.ts';

/** The specification, section by section. */
export const SECTIONS: Readonly<Record<string, readonly Proof[]>> = {
  'What the service does': [
    ['specification', 'answers in JSON, and takes nothing else', ['All bodies are JSON (`application/json`)']],
    [
      'payments',
      'with any order id of 1 to 255 characters',
      ['A partner creates payments on behalf of merchants and reads them back'],
    ],
    [
      'checkout',
      'carries the payment, by every form of its address',
      ['A created payment returns a gateway URL to which the payer is redirected'],
    ],
    ['payments', 'in …, whose amounts have … decimals', ['Payments are amounts in a fiat unit']],
    [
      'payments',
      'in a token, however its address is spelled, and shown in the one canonical spelling',
      ['Payments are amounts in a token unit'],
    ],
    ['long-poll', 'is held until the status changes, on every status route', ['The partner polls for status']],
    ['payments', 'while they wait for the payer', ['Polling uses a delay that the server provides']],
    ['merchants', 'are created, read, changed and deleted', ['The service manages merchants under a partner']],
    [
      'payment-lists',
      'by everything at once',
      ['The service lists a merchant’s payments with filters and aggregate statistics'],
    ],
    ['payment-list-pages', 'the same on any page size, each payment once', ['The list has pages']],
  ],
  Amounts: [
    ['payments', 'with amounts of any size up to 78 digits, to the last digit', ['`value`: a string']],
    [
      'payments',
      'in …, whose amounts have … decimals',
      [
        '`unit`: `iso4217/` and a currency code',
        '`value` is in the unit’s minor units',
        '`display` of a currency: `assetSymbol`, `assetName` and `decimals` alone',
        'Answers have `unit` and `value` in the form of requests',
      ],
    ],
    ['payments-bad-input', 'is refused for the amount …', ['Other forms of `value` are refused']],
    [
      'payments',
      'in a token, however its address is spelled, and shown in the one canonical spelling',
      ['`unit`: `caip19/` and a CAIP-19 asset id'],
    ],
    ['payments-bad-input', 'names everything that is missing', ['`unit` and `value` are required']],
    ['payments-bad-input', 'is refused for the unit …', ['Other prefixes and forms of `unit` are refused']],
    [
      'paying-options',
      'the amount in the token, with the data to format it',
      ['`display` of a token also has `networkName`, `iconUrl` and `networkIconUrl`'],
    ],
    [
      'payments',
      'with the paid amount, only when they have succeeded',
      ['`optionAmount` has `display`, `unit` and `value`, in details and in the status'],
    ],
  ],
  'The payment': [
    ['payments', 'with the gateway URL and the id for later reads', ['`paymentId` begins with `pay_`']],
    ['checkout', 'carries the payment, by every form of its address', ['`gatewayUrl`: where the payer is redirected']],
    ['payments', 'with any order id of 1 to 255 characters', ['`referenceId`: the order id given at creation']],
    [
      'specification',
      'says of each status whether it is final, when to poll, why it failed and how it was paid',
      [
        '`status`: one of the six',
        '`failureCode` only with `failed`',
        '`isFinal` is true when polling is no longer needed, and false before',
        '`pollInMs` is absent or null when final, and an integer before',
        '`info` when `succeeded`, null otherwise',
      ],
    ],
    ['payments', 'with why, when they have failed and only then', ['`failureCode`: `declined_user` or null']],
    [
      'payments',
      'to end when the merchant says, from the next second to 30 days ahead, or in five minutes',
      ['`expiresAt`: seconds since the epoch, at least 0'],
    ],
    ['payments', 'while they wait for the payer', ['`pollInMs`: milliseconds until the next poll, at least 0']],
    ['payments', 'with the paid amount, only when they have succeeded', ['`info` has `optionAmount` and `txId`']],
    [
      'settlement-views',
      'shows nothing for payments that have not succeeded',
      ['`settlement` is null before confirmation'],
    ],
    [
      'settlement-views',
      'shows a held amount as not settled, and as settled once it is paid out, on every node',
      ['`settlement` is null while the transfer from the intermediate account is pending'],
    ],
    [
      'settlement-views',
      'shows a direct payment as settled from the moment of success',
      [
        '`settlement.successful` has `amount` with its `unit`, and `txId`',
        '`settlement` is null for flows without that transfer. No flow is without it: the own transaction of a payment that goes to the merchant directly is the transfer, from success on',
      ],
    ],
  ],
  'The payment in lists': [
    [
      'payment-lists',
      'each payment as far as it is known',
      [
        '`paymentId`',
        '`merchant`: `id`, `name`',
        '`referenceId`',
        '`status`',
        '`isTerminal`',
        '`fiatAmount`, in a fiat unit',
        '`tokenAmount`, in a token unit',
        '`buyer`: `accountCaip10`, `accountProviderName`',
        '`transaction`: `networkId`, `hash`, `nonce` as an integer',
        '`createdAt`: ISO 8601 with milliseconds, in UTC',
        '`lastUpdatedAt`: the same format',
      ],
    ],
    [
      'watch',
      'takes native coin whose payer never confirmed: processing from its first block, succeeded at depth',
      ['`transaction.nonce` of a payment in coin is the payer’s'],
    ],
    [
      'specification',
      'shows the icons of the wallet and of the merchant in lists',
      ['`merchant.iconUrl`: a URL', '`buyer.accountProviderIcon`: a URL'],
    ],
    [
      'settlement-views',
      'shows a direct payment as settled from the moment of success',
      [
        '`settlement`: `amount`, `settled`, `txHash`',
        '`fees`: `total`, `fixed`',
        '`fees.percentage`: a decimal number as a string',
        '`settledAt`: the same format',
      ],
    ],
  ],
  'Statistics of lists': [
    [
      'payment-list-stats',
      'the succeeded payments, exactly, by currency and token',
      ['`totalRevenue`: `amount` as a number, and `currency`', '`totalTransactions`: an integer'],
    ],
    ['payment-list-stats', 'every match, and each buyer once', ['`totalCustomers`: an integer']],
    ['one-customer', 'are counted once, however a wallet spells its address', ['A customer is counted once']],
  ],
  'The merchant': [
    [
      'merchants',
      'are created, read, changed and deleted',
      [
        '`id` begins with `mrch_`',
        '`createdAt`: ISO 8601 with milliseconds',
        '`iconUrl` is absent from the creation response',
      ],
    ],
    [
      'merchants',
      'accept valid values, and return them unchanged',
      ['`name`', '`email`', '`iconUrl`: a string or null'],
    ],
    [
      'specification',
      'lists merchants with their logo, and an e-mail address only if there is one',
      ['`iconUrl` is returned by the listing', '`email` may be null'],
    ],
    ['merchants', 'are filtered by status', ['`status`: `active`, `inactive` or `suspended`']],
  ],
  States: [
    [
      'payment-lists',
      'all six statuses in every version, and time that has run out, swept or not',
      ['`requires_action`, `processing`, `succeeded`, `failed`, `expired`, `cancelled`'],
    ],
    ['payments', 'while they wait for the payer', ['A new payment is `requires_action`, and `isFinal` is false']],
    [
      'merchants',
      'are hidden from lists and counts, and their rows are kept',
      ['Deleting a merchant is a soft delete', 'A deleted merchant is hidden from listings'],
    ],
    [
      'payments',
      'because it is … are not created any more, from that moment on',
      ['A deleted merchant takes no new payments'],
    ],
    [
      'specification',
      'says of each status whether it is final, when to poll, why it failed and how it was paid',
      [
        'When the payment is final, `isFinal` is true and `pollInMs` is absent or null',
        '`failureCode` accompanies `failed` only',
        '`info` is filled only for `succeeded`',
      ],
    ],
    [
      'merchants',
      'are created, read, changed and deleted',
      ['Deleting an already deleted merchant returns `deleted: true`'],
    ],
  ],
  ...ROUTES,
  Authentication: [
    [
      'callers',
      'of credentials come before the body and the query on every route of the API',
      ['Every route asks for credentials'],
    ],
    ['callers', 'are asked for', ['Partner endpoints: the header `Api-Key`']],
    [
      'callers',
      'are asked for the merchant on every route of the payments of one merchant',
      ['Merchant-scoped endpoints also need `Merchant-Id`'],
    ],
    ['callers', 'let in any valid key, or a wallet app with a client id', ['Wallets: the header `App-Id`']],
    [
      'callers',
      'refuse two identities at once, like every other route',
      ['Conflicting auth headers are `conflicting_auth_headers`'],
    ],
    [
      'callers',
      'refuse every other combination with a code of its own',
      ['`Client-Id` is required with `App-Id`', 'No auth headers are `missing_auth_headers`'],
    ],
    [
      'callers',
      'refuse bytes outside ASCII in every header of ours, as they come over the wire',
      [
        'Header values are ASCII: `header_not_ascii`',
        'The common headers are known by their names: `Api-Key`, `Merchant-Id`, `Pay-Version`, `Sdk-Name`, `Sdk-Version`, `Sdk-Platform`, `Idempotency-Key`, `App-Id` and `Client-Id`',
      ],
    ],
  ],
  Events: [
    [
      'specification',
      'says of each status whether it is final, when to poll, why it failed and how it was paid',
      ['A status change is learned by polling: `isFinal` and `pollInMs`'],
    ],
    ['long-poll', 'sees every change of a payment, one after the other', ['A status change is learned by `maxPollMs`']],
  ],
  Errors: [
    [
      'bad-input',
      'is refused when it is no HTTP at all, and the next caller is served',
      ['All error responses have `code` and `message`, those to broken HTTP too'],
    ],
    ['catalogue', 'has exactly the 35 error codes of the specification', ['`code` is one of 35 values']],
    [
      'bad-input',
      'in generated garbage meets only errors of the catalogue, and leaves nothing behind',
      ['All error responses have `code` and `message`', 'No other `code` is ever answered'],
    ],
    [
      'specification',
      'answers an invalid creation with 400 and an invalid key with 401, both with the error body',
      ['Rule 1: 400 for an invalid request and 401 for an invalid key'],
    ],
    [
      'specification',
      'answers an internal failure of a creation with 500 and the error body',
      ['Rule 1: 500 for an internal failure'],
    ],
    [
      'refunds-on-chain',
      'answers a request with the same Idempotency-Key with the same answer',
      ['Rule 2: a refund requested twice is answered with 409'],
    ],
  ],
  'Error codes': CODES,
  Limits: [
    [
      'callers',
      'hold each key to its requests a second, and say so in the headers once half are gone',
      ['`rate_limited` exists'],
    ],
    [
      'payments',
      'to end when the merchant says, from the next second to 30 days ahead, or in five minutes',
      ['The default lifetime of a payment is five minutes'],
    ],
    [
      'specification',
      'has fifty payments on a page unless the limit says otherwise, from 1 to 200',
      ['`limit` of payments: 1 to 200, by default 50'],
    ],
    [
      'specification',
      'searches references by 3 to 35 characters of its own alphabet',
      ['`referenceId` in a search: 3 to 35 characters'],
    ],
    [
      'merchants',
      'are 20 a page unless the limit says otherwise, from 1 to 100, and all are counted',
      ['`limit` of merchants: 1 to 100, by default 20'],
    ],
    [
      'merchants',
      'take a search of 1 to 256 characters, however many bytes those are',
      ['`search`: 1 to 256 characters'],
    ],
    ['merchants', 'refuse invalid values, by name, on POST and on PATCH', ['`merchantName`: 1 to 256 characters']],
    [
      'idempotency',
      'is required where something is made that must not be made twice',
      ['`Idempotency-Key`: at most 255 characters'],
    ],
  ],
  Versions: [
    [
      'callers',
      'that are known may be requested by either header, and both headers show the version in force',
      ['Versions are dates: `2026-02-18` and `2026-02-19.preview`', '`Pay-Version` overrides the version of a request'],
    ],
    ['callers', 'are pinned per partner', ['Without it the partner’s pinned version is used']],
    [
      'callers',
      'that are malformed, older than the pin or unheard of are refused, each with its own code',
      ['`invalid_api_version`, `unknown_api_version`, `api_version_downgrade`'],
    ],
  ],
};
