import { type Proof, ROUTES } from './conformance-routes.ts';

/** The specification, section by section. */
export const SECTIONS: Readonly<Record<string, readonly Proof[]>> = {
  'What the service does': [
    [
      'payments',
      'with the gateway URL and the id for later reads',
      [
        'A partner creates payments on behalf of merchants and reads them back',
        'A created payment returns a gateway URL to which the payer is redirected',
      ],
    ],
    [
      'payments',
      'in a token, however its address is spelled, and shown in the one canonical spelling',
      ['Payments are amounts in a fiat or token unit'],
    ],
    ['long-poll', 'is held until the status changes, on every status route', ['The partner polls for status']],
    ['payments', 'while they wait for the payer', ['Polling uses a delay that the server provides']],
    ['merchants', 'are created, read, changed and deleted', ['The service manages merchants under a partner']],
    [
      'payment-lists',
      'by everything at once',
      ['The service lists a merchant’s payments with filters, paging and statistics'],
    ],
  ],
  Amounts: [
    [
      'payments',
      'with amounts of any size up to 78 digits, to the last digit',
      ['`value`: a string, in minor units', '`unit`: `iso4217/` and a currency code'],
    ],
    [
      'payments',
      'in a token, however its address is spelled, and shown in the one canonical spelling',
      ['`unit`: `caip19/` and a CAIP-19 asset id'],
    ],
    [
      'payments-bad-input',
      'names every broken field, whatever its problem',
      ['`unit` and `value` are required', 'Other prefixes and forms are refused'],
    ],
    [
      'payment-details',
      'names itself, its merchant, its price, its times and its page',
      ['`display` of a currency: `assetSymbol`, `assetName` and `decimals` alone'],
    ],
    [
      'paying-options',
      'the amount in the token, with the data to format it',
      ['`display` of a token also has `networkName`, `iconUrl` and `networkIconUrl`'],
    ],
    [
      'payments',
      'with the paid amount, only when they have succeeded',
      ['`optionAmount` has `display`, `unit` and `value`'],
    ],
  ],
  'The payment': [
    [
      'payments',
      'with the gateway URL and the id for later reads',
      ['`paymentId` begins with `pay_`', '`gatewayUrl`: where the payer is redirected'],
    ],
    ['payments', 'with any order id of 1 to 255 characters', ['`referenceId`: the order id given at creation']],
    [
      'payments',
      'with why, when they have failed and only then',
      ['`failureCode` only with `failed`', '`failureCode`: `declined_user`'],
    ],
    [
      'payments',
      'to end when the merchant says, from the next second to 30 days ahead, or in five minutes',
      ['`expiresAt`: seconds since the epoch, at least 0'],
    ],
    [
      'payments',
      'while they wait for the payer',
      ['`isFinal` is false while polling is needed', '`pollInMs`: milliseconds until the next poll, at least 0'],
    ],
    [
      'payments',
      'with the paid amount, only when they have succeeded',
      [
        '`isFinal` is true when polling is no longer needed',
        '`pollInMs` is absent or null when final',
        '`info` has `optionAmount` and `txId`',
        '`info` when `succeeded`, null otherwise',
      ],
    ],
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
      ['`settlement.successful` has `amount` with its `unit`, and `txId`'],
    ],
  ],
  'The payment in lists': [
    [
      'payment-lists',
      'each payment as far as it is known',
      [
        '`paymentId`',
        '`merchant`: `id`, `name`, `iconUrl`',
        '`referenceId`',
        '`status`',
        '`isTerminal`',
        '`fiatAmount`, in a fiat unit',
        '`tokenAmount`, in a token unit',
        '`buyer`: `accountCaip10`, `accountProviderName`, `accountProviderIcon`',
        '`transaction`: `networkId`, `hash`',
        '`createdAt`: ISO 8601 with milliseconds, in UTC',
        '`lastUpdatedAt`: the same format',
      ],
    ],
    [
      'watch',
      'takes native coin whose payer never confirmed: processing from its first block, succeeded at depth',
      ['`transaction.nonce`: an integer'],
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
        '`name`',
        '`email`: a string or null',
        '`createdAt`: ISO 8601 with milliseconds',
        '`iconUrl` is returned by the listing, and absent from the creation response',
      ],
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
    ['merchants', 'answer 404 on every route but DELETE', ['A deleted merchant takes no new payments']],
    [
      'merchants',
      'are created, read, changed and deleted',
      ['Deleting an already deleted merchant returns `deleted: true`'],
    ],
  ],
  ...ROUTES,
  Authentication: [
    ['callers', 'are asked for', ['Partner endpoints: the header `Api-Key`']],
    [
      'callers',
      'say which merchant a payment is about, in a header',
      ['Merchant-scoped endpoints also need `Merchant-Id`'],
    ],
    [
      'callers',
      'let in any valid key, or a wallet app with a client id',
      ['Wallets: the header `App-Id`', '`Client-Id` is required with `App-Id`'],
    ],
    [
      'callers',
      'refuse two identities at once, like every other route',
      ['Conflicting auth headers are `conflicting_auth_headers`'],
    ],
    [
      'callers',
      'refuse every other combination with a code of its own',
      ['No auth headers are `missing_auth_headers`', '`missing_app_id`, `missing_client_id`, `invalid_app_id`'],
    ],
    [
      'callers',
      'refuse bytes outside ASCII in every header of ours, as they come over the wire',
      ['Header values are ASCII: `header_not_ascii`'],
    ],
  ],
  Errors: [
    [
      'bad-input',
      'is refused when it is no HTTP at all, and the next caller is served',
      ['All error responses have `code` and `message`'],
    ],
    ['catalogue', 'has exactly the 35 error codes of the specification', ['`code` is one of 35 values']],
    [
      'bad-input',
      'in generated garbage meets only errors of the catalogue, and leaves nothing behind',
      ['No other `code` is ever answered'],
    ],
    [
      'callers',
      'run in the order of the catalogue: an earlier failure is reported before later ones',
      ['Each condition has its own code'],
    ],
  ],
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
