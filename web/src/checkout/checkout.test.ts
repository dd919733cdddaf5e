import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { LateMoney } from '../shared/late-money.ts';
import { createServerClock } from '../shared/server-clock.ts';
import type { Answer, Gateway, GatewayOption, Offer, StatusBody, WalletRpc } from './api.ts';
import { type Checkout, createCheckout } from './checkout.ts';
import type { PaymentPage, PaymentStatus, TransactionView } from './page-state.ts';
import { createMemory, type Memory } from './remembered.ts';
import { en } from './strings/en.ts';
import type { Provider, Wallet } from './wallets.ts';

const ACCOUNT = `0x${'a'.repeat(40)}`;
const OTHER = `0x${'b'.repeat(40)}`;
const SIGNATURE = `0x${'5a'.repeat(65)}`;
const TX = `0x${'7e'.repeat(32)}`;
const CHAIN = 'eip155:8453';
const BUYER = { accountCaip10: `${CHAIN}:${ACCOUNT}`, accountProviderName: 'W' };
const LINK: TransactionView = { txId: TX, explorerUrl: `https://explorer.example/${TX}` };

const PAGE: PaymentPage = {
  kind: 'payment',
  paymentId: 'pay_1',
  appId: 'app',
  gatewayUrl: 'https://pay.example/?pid=pay_1',
  receiptUrl: 'https://pay.example/c/1/receipt',
  locale: 'en',
  dir: 'ltr',
  strings: en,
  nowMs: 0,
  payment: {
    status: 'requires_action',
    isFinal: false,
    amount: { unit: 'iso4217/EUR', value: '1', display: { assetSymbol: 'EUR', assetName: 'Euro', decimals: 2 } },
    expiresAt: 300,
    merchant: { name: 'Kiosk', iconUrl: null },
    buyer: null,
    transaction: null,
    info: null,
  },
  checkout: null,
  referenceId: 'r',
  sendable: [],
  coins: { 'eip155:8453': 'ETH' },
  sandbox: null,
  pairing: null,
  embedder: false,
};

const rpc = (method: string, params: readonly unknown[] = []): WalletRpc => ({ chain_id: CHAIN, method, params });
const SIGN = rpc('eth_signTypedData_v4', [ACCOUNT, '{}']);
const SEND = rpc('eth_sendTransaction', [{ to: OTHER }]);
const APPROVE = rpc('eth_sendTransaction', [
  { from: ACCOUNT, to: OTHER, data: `0x095ea7b3${'0'.repeat(63)}1${'f'.repeat(64)}` },
]);

const option = (id: string, actions: GatewayOption['actions'], asset = 'erc20:0x1'): GatewayOption => ({
  id,
  account: `${CHAIN}:${ACCOUNT}`,
  amount: { unit: `caip19/${CHAIN}/${asset}`, value: '1', display: { assetSymbol: id, assetName: id, decimals: 6 } },
  etaS: 5,
  actions,
  expiresAt: null,
});
const BUILD = { type: 'build', data: { data: '' } } as const;
const SIGNED = option('USDC', [BUILD]);
const NATIVE = option('ETH', [BUILD], 'slip44:60');
const PERMIT = option(
  'USDT',
  [APPROVE, SIGN].map((data) => ({ type: 'walletRpc', data })),
);

const ok = <T>(value: T): Answer<T> => ({ is: 'ok', value });
const offer = (options: readonly GatewayOption[], status: PaymentStatus = 'requires_action') =>
  ok<Offer>({ options, accepted: null, stopped: undefined, status });
const AWAY = { is: 'unavailable', retryAfterMs: null } as const;
const refusal = (code: string, status = 400) => ({ is: 'refused', status, code }) as const;

/** A gateway that holds one payment in memory. Each answer can be replaced. */
function fakeGateway(over: Partial<Gateway> = {}) {
  let status: PaymentStatus = 'requires_action';
  let wake = () => {};
  const calls: string[] = [];
  const body = (): StatusBody => {
    const isFinal = status !== 'requires_action' && status !== 'processing';
    return { status, isFinal, pollInMs: isFinal ? null : 1_000, info: null };
  };
  const count = <T extends unknown[], R>(name: string, call: (...input: T) => R) => {
    return (...input: T): R => {
      calls.push(name);
      return call(...input);
    };
  };
  const confirmed = async () => {
    move('processing');
    return ok(body());
  };
  const gateway: Gateway = {
    details: count('details', over.details ?? (async () => ok({ buyer: null, transaction: null }))),
    options: count('options', over.options ?? (async () => offer([SIGNED, PERMIT, NATIVE]))),
    fetchActions: count(
      'fetch',
      over.fetchActions ??
        (async ({ id, actions }) => {
          if (id === 'ETH') return ok([SEND]);
          return ok(
            id === 'USDC' ? [SIGN] : actions.flatMap((action) => (action.type === 'walletRpc' ? [action.data] : [])),
          );
        }),
    ),
    address: count(
      'address',
      over.address ?? (async () => ({ is: 'refused', status: 409, code: 'executor_not_found' }) as const),
    ),
    confirm: count('confirm', over.confirm ?? confirmed),
    mailReceipt: count('mailReceipt', over.mailReceipt ?? (async () => ok({}))),
    status: count('status', async (known, signal, holdMs = 20_000) => {
      if (known === status) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve());
          setTimeout(resolve, holdMs);
        });
      }
      return signal.aborted ? AWAY : ok(body());
    }),
    cancel: count('cancel', over.cancel ?? (async () => ok({}))),
  };
  function move(next: PaymentStatus) {
    status = next;
    wake();
  }
  return { gateway, calls, move };
}

/** A wallet on the right chain that says yes to everything. Each answer can be replaced. */
function fakeWallet(over: Record<string, (params: readonly unknown[]) => unknown> = {}) {
  const asked: string[] = [];
  let listener: (accounts: unknown) => void = () => {};
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_requestAccounts: () => [ACCOUNT.toUpperCase().replace('0X', '0x')],
    eth_accounts: () => [ACCOUNT],
    eth_chainId: () => '0x2105',
    eth_signTypedData_v4: () => SIGNATURE,
    eth_sendTransaction: () => TX,
    eth_getTransactionReceipt: () => ({ status: '0x1' }),
    eth_estimateGas: () => '0xb3b0',
    eth_gasPrice: () => '0x3b9aca00',
    ...over,
  };
  const provider: Provider = {
    async request({ method, params = [] }) {
      asked.push(method);
      const answer = answers[method];
      if (answer === undefined) throw { code: 4200 };
      return answer(params);
    },
    on: (_event, onAccounts) => {
      listener = onAccounts;
    },
    removeListener: () => {},
  };
  const wallet: Wallet = { id: 'w', key: 'org.w', name: 'W', icon: null, kind: 'announced', provider };
  return { wallet, asked, changeAccounts: (accounts: unknown) => listener(accounts) };
}

function storage(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  } as never;
}

let opened: Checkout[] = [];

interface Opening {
  readonly gateway: Gateway;
  readonly wallet?: Wallet;
  readonly memory?: Memory;
  readonly outside?: EventTarget;
  readonly isOnline?: () => boolean;
}

function open({ gateway, wallet, memory, outside, isOnline }: Opening): Checkout {
  const checkout = createCheckout({
    page: PAGE,
    gateway,
    clock: createServerClock(0, () => 0, 0),
    memory: memory ?? newMemory(),
    isOnline: isOnline ?? (() => true),
    outside: outside ?? new EventTarget(),
    random: () => 0.5,
  });
  opened.push(checkout);
  checkout.start();
  if (wallet !== undefined) checkout.foundWallets([wallet]);
  return checkout;
}

function newMemory(): Memory {
  const [local, session] = [storage(), storage()];
  return createMemory({ local: () => local, session: () => session });
}

/** Lets promises and timers run, for at most ten minutes of the page's time. */
async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let step = 0; step < 2_400; step += 1) {
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    if (isSo()) return;
    mock.timers.tick(250);
  }
  assert.fail(`never came: ${what}`);
}
const at = (checkout: Checkout) => checkout.getFlow().step.at;
const reach = (checkout: Checkout, step: string) =>
  until(`${step} (it is ${at(checkout)})`, () => at(checkout) === step);

async function choose(checkout: Checkout, id: string): Promise<void> {
  checkout.connect('w');
  await reach(checkout, 'choosing');
  checkout.choose(id);
  checkout.pay();
}

describe('the checkout', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => {
    for (const checkout of opened) checkout.stop();
    opened = [];
    mock.timers.reset();
  });

  it('pays with one signature, and stops asking for the status when the payment is final', async () => {
    const { gateway, calls, move } = fakeGateway();
    const { wallet, asked } = fakeWallet();
    const checkout = open({ gateway, wallet });
    await choose(checkout, 'USDC');
    await reach(checkout, 'confirming');
    assert.ok(!asked.includes('eth_sendTransaction'));
    await until('processing', () => checkout.getFlow().payment.status === 'processing');
    move('succeeded');
    await reach(checkout, 'ended');
    const count = () => calls.filter((name) => name === 'status').length;
    const before = count();
    mock.timers.tick(120_000);
    await Promise.resolve();
    assert.equal(count(), before);
  });

  it('learns of money in another token while the address is open, with few requests, and asks nothing without an address', async () => {
    const lateMoney: readonly LateMoney[] = [
      { reason: 'wrong_token', status: 'unclaimed', amount: PAGE.payment.amount },
    ];
    const amount = { unit: 'caip19/x', value: '5', display: { assetSymbol: 'USDC', assetName: 'USDC', decimals: 6 } };
    const terms = { address: `${CHAIN}:${OTHER}`, uri: `ethereum:${OTHER}`, expiresAt: 300, confirmations: 1 };
    const { gateway, calls } = fakeGateway({
      details: async () => ok({ buyer: null, transaction: null, lateMoney }),
      address: async () => ok({ ...terms, confirmed: 0, amount, arrived: { ...amount, value: '0' } }),
    });
    const count = () => calls.filter((name) => name === 'details').length;
    const checkout = open({ gateway });
    const statuses = () => calls.filter((name) => name === 'status').length;
    await until('three statuses', () => statuses() >= 3);
    assert.equal(count(), 0, 'no address was given');
    checkout.send();
    checkout.sendToken('eip155:8453/erc20:0x1');
    await until('the money is shown', () => checkout.getFlow().payment.lateMoney?.[0]?.reason === 'wrong_token');
    assert.equal(checkout.getFlow().payment.isFinal, false);
    const before = statuses();
    await until('three statuses more', () => statuses() >= before + 3);
    assert.ok(count() <= statuses(), 'at most one request for each status');
  });

  it('learns of money that comes after the end and of its return, ever more rarely, for about an hour', async () => {
    const amount = {
      unit: 'caip19/x',
      value: '5',
      display: { assetSymbol: 'USDC', assetName: 'USD Coin', decimals: 6 },
    };
    let lateMoney: readonly LateMoney[] = [];
    const { gateway, calls, move } = fakeGateway({
      details: async () => ok({ buyer: null, transaction: null, lateMoney }),
    });
    const checkout = open({ gateway });
    move('expired');
    await reach(checkout, 'ended');
    const shown = () => checkout.getFlow().payment.lateMoney ?? [];
    for (const status of ['unclaimed', 'returned'] as const) {
      lateMoney = [{ reason: 'late', status, amount }];
      await until(status, () => shown()[0]?.status === status);
    }
    const count = () => calls.filter((name) => name === 'details').length;
    const seconds = async (howMany: number) => {
      for (let second = 0; second < howMany; second += 1) {
        mock.timers.tick(1_000);
        for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
      }
    };
    await seconds(2 * 3600);
    assert.ok(count() >= 60 && count() <= 70, `${count()} requests in two hours`);
    const before = count();
    await seconds(3600);
    assert.equal(count(), before);
    assert.equal(at(checkout), 'ended');
  });

  it('finds the transaction that was sent for the payer, and follows it to a higher fee, with few requests', async () => {
    const shown = { buyer: BUYER, transaction: null as TransactionView | null };
    const { gateway, calls } = fakeGateway({ details: async () => ok({ ...shown }) });
    const { wallet } = fakeWallet();
    const checkout = open({ gateway, wallet });
    await choose(checkout, 'USDC');
    await until('who pays', () => checkout.getFlow().payment.buyer !== null);
    const count = () => calls.filter((name) => name === 'details').length;
    const seconds = async (howMany: number) => {
      for (let quarter = 0; quarter < howMany * 4; quarter += 1) {
        mock.timers.tick(250);
        for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
      }
    };
    await seconds(30);
    assert.ok(count() >= 8 && count() <= 12, `${count()} requests in half a minute without a transaction`);
    shown.transaction = LINK;
    await seconds(4);
    assert.deepEqual(checkout.getFlow().payment.transaction, LINK);
    const before = count();
    await seconds(63);
    assert.equal(count() - before, 3, 'one with each status request that was held');
    shown.transaction = { ...LINK, txId: `0x${'bb'.repeat(32)}` };
    await until('the next one', () => checkout.getFlow().payment.transaction?.txId !== LINK.txId);
    assert.equal(at(checkout), 'confirming');
  });

  it('is notified of the end at once, also right after the news before', async () => {
    const { gateway, move } = fakeGateway();
    const checkout = open({ gateway });
    move('processing');
    await until('processing', () => checkout.getFlow().payment.status === 'processing');
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    move('succeeded');
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    assert.equal(at(checkout), 'ended');
  });

  it('shows the payer, also when the payment was too quick to be seen as processing', async () => {
    const { gateway, move } = fakeGateway({ details: async () => ok({ buyer: BUYER, transaction: LINK }) });
    const checkout = open({ gateway });
    move('succeeded');
    await reach(checkout, 'ended');
    await until('who paid', () => checkout.getFlow().payment.buyer !== null);
    assert.deepEqual(checkout.getFlow().payment.buyer, BUYER);
  });

  it('keeps to about one status request in twenty seconds while nothing happens', async () => {
    const { gateway, calls } = fakeGateway();
    open({ gateway });
    for (let second = 0; second < 210; second += 1) {
      mock.timers.tick(1_000);
      for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    }
    assert.ok(calls.length <= 12, `${calls.length} requests`);
  });

  it('shows at once that the browser is offline, and continues when it is back', async () => {
    const outside = new EventTarget();
    let isOnline = true;
    const { gateway, calls } = fakeGateway();
    const checkout = open({
      gateway: { ...gateway, status: async (...input) => (isOnline ? gateway.status(...input) : AWAY) },
      outside,
      isOnline: () => isOnline,
    });
    await until('a request', () => calls.includes('status'));
    isOnline = false;
    outside.dispatchEvent(new Event('offline'));
    await until('offline', () => checkout.getFlow().connection !== 'good');
    assert.equal(checkout.getFlow().connection, 'offline');
    isOnline = true;
    outside.dispatchEvent(new Event('wake'));
    await until('online', () => checkout.getFlow().connection === 'good');
  });

  it('has a permission mined before it asks for the signature', async () => {
    let isMined = false;
    const { gateway } = fakeGateway();
    const { wallet, asked } = fakeWallet({
      eth_getTransactionReceipt: () => (isMined ? { status: '0x1' } : null),
      eth_call: () => '0x0',
    });
    const checkout = open({ gateway, wallet });
    await choose(checkout, 'USDT');
    await reach(checkout, 'setup');
    await until('the cost', () => JSON.stringify(checkout.getFlow().step).includes('0.000046\u00a0ETH'));
    checkout.pay();
    await reach(checkout, 'mining');
    mock.timers.tick(5_000);
    assert.ok(!asked.includes('eth_signTypedData_v4'));
    isMined = true;
    await reach(checkout, 'confirming');
    assert.ok(asked.indexOf('eth_sendTransaction') < asked.indexOf('eth_signTypedData_v4'));
  });

  it('sees a permission that a sped-up transaction gave under another hash', async () => {
    const { gateway } = fakeGateway();
    const { wallet } = fakeWallet({ eth_getTransactionReceipt: () => null, eth_call: () => `0x${'f'.repeat(64)}` });
    const checkout = open({ gateway, wallet });
    await choose(checkout, 'USDT');
    await reach(checkout, 'setup');
    checkout.pay();
    await reach(checkout, 'confirming');
  });

  it('waits for the gateway to see the permission too', async () => {
    let tries = 0;
    const { gateway } = fakeGateway({
      confirm: async () => {
        tries += 1;
        return tries < 4
          ? refusal('invalid_state')
          : ok({ status: 'processing', isFinal: false, pollInMs: 1, info: null });
      },
    });
    const { wallet } = fakeWallet();
    const checkout = open({ gateway, wallet });
    await choose(checkout, 'USDT');
    await reach(checkout, 'setup');
    checkout.pay();
    await until('processing', () => checkout.getFlow().payment.status === 'processing');
    assert.equal(tries, 4);
  });

  for (const [what, answers, notice, step] of [
    ['says no', { eth_requestAccounts: () => Promise.reject({ code: 4001 }) }, 'rejected', 'ready'],
    [
      'has a request open already',
      { eth_requestAccounts: () => Promise.reject({ code: -32002 }) },
      'pendingRequest',
      'ready',
    ],
    ['answers nonsense', { eth_requestAccounts: () => ({ accounts: 'all' }) }, 'walletNonsense', 'ready'],
    [
      'is declined at the signature',
      { eth_signTypedData_v4: () => Promise.reject({ code: 4001 }) },
      'rejected',
      'choosing',
    ],
    ['signs nonsense', { eth_signTypedData_v4: () => 'yes' }, 'walletNonsense', 'choosing'],
    ['has locked itself', { eth_accounts: () => [] }, 'walletLocked', 'choosing'],
    ['has gone to another account', { eth_accounts: () => [OTHER] }, 'wrongAccount', 'choosing'],
    [
      'is on another chain and refuses to switch',
      { eth_chainId: () => '0x1', wallet_switchEthereumChain: () => Promise.reject({ code: 4001 }) },
      'wrongChain',
      'choosing',
    ],
    [
      'says it switched, and did not',
      { eth_chainId: () => '0x1', wallet_switchEthereumChain: () => null },
      'wrongChain',
      'choosing',
    ],
    ['does not know its chain', { eth_chainId: () => 'mainnet' }, 'walletNonsense', 'choosing'],
  ] as const) {
    it(`goes on when a wallet ${what}`, async () => {
      const { wallet } = fakeWallet(answers);
      const checkout = open({ gateway: fakeGateway().gateway, wallet });
      checkout.connect('w');
      await until('an answer', () => at(checkout) === 'choosing' || checkout.getFlow().notice !== null);
      if (at(checkout) === 'choosing') checkout.pay();
      await until('a word', () => checkout.getFlow().notice !== null);
      assert.deepEqual([checkout.getFlow().notice, at(checkout)], [notice, step]);
    });
  }

  it('switches the chain of a wallet that agrees', async () => {
    let chain = '0x1';
    const { wallet } = fakeWallet({
      eth_chainId: () => chain,
      wallet_switchEthereumChain: ([to]) => {
        chain = (to as { chainId: string }).chainId;
        return null;
      },
    });
    const checkout = open({ gateway: fakeGateway().gateway, wallet });
    await choose(checkout, 'USDC');
    await reach(checkout, 'confirming');
    assert.equal(chain, '0x2105');
  });

  it('gives advice when a wallet never answers, and is not surprised when it does after all', async () => {
    let answer = (_accounts: unknown) => {};
    const { wallet } = fakeWallet({
      eth_requestAccounts: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const checkout = open({ gateway: fakeGateway().gateway, wallet });
    checkout.connect('w');
    await until('advice', () => JSON.stringify(checkout.getFlow().step).includes('"isSlow":true'));
    checkout.back();
    answer([ACCOUNT]);
    answer([OTHER]);
    await Promise.resolve();
    assert.equal(at(checkout), 'ready');
  });

  it('delivers a coin that was sent after the payer had gone back', async () => {
    let answer = (_hash: string) => {};
    const { gateway, calls } = fakeGateway();
    const { wallet } = fakeWallet({
      eth_sendTransaction: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const checkout = open({ gateway, wallet });
    await choose(checkout, 'ETH');
    await reach(checkout, 'asking');
    checkout.back();
    assert.equal(checkout.getFlow().notice, 'maybePending');
    answer(TX);
    await reach(checkout, 'confirming');
    await until('the delivery', () => calls.includes('confirm'));
  });

  it('says so when the network refuses a coin', async () => {
    const { gateway } = fakeGateway({
      confirm: async () => ok({ status: 'requires_action', isFinal: false, pollInMs: 1_000, info: null }),
    });
    const { wallet } = fakeWallet({ eth_getTransactionReceipt: () => ({ status: '0x0' }) });
    const checkout = open({ gateway, wallet });
    await choose(checkout, 'ETH');
    await until('the refusal', () => checkout.getFlow().notice === 'reverted');
    assert.equal(at(checkout), 'choosing');
  });

  it('delivers again and again while the gateway is away', async () => {
    let tries = 0;
    const { gateway } = fakeGateway({
      confirm: async () => {
        tries += 1;
        return tries < 5 ? AWAY : ok({ status: 'processing', isFinal: false, pollInMs: 1_000, info: null });
      },
    });
    const checkout = open({ gateway, wallet: fakeWallet().wallet });
    await choose(checkout, 'USDC');
    await until('processing', () => checkout.getFlow().payment.status === 'processing');
    assert.equal(tries, 5);
  });

  it('delivers a signature from before a reload', async () => {
    const memory = newMemory();
    const before = open({
      gateway: fakeGateway({ confirm: async () => AWAY }).gateway,
      wallet: fakeWallet().wallet,
      memory,
    });
    await choose(before, 'USDC');
    await reach(before, 'confirming');
    before.stop();
    const delivered: unknown[] = [];
    const { gateway } = fakeGateway({
      confirm: async (optionId, results) => {
        delivered.push([optionId, ...results]);
        return ok({ status: 'succeeded', isFinal: true, pollInMs: null, info: null });
      },
    });
    const after = open({ gateway, memory });
    await reach(after, 'ended');
    assert.deepEqual(delivered, [['USDC', SIGNATURE]]);
    assert.equal(memory.pending('pay_1'), null);
  });

  it('warns after a reload that a coin may have been sent', async () => {
    const memory = newMemory();
    const { wallet } = fakeWallet({ eth_sendTransaction: () => new Promise(() => {}) });
    const before = open({ gateway: fakeGateway().gateway, wallet, memory });
    await choose(before, 'ETH');
    await reach(before, 'asking');
    before.stop();
    const after = open({ gateway: fakeGateway().gateway, memory });
    assert.deepEqual([at(after), after.getFlow().notice], ['ready', 'maybePending']);
  });

  it('asks for new prices when the old ones are gone', async () => {
    let isOld = true;
    const { gateway, calls } = fakeGateway({
      confirm: async () => {
        if (!isOld) return ok({ status: 'processing', isFinal: false, pollInMs: 1, info: null });
        isOld = false;
        return refusal('quote_expired');
      },
    });
    const checkout = open({ gateway, wallet: fakeWallet().wallet });
    await choose(checkout, 'USDC');
    await until('new prices', () => checkout.getFlow().notice === 'quoteExpired' && at(checkout) === 'choosing');
    assert.equal(calls.filter((call) => call === 'options').length, 2);
    checkout.pay();
    await until('processing', () => checkout.getFlow().payment.status === 'processing');
  });

  it('shows a notice to a refused payer, and to one with another account’s signature', async () => {
    const refused = open({
      gateway: fakeGateway({ options: async () => refusal('sanctioned_user') }).gateway,
      wallet: fakeWallet().wallet,
    });
    refused.connect('w');
    await reach(refused, 'refused');
    const strange = open({
      gateway: fakeGateway({ confirm: async () => refusal('params_validation', 422) }).gateway,
      wallet: fakeWallet().wallet,
    });
    await choose(strange, 'USDC');
    await until('a word', () => strange.getFlow().notice === 'wrongAccount');
    assert.equal(at(strange), 'choosing');
  });

  it('follows the payer from account to account', async () => {
    const asked: (readonly string[])[] = [];
    const { gateway } = fakeGateway({
      options: async (accounts) => {
        asked.push(accounts);
        return offer([SIGNED]);
      },
    });
    const { wallet, changeAccounts } = fakeWallet();
    const checkout = open({ gateway, wallet });
    checkout.connect('w');
    await reach(checkout, 'choosing');
    changeAccounts([OTHER]);
    await until('the other account', () => asked.length === 2 && at(checkout) === 'choosing');
    assert.ok(asked[1]?.every((account) => account.endsWith(OTHER)));
    changeAccounts([]);
    assert.deepEqual([at(checkout), checkout.getFlow().notice], ['ready', 'walletLocked']);
  });

  it('aborts its task when the payment is paid elsewhere', async () => {
    let answer = (_signature: string) => {};
    const { gateway, calls, move } = fakeGateway();
    const { wallet } = fakeWallet({
      eth_signTypedData_v4: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const checkout = open({ gateway, wallet });
    await choose(checkout, 'USDC');
    await reach(checkout, 'asking');
    move('processing');
    await reach(checkout, 'confirming');
    answer(SIGNATURE);
    move('succeeded');
    await reach(checkout, 'ended');
    assert.ok(!calls.includes('confirm'));
  });

  it('lets the payer pay again after a lapse, and never delivers the lapsed signature again', async () => {
    const memory = newMemory();
    const { gateway, calls, move } = fakeGateway();
    const checkout = open({ gateway, wallet: fakeWallet().wallet, memory });
    await choose(checkout, 'USDC');
    await until('processing', () => checkout.getFlow().payment.status === 'processing');
    assert.ok(memory.pending('pay_1'));
    move('requires_action');
    await reach(checkout, 'choosing');
    assert.equal(checkout.getFlow().notice, 'lapsed');
    assert.equal(memory.pending('pay_1'), null);
    assert.equal(calls.filter((call) => call === 'options').length, 2, 'balances and prices are asked for again');
    checkout.pay();
    await until('processing', () => checkout.getFlow().payment.status === 'processing');
    assert.equal(calls.filter((call) => call === 'confirm').length, 2);
  });

  it('ignores a status answer that was requested before the confirmation', async () => {
    let answer = (_status: Answer<StatusBody>) => {};
    const { gateway } = fakeGateway();
    let isFirst = true;
    const held: Gateway = {
      ...gateway,
      async status(known, signal, holdMs) {
        if (!isFirst) return gateway.status(known, signal, holdMs);
        isFirst = false;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    };
    const checkout = open({ gateway: held, wallet: fakeWallet().wallet });
    await choose(checkout, 'USDC');
    await until('processing', () => checkout.getFlow().payment.status === 'processing');
    answer(ok({ status: 'requires_action', isFinal: false, pollInMs: 1_000, info: null }));
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    assert.deepEqual([at(checkout), checkout.getFlow().payment.status], ['confirming', 'processing']);
  });

  it('shows that the payment has ended instead of an empty list of options', async () => {
    const { gateway, move } = fakeGateway({
      options: async () => {
        move('expired');
        return offer([], 'expired');
      },
    });
    const checkout = open({ gateway, wallet: fakeWallet().wallet });
    const seen = new Set<string>();
    checkout.subscribe(() => seen.add(at(checkout)));
    checkout.connect('w');
    await reach(checkout, 'ended');
    assert.deepEqual([...seen], ['connecting', 'loading', 'ended']);
  });

  it('cancels, and says so when it is too late', async () => {
    const cancelled = open({ gateway: fakeGateway().gateway });
    cancelled.cancel();
    await reach(cancelled, 'ended');
    assert.equal(cancelled.getFlow().payment.status, 'cancelled');
    const late = open({ gateway: fakeGateway({ cancel: async () => refusal('invalid_state') }).gateway });
    late.cancel();
    await until('a word', () => late.getFlow().notice === 'cannotCancel');
  });
});
