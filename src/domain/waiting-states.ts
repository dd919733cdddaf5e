import type { AlertName } from './alert.ts';

/**
 * This file lists every state in which a row can wait: who can put the row there, which events end the wait, and after how long
 * at the latest. The table is printed in `docs/security.md`, `till explain` uses the same texts, and a test compares it with the
 * schema and with the transitions in the code. A state without a bounded way out is a fault.
 */

export interface WaitingState {
  /** The parties and events that put a row into this state. */
  readonly from: string;
  /** The events that take the row out of this state. */
  readonly out: string;
  /** The longest time in this state, if the networks can be read. */
  readonly latest: string;
  /** The alert that is raised if the wait lasts longer than `latest`, or while a person has to act. */
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
      out: 'a relayer that sends it, the proof that its authorization is used, or the first final block after its deadline',
      latest:
        '12 minutes for a payment, an hour for our own transfers; a sweep has no deadline and is sent when it can be',
      alert: 'items_unsent',
    },
    sent: {
      from: 'a relayer that has stored its transaction',
      out: 'its event, the final end of its transaction, after which it is due again, or the first final block after its deadline',
      latest:
        'the deadline of the item; the transaction is broadcast again, with a higher offer, until its slot is used',
      alert: 'payments_stuck',
    },
  },
  relay_sends: {
    open: {
      from: 'a relayer that has taken a slot',
      out: 'a final block in which the slot is used; or, if its key is gone, no two endpoints that see the slot used a week after it was stored',
      latest:
        'the offer rises until a block takes it, up to the cap of the network; without the key a week, or until none of its items waits for it: then it is given up, and opened again if it is mined after all',
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
    fee_return: {
      from: 'a refund that the account of its merchant has paid, if the operator returns fees',
      out: 'enough float of the operator',
      latest: 'the operator decides: it owes the fee, and other fees are returned meanwhile',
    },
  },
  // In the tables below, some rows wait by a flag: a column that is set while the row waits.
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
  chain_events: {
    decided_at: {
      from: 'anybody who has a contract of ours report something; an endpoint that makes a report up',
      out: 'a final block, if two endpoints show the report or two deny it; a reorganisation',
      latest:
        'the final depth; while endpoints contradict each other, until they agree, and others are decided meanwhile',
      alert: 'endpoints_disagree',
    },
  },
  movements: {
    is_proved: {
      from: 'anybody who sends money to a deposit address; an endpoint that makes a transfer up',
      out: 'the balance of the address at a final block, or the receipt, from two endpoints; a reorganisation',
      latest: 'the next checks of its address, the largest transfers first',
      alert: 'endpoints_disagree',
    },
  },
  deposit_places: {
    is_stale: {
      from: 'anybody who sends money to a deposit address',
      out: 'a check of it in a final block that explains its balance',
      latest:
        'addresses take turns, 500 in a round; it is checked again with the next block; money from before it was watched waits for 20 pages of earlier blocks a round',
      alert: 'deposit_differs',
    },
  },
  positions: {
    is_stale: {
      from: 'a change of the movements or events of its payment',
      out: 'the next round, which computes it',
      latest:
        'a round; one that cannot be computed goes behind the others and is tried in each round, until its rows are repaired',
      alert: 'money_uncomputed',
    },
  },
  account_movements: {
    lacking: {
      from: 'the holder of a key of ours who sends money away without an order',
      out: 'the operator, who brings the money back (`till float add`)',
      latest: 'the operator decides; the asset is frozen while its cover lacks',
      alert: 'money_left',
    },
  },
  crypto_settlements: {
    effective_at: {
      from: 'a partner who changes a destination',
      out: 'the end of its cooling-off period, or a veto',
      latest: 'the cooling-off period (24 hours live)',
    },
  },
  book_entries: {
    sequence: {
      from: 'every movement of money',
      out: 'the job that chains the entries of a network',
      latest: 'seconds',
      alert: 'work_unled',
    },
  },
  merchant_logos: {
    due_at: {
      from: 'a partner who names the logo of a merchant',
      out: 'a copy of the picture, or the last attempt',
      latest: 'three attempts, which take turns with those of other partners',
    },
  },
  webhook_endpoints: {
    replay_after: {
      from: 'a partner who has the events since a time sent again',
      out: 'the last of these events, or the end of the endpoint',
      latest: 'replays take turns, a page at a time',
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

/** The flags: columns that are set while a row waits, in tables or rows that have no state for the wait. */
export const FLAGS = {
  outgoing: ['fee_return'],
  lots: ['is_open'],
  chain_events: ['decided_at'],
  movements: ['is_proved'],
  deposit_places: ['is_stale'],
  positions: ['is_stale'],
  account_movements: ['lacking'],
  crypto_settlements: ['effective_at'],
  book_entries: ['sequence'],
  merchant_logos: ['due_at'],
  webhook_endpoints: ['replay_after'],
} as const satisfies Partial<Record<keyof typeof WAITING_STATES, readonly string[]>>;

/** The states that wait for nothing, by table: final states, and states that people set. */
export const RESTING_STATES: Readonly<Record<string, readonly string[]>> = {
  payments: ['succeeded', 'failed', 'expired', 'cancelled'],
  items: ['paid', 'unpaid'],
  // A send that was given up is opened again if a block uses its slot, or if the key of its relayer is configured again.
  relay_sends: ['final'],
  outgoing: ['paid', 'failed'],
  // History: earlier versions recorded held money here. Lots have replaced this table, and no code writes to it.
  payouts: ['held', 'sending', 'paid', 'refunding', 'refunded'],
  // If a reorg deeper than final depth removes the refund's transaction on chain, the gateway sends the refund again.
  refunds: ['refunded'],
  strays: ['float', 'returned'],
  webhook_deliveries: ['succeeded', 'failed'],
  mails: ['sent', 'failed'],
  merchants: ['active', 'inactive', 'suspended'],
  fiat_settlements: ['active', 'inactive'],
  webhook_endpoints: ['active', 'disabled', 'deleted'],
  payment_links: ['active', 'inactive'],
};

/** The way out of a payment's waiting state, as `till explain` prints it. Undefined if the payment waits for nothing. */
export function limitOfWait(status: string): string | undefined {
  const rows: Readonly<Record<string, WaitingState>> = WAITING_STATES.payments;
  const row = Object.hasOwn(rows, status) ? rows[status] : undefined;
  return row && `Ended by ${row.out}. At the latest: ${row.latest}.`;
}
