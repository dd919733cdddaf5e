/** A test in which a wait comes to its end: its file without folder `test/` and ending, and the beginning of its title. */
type End = readonly [file: string, title: string];

/** For each state of `WAITING_STATES`, the test that sees a row leave it, although parties, endpoints or other rows stand in the way. */
export const WAITING_ENDS: Readonly<Record<string, End>> = {
  'payments.requires_action': ['attacks/stranger-endings', 'piles up no actions: they end while the payment waits'],
  'payments.processing': ['e2e/watch', 'lets a payment be paid again when its authorization has run out'],
  'items.offered': ['e2e/watch', 'ends a payment whose native action was not used'],
  'items.due': ['faults/f32-f33-tokens-and-deadlines', 'F33: an item that waited too long is not sent any more'],
  'items.sent': ['e2e/former-relayers', 'have their payments sent by others when their transaction cannot be mined'],
  'relay_sends.open': ['e2e/former-relayers', 'are given up a week after nothing needs them any more'],
  'outgoing.sending': ['e2e/refunds', 'are tried again when an attempt ran out'],
  'outgoing.fee_return': ['e2e/refunds-signed', 'gives the fee back from the operator’s float'],
  'lots.is_open': ['e2e/payouts', 'wait for a destination, then go out together'],
  'refunds.requested': ['e2e/full-queues', 'delays no refund'],
  'refunds.awaiting_funds': ['e2e/refunds', 'await funds, and are carried out as soon as floats cover them'],
  'refunds.sending': ['e2e/refunds', 'survive a crash after every step'],
  'refunds.failed': ['e2e/refunds', 'fail when the payer cannot receive'],
  'strays.unclaimed': ['e2e/late-money', 'that cannot be received is unclaimed again'],
  'strays.requested': ['e2e/late-money', 'cools off, can be vetoed'],
  'strays.returning': ['e2e/late-money', 'waits when others have used the float since'],
  'chain_events.decided_at': ['e2e/bounded-watching', 'decides events behind those about which'],
  'movements.is_proved': ['e2e/deposit-bad-input', 'counts every transfer of thirty in a block'],
  'deposit_places.is_stale': ['attacks/stranger-endings', 'delays no payment at an address by dust'],
  'positions.is_stale': ['e2e/rows-isolated', 'keeps no other position from being computed'],
  'account_movements.lacking': ['e2e/account-movements', 'that leave beyond that float are missing'],
  'crypto_settlements.effective_at': ['e2e/full-queues', 'delays no change of a destination'],
  'book_entries.sequence': ['e2e/books', 'finds no problem in unchanged books, and reports unsealed entries'],
  'merchant_logos.due_at': ['e2e/logos', 'are tried three times when their server is away'],
  'webhook_endpoints.replay_after': ['e2e/webhook-subscriptions', 'waits for the replay of no other partner'],
  'webhook_deliveries.pending': ['e2e/webhooks', 'end at an endpoint that only failed for three days'],
  'mails.pending': ['e2e/mail', 'is tried again when the server is busy, and given up after a day'],
};
