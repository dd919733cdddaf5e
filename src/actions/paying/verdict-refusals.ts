import type { Verdict } from '../../chains/payer-side.ts';
import type { RefusalReason } from '../../chains/refusal-reason.ts';
import { signatureRule, spenderWord, workWord } from '../../domain/addresses/families.ts';
import { ApiError, validationError } from '../../errors.ts';
import { quoteExpired } from './option-refusals.ts';

export type BadVerdict = Exclude<Verdict, { is: 'good' }>;

export function refusalOf(network: string, verdict: BadVerdict): ApiError {
  return REFUSALS[reasonOf(verdict)](network);
}

export function reasonOf(verdict: BadVerdict): RefusalReason | 'malformed_signature' {
  return verdict.is === 'refused' ? verdict.reason : verdict.is;
}

const refused = (message: string) => () => new ApiError('invalid_state', message);
const wrongSignature = () =>
  validationError(
    [{ field: 'results', message: "must hold a signature of the option's data by the option's account" }],
    422,
  );

/** The error for each finding of the chain. Wallets search for the words "insufficient funds". */
const REFUSALS: Readonly<Record<RefusalReason | 'malformed_signature', (network: string) => ApiError>> = {
  malformed_signature: (network) =>
    validationError([{ field: 'results', message: `must hold ${signatureRule(network)}` }], 422),
  wrong_signature: wrongSignature,
  short_balance: refused('The account has insufficient funds.'),
  short_allowance: (network) =>
    new ApiError(
      'invalid_state',
      `${spenderWord(network)} may not take the token yet: wait until the approval is mined, then confirm again.`,
    ),
  used: refused('This authorization was used or cancelled before: ask for options again.'),
  late: quoteExpired,
  payer_blacklisted: refused('The token refuses transfers of this account.'),
  recipient_blacklisted: refused('The token refuses transfers to the recipient.'),
  paused: refused('The token has paused all transfers.'),
  short_arrival: refused('The token does not deliver the full amount.'),
  out_of_gas: (network) => new ApiError('invalid_state', `The account takes too much ${workWord(network)} to pay.`),
  unknown: refused('The token refuses this payment.'),
};
