import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AlertName } from './alert.ts';
import { waitOf } from './wait.ts';
import type { AttemptFacts, NetworkFacts, SeenFacts, StopFacts, WaitFacts } from './wait-facts.ts';
import type { OutgoingFacts } from './wait-money.ts';
import { aboutMs, WAIT_REASONS, type WaitCause } from './wait-words.ts';

const NOW = Date.parse('2026-02-18T14:00:00Z');
const DEADLINE = Date.parse('2026-02-18T14:03:02Z');

const BASE: NetworkFacts = {
  chainId: 'eip155:8453',
  name: 'Base',
  blockTimeMs: 2_000,
  head: 100,
  readBlock: 99,
  finalAtMs: NOW - 10_000,
  hasRelayer: true,
  isWatched: true,
  isRelayed: true,
  alerts: [],
};

const DUE: AttemptFacts = {
  state: 'due',
  isDeposit: false,
  network: BASE,
  acceptedAtMs: NOW - 5_000,
  deadlineMs: DEADLINE,
  refusal: null,
  retryAtMs: null,
  shortBy: undefined,
  isExhausted: false,
  payerRetryAtMs: null,
  stop: undefined,
  transaction: undefined,
  seen: undefined,
};
const SENT: AttemptFacts = {
  ...DUE,
  state: 'sent',
  transaction: { hash: '0xabc', version: 1, broadcastAtMs: NOW - 3_000 },
};
const SEEN: SeenFacts = {
  block: 99,
  readAtMs: NOW - 1_000,
  depth: 5,
  loneDepth: 15,
  tag: undefined,
  answers: undefined,
};

const FREEZE: StopFacts = {
  what: 'The merchant mrch_1 is frozen',
  reason: 'case 42',
  by: 'operator:ann',
  sinceMs: NOW - 60_000,
  lift: 'till unfreeze merchant mrch_1 --reason …',
};

const PROCESSING: WaitFacts = {
  nowMs: NOW,
  status: 'processing',
  sinceMs: NOW - 5_000,
  expiresAtMs: NOW + 60_000,
  stops: [],
  closed: undefined,
  attempts: [DUE],
  isReorganised: false,
  outgoing: undefined,
  listed: undefined,
};

const REFUND: OutgoingFacts = {
  purpose: 'refund',
  id: 'rfnd_1',
  network: 'eip155:8453',
  amount: '10.00 USDC on Base',
  state: 'sending',
  sinceMs: NOW - 5_000,
  problem: null,
  stop: undefined,
  destination: undefined,
};
const PAYOUT: OutgoingFacts = { ...REFUND, purpose: 'payout', id: 'pay_1', state: 'held' };

function withAlert(name: AlertName, message = 'Something is wrong.'): NetworkFacts {
  return { ...BASE, alerts: [{ name, message, sinceMs: NOW - 30_000 }] };
}

const by = (attempt: Partial<AttemptFacts>): Partial<WaitFacts> => ({ attempts: [{ ...DUE, ...attempt }] });
const seen = (facts: Partial<SeenFacts>, network = BASE) => by({ ...SENT, network, seen: { ...SEEN, ...facts } });
const LISTED = { paymentId: 'pay_1', amount: '5 USDC on Base', address: '0x1', sinceMs: NOW };
const money = (outgoing: OutgoingFacts): Partial<WaitFacts> => ({ status: 'succeeded', attempts: [], outgoing });

const WAITS: readonly [what: string, facts: Partial<WaitFacts>, cause: WaitCause | undefined, text?: RegExp][] = [
  ['no payer yet', { status: 'requires_action', attempts: [] }, 'payer', /until 2026-02-18T14:01:00Z/],
  [
    'a frozen merchant before the payer came',
    { status: 'requires_action', attempts: [], stops: [FREEZE] },
    'stopped',
    /^The merchant mrch_1 is frozen since 2026-02-18T13:59:00Z by operator:ann: case 42\. `till unfreeze merchant mrch_1/,
  ],
  [
    'a disabled partner before the payer came',
    {
      status: 'requires_action',
      attempts: [],
      closed: { ...FREEZE, what: 'The partner prtn_1 is disabled', lift: 'till partners enable prtn_1' },
    },
    'stopped',
    /^The partner prtn_1 is disabled .*`till partners enable prtn_1` ends it/,
  ],
  ['a signature that was accepted before its partner was disabled', { closed: FREEZE }, 'due'],
  ['a signature to be sent', {}, 'due', /a relayer of Base sends it in its next transaction\.$/],
  [
    'a signature, from where no chain is configured',
    by({ network: { ...BASE, head: undefined } }),
    'due',
    /Base could not be asked from here\.$/,
  ],
  ['a frozen merchant with a signature', { stops: [FREEZE] }, 'stopped', /over at 2026-02-18T14:03:02Z/],
  ['a frozen network', by({ stop: { ...FREEZE, what: 'The network Base is frozen' } }), 'stopped', /^The network Base/],
  ['a freeze after the sending', { stops: [FREEZE], attempts: [SENT] }, 'unmined'],
  [
    'a short balance',
    by({ refusal: 'short_balance', shortBy: '1.20 USDC', retryAtMs: NOW + 8_000 }),
    'refused',
    /balance is short by 1\.20 USDC\. We try again until 2026-02-18T14:03:02Z\. The next try is at 2026-02-18T14:00:08Z/,
  ],
  ['a short balance of unknown size', by({ refusal: 'short_balance' }), 'refused', /the payer’s balance is too low/],
  ['a missing approval', by({ refusal: 'short_allowance' }), 'refused', /has not approved the token for Permit2\./],
  [
    'an account that takes too much',
    by({ refusal: 'out_of_gas' }),
    'refused',
    /it needs more gas than a payment may use/,
  ],
  ['a refusal of an unknown kind', by({ refusal: 'x' }), 'refused', /without a known reason/],
  ['a signer that refuses', by({ refusal: 'signer_refused' }), 'signer_refused'],
  ['a payer that failed', by({ payerRetryAtMs: NOW + 9_000 }), 'payer_paused', /before 2026-02-18T14:00:09Z/],
  ['a pause of the payer that is over', by({ payerRetryAtMs: NOW }), 'due'],
  ['too many failures', by({ isExhausted: true, refusal: 'unknown' }), 'exhausted'],
  ['a near deadline', by({ deadlineMs: NOW + 19_999 }), 'late'],
  ['a deadline that is twenty seconds away', by({ deadlineMs: NOW + 20_000 }), 'due'],
  [
    'a signature that is tried again',
    by({ retryAtMs: NOW + 8_000 }),
    'due',
    /next transaction\. The next try is at 2026-02-18T14:00:08Z\.$/,
  ],
  ['a signature whose pause is over', by({ retryAtMs: NOW }), 'due', /in its next transaction\.$/],
  ['no relayer', by({ network: { ...BASE, hasRelayer: false } }), 'no_relayer', /No relayer is configured for Base/],
  ['a relayer on no node', by({ network: { ...BASE, isRelayed: false } }), 'no_relayer', /lease of a relayer of Base/],
  [
    'a watcher on no node',
    by({ network: { ...BASE, isWatched: false } }),
    'no_watcher',
    /lease of the watcher of Base/,
  ],
  ['a relayer without gas', by({ network: withAlert('relayer_out_of_funds') }), 'relayer_out_of_funds'],
  ['dear gas', by({ network: withAlert('gas_price_above_cap') }), 'gas_price_above_cap'],
  ['a spent budget', by({ network: withAlert('gas_budget_spent') }), 'gas_budget_spent'],
  ['dear gas after the sending', by({ ...SENT, network: withAlert('gas_price_above_cap') }), 'unmined'],
  [
    'a relayer without gas after the sending',
    by({ ...SENT, network: withAlert('relayer_out_of_funds') }),
    'relayer_out_of_funds',
  ],
  ['a low balance of a relayer', by({ network: withAlert('relayer_balance_low') }), 'due'],
  ['a network out of reach', by({ ...SENT, network: withAlert('network_unavailable') }), 'network_unavailable'],
  [
    'a stored transaction',
    by({ ...SENT, transaction: { hash: '0xabc', version: 1, broadcastAtMs: undefined } }),
    'unsent',
  ],
  [
    'a transaction in no block',
    { attempts: [SENT] },
    'unmined',
    /Transaction 0xabc was broadcast at 2026-02-18T13:59:57Z/,
  ],
  [
    'a second version',
    by({ ...SENT, transaction: { hash: '0xabd', version: 2, broadcastAtMs: NOW } }),
    'unmined',
    /0xabd, version 2/,
  ],
  [
    'a stuck transaction',
    by({ ...SENT, network: withAlert('send_stuck', 'Not mined for minutes.') }),
    'unmined',
    /Not mined for minutes/,
  ],
  ['three more blocks', seen({}), 'confirmations', /waits for 3 more blocks on Base, about 6 s\.$/],
  ['one more block', seen({ block: 97 }), 'confirmations', /waits for 1 more block on Base, about 2 s/],
  [
    'more blocks of a chain that cannot be asked',
    seen({}, { ...BASE, head: undefined }),
    'confirmations',
    /4 more blocks .* Block 99 is the last one that was read\. Base could not be asked from here\.$/,
  ],
  [
    'one endpoint and a small amount',
    seen({}, withAlert('endpoint_alone')),
    'confirmations',
    /13 more blocks .*three times/,
  ],
  ['one endpoint and a large amount', seen({ loneDepth: undefined }, withAlert('endpoint_alone')), 'endpoint_alone'],
  [
    'endpoints that disagree',
    seen({ block: 90 }, withAlert('endpoints_disagree', 'Endpoint 1 says A, endpoint 2 says B.')),
    'endpoints_disagree',
    /Endpoint 1 says A, endpoint 2 says B\./,
  ],
  ['endpoints that disagree before the sending', by({ network: withAlert('endpoints_disagree') }), 'due'],
  ['endpoints that disagree before enough blocks', seen({}, withAlert('endpoints_disagree')), 'confirmations'],
  [
    'endpoints that disagree after a deadline',
    by({ deadlineMs: NOW, network: withAlert('endpoints_disagree') }),
    'endpoints_disagree',
  ],
  [
    'a freeze while nobody watches',
    { stops: [FREEZE], attempts: [{ ...DUE, network: { ...BASE, isWatched: false } }] },
    'stopped',
  ],
  ['a tag', seen({ block: 90, tag: 'finalized' }), 'finality_tag', /`finalized`/],
  [
    'a missing witness',
    seen({ block: 90, answers: 'endpoint 1 says it is in that block, endpoint 2 says nothing' }),
    'proof',
    /Two endpoints of Base must show its receipt\. At the moment endpoint 1 says it is in that block, endpoint 2 says nothing\./,
  ],
  ['a block that is deep enough', seen({ block: 90 }), 'proof', /which is deep enough/],
  ['a block that has just become deep enough', seen({ block: 96 }), 'proof', /which is deep enough/],
  [
    'a deadline that has passed',
    by({ deadlineMs: NOW }),
    'ran_out',
    /it can be paid again\. The last final block is of 2026-02-18T13:59:50Z\.$/,
  ],
  [
    'a deadline that has passed, before a final block was read',
    by({ deadlineMs: NOW, network: { ...BASE, finalAtMs: undefined } }),
    'ran_out',
    /it can be paid again\.$/,
  ],
  ['a deadline after the expiry', { ...by({ deadlineMs: NOW }), expiresAtMs: NOW }, 'ran_out', /it expires/],
  ['coin that may come', by({ state: 'offered' }), 'coin', /a transaction on .*until 2026-02-18T14:03:02Z/],
  ['the attempt that has come furthest', { attempts: [DUE, { ...SENT, seen: SEEN }, SENT] }, 'confirmations'],
  [
    'a block before newer attempts',
    {
      attempts: [
        { ...SENT, acceptedAtMs: NOW },
        { ...DUE, seen: SEEN, acceptedAtMs: NOW - 9_000 },
      ],
    },
    'confirmations',
  ],
  ['a sent attempt before a newer signature', { attempts: [{ ...DUE, acceptedAtMs: NOW }, SENT] }, 'unmined'],
  [
    'a signature before coin that was offered later',
    { attempts: [{ ...DUE, state: 'offered', acceptedAtMs: NOW }, DUE] },
    'due',
  ],
  [
    'the newest of equal attempts',
    { attempts: [by({ refusal: 'paused' }).attempts?.[0] ?? DUE, { ...DUE, acceptedAtMs: NOW }] },
    'due',
  ],
  ['no attempt', { attempts: [] }, 'undetermined'],
  ['a paid one', { status: 'succeeded', attempts: [] }, undefined],
  ['a second signature after the success', { status: 'succeeded', attempts: [DUE] }, undefined],
  ['a success that was reorganised away', { status: 'succeeded', attempts: [DUE], isReorganised: true }, 'due'],
  ['a cancelled one', { status: 'cancelled', attempts: [DUE] }, undefined],
  ['an expired one', { status: 'expired', attempts: [] }, undefined],
  ['a failed one', { status: 'failed', attempts: [DUE] }, undefined],
  ['a refund on its way', money(REFUND), 'refund'],
  ['a refund on its way after it cooled off', money({ ...REFUND, coolsUntilMs: NOW + 9_000 }), 'refund'],
  ['a refund that has just cooled off', money({ ...REFUND, state: 'requested', coolsUntilMs: NOW }), 'refund'],
  ['a refund that was just asked for', money({ ...REFUND, state: 'requested' }), 'refund'],
  [
    'a refund to another account that cools off',
    money({ ...REFUND, state: 'requested', coolsUntilMs: Date.UTC(2030, 0, 1) }),
    'refund_cooling',
    /till refunds veto/,
  ],
  [
    'a refund without funds',
    money({ ...REFUND, state: 'awaiting_funds' }),
    'refund_awaiting_funds',
    /waits for funds: the floats hold too little\. `till float add/,
  ],
  [
    'a refund without funds, whose lack is known',
    money({ ...REFUND, state: 'awaiting_funds', problem: '3 USDC are missing' }),
    'refund_awaiting_funds',
    /waits for funds: 3 USDC are missing\./,
  ],
  [
    'a refund without funds that cools off',
    money({ ...REFUND, state: 'awaiting_funds', coolsUntilMs: NOW + 1 }),
    'refund_cooling',
  ],
  [
    'a refund whose money is still at its address',
    money({ ...REFUND, state: 'awaiting_funds', isHold: true, problem: 'the money is still at its deposit address' }),
    'refund_waiting',
    /waits: the money is still at its deposit address\. It goes on by itself/,
  ],
  [
    'a refund that its merchant can sign for',
    money({ ...REFUND, state: 'awaiting_funds', merchantAccount: '0xshop' }),
    'refund_awaiting_signature',
    /a signature of 0xshop: `till refunds show/,
  ],
  [
    'a refund that failed',
    money({ ...REFUND, state: 'failed' }),
    'refund_failed',
    /failed: no reason is stored\. `till refunds retry rfnd_1/,
  ],
  [
    'a refund that failed for a reason',
    money({ ...REFUND, state: 'failed', problem: 'blocked' }),
    'refund_failed',
    /failed: blocked\./,
  ],
  ['a frozen refund', money({ ...REFUND, stop: 'Every refund is frozen' }), 'refund_stopped', /Every refund is frozen/],
  [
    'money of a listed sender at an address of a payment that succeeded',
    { status: 'succeeded', attempts: [], listed: LISTED },
    'listed_sender',
  ],
  ['money of a listed sender that came too late', { status: 'expired', attempts: [], listed: LISTED }, 'listed_sender'],
  ['a held amount without destination', money(PAYOUT), 'no_destination'],
  [
    'a destination that cools off',
    money({ ...PAYOUT, destination: { heldFromMs: DEADLINE } }),
    'destination_cooling',
    /until 2026-02-18T14:03:02Z/,
  ],
  ['a held amount about to leave', money({ ...PAYOUT, destination: { heldFromMs: NOW } }), 'payout'],
  [
    'a payout that failed once',
    money({ ...PAYOUT, state: 'sending', problem: 'blocked' }),
    'payout',
    /failed: blocked/,
  ],
  [
    'held money that is swept first',
    money({ ...PAYOUT, destination: { heldFromMs: NOW }, problem: 'sweep' }),
    'payout',
    /is not paid out yet: a part of the money that paid is still at its deposit address/,
  ],
  [
    'a payout that is sent after it was held',
    money({ ...PAYOUT, state: 'sending', problem: 'sweep' }),
    'payout',
    /is being paid out to the merchant\. The last try failed: sweep\.$/,
  ],
  [
    'held money without a problem',
    money({ ...PAYOUT, destination: { heldFromMs: NOW } }),
    'payout',
    /is being paid out to the merchant\.$/,
  ],
  ['a frozen payout', money({ ...PAYOUT, stop: 'Every payout is frozen' }), 'payout_stopped'],
];

describe('the reason of a wait', () => {
  for (const [what, facts, cause, text] of WAITS) {
    it(`of ${what} is ${cause ?? 'none'}`, () => {
      const wait = waitOf({ ...PROCESSING, ...facts });
      assert.equal(wait?.cause, cause);
      if (text !== undefined) assert.match(wait?.text ?? '', text);
    });
  }

  it('is one of the reasons that partners know', () => {
    const known = ['payer', 'sending', 'refused', 'confirmations', 'deadline', 'stopped', 'network', 'gateway'];
    assert.deepEqual(WAIT_REASONS, [...known, 'settlement', 'refund']);
    const reasons = new Map(
      WAITS.flatMap(([, facts]) => waitOf({ ...PROCESSING, ...facts }) ?? []).map(({ cause, reason }) => [
        cause,
        reason,
      ]),
    );
    assert.deepEqual(
      [...reasons].filter(([, reason]) => !WAIT_REASONS.includes(reason)),
      [],
    );
    assert.equal(reasons.get('refund_failed'), 'refund');
    assert.equal(reasons.get('no_destination'), 'settlement');
  });

  it('has the time since when it is so', () => {
    const since = (facts: Partial<WaitFacts>) => waitOf({ ...PROCESSING, ...facts })?.sinceMs;
    assert.equal(since(seen({})), NOW - 1_000, 'the block was read');
    assert.equal(since(seen({ readAtMs: undefined })), NOW - 5_000, 'the signature was accepted');
    assert.equal(since({ attempts: [SENT] }), NOW - 3_000, 'the transaction was broadcast');
    assert.equal(since(by({ ...SENT, transaction: undefined })), NOW - 5_000, 'the signature was accepted');
    assert.equal(since({ stops: [FREEZE] }), NOW - 60_000, 'the freeze began');
    assert.equal(since({ stops: [{ ...FREEZE, sinceMs: undefined }] }), NOW - 5_000, 'the signature was accepted');
  });

  it('shows partners nothing of commands, leases, endpoints and relayers', () => {
    for (const [what, facts] of WAITS) {
      const { partnerText = '' } = waitOf({ ...PROCESSING, ...facts }) ?? {};
      assert.doesNotMatch(partnerText, /\btill |lease|endpoint|relayer|node\b|operator:|mrch_|case 42/i, what);
    }
  });
});

describe('a deposit address', () => {
  const textsOf = (attempt: Partial<AttemptFacts>) => {
    const offered: AttemptFacts = { ...DUE, state: 'offered', isDeposit: true, ...attempt };
    const wait = waitOf({ ...PROCESSING, attempts: [offered] });
    return [wait?.text, wait?.partnerText];
  };

  it('is not said to have charged nothing when its time is over: a part may have arrived', () => {
    for (const text of textsOf({ deadlineMs: NOW })) {
      assert.doesNotMatch(text ?? '', /charged/);
      assert.match(text ?? '', /deposit address/);
    }
  });

  it('waits for a transfer, and for no transaction of a wallet', () => {
    for (const text of textsOf({})) assert.match(text ?? '', /transfer.*deposit address|deposit address.*transfer/);
  });
});

describe('a time that is about to pass', () => {
  it('is shown in seconds, then in minutes', () => {
    assert.deepEqual([200, 6_000, 118_600, 119_499, 120_000, 180_000, 3_600_000].map(aboutMs), [
      ...['about 1 s', 'about 6 s', 'about 119 s', 'about 119 s', 'about 2 min', 'about 3 min', 'about 60 min'],
    ]);
  });
});
