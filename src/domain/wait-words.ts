/** The causes of a wait, each with the reason that partners see. Causes share a reason if partners have to act on them in the same way. */
const REASONS = {
  payer: 'payer',
  coin: 'payer',
  due: 'sending',
  unsent: 'sending',
  unmined: 'sending',
  refused: 'refused',
  payer_paused: 'refused',
  confirmations: 'confirmations',
  finality_tag: 'confirmations',
  proof: 'confirmations',
  late: 'deadline',
  exhausted: 'deadline',
  ran_out: 'deadline',
  stopped: 'stopped',
  network_unavailable: 'network',
  endpoints_disagree: 'network',
  endpoint_alone: 'network',
  gas_price_above_cap: 'network',
  no_watcher: 'gateway',
  no_relayer: 'gateway',
  relayer_out_of_funds: 'gateway',
  gas_budget_spent: 'gateway',
  signer_refused: 'gateway',
  undetermined: 'gateway',
  payout: 'settlement',
  payout_stopped: 'settlement',
  listed_sender: 'settlement',
  no_destination: 'settlement',
  destination_cooling: 'settlement',
  refund: 'refund',
  refund_stopped: 'refund',
  refund_cooling: 'refund',
  refund_waiting: 'refund',
  refund_awaiting_funds: 'refund',
  refund_awaiting_signature: 'refund',
  refund_failed: 'refund',
} as const;

export type WaitCause = keyof typeof REASONS;
export type WaitReason = (typeof REASONS)[WaitCause];

export const WAIT_REASONS: readonly WaitReason[] = [...new Set(Object.values(REASONS))];

export interface Wait {
  readonly cause: WaitCause;
  readonly reason: WaitReason;
  /** The text that the operator sees. */
  readonly text: string;
  /** The text that the partner sees, without accounts, nodes and endpoints of the gateway. */
  readonly partnerText: string;
  readonly sinceMs: number;
  /** The time at which the wait ends by itself, if known. */
  readonly untilMs?: number;
}

export function waitFor(cause: WaitCause, words: Omit<Wait, 'cause' | 'reason'>): Wait {
  return { cause, reason: REASONS[cause], ...words };
}

/** A time as text: `2026-02-18T09:30:00Z`. */
export function isoText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const MINUTE_MS = 60_000;

/** A duration as text: `about 6 s`, `about 3 min`. */
export function aboutMs(ms: number): string {
  return ms < 2 * MINUTE_MS
    ? `about ${Math.max(1, Math.round(ms / 1_000))} s`
    : `about ${Math.round(ms / MINUTE_MS)} min`;
}
