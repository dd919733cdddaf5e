import type { AlertName } from './alert.ts';

/**
 * Every state in which a row can wait: who can put it there, which events end the wait, and after how long at the latest. The
 * table is printed in `docs/security.md`, `till explain` uses the same texts, and a test compares it with the schema and with
 * the transitions in the code. A state without a bounded way out is a fault.
 */

export interface WaitingState {
  /** The parties and events that put a row into this state. */
  readonly from: string;
  /** The events that take the row out of this state. */
  readonly out: string;
  /** The longest time in this state, if the networks can be read. */
  readonly latest: string;
  /** Raised while the wait lasts longer, or while a person has to act. */
  readonly alert?: AlertName;
}

/** The waiting states of all tables with a state. All other states are in `RESTING_STATES`. */
export const WAITING_STATES = {
  payments: {
    requires_action: {
      from: 'a partner, or anybody with a payment link, who creates it; the watcher, when its last attempt is over',
      out: 'a payment, a cancellation, or its expiry',
      latest:
        'its `expiresAt`; with a coin action or an address handed out, the first final block after that on their networks; after a restore not before the rebuild',
    },
    processing: {
      from: 'a payer with a signature that the chain would accept, coin that an endpoint shows, or enough money in a block',
      out: 'the event of its payment in a final block, or the proof that no attempt can be carried out any more',
      latest:
        'the first final block after the deadline of its last attempt: 12 minutes for a signature, 5 for coin and for x402; with enough money at an address, that of its `expiresAt`',
      alert: 'payments_undetermined',
    },
  },
  items: {
    offered: {
      from: 'anybody with the id of a payment who fetches a coin action (at most 48) or opens an address (one for each token); a merchant who is asked to sign a refund',
      out: 'its event, or the first final block after its deadline, whatever its payment does',
      latest: '5 minutes for coin, 20 for a refund, the expiry of the payment for an address; then a final block',
      alert: 'payments_undetermined',
    },
    due: {
      from: 'a payer whose signature was accepted, our own transfers, and sweeps of money at addresses',
      out: 'a relayer that sends it, the proof that its nonce is used, or the first final block after its deadline',
      latest:
        '12 minutes for a payment, an hour for our own transfers; a sweep has no deadline and is sent when it can be',
      alert: 'items_unsent',
    },
    sent: {
      from: 'a relayer that has stored its transaction',
      out: 'its event, the final end of its transaction, after which it is due again, or the first final block after its deadline',
      latest:
        'the deadline of the item; the transaction is broadcast again, with a higher fee, until its nonce is used',
      alert: 'payments_stuck',
    },
  },
  sends: {
    open: {
      from: 'a relayer that has taken a nonce',
      out: 'a final block in which the nonce is used',
      latest: 'the fee rises until a block takes it, up to the cap of the network',
      alert: 'send_stuck',
    },
  },
  outgoing: {
    sending: {
      from: 'an order of a payout, a refund or a return',
      out: 'its event in a final block, or the first final block after the deadline of its item, after which it is tried again or fails',
      latest: 'an hour for each attempt; a freeze and the hourly limit put attempts off',
      alert: 'outgoing_stuck',
    },
  },
  // A flag, because a lot has no state.
  lots: {
    is_open: {
      from: 'a payment of a merchant without a destination; a payout or return that failed, or a refund that was vetoed',
      out: 'a payout when the merchant has a destination, a refund, or a return of late money',
      latest: 'the merchant decides: it is the money of the merchant, and it blocks nobody else',
    },
  },
  refunds: {
    requested: {
      from: 'a partner or the operator',
      out: 'the end of its cooling-off period, a veto, or a lack of money',
      latest: 'the cooling-off period (24 hours live)',
      alert: 'outgoing_stuck',
    },
    awaiting_funds: {
      from: 'a refund without money for it',
      out: 'money of the merchant or the operator, a signature of the merchant, or a veto',
      latest: 'the partner decides: it asked for the refund, and a veto ends it',
      alert: 'refund_awaiting_funds',
    },
    sending: {
      from: 'the job of refunds, or a signature of the merchant',
      out: 'the end of its transfer',
      latest: 'as its transfer',
      alert: 'outgoing_stuck',
    },
    failed: {
      from: 'a transfer that failed, screening, or a veto',
      out: '`till refunds retry`, or a veto, which gives its part free',
      latest: 'the operator decides',
      alert: 'refund_failed',
    },
  },
  strays: {
    unclaimed: {
      from: 'anybody who sends money that no payment needed',
      out: 'a return that the partner or the operator orders',
      latest: 'the partner decides; the money is swept or stays at its address, and blocks nothing',
    },
    requested: {
      from: 'a partner who orders a return',
      out: 'the end of its cooling-off period, or a veto',
      latest: 'the cooling-off period (24 hours live)',
      alert: 'outgoing_stuck',
    },
    returning: {
      from: 'the job of returns',
      out: 'the end of its transfer',
      latest: 'as its transfer',
      alert: 'return_failed',
    },
  },
  webhook_deliveries: {
    pending: {
      from: 'an event for an endpoint',
      out: 'an answer of the receiver, or the last attempt',
      latest: 'three days, then it has failed',
      alert: 'webhook_endpoint_disabled',
    },
  },
  mails: {
    pending: {
      from: 'an event that sends a mail; anybody with the id of a paid payment, for its receipt, within limits',
      out: 'the mail server, or the last attempt',
      latest: '24 hours, then it is given up',
      alert: 'mails_stuck',
    },
  },
} as const satisfies Record<string, Record<string, WaitingState>>;

/** The states that wait for nothing, by table: final states, and settings of people. */
export const RESTING_STATES: Readonly<Record<string, readonly string[]>> = {
  payments: ['succeeded', 'failed', 'expired', 'cancelled'],
  items: ['paid', 'unpaid'],
  sends: ['final'],
  outgoing: ['paid', 'failed'],
  // History: earlier versions recorded held money here. Lots have replaced this table, and no code writes to it.
  payouts: ['held', 'sending', 'paid', 'refunding', 'refunded'],
  // If a reorg deeper than final depth removes the transaction, it is sent again.
  refunds: ['refunded'],
  strays: ['float', 'returned'],
  webhook_deliveries: ['succeeded', 'failed'],
  mails: ['sent', 'failed'],
  merchants: ['active', 'inactive', 'suspended'],
  fiat_settlements: ['active', 'inactive'],
  webhook_endpoints: ['active', 'disabled', 'deleted'],
  payment_links: ['active', 'inactive'],
};

/** The waiting state of a payment's status, as `till explain` prints it. Undefined if the payment waits for nothing. */
export function limitOfWait(status: string): string | undefined {
  const rows: Readonly<Record<string, WaitingState>> = WAITING_STATES.payments;
  const row = Object.hasOwn(rows, status) ? rows[status] : undefined;
  return row && `Ended by ${row.out}. At the latest: ${row.latest}.`;
}
