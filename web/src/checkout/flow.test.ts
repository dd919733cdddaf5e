import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GatewayOption } from './api.ts';
import { advance, type FlowEvent, startFlow } from './flow.ts';
import { canCancel, type Flow, noticeTextOf, progressOf, type Step } from './flow-state.ts';
import type { PaymentView } from './page-state.ts';
import type { WalletCard } from './wallets.ts';

const PAYMENT: PaymentView = {
  status: 'requires_action',
  isFinal: false,
  amount: { unit: 'iso4217/EUR', value: '4250', display: { assetSymbol: 'EUR', assetName: 'Euro', decimals: 2 } },
  expiresAt: 2_000_000_000,
  merchant: { name: 'Kiosk', iconUrl: null },
  buyer: null,
  transaction: null,
  info: null,
};
const WALLET: WalletCard = { id: 'a', key: 'org.a', name: 'A', icon: null, kind: 'announced' };
const ACCOUNT = `0x${'a'.repeat(40)}`;
const OTHER = `0x${'b'.repeat(40)}`;
const BUYER = { accountCaip10: `eip155:1:${ACCOUNT}`, accountProviderName: 'A' };

const action = (method: string) => ({ type: 'walletRpc', data: { chain_id: 'eip155:1', method, params: [] } }) as const;
const option = (id: string, actions: GatewayOption['actions']): GatewayOption => ({
  id,
  account: `eip155:1:${ACCOUNT}`,
  amount: {
    unit: `caip19/eip155:1/erc20:0x${id}`,
    value: '1',
    display: { assetSymbol: id, assetName: id, decimals: 6 },
  },
  etaS: 5,
  actions,
  expiresAt: null,
});
const SIGNED = option('signed', [{ type: 'build', data: { data: '00' } }]);
const SETUP = option('setup', [action('eth_sendTransaction'), action('eth_signTypedData_v4')]);

const ASSET = 'eip155:1/erc20:0xsigned';
const sent = (arrived: string, confirmed = 0, asset = ASSET): FlowEvent => ({
  type: 'address_came',
  deposit: {
    address: `eip155:1:${ACCOUNT}`,
    amount: { ...SIGNED.amount, unit: `caip19/${asset}`, value: '10' },
    uri: 'ethereum:0x1',
    expiresAt: PAYMENT.expiresAt,
    confirmations: 5,
    arrived: { ...SIGNED.amount, value: arrived },
    confirmed,
  },
});

const run = (events: readonly FlowEvent[], flow = startFlow(PAYMENT)): Flow => events.reduce(advance, flow);
const status = (name: PaymentView['status'], isFinal = false, knew = name): FlowEvent => ({
  type: 'status',
  status: { status: name, isFinal, info: null },
  knew,
});
const LAPSED = status('requires_action', false, 'processing');
const ACCEPTED = [{ symbol: 'USDC', networkName: 'Base' }];
const came = (options: readonly GatewayOption[], preferredUnit: string | null = null): FlowEvent => ({
  type: 'options_came',
  options,
  accepted: ACCEPTED,
  stopped: undefined,
  preferredUnit,
});
const CONNECT: readonly FlowEvent[] = [
  { type: 'connect', wallet: WALLET },
  { type: 'connected', account: ACCOUNT },
];
const CHOOSE: readonly FlowEvent[] = [...CONNECT, came([SIGNED, SETUP])];
const SIGN: readonly FlowEvent[] = [...CHOOSE, { type: 'pay' }, { type: 'asked', ask: 'sign' }];
const choiceIn = (flow: Flow) => {
  assert.ok('option' in flow.step);
  const { session, options, option: chosen } = flow.step;
  return { session, options, option: chosen };
};

describe('the flow', () => {
  it('leads from a wallet to a paid payment', () => {
    const signing = run(SIGN);
    assert.equal(signing.step.at, 'asking');
    const handedOver = advance(signing, { type: 'authorised', choice: choiceIn(signing), txId: null });
    assert.deepEqual(
      { at: handedOver.step.at, isDelivered: 'isDelivered' in handedOver.step && handedOver.step.isDelivered },
      { at: 'confirming', isDelivered: false },
    );
    const paid = run([{ type: 'delivered' }, status('processing'), status('succeeded', true)], handedOver);
    assert.equal(paid.step.at, 'ended');
    assert.equal(paid.payment.status, 'succeeded');
  });

  it('begins where the payment is', () => {
    assert.equal(startFlow({ ...PAYMENT, status: 'processing' }).step.at, 'confirming');
    assert.equal(startFlow({ ...PAYMENT, status: 'expired', isFinal: true }).step.at, 'ended');
  });

  it('explains a set-up before the wallet asks for it', () => {
    const setup = run([...CHOOSE, { type: 'choose', optionId: 'setup' }, { type: 'pay' }]);
    assert.equal(setup.step.at, 'setup');
    const priced = advance(setup, { type: 'setup_cost', cost: '0.1 ETH' });
    assert.equal(priced.step.at === 'setup' && priced.step.cost, '0.1 ETH');
    assert.equal(advance(priced, { type: 'pay' }).step.at, 'preparing');
  });

  it('chooses the token used the last time, and keeps a choice when prices are refreshed', () => {
    const preferred = run([...CONNECT, came([SIGNED, SETUP], SETUP.amount.unit)]);
    assert.equal(choiceIn(preferred).option.id, 'setup');
    const renewed = [
      { ...SIGNED, id: 'signed 2' },
      { ...SETUP, id: 'setup 2' },
    ];
    const refreshed = advance(preferred, came(renewed));
    assert.equal(choiceIn(refreshed).option.id, 'setup 2');
  });

  it('says so when nothing covers the amount, and lists the accepted tokens', () => {
    const { step } = run([...CONNECT, came([])]);
    assert.deepEqual(step.at === 'no_funds' && step.accepted, ACCEPTED);
  });

  it('goes back to the choice when the wallet is declined, with a word about it', () => {
    const declined = advance(run(SIGN), { type: 'stumbled', notice: 'rejected' });
    assert.equal(declined.step.at, 'choosing');
    assert.equal(declined.notice, 'rejected');
    assert.equal(advance(declined, { type: 'pay' }).notice, null);
  });

  it('ignores outdated answers', () => {
    const ready = run([{ type: 'connect', wallet: WALLET }, { type: 'back' }]);
    const late: readonly FlowEvent[] = [
      { type: 'connected', account: ACCOUNT },
      came([SIGNED]),
      { type: 'asked', ask: 'sign' },
      { type: 'setup_sent', txId: '0x1' },
      { type: 'slow' },
      { type: 'delivered' },
    ];
    for (const event of late) assert.equal(advance(ready, event), ready, event.type);
  });

  it('takes a transaction that was sent for a fact, wherever the payer is by then', () => {
    const sending = run([...CHOOSE, { type: 'pay' }, { type: 'asked', ask: 'send' }]);
    const back = advance(sending, { type: 'back' });
    assert.equal(back.notice, 'maybePending');
    assert.equal(advance(back, { type: 'authorised', choice: null, txId: '0x1' }).step.at, 'confirming');
  });

  it('follows the payer to another account, and lets go of a locked wallet', () => {
    const changed = advance(run(CHOOSE), { type: 'account_changed', account: OTHER });
    assert.equal(changed.step.at === 'loading' && changed.step.session.account, OTHER);
    assert.equal(changed.notice, 'accountChanged');
    const locked = advance(run(CHOOSE), { type: 'account_changed', account: null });
    assert.deepEqual([locked.step.at, locked.notice], ['ready', 'walletLocked']);
    const same = run(CHOOSE);
    assert.equal(advance(same, { type: 'account_changed', account: ACCOUNT }), same);
  });

  it('shows changes from elsewhere, in every step', () => {
    for (const flow of everyStep()) {
      assert.equal(advance(flow, status('processing')).step.at, flow.step.at === 'ended' ? 'ended' : 'confirming');
      assert.equal(advance(flow, status('expired', true)).step.at, 'ended');
    }
  });

  it('keeps a sent transaction in sight while the gateway has not seen it yet', () => {
    const sent = advance(run(SIGN), { type: 'authorised', choice: null, txId: '0x1' });
    assert.equal(advance(sent, status('requires_action')).step.at, 'confirming');
  });

  it('loads options again after a lapse, with a notice', () => {
    const signing = run(SIGN);
    const processing = run(
      [{ type: 'authorised', choice: choiceIn(signing), txId: null }, { type: 'delivered' }, status('processing')],
      signing,
    );
    const attempt = { refusal: 'short_balance', triesUntil: 5 };
    const known = advance(processing, { type: 'details', details: { buyer: BUYER, transaction: null, attempt } });
    assert.deepEqual(known.payment.attempt, attempt);
    const lapsed = advance(known, LAPSED);
    assert.deepEqual([lapsed.step.at, lapsed.notice], ['loading', 'lapsed']);
    const { payment } = lapsed;
    assert.deepEqual([payment.status, payment.buyer, payment.attempt], ['requires_action', null, null]);
    const late = advance(lapsed, { type: 'details', details: { buyer: BUYER, transaction: null, attempt } });
    assert.equal(late, lapsed, 'details requested before the lapse are ignored');
    assert.equal(advance(lapsed, came([SIGNED])).notice, 'lapsed');
    assert.equal(advance(lapsed, came([])).notice, 'lapsed', 'what fell short before may fall short again');
  });

  it('goes back to the start after a lapse of a payment that was signed elsewhere', () => {
    const lapsed = run([...CHOOSE, status('processing'), LAPSED]);
    assert.deepEqual([lapsed.step.at, lapsed.notice], ['ready', 'lapsed']);
  });

  it('does not read an answer requested before the confirmation as a lapse', () => {
    const processing = run([...CHOOSE, status('processing')]);
    assert.equal(advance(processing, status('requires_action', false, 'requires_action')), processing);
  });

  it('knows the progress of a payment under way', () => {
    const LATE_MS = PAYMENT.expiresAt * 1000;
    const choice = choiceIn(run(CHOOSE));
    const progress = (events: readonly FlowEvent[], nowMs = 0, payment = PAYMENT) => {
      const flow = run(events, startFlow(payment));
      assert.ok(flow.step.at === 'confirming');
      return progressOf(flow.payment, flow.step, nowMs);
    };
    const authorised: FlowEvent = { type: 'authorised', choice, txId: '0x1' };
    const buyer: FlowEvent = { type: 'details', details: { buyer: BUYER, transaction: null } };
    const attempt = { refusal: 'paused', triesUntil: 5 };
    const refused: FlowEvent = { type: 'details', details: { buyer: BUYER, transaction: null, attempt } };
    assert.equal(progress([authorised]), 'delivering');
    assert.equal(progress([authorised, { type: 'delivered' }]), 'unseen');
    assert.equal(progress([authorised, { type: 'delivered' }, status('processing')], LATE_MS), 'under_way');
    assert.equal(progress([status('processing')]), 'under_way', 'paid elsewhere, by somebody not known yet');
    assert.equal(progress([status('processing')], LATE_MS), 'looking', 'a coin may have been sent in time');
    assert.equal(progress([status('processing'), buyer], LATE_MS), 'under_way');
    assert.equal(progress([status('processing'), refused]), 'refused');
    assert.equal(progress([], LATE_MS, { ...PAYMENT, status: 'processing' }), 'looking');
  });

  describe('of a transfer from elsewhere', () => {
    const asked = [{ type: 'send' }, { type: 'address_asked', asset: ASSET }] as const;

    it('leads from the token to the address, and back, with a warning when a part has arrived', () => {
      assert.equal(run([{ type: 'send' }]).step.at, 'picking');
      assert.deepEqual(run(asked).step, { at: 'transfer', asset: ASSET, deposit: null });
      assert.equal(run([...asked, sent('0'), { type: 'back' }]).step.at, 'picking');
      assert.equal(run([...asked, sent('0'), { type: 'back' }, { type: 'back' }]).step.at, 'ready');
      const warned = run([...asked, sent('4'), { type: 'back' }]);
      assert.deepEqual([warned.step.at, warned.notice], ['ready', 'partArrived']);
    });

    it('never says that nothing was charged after a lapse while money is at an address', () => {
      const lapse = [status('processing'), LAPSED];
      const textOf = (events: readonly FlowEvent[], flow?: Flow) => noticeTextOf(run([...events, ...lapse], flow));
      assert.equal(textOf([...asked, sent('0'), { type: 'back' }]), 'lapsed');
      assert.equal(textOf([...asked, sent('4'), { type: 'back' }]), 'lapsedWithMoney');
      assert.equal(
        textOf([], startFlow(PAYMENT, ASSET)),
        'lapsedWithMoney',
        'it had arrived before the page was opened',
      );
      assert.equal(textOf([...asked, sent('4'), sent('0'), { type: 'back' }]), 'lapsed', 'a reorg took it away');
      const other = 'eip155:1/erc20:0xother';
      const both = [...asked, sent('4'), { type: 'back' }, { type: 'send' }] as const;
      assert.equal(textOf([...both, { type: 'address_asked', asset: other }, sent('0', 0, other)]), 'lapsedWithMoney');
      for (const [state, text] of [
        ['unclaimed', 'lapsedWithMoney'],
        ['returned', 'lapsed'],
      ] as const) {
        const lateMoney = [{ reason: 'wrong_token', status: state, amount: PAYMENT.amount }] as const;
        assert.equal(textOf([], startFlow({ ...PAYMENT, lateMoney })), text, `money in another token, ${state}`);
      }
    });

    it('takes the address away when all of it has arrived, and shows it again after a reorg', () => {
      const whole = run([...asked, sent('10', 1)]);
      assert.ok(whole.step.at === 'confirming');
      assert.equal(progressOf(whole.payment, whole.step, 0), 'under_way');
      assert.equal(run([sent('4')], whole).step.at, 'transfer');
    });

    it('shows no address for a payment that is paid another way', () => {
      const elsewhere = run([...asked, sent('0'), status('processing')]);
      assert.equal(elsewhere.step.at, 'confirming');
      const later = run([sent('0')], elsewhere);
      assert.equal(later.step.at, 'confirming');
      assert.equal(run([status('succeeded', true), sent('10', 5)], later).step.at, 'ended');
    });

    it('follows the transfer of a payment that is processing when the page is opened', () => {
      const opened = startFlow({ ...PAYMENT, status: 'processing' });
      const { step } = run([{ type: 'address_asked', asset: ASSET }, sent('10', 3)], opened);
      assert.ok(step.at === 'confirming');
      assert.equal(step.deposit?.confirmed, 3);
    });

    it('ignores the address of another token, and of a payment that a wallet pays here', () => {
      const other = run([{ type: 'address_asked', asset: 'eip155:1/erc20:0xother' }, sent('10')]);
      assert.equal(other.step.at, 'transfer');
      assert.equal(run([{ type: 'connect', wallet: WALLET }, sent('4')]).step.at, 'connecting');
    });
  });

  it('stays at a payment that is processing when the wallet reports a failure', () => {
    const confirming = run([...CHOOSE, status('processing')]);
    const reverted = advance(confirming, { type: 'stumbled', notice: 'reverted' });
    assert.deepEqual([reverted.step.at, reverted.notice], ['confirming', 'reverted']);
  });

  it('moves no more once it has ended', () => {
    const ended = run([status('cancelled', true)]);
    for (const event of everyEvent()) assert.equal(advance(ended, event).step.at, 'ended', event.type);
  });

  it('can be cancelled only while nothing is signed or asked for', () => {
    const allowed = everyStep()
      .filter(canCancel)
      .map(({ step }) => step.at);
    assert.deepEqual(allowed, ['ready', 'choosing', 'no_funds', 'refused', 'setup']);
    const cancelling = run([{ type: 'cancelling' }]);
    assert.equal(cancelling.isCancelling, true);
    assert.equal(advance(cancelling, { type: 'cancel_refused' }).notice, 'cannotCancel');
  });

  it('never leaves its states, whatever happens in whatever order', () => {
    const events = everyEvent();
    for (const flow of everyStep()) {
      for (const first of events) {
        for (const second of events) {
          const { step, payment } = run([first, second], flow);
          assert.equal(step.at === 'ended', payment.isFinal, `${flow.step.at}: ${first.type}, ${second.type}`);
        }
      }
    }
  });
});

function everyStep(): readonly Flow[] {
  const base = run(CHOOSE);
  const choice = choiceIn(base);
  const { session } = choice;
  const steps: readonly Step[] = [
    { at: 'ready' },
    { at: 'connecting', wallet: WALLET, isSlow: false, code: null },
    { at: 'loading', session },
    { at: 'choosing', ...choice },
    { at: 'no_funds', session, accepted: null, stopped: undefined },
    { at: 'refused', session },
    { at: 'setup', cost: null, ...choice },
    { at: 'preparing', ...choice },
    { at: 'asking', ask: 'sign', isSlow: false, ...choice },
    { at: 'mining', txId: '0x1', ...choice },
    { at: 'picking' },
    { at: 'transfer', asset: ASSET, deposit: null },
    { at: 'confirming', choice, txId: null, isDelivered: false },
  ];
  return steps.map((step) => ({ ...base, step }));
}

function everyEvent(): readonly FlowEvent[] {
  return [
    { type: 'wallets_found', wallets: [] },
    { type: 'connect', wallet: WALLET },
    { type: 'connected', account: OTHER },
    { type: 'account_changed', account: OTHER },
    { type: 'account_changed', account: null },
    { type: 'options_asked' },
    came([SIGNED]),
    came([]),
    { type: 'send' },
    { type: 'address_asked', asset: ASSET },
    sent('0'),
    sent('4'),
    sent('10', 2),
    { type: 'refused' },
    { type: 'choose', optionId: 'signed' },
    { type: 'pay' },
    { type: 'setup_cost', cost: '1' },
    { type: 'asked', ask: 'send' },
    { type: 'slow' },
    { type: 'setup_sent', txId: '0x1' },
    { type: 'authorised', choice: null, txId: null },
    { type: 'delivered' },
    { type: 'stumbled', notice: 'rejected' },
    { type: 'back' },
    { type: 'cancelling' },
    { type: 'cancel_refused' },
    { type: 'connection', connection: 'away' },
    status('requires_action'),
    LAPSED,
    status('processing'),
    status('succeeded', true),
  ];
}
