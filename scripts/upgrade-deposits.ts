import { setTimeout as pause } from 'node:timers/promises';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import {
  adoptTokens,
  type Old,
  type OlderChain,
  openChain,
  readTables,
  SANDBOX,
  USDC,
  USDT,
  type Value,
  workersOf,
} from './older-code.ts';

/** The scene of 342f561: deposit addresses and held money in every state that this version knew. */

const LIFE_S = 86_400;
/** Payments that end unpaid. An address is given with two minutes left, no later. */
const SHORT_S = 150;
const FEES_IN_FORCE_MS = 5_000;
const TOKEN = parseAbi(['function transfer(address to, uint256 amount)']);
const ASKED = 10_000_000n;
const NOBODY = `${SANDBOX}:0x7777777777777777777777777777777777777777`;

type Scene = Awaited<ReturnType<typeof openScene>>;
type Payments = Record<string, string>;

export async function makeDeposits(old: Old, chainDir: string) {
  const scene = await openScene(old, chainDir);
  const payments: Payments = {};
  scene.start('relaying', 'watching', 'jobs', 'books');
  await adoptTokens(scene.chain, scene.intermediate, scene.addFloat);
  await makeDirect(scene, payments);
  await makeHeld(scene, payments);
  await makeLate(scene, payments);
  await scene.until('the books are audited', async () => {
    const [row] = await scene.sql`select count(*)::int as n from coin_cursors`;
    return row.n > 0;
  });
  await makeUnderWay(scene, payments);
  await scene.stop('relaying', 'watching', 'jobs', 'books');
  const shown: Record<string, unknown> = {};
  for (const id of Object.values(payments)) shown[id] = await scene.details(id);
  const tables = await readTables(scene.sql);
  await scene.gateway.stop();
  await scene.chain.close();
  const { apiKey, merchants, world } = scene;
  const chain = await scene.chain.files();
  return { madeAtMs: world.clock.nowMs(), apiKey, merchants, payments, shown, tables, chain };
}

/** Money for a merchant with a destination. */
async function makeDirect(scene: Scene, payments: Payments): Promise<void> {
  await scene.register('direct');
  const { id: swept } = await scene.pay('direct', ASKED);
  await scene.isSettled(swept);
  const { id: tooMuch } = await scene.pay('direct', 13_000_000n);
  await scene.isSettled(tooMuch);
  await scene.isReported(tooMuch);
  const { id: wrongToken } = await scene.pay('direct', 5_000_000n, { token: USDT });
  await scene.isReported(wrongToken);
  const cancelled = await scene.open('direct');
  await scene.post(`/v1/payments/${cancelled.id}/cancel`, 'direct', {});
  await scene.statusIs(cancelled.id, 'cancelled');
  await scene.send(cancelled.address, ASKED);
  await scene.isReported(cancelled.id);
  Object.assign(payments, { swept, tooMuch, wrongToken, cancelled: cancelled.id });
}

/** Money for merchants without a destination. */
async function makeHeld(scene: Scene, payments: Payments): Promise<void> {
  const { id: held } = await scene.pay('held', ASKED);
  await scene.isHeld(held, '9900000');
  const { id: heldTooMuch } = await scene.pay('held', 13_000_000n);
  await scene.isHeld(heldTooMuch, '12870000');
  const paidOut = await scene.pay('paidOut', ASKED);
  const early = await scene.pay('paidOut', 4_000_000n);
  await scene.sweepAsStranger(early.id);
  await scene.isHeld(early.id, '3960000');
  await scene.isHeld(paidOut.id, '9900000');
  await scene.register('paidOut');
  await scene.isSettled(paidOut.id);
  // Of an open payment, too: that version paid out whatever was swept.
  await scene.payoutIs(early.id, 'paid');
  await scene.send(paidOut.address, 4_000_000n);
  await scene.isReported(paidOut.id);
  await scene.isMovedToFloat(paidOut.id);

  const { id: refunded } = await scene.pay('held', ASKED);
  await scene.isHeld(refunded, '9900000');
  await scene.refund(refunded, 'held');
  await scene.refundIs(refunded, 'refunded');

  const { id: replaced } = await scene.pay('held', 4_000_000n);
  await scene.sweepAsStranger(replaced);
  await scene.isHeld(replaced, '3960000');
  await scene.payByWallet(replaced);
  await scene.isHeld(replaced, '9900000');
  await scene.isMovedToFloat(replaced);
  const { id: heldOpen } = await scene.pay('held', 4_000_000n);
  await scene.sweepAsStranger(heldOpen);
  await scene.isHeld(heldOpen, '3960000');
  const { id: heldWrongToken } = await scene.pay('held', 5_000_000n, { token: USDT });
  await scene.isReported(heldWrongToken);
  await scene.isMovedToFloat(heldWrongToken);
  Object.assign(payments, { held, heldTooMuch, paidOut: paidOut.id, early: early.id, refunded });
  Object.assign(payments, { replaced, heldOpen, heldWrongToken });
}

/** Money after the end of payments, and what became of it. */
async function makeLate(scene: Scene, payments: Payments): Promise<void> {
  const [late, underpaid] = [await scene.open('direct', SHORT_S), await scene.open('direct', SHORT_S)];
  const heldLate = await scene.open('held', SHORT_S);
  await scene.send(underpaid.address, 4_000_000n);
  scene.pass(10 * 60_000);
  for (const { id } of [late, underpaid, heldLate]) await scene.statusIs(id, 'expired');
  await scene.send(late.address, ASKED);
  await scene.send(heldLate.address, ASKED);
  for (const { id } of [late, underpaid, heldLate]) await scene.isReported(id);
  await scene.isHeld(heldLate.id, '9900000');
  // A float pays for the return.
  const { direct: owner } = scene.merchants;
  const transactionHash = await scene.send(scene.intermediate, 100_000_000n);
  await scene.addFloat({ owner, asset: USDC, transactionHash });
  const { id: returned } = await scene.pay('direct', 15_000_000n);
  await scene.isReported(returned);
  await scene.giveBack(returned, 'direct');
  await scene.lateMoneyIs(returned, 'returned');
  Object.assign(payments, { late: late.id, underpaid: underpaid.id, heldLate: heldLate.id, returned });
}

/** Everything that is under way when the version stops. */
async function makeUnderWay(scene: Scene, payments: Payments): Promise<void> {
  const { id: open } = await scene.open('direct');
  const { id: part } = await scene.pay('direct', 4_000_000n);
  const { id: screened } = await scene.pay('direct', ASKED, { from: scene.listed });
  await scene.isListed(part, screened);
  const { id: payoutSending } = await scene.pay('payingOut', ASKED);
  await scene.isHeld(payoutSending, '9900000');
  const { id: refundSending } = await scene.pay('held', ASKED);
  await scene.isHeld(refundSending, '9900000');
  const { id: returning } = await scene.pay('direct', 15_000_000n);
  const { id: requested } = await scene.pay('direct', 15_000_000n);
  for (const id of [returning, requested]) await scene.isSettled(id);
  for (const id of [returning, requested]) await scene.isReported(id);

  await scene.stop('relaying');
  await scene.register('payingOut');
  await scene.payoutIs(payoutSending, 'sending');
  const { id: sweepSending } = await scene.pay('direct', ASKED);
  await scene.statusIs(sweepSending, 'succeeded');
  const { id: heldUnswept } = await scene.pay('held', ASKED);
  await scene.statusIs(heldUnswept, 'succeeded');
  // Final at a greater depth from here on, so the last blocks are not.
  await scene.stop('watching');
  scene.deepen();
  scene.start('watching');
  const { id: unfinal } = await scene.pay('direct', ASKED);
  await scene.statusIs(unfinal, 'processing');
  await scene.chain.halt();
  scene.start('relaying');
  await scene.until('two sweeps and a payout are sent', async () => {
    const sent = await scene.sql`select from items where purpose in ('sweep', 'payout') and state = 'sent'`;
    return sent.length === 3;
  });
  await scene.stop('relaying', 'watching');
  await scene.refund(refundSending, 'held');
  await scene.isOrdered('refund');
  await scene.giveBack(returning, 'direct');
  await scene.lateMoneyIs(returning, 'returning');
  await scene.isOrdered('return');
  await scene.stop('jobs');
  await scene.giveBack(requested, 'direct');
  Object.assign(payments, { open, part, screened, payoutSending, refundSending, returning, requested });
  Object.assign(payments, { sweepSending, heldUnswept, unfinal });
}

/** The gateway of that version on its chain, one partner with fees, and the actions of payers, merchants and strangers. */
async function openScene(old: Old, chainDir: string) {
  const { systemWorld } = await old('src/runtime/system-world.ts');
  let offsetMs = 0;
  const world = { ...systemWorld, clock: { nowMs: () => Date.now() + offsetMs } };
  const chain = await openChain(old, { dir: chainDir, world });
  const { SANDBOX_KEYS, SANDBOX_ACCOUNTS } = await old('src/sandbox/genesis.ts');
  const { chains, deepen } = await connect(old, { url: chain.url, world });
  const listed = privateKeyToAccount(SANDBOX_KEYS.secondPayer);
  const screening = {
    decide: (accounts: readonly string[]) => ({
      hits: accounts.filter((account) => account.toLowerCase().endsWith(listed.address.toLowerCase())),
      list: { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' },
    }),
  };
  const { startTestGateway, createTestPartner } = await old('test/gateway.ts');
  const { sandboxRates } = await old('src/rates/sandbox-rates.ts');
  const gateway = await startTestGateway({ chains, rates: sandboxRates(), screening, world });
  const { rememberSandboxChain } = await old('src/actions/remember-sandbox-chain.ts');
  await rememberSandboxChain(gateway, (await chain.ask('eth_getBlockByNumber', ['0x0', false])).hash);
  const { partner, secret: apiKey, headers } = await createTestPartner(gateway);
  const { setFees } = await old('src/actions/parties/set-fees.ts');
  const terms = { percentage: '1', fixed: [] };
  await setFees(gateway, { actor: 'operator', payee: { partnerId: partner.id }, terms, startsAt: undefined });
  await pause(FEES_IN_FORCE_MS);
  const { until } = await old('test/until.ts');
  const base = { old, gateway, chain, chains, headers, world, until, sql: gateway.db.sql };
  const merchants = await merchantsOf(base);
  const { addFloat } = await old('src/actions/outgoing/float/add-float.ts');
  const scene = { ...base, ...merchants, ...(await lookerOf(base, merchants)), ...(await payersOf(base, merchants)) };
  await scene.send(listed.address, 100_000_000n);
  return {
    ...scene,
    ...{ apiKey, deepen, listed, intermediate: SANDBOX_ACCOUNTS.intermediate as Hex },
    ...(await workersOf(old, gateway, { startAt: () => 0, sweepFrom: () => 0n })),
    pass(ms: number): void {
      offsetMs += ms;
    },
    addFloat: (input: { owner: string; asset: string; transactionHash: string }) =>
      addFloat({ ...gateway, chains }, { ...input, actor: 'operator' }),
  };
}

interface Base {
  readonly old: Old;
  readonly gateway: Value;
  readonly chain: OlderChain;
  readonly headers: Readonly<Record<string, string>>;
  readonly until: (what: string, isSo: () => Promise<boolean>, limits?: { withinMs: number }) => Promise<void>;
  readonly sql: Value;
}

/** The partner's merchants and the requests of their software. */
async function merchantsOf({ old, gateway, headers }: Base) {
  const { createTestMerchant, freshKey } = await old('test/gateway.ts');
  const { SANDBOX_ACCOUNTS } = await old('src/sandbox/genesis.ts');
  const merchants: Record<string, string> = {};
  for (const name of ['direct', 'held', 'payingOut', 'paidOut']) {
    merchants[name] = (await createTestMerchant(gateway, headers)).id;
  }
  async function post(url: string, merchant: string, payload: object): Promise<Value> {
    const own = { ...headers, 'merchant-id': merchants[merchant], 'idempotency-key': freshKey() };
    const response = await gateway.call({ method: 'POST', url, headers: own, payload });
    if (response.statusCode >= 300) throw new Error(response.body);
    return response.json();
  }
  return {
    merchants: merchants as Readonly<Record<'direct' | 'held' | 'payingOut' | 'paidOut', string>>,
    post,
    register: (merchant: string) =>
      post(`/v1/merchants/${merchants[merchant]}/settlements/crypto`, merchant, {
        settlements: [{ asset: USDC, destination: `${SANDBOX}:${SANDBOX_ACCOUNTS.merchant}` }],
      }),
    refund: (paymentId: string, merchant: string) => post('/v1/refunds', merchant, { paymentId, destination: NOBODY }),
  };
}

type Merchants = Awaited<ReturnType<typeof merchantsOf>>;

/** Waits until something is so. */
async function lookerOf({ gateway, headers, until, sql }: Base, { post }: Merchants) {
  const details = async (id: string) => {
    const [row] = await sql`select merchant_id as merchant from payments where id = ${id}`;
    const own = { ...headers, 'merchant-id': row.merchant };
    return (await gateway.call({ method: 'GET', url: `/v1/payments/${id}`, headers: own })).json();
  };
  const isNow = (id: string, what: string, isSo: (shown: Value) => boolean) =>
    until(`${id} is ${what}`, async () => isSo(await details(id)));
  const has = (what: string, query: () => Value) => until(what, async () => (await query()).length > 0);
  return {
    details,
    statusIs: (id: string, status: string) => isNow(id, status, (shown) => shown.status === status),
    refundIs: (id: string, status: string) => isNow(id, status, (shown) => shown.refund?.status === status),
    isSettled: (id: string) => isNow(id, 'settled', (shown) => shown.settlement != null),
    isHeld: (id: string, amount: string) =>
      has(
        `${amount} of ${id} is held`,
        () => sql`
        select from payouts where payment_id = ${id} and amount = ${amount}::numeric and state = 'held'`,
      ),
    payoutIs: (id: string, state: string) =>
      has(
        `the payout of ${id} is ${state}`,
        () => sql`
        select from payouts where payment_id = ${id} and state = ${state}`,
      ),
    isOrdered: (purpose: string) =>
      has(`a ${purpose} is due`, () => sql`select from items where purpose = ${purpose} and state = 'due'`),
    isMovedToFloat: (id: string) =>
      has(
        `money of ${id} is a float`,
        () => sql`
        select from book_entries where subject = ${id} and kind = 'held_to_float'`,
      ),
    /** Late money is reported, swept and checked. */
    isReported: (id: string) =>
      has(
        `late money of ${id} is told`,
        () => sql`
        select from strays s where s.payment_id = ${id} and not exists (
          select from items i where i.subject = ${id} and i.purpose = 'sweep' and i.state in ('due', 'sent'))
        and (exists (select from deposits d where d.payment_id = ${id} and d.arrived = d.swept and d.arrived > 0) or
          exists (select from deposit_strays d join deposits o using (commitment)
            where o.payment_id = ${id} and d.arrived = d.swept and d.arrived > 0))`,
      ),
    isListed: (...ids: string[]) =>
      until('all transfers are counted', async () => {
        const rows = await sql`
          select from deposits where payment_id = any(${ids}::text[]) and arrived > 0 and not is_stale`;
        return rows.length === ids.length;
      }),
    lateMoneyIs: (id: string, state: string) =>
      has(
        `late money of ${id} is ${state}`,
        () => sql`
        select from strays where payment_id = ${id} and state = ${state}`,
      ),
    async giveBack(id: string, merchant: string): Promise<void> {
      const [row] = await sql`select id from strays where payment_id = ${id}`;
      await post(`/v1/late-money/${row.id}/return`, merchant, { destination: NOBODY });
    },
  };
}

/** Payers, who send transfers or sign, and strangers, who sweep. */
async function payersOf({ old, gateway, chain, headers, until, sql }: Base, { post }: Merchants) {
  const { walletOn, readBuild, result } = await old('test/e2e/paying-shop.ts');
  const { SANDBOX_KEYS } = await old('src/sandbox/genesis.ts');
  const { findItemsOf, itemOf } = await old('src/store/chain/items.ts');
  const { depositTerms } = await old('src/chains/evm/item-terms.ts');
  const { encodeSweep } = await old('src/chains/evm/deposits.ts');
  const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
  const wallet = walletOn(gateway, headers);
  async function call(from: PrivateKeyAccount, { to, data }: { to: Hex; data: Hex }): Promise<string> {
    const nonce = Number(await chain.ask('eth_getTransactionCount', [from.address, 'pending']));
    const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
    const signed = { type: 'eip1559', to, data, gas: 500_000n, nonce, chainId: 31_337, ...fees } as const;
    const hash = await chain.ask('eth_sendRawTransaction', [await from.signTransaction(signed)]);
    await until(`${hash} is mined`, async () => (await chain.ask('eth_getTransactionReceipt', [hash])) !== null);
    return hash;
  }
  const send = (to: Hex, units: bigint, { token = USDC, from = payer } = {}) => {
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [to, units] });
    return call(from, { to: token.slice(token.lastIndexOf(':') + 1) as Hex, data });
  };
  async function open(merchant: string, lifeS = LIFE_S) {
    const amount = { unit: 'iso4217/USD', value: '1000' };
    const expiresAt = Math.floor(gateway.world.clock.nowMs() / 1000) + lifeS;
    const { paymentId: id } = await post('/v1/payments', merchant, { amount, referenceId: 'order', expiresAt });
    const opened = await wallet.post(id, 'address', { asset: USDC });
    if (opened.statusCode !== 200) throw new Error(opened.body);
    return { id: id as string, address: opened.json().address.split(':')[2] as Hex };
  }
  return {
    send,
    open,
    async pay(merchant: string, units: bigint, how: { token?: string; from?: PrivateKeyAccount } = {}) {
      const opened = await open(merchant);
      await send(opened.address, units, how);
      return opened;
    },
    async payByWallet(id: string): Promise<void> {
      const option = await wallet.option(id, `${SANDBOX}:${payer.address}`, USDC);
      const signature = await payer.signTypedData(JSON.parse(String(readBuild(option).params[1])));
      const confirmed = await wallet.confirm(id, option.id, [result(signature)]);
      if (confirmed.statusCode !== 200) throw new Error(confirmed.body);
    },
    async sweepAsStranger(id: string): Promise<void> {
      const [stored] = await findItemsOf(sql, id);
      const item = itemOf(stored);
      const data = encodeSweep({ token: USDC.slice(USDC.lastIndexOf(':') + 1), items: [depositTerms(item)] });
      await call(payer, { to: item.collector, data });
    },
  };
}

async function connect(old: Old, { url, world }: { readonly url: string; readonly world: Value }) {
  const { createEvmChain } = await old('src/chains/evm/evm-chain.ts');
  const { createLocalSigner } = await old('src/chains/evm/local-signer.ts');
  const { assetsOf } = await old('src/chains/assets.ts');
  const { findNetwork } = await old('src/chains/networks.ts');
  const { SANDBOX_ACCOUNTS, SANDBOX_KEYS } = await old('src/sandbox/genesis.ts');
  const known = findNetwork(SANDBOX);
  const finality = { ...known.finality };
  const connected = {
    chain: createEvmChain({ world, network: { ...known, finality }, endpoints: [url] }),
    relayers: [createLocalSigner(SANDBOX_KEYS.relayer)],
    feeAccount: SANDBOX_ACCOUNTS.feeAccount,
    intermediateAccount: SANDBOX_ACCOUNTS.intermediate,
    intermediateSigner: createLocalSigner(SANDBOX_KEYS.intermediate),
    payable: () => assetsOf(SANDBOX).map(({ id }: { id: string }) => id),
    problems: () => [],
  };
  // Deposit addresses are offered only after a check.
  await connected.chain.check();
  return {
    deepen: () => Object.assign(finality, { depth: 3 }),
    chains: { find: (id: string) => (id === SANDBOX ? connected : undefined), list: () => [connected] },
  };
}
