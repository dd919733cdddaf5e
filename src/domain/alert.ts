/** Every alert there is. `docs/operating.md` says for each what it means and what to do; a test compares the two. */
export const ALERT_NAMES = [
  'asset_switched_off',
  'block_set_aside',
  'books_differ',
  'deep_reorg',
  'event_set_aside',
  'forgotten_outgoing',
  'intermediate_key_missing',
  'job_failing',
  'network_not_as_known',
  'network_unavailable',
  'paid_after_end',
  'payments_undetermined',
  'payout_failed',
  'rate_missing',
  'refund_awaiting_funds',
  'refund_failed',
  'relayer_balance_low',
  'relayer_out_of_funds',
  'return_failed',
  'screened_payer',
  'screening_list',
  'send_stuck',
  'stray_money',
] as const;

export type AlertName = (typeof ALERT_NAMES)[number];
