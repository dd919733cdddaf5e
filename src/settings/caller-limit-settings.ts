import { integer } from './kinds.ts';
import { setting } from './setting.ts';

export const CALLER_LIMIT_SETTINGS = {
  keyRequestsPerSecond: setting(
    'RATE_LIMIT_KEY_PER_SECOND',
    integer(1, 1_000_000),
    500,
    'Requests a second that one API key may send to one node.',
  ),
  addressRequestsPerSecond: setting(
    'RATE_LIMIT_ADDRESS_PER_SECOND',
    integer(1, 1_000_000),
    100,
    'Requests a second that one address may send to one node without a known API key.',
  ),
  surveyAccountsPerKey: setting(
    'SURVEY_ACCOUNTS_PER_KEY',
    integer(1, 1_000_000),
    250,
    'Accounts a second that one node looks up on the networks for the payment options of one API key. A request counts as four accounts more than it names, and a payment by a signature that is not of the account’s key, or that the network refuses, as five. Eight seconds can be used at once.',
  ),
  surveyAccountsPerAddress: setting(
    'SURVEY_ACCOUNTS_PER_ADDRESS',
    integer(1, 1_000_000),
    25,
    'The same for one address without an API key.',
  ),
} as const;
