import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { Answer, WalletRpc } from '../api.ts';
import type { RefundView } from '../page-state.ts';
import { createMemory } from '../remembered.ts';
import type { Provider, Wallet } from '../wallets.ts';
import { createSigning, type SigningPage } from './signing.ts';

const ACCOUNT = `0x${'a'.repeat(40)}`;
const OTHER = `0x${'b'.repeat(40)}`;
const SIGNATURE = `0x${'5a'.repeat(65)}`;
const CHAIN = 'eip155:8453';

const REFUND: RefundView = {
  refundId: 'rfnd_1',
  status: 'awaiting_funds',
  amount: {
    unit: `caip19/${CHAIN}/erc20:0x1`,
    value: '1',
    display: { assetSymbol: 'USDC', assetName: '', decimals: 6 },
  },
  fee: null,
  isFeeReturned: false,
  destination: `${CHAIN}:${OTHER}`,
  account: `${CHAIN}:${ACCOUNT.toUpperCase().replace('0X', '0x')}`,
  merchant: { name: 'Kiosk', iconUrl: null },
  waitingFor: 'merchant_signature',
  transaction: null,
  attempt: null,
};
const SENDING: RefundView = { ...REFUND, status: 'sending', waitingFor: 'network' };
const ok = <T>(value: T): Answer<T> => ({ is: 'ok', value });
const SIGN: WalletRpc = { chain_id: CHAIN, method: 'eth_signTypedData_v4', params: [ACCOUNT, '{}'] };

describe('signing for a refund', () => {
  let stored: Map<string, string>;
  let confirms: string[];
  let answers: Answer<RefundView>[];
  let present: RefundView;
  let page: SigningPage | undefined;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    stored = new Map();
    confirms = [];
    answers = [];
    present = REFUND;
  });
  afterEach(() => {
    page?.stop();
    mock.timers.reset();
  });

  function open(): SigningPage {
    const store = () =>
      ({
        getItem: (key: string) => stored.get(key) ?? null,
        setItem: (key: string, text: string) => stored.set(key, text),
      }) as never;
    const memory = createMemory({ local: store, session: store });
    const gateway = {
      refund: async () => ok(present),
      actions: async () => ok([SIGN]),
      confirm: async (result: string) => {
        confirms.push(result);
        return answers.shift() ?? ok(SENDING);
      },
    };
    const outside = new EventTarget();
    page = createSigning({ refund: REFUND, sandbox: null, gateway, memory, outside, random: () => 0.5 });
    return page;
  }
  function walletOf(account: string, sign: () => Promise<unknown> = async () => SIGNATURE): Wallet {
    const provider: Provider = {
      async request({ method }) {
        if (method === 'eth_accounts' || method === 'eth_requestAccounts') return [account];
        if (method === 'eth_chainId') return '0x2105';
        return sign();
      },
    };
    return { id: 'w', key: 'w', name: 'W', icon: null, kind: 'announced', provider };
  }
  /** Lets pending promises settle, with some time. */
  async function pass(ms = 0): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    mock.timers.tick(ms);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  }
  async function signWith(wallet: Wallet): Promise<SigningPage> {
    const opened = open();
    opened.foundWallets([wallet]);
    opened.sign('w');
    await pass();
    await pass();
    return opened;
  }

  it('hands the signature over until the gateway answers', async () => {
    answers = [{ is: 'unavailable', retryAfterMs: 1_000 }];
    const opened = await signWith(walletOf(ACCOUNT));
    assert.equal(opened.getState().step.at, 'delivering');
    await pass(1_000);
    assert.deepEqual(confirms, [SIGNATURE, SIGNATURE]);
    assert.deepEqual([opened.getState().refund.status, opened.getState().step.at], ['sending', 'ready']);
    assert.doesNotMatch([...stored.values()].join(''), /5a5a/);
  });

  it('hands it over after a reload of the page', async () => {
    answers = [{ is: 'unavailable', retryAfterMs: 60_000 }];
    (await signWith(walletOf(ACCOUNT))).stop();
    const reloaded = open();
    reloaded.start();
    await pass();
    assert.deepEqual(confirms, [SIGNATURE, SIGNATURE]);
    assert.equal(reloaded.getState().refund.status, 'sending');
  });

  it('asks another account for nothing, and names it', async () => {
    const opened = await signWith(walletOf(OTHER));
    assert.deepEqual(opened.getState().notice, { is: 'otherAccount', account: OTHER });
    assert.deepEqual(confirms, []);
  });

  it('shows why the wallet or the gateway said no, and can begin again', async () => {
    const declined = await signWith(walletOf(ACCOUNT, () => Promise.reject({ code: 4001 })));
    assert.deepEqual([declined.getState().notice, declined.getState().step.at], [{ is: 'rejected' }, 'ready']);
    answers = [{ is: 'refused', status: 400, code: 'invalid_state' }];
    const refused = await signWith(walletOf(ACCOUNT));
    assert.deepEqual([refused.getState().notice, refused.getState().step.at], [{ is: 'notNow' }, 'ready']);
  });

  it('says so when a signature ran out unused', async () => {
    const opened = await signWith(walletOf(ACCOUNT));
    opened.start();
    await pass(2_000);
    assert.deepEqual(opened.getState().notice, { is: 'ranOut' });
    assert.equal(opened.getState().refund.status, 'awaiting_funds');
  });
});
