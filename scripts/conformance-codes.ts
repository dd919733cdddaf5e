import type { Proof } from './conformance-routes.ts';

/** Each code of the specification, with a test that provokes it. */
export const CODES: readonly Proof[] = [
  [
    'callers',
    'hold each key to its requests a second, and say so in the headers once half are gone',
    ['`rate_limited`'],
  ],
  ['payments-bad-input', 'is refused when it cannot be read at all', ['`invalid_params`']],
  ['payments-bad-input', 'names every broken field, whatever its problem', ['`params_validation`']],
  ['payments', 'not when there is none', ['`payment_not_found`']],
  ['payments', 'and refused when the key was used for something else', ['`idempotency_conflict`']],
  ['specification', 'answers an internal failure of a creation with 500 and the error body', ['`internal_error`']],
  ['callers', 'are refused when unknown, without a hint about near misses', ['`invalid_api_key`']],
  ['callers', 'rest while their partner is disabled', ['`unauthorized`']],
  ['payments', 'only by keys that may', ['`forbidden`']],
  [
    'settlements',
    'are one per asset: another one is refused, and so is everything that came with it',
    ['`invalid_state`'],
  ],
  ['paying-confirm', 'answers 410 when it has expired, also before anybody swept it', ['`payment_expired`']],
  ['paying-confirm', 'after the end of a rate', ['`quote_expired`']],
  ['callers', 'are asked for', ['`missing_api_key`']],
  [
    'payment-list-stats',
    'callers without a key, a merchant or the scope',
    ['`missing_merchant_api_key`', '`missing_merchant_id`'],
  ],
  ['callers', 'refuse bytes outside ASCII in every header of ours, as they come over the wire', ['`header_not_ascii`']],
  ['payments', 'but not by a live key in an asset of a test network', ['`not_sandbox_api_key`']],
  ['callers', 'say which merchant a payment is about, in a header', ['`merchant_not_found`']],
  ['api-keys', 'are revoked at once on this node, as often as it is asked for', ['`api_key_not_found`']],
  [
    'callers',
    'are stored as a hash only, and issued only for partners and merchants that exist',
    ['`partner_not_found`'],
  ],
  ['paying-confirm', 'with another code when the network has no relayer any more', ['`executor_not_found`']],
  [
    'callers',
    'refuse every other combination with a code of its own',
    ['`missing_app_id`', '`missing_client_id`', '`invalid_app_id`', '`missing_auth_headers`'],
  ],
  ['callers', 'refuse two identities at once, like every other route', ['`conflicting_auth_headers`']],
  [
    'callers',
    'that are malformed, older than the pin or unheard of are refused, each with its own code',
    ['`invalid_api_version`', '`unknown_api_version`', '`api_version_downgrade`'],
  ],
  ['paying-options', 'accounts on the screening list', ['`sanctioned_user`']],
  ['refunds-on-chain', 'refuses impossible refunds, and moves nothing', ['`payment_not_succeeded`']],
  ['refunds-on-chain', 'answers a request with the same Idempotency-Key with the same answer', ['`already_refunded`']],
  [
    'specification',
    'has no use for the codes of customers and wallets, and lets merchants share their name and address',
    ['`merchant_exists`, `customer_not_found` and `wallet_not_found`: no route answers with them'],
  ],
];
