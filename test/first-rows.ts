/**
 * Every statement of the store that takes the first rows of more, by the reason why the rows behind them have their turn. A reader
 * of work lets rows that cannot go on wait behind the others, and a test fills its rounds with such rows.
 */
export const FIRST_ROWS: Readonly<Record<Reason, readonly string[]>> = {
  // Pages by a key: the caller goes on behind the last row, until there is none.
  page: [
    'chain/account-states: lockAllAccountStates',
    'chain/deposit-places: listPlaces',
    'chain/deposit-places: listWaitingAt',
    'chain/deposit-places: lockReleasedPlaces',
    'chain/deposits: lockAllDeposits',
    'chain/own-accounts: lockAllOwnAccounts',
    'chain/prunable: clearFinalBytes',
    'chain/prunable: deleteRefusedEvents',
    'mail/mails: lockWaitingLinks',
    'money/book-export: listExported',
    'money/books: findUnsealed',
    'money/books: listSealed',
    'money/outgoing: lockOpenOutgoing',
    'money/refunds: lockOpenRefunds',
    'money/unexpected-money: lockOpenRequests',
    'events/events: readEvents',
    'events/partner-feed: readFeedBack',
    'events/partner-feed: readFeeds',
    'parties/api-keys: lockKeyRights',
    'parties/destination-history: listMerchantsWithHistory',
    'parties/destinations: lockDestinations',
    'payments/open-payers: listOpenPayers',
    'payments/stored-pictures: listPictures',
    'payments/payers: eraseSent',
    'payments/payers: eraseSigned',
    'payments/payment-steps: foldSteps',
    'people/passkeys: lockAllPasskeys',
    'people/people: lockPeople',
    'plumbing/audit-log: listAuditRows',
    'webhooks/endpoints: lockEndpoints',
    'webhooks/fan-out: fanOutEvents',
    'webhooks/fan-out: replayEvents',
  ],
  // Lists and histories that people, partners or commands read, page by page or with the number of the rest. No work hangs on them.
  shown: [
    'chain/attempt-history: findAttempts',
    'chain/place-checkpoints: findWrongCheckpoints',
    'chain/attempt-history: findCarryingVersions',
    'chain/attempt-history: findSeenEvents',
    'chain/sent-items: findOldestSent',
    'events/events: findNewestEvents',
    'money/account-rest: countAccountRest',
    'money/late-money: findLateMoneyOf',
    'money/late-money: listLateMoney',
    'money/outgoing: findPayoutsOf',
    'money/payout-lists: countMerchantMoney',
    'money/payout-lists: listPayouts',
    'money/refunds: listRefunds',
    'money/unexpected-money: listUnexpected',
    // A count and a sum for the message of an alert.
    'money/unexpected-money: sumOpenTransfers',
    'parties/api-keys: listKeysPage',
    'parties/api-requests: listApiRequests',
    'parties/destinations: listPendingDestinations',
    'parties/merchants: listMerchants',
    'parties/merchants: listMerchantsOfAllPartners',
    'payments/page-order: orderOf',
    'payments/payment-days: countAttention',
    'payments/payment-links: listLinks',
    'payments/payment-stats: customersOf',
    'people/people: listEverybody',
    'people/people: listPeople',
    'people/sessions: listSessions',
    'plumbing/alerts: findAlertsAbout',
    'plumbing/audit-log: findAuditAbout',
    'plumbing/audit-log: listAudit',
    'plumbing/database-state: listSlowStatements',
    'plumbing/leases: findTakeovers',
    'plumbing/nodes: listNodes',
    'webhooks/deliveries: findDeliveriesOf',
    'webhooks/deliveries: listDeliveries',
    'webhooks/endpoints: listFailingEndpoints',
  ],
  // The same statement deletes or ends its rows, so no row is taken twice.
  taken: [
    'chain/attempt-history: pruneLostEvents',
    'events/placing: placeEvents',
    'mail/mails: endLateMails',
    'mail/mails: pruneMails',
    'parties/api-requests: pruneApiRequests',
    'payments/new-payments: prunePaymentKeys',
    'payments/payment-stats: findDaysOfCustomers',
    'payments/payment-stats: foldStatChanges',
    'payments/payment-steps: foldVisits',
    'payments/payment-steps: pruneVisits',
    'people/passkeys: pruneAnswered',
    'people/sessions: pruneSessions',
    'people/sign-in-links: pruneLinks',
    'plumbing/alerts: prunePastAlerts',
    'plumbing/alerts: takeUnmailedAlerts',
    'plumbing/alerts: takeUnmailedEnds',
    'plumbing/idempotency-keys: pruneKeys',
    'plumbing/leases: pruneTakeovers',
    'webhooks/deliveries: pruneOver',
    'webhooks/deliveries: pruneStopped',
    'webhooks/deliveries: pruneUnsubscribed',
  ],
  // The caller needs no more than the largest or the newest rows, or the condition alone says that each row can go on.
  enough: [
    'chain/place-checkpoints: isCheckpointDue',
    // The largest sweeps and transfers suffice as evidence; the smaller ones only add dust.
    'chain/chain-events: listLargestSweeps',
    'chain/movements: listMovements',
    'chain/movements: listUnproved',
    // An event whose payment does not move is decided at final depth, and leaves.
    'chain/chain-events: findArrivingCoin',
    // Only the holder of our key makes departures, and a departure that is filled leaves the queue.
    'chain/account-movements: lockLacking',
    // The number of outgoing rows that one transaction can carry out is smaller.
    'money/outgoing: findOutgoingOf',
    // More heads than nodes write at the same time.
    'parties/freezes: findFreezeHeads',
    // The clock alone ends these payments, all in one transaction.
    'payments/payments: lockOverdue',
    // Rehearsals are of a sandbox.
    'payments/rehearsals: findOpenRehearsals',
    // With so many events before it, a replica must have everything.
    'events/wal-position: findWalPosition',
    // The relayers are the operator's own and take turns, and a nonce is mined after those before it.
    'chain/former-sends: listFormerVersions',
    // More than a relayer had in flight when its sends were given up.
    'chain/former-sends: reopenGivenUp',
    // One lock, taken after the row was chosen.
    'chain/due-items: lockUnsentItem',
  ],
};

type Reason = 'page' | 'shown' | 'taken' | 'enough';

/** Files of actions and workers that take the first rows of a list in memory, each with the reason or the test. */
export const FIRST_IN_MEMORY: Readonly<Record<string, string | readonly [file: string, title: string]>> = {
  'actions/books/restore/restore-sweep': 'more than the parts of one sweep',
  'actions/outgoing/return/check-return': 'the largest sweeps suffice as evidence',
  'actions/outgoing/return/record-unexpected-transfers': 'alerts; each transfer is stored',
  'actions/parties/accepted-lists': 'names in a message',
  'actions/people/sign-in': 'characters of a text',
  'actions/record-standing': 'names in a message',
  'actions/subject-keys': 'characters of a text',
  'actions/watch/deposits/explain-place': 'the largest transfers first; the others are proved by the balance or later',
  'actions/watch/notice-restore': ['e2e/unsaid-restore', 'is noticed behind transfers about which'],
  'actions/watch/read-events': 'characters of a text',
};

/** Queues of work, each with the test that fills its rounds with rows that cannot go on. */
export const QUEUES: Readonly<Record<string, readonly [file: string, title: string]>> = {
  'chain/chain-events: findUndecidedEvents': ['e2e/bounded-watching', 'decides events behind those about which'],
  'chain/deposit-places: listPlacesToCheck': ['attacks/stranger-endings', 'delays no payment at an address by dust'],
  'chain/due-items: findDueItems': ['e2e/full-queues', 'delays no item that can be sent'],
  'chain/items-to-judge: findOutgoingToJudge': ['e2e/full-queues', 'delays the end of no transfer'],
  'chain/items-to-judge: findPaymentsToJudge': [
    'attacks/stranger-endings',
    'delays no ending of others by payments that',
  ],
  'chain/sends: listSendsToFinish': ['e2e/full-queues', 'delays the end of no transaction'],
  'mail/mails: claimMails': ['e2e/full-queues', 'delays no mail'],
  'money/late-money: findReturnable': ['e2e/late-money', 'delays no return of others'],
  'money/outgoing: findFeesToReturn': ['e2e/full-queues', 'delays the return of no fee'],
  'money/outgoing: findOutgoingToBegin': ['e2e/payouts', 'that cannot be begun for a fault of their own'],
  'money/payable-lots: lockPayableLots': ['e2e/held-lots', 'with a destination that the gateway did not write'],
  'money/positions: listOutdatedPositions': ['e2e/rows-isolated', 'keeps no other position from being computed'],
  'money/refunds: findCoverable': ['e2e/full-queues', 'delays no refund'],
  'parties/destinations: lockCooledOff': ['e2e/full-queues', 'delays no change of a destination'],
  'parties/logos: takeDueLogos': ['e2e/logos', 'are copied for all partners in turn'],
  'webhooks/deliveries: listWaiting': ['e2e/quotas', 'gets its webhooks while the endpoints of others'],
  'webhooks/fan-out: takeReplay': ['e2e/webhook-subscriptions', 'waits for the replay of no other partner'],
};
