/** The reasons for which a chain refuses an item. */
export type RefusalReason =
  | 'used'
  | 'late'
  | 'wrong_signature'
  | 'short_balance'
  | 'short_allowance'
  | 'payer_blacklisted'
  | 'recipient_blacklisted'
  | 'paused'
  | 'short_arrival'
  | 'out_of_gas'
  | 'unknown';
