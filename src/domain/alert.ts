/** Every alert. Each has a row in `docs/operating.md`, with its meaning and the action to take; a test compares the two. */
export const ALERT_NAMES = [
  'asset_left_out',
  'asset_switched_off',
  'audit_failing',
  'block_set_aside',
  'books_differ',
  'books_unread',
  'clock_off',
  'deep_reorg',
  'destination_refused',
  'endpoint_alone',
  'endpoints_disagree',
  'endpoints_missing',
  'event_set_aside',
  'events_unplaced',
  'forgotten_outgoing',
  'freezes_changed',
  'frozen',
  'gas_budget_spent',
  'gas_price_above_cap',
  'intermediate_key_missing',
  'items_unsent',
  'job_failing',
  'key_refused',
  'network_not_as_known',
  'network_unavailable',
  'outgoing_limited',
  'outgoing_refused',
  'outgoing_stuck',
  'paid_after_end',
  'payments_stuck',
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
  'signer_refused',
  'stray_money',
  'work_unled',
] as const;

export type AlertName = (typeof ALERT_NAMES)[number];

/** The place in the documentation that says what the alert means and what to do. */
export function runbookOf(name: AlertName): string {
  return `docs/operating.md#alert-${name}`;
}
