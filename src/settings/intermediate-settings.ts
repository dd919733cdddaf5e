import { account, relayerKeys, signingKey } from './network-kinds.ts';
import { setting } from './setting.ts';

/** The accounts that keep payments to merchants without a destination, and their keys. */
export const INTERMEDIATE_SETTINGS = {
  intermediateAccount: setting(
    'INTERMEDIATE_ACCOUNT',
    account(),
    undefined,
    'The account that keeps payments to merchants without a destination for the asset. Needed for every network in `RPC_URLS`.',
    'an account of the sandbox',
  ),
  intermediateKey: setting(
    'INTERMEDIATE_KEY',
    signingKey(),
    undefined,
    'Private key of `INTERMEDIATE_ACCOUNT`, or its address when `EXTERNAL_SIGNER_URL` holds the key. It signs payouts and refunds, and pays gas only for those in native coin.',
    'none: money on the account stays there; the sandbox chain has its own key',
  ),
  otherIntermediateKeys: setting(
    'OTHER_INTERMEDIATE_KEYS',
    relayerKeys(),
    undefined,
    'Private keys of further intermediate accounts, or their addresses: the next one, and earlier ones, whose money is still swept and paid out (`docs/operating.md`).',
  ),
};
