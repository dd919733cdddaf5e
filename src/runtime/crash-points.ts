/**
 * The places at which the crash harness (`test/crash/`) kills a node, and the state that the crash leaves behind. A node calls
 * `world.crashPoint` at each place. The world of a real node has no such function, so the call does nothing.
 */
export const CRASH_POINTS = {
  'write.unfinished': 'A transaction has done its work and is not committed. PostgreSQL rolls it back.',
  'write.committed': 'A transaction is committed, and its caller has no answer.',
  'create.committed':
    'Payments are stored, and their requests have no answer. A repeated request finds them by its key.',
  'confirm.judged': 'A signature was found good, and nothing is stored. The wallet sends it again.',
  'confirm.accepted': 'A payment is `processing` and its item is due. The request has no answer.',
  'events.placed': 'Events have positions and were announced. The placer has not finished its round.',
  'hooks.fanned': 'Deliveries of webhooks exist, and nothing was sent. Any node sends them.',
  'hooks.claimed': 'Deliveries are claimed and not sent. They are due again at the end of the claim.',
  'hooks.answered': 'A receiver has answered, and the result is not stored. The delivery is sent again.',
  'relay.simulated': 'A batch was simulated, and nothing is stored. Its items are due.',
  'relay.signed': 'A transaction is signed and not stored. Its slot is free, and its items are due.',
  'relay.stored': 'A transaction is stored and was never sent. The next holder of the lease sends its bytes.',
  'relay.taken': 'The bytes of a transaction were read for sending and not sent. They are sent again.',
  'relay.broadcast': 'A transaction was sent, and its answer is not known. The same bytes are sent again.',
  'watch.read': 'Blocks and events were read, and nothing is stored. They are read again from the cursor.',
  'watch.stored': 'Blocks, events and the cursor are stored. No event is decided.',
  'watch.proved': 'Endpoints have confirmed events, and no payment has moved. The events are undecided.',
  'watch.settled': 'A payment has succeeded, and its event is decided. Other events of the round are undecided.',
  'watch.decided': 'Events are decided, and their transactions are not closed.',
  'watch.finished': 'Mined transactions are closed and their gas is in the books.',
  'deposit.opened': 'A deposit address is stored, and its request has no answer. A repeated request gets the same one.',
  'deposit.stored': 'Transfers to deposit addresses and their cursor are stored. No payment has moved.',
  'deposit.recorded': 'The money at a deposit address is booked. Its payment has not succeeded.',
  'deposit.paid': 'The money of a payment is computed and booked, it may have succeeded, and sweeps are ordered.',
  'deposit.swept': 'A sweep is booked, and the settlement of its payment is not noted.',
  'refund.offered':
    'The item that a merchant’s account is to sign is stored, and its request has no answer. A repeated request gets the same one.',
  'refund.signed': 'The signature of a merchant’s account is stored, and its item is due. The request has no answer.',
  'mail.sent': 'The server has taken a mail, and the result is not stored. It is sent again at the end of the claim.',
  'refund.covered': 'The order of a refund is stored and its floats are charged. No terms exist.',
  'return.begun': 'The return of late money is ordered and its floats are charged. No terms exist.',
  'outgoing.planned': 'The terms of an outgoing transfer are stored and not signed. The same terms are signed later.',
  'outgoing.signed': 'An outgoing transfer is signed and not stored. The same terms give the same item again.',
  'outgoing.stored': 'The item of an outgoing transfer is due.',
  'outgoing.settled': 'An outgoing transfer is concluded, and its event is undecided.',
} as const;

export type CrashPoint = keyof typeof CRASH_POINTS;
