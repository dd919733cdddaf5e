import { setTimeout as pause } from 'node:timers/promises';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
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
  writeFixture,
} from './older-code.ts';
import { makeDeposits } from './upgrade-deposits.ts';

/**
 * Makes `test/fixtures/upgrade-<commit>.json.gz`: the database and the sandbox chain of an older version, stopped in
 * the middle of its work. The code of that commit makes both. `test/e2e/upgrade.test.ts` and
 * `test/e2e/upgrade-deposits.test.ts` continue from there with today's code.
 *
 *     npx node scripts/make-upgrade-fixture.ts d940b99
 */
const MAKERS: Readonly<Record<string, (old: Old, chainDir: string) => Promise<object>>> = {
  d940b99: makeItems,
  // Deposit addresses and held money, before lots.
  '342f561': makeDeposits,
};
/** The lifetime of payments, in the time of the fixture. */
const LIFE_S = 1_800;
/** A node reads fees again within this time. */
const FEES_IN_FORCE_MS = 5_000;

const ETH = `${SANDBOX}/slip44:60`;

if (import.meta.main) await main();

async function main(): Promise<void> {
  const commit = process.argv[2] ?? '';
  const make = MAKERS[commit];
  if (make === undefined) throw new Error(`Name one of these commits: ${Object.keys(MAKERS).join(', ')}.`);
  await writeFixture(commit, make);
  // The halted chain still waits for its next block.
  process.exit();
}

type Scene = Awaited<ReturnType<typeof openScene>>;

async function makeItems(old: Old, chainDir: string) {
  const scene = await openScene(old, chainDir);
  const finals = await makeFinals(scene);
  const open = await makeOpen(scene);
  await scene.stop('relaying', 'watching', 'jobs', 'books');
  const tables = await readTables(scene.gateway.db.sql);
  const shown: Record<string, unknown> = {};
  for (const id of Object.values(finals)) shown[id] = (await scene.details(id)).json();
  const receipt = (await scene.receipt(finals.succeeded)).json();
  await scene.gateway.stop();
  await scene.chain.close();
  const { apiKey, merchants, retries } = scene;
  const payments = { ...finals, ...open };
  const made = { madeAtMs: Date.now(), apiKey, merchants, payments, shown, receipt, retries };
  return { ...made, tables, chain: await scene.chain.files() };
}

/**
 * The gateway of the older code on that chain: its workers, one partner with fees, and the actions of payers and
 * merchants.
 */
async function openScene(old: Old, chainDir: string) {
  const { systemWorld } = await old('src/system.ts');
  const chain = await openChain(old, { dir: chainDir, world: systemWorld });
  const chains = await connect(old, chain.url);
  const { startTestGateway, createTestPartner } = await old('test/gateway.ts');
  const { sandboxRates } = await old('src/rates/sandbox-rates.ts');
  const gateway = await startTestGateway({ chains, rates: sandboxRates() });
  const { rememberSandboxChain } = await old('src/actions/remember-sandbox-chain.ts');
  await rememberSandboxChain(gateway, (await chain.ask('eth_getBlockByNumber', ['0x0', false])).hash);
  const { partner, secret: apiKey, headers } = await createTestPartner(gateway);
  const { setFees } = await old('src/actions/set-fees.ts');
  const terms = { percentage: '1', fixed: [] };
  await setFees(gateway, { actor: 'operator', payee: { partnerId: partner.id }, terms, startsAt: undefined });
  await pause(FEES_IN_FORCE_MS);
  const merchant = await merchantsOf(old, { gateway, headers });
  const payer = await payerOf(old, { gateway, chain, headers });
  const workers = await workersOf(old, gateway, { startAt: () => 0 });
  return {
    ...{ old, gateway, chain, chains, apiKey, ...workers, ...merchant, ...payer },
    /** A payment that has succeeded. */
    async paid(name: string, asset: string): Promise<string> {
      const id = await payer.confirm(await merchant.create(name), asset);
      await merchant.statusIs(id, 'succeeded');
      return id;
    },
    count: async (query: string): Promise<number> => Number((await gateway.db.sql.unsafe(query))[0].count),
  };
}

type Gateway = Value;
type Headers = Readonly<Record<string, string>>;

/** The partner's merchants and the requests of their software. */
async function merchantsOf(old: Old, { gateway, headers }: { gateway: Gateway; headers: Headers }) {
  const { createTestMerchant, freshKey } = await old('test/gateway.ts');
  const { SANDBOX_ACCOUNTS } = await old('src/sandbox/genesis.ts');
  const { until } = await old('test/until.ts');
  const merchants: Record<string, string> = {};
  for (const name of ['direct', 'held', 'payingOut', 'paidOut']) {
    merchants[name] = (await createTestMerchant(gateway, headers)).id;
  }
  const retries: Record<string, { merchant: string; key: string; payload: object }> = {};
  const as = (merchant: string) => ({ ...headers, 'merchant-id': merchants[merchant] });
  const ask = (id: string, rest = '', method = 'GET') =>
    gateway.call({ method, url: `/v1/payments/${id}${rest}`, headers: as(retries[id]?.merchant ?? '') });
  const post = (url: string, merchant: string, payload: object, key = freshKey()) =>
    gateway.call({ method: 'POST', url, headers: { ...as(merchant), 'idempotency-key': key }, payload });
  const isNow = (id: string, what: string, isSo: (shown: { status: string; refund?: { status: string } }) => boolean) =>
    until(`${id} is ${what}`, async () => isSo((await ask(id)).json()), { withinMs: 60_000 });
  return {
    ...{ merchants, retries, until },
    async create(merchant: string, lifeS = LIFE_S): Promise<string> {
      const number = Object.keys(retries).length;
      const expiresAt = Math.floor(Date.now() / 1000) + lifeS;
      const amount = { unit: 'iso4217/USD', value: '1000' };
      const order = { merchant, key: `key-${number}`, payload: { amount, referenceId: `order-${number}`, expiresAt } };
      const { paymentId } = (await post('/v1/payments', merchant, order.payload, order.key)).json();
      retries[paymentId] = order;
      return paymentId;
    },
    async register(merchant: string, asset: string): Promise<void> {
      const settlements = [{ asset, destination: `${SANDBOX}:${SANDBOX_ACCOUNTS.merchant}` }];
      const made = await post(`/v1/merchants/${merchants[merchant]}/settlements/crypto`, merchant, { settlements });
      if (made.statusCode !== 201) throw new Error(made.body);
    },
    details: (id: string) => ask(id),
    receipt: (id: string) => ask(id, '/receipt'),
    cancel: (id: string) => ask(id, '/cancel', 'POST'),
    refund: (paymentId: string) => post('/v1/refunds', retries[paymentId]?.merchant ?? '', { paymentId }),
    statusIs: (id: string, status: string) => isNow(id, status, (shown) => shown.status === status),
    refundIs: (id: string, status: string) => isNow(id, status, (shown) => shown.refund?.status === status),
  };
}

interface PayerDeps {
  readonly gateway: Gateway;
  readonly chain: OlderChain;
  readonly headers: Headers;
}

async function payerOf(old: Old, { gateway, chain, headers }: PayerDeps) {
  const { walletOn, readBuild, result } = await old('test/e2e/paying-shop.ts');
  const { SANDBOX_KEYS } = await old('src/sandbox/genesis.ts');
  const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
  const account = `${SANDBOX}:${payer.address}`;
  const wallet = walletOn(gateway, headers);
  return {
    /** Signs for a payment; nothing is sent yet. */
    async confirm(id: string, asset: string): Promise<string> {
      const option = await wallet.option(id, account, asset);
      const request = option.actions[0]?.type === 'build' ? readBuild(option) : option.actions.at(-1)?.data;
      const signature = await payer.signTypedData(JSON.parse(String(request?.params[1])));
      const confirmed = await wallet.confirm(id, option.id, [result(signature)]);
      if (confirmed.statusCode !== 200) throw new Error(confirmed.body);
      return id;
    },
    /** Fetches the native action of a payment, and returns its transaction. */
    async handOut(id: string): Promise<{ to: Hex; data: Hex; value: Hex }> {
      const option = await wallet.option(id, account, ETH);
      return (await wallet.fetch(id, option.id)).json().actions[0].data.params[0];
    },
    async send({ to, data, value }: { to: Hex; data: Hex; value: Hex }): Promise<string> {
      const nonce = Number(await chain.ask('eth_getTransactionCount', [payer.address, 'pending']));
      const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
      const call = { to, data, value: BigInt(value), gas: 200_000n, nonce, chainId: 31_337, ...fees };
      return chain.ask('eth_sendRawTransaction', [await payer.signTransaction({ type: 'eip1559', ...call })]);
    },
  };
}

async function connect(old: Old, rpcUrl: string) {
  const { createEvmChain } = await old('src/chains/evm/evm-chain.ts');
  const { createLocalSigner } = await old('src/chains/evm/local-signer.ts');
  const { assetsOf, findNetwork } = await old('src/chains/networks.ts');
  const { SANDBOX_ACCOUNTS, SANDBOX_KEYS } = await old('src/sandbox/genesis.ts');
  const { systemWorld } = await old('src/system.ts');
  const connected = {
    chain: createEvmChain({ world: systemWorld, network: findNetwork(SANDBOX), endpoints: [rpcUrl] }),
    relayers: [createLocalSigner(SANDBOX_KEYS.relayer)],
    feeAccount: SANDBOX_ACCOUNTS.feeAccount,
    intermediateAccount: SANDBOX_ACCOUNTS.intermediate,
    intermediateSigner: createLocalSigner(SANDBOX_KEYS.intermediate),
    payable: () => assetsOf(SANDBOX).map(({ id }: { id: string }) => id),
    problems: () => [],
  };
  return { find: (id: string) => (id === SANDBOX ? connected : undefined), list: () => [connected] };
}

/** Ended payments, one of each kind. */
async function makeFinals(scene: Scene) {
  const { create, confirm, handOut, send, paid, register, statusIs, until, count } = scene;
  scene.start('relaying', 'watching', 'jobs', 'books');
  const { addFloat } = await scene.old('src/actions/floats/add-float.ts');
  const { SANDBOX_ACCOUNTS } = await scene.old('src/sandbox/genesis.ts');
  await adoptTokens(scene.chain, SANDBOX_ACCOUNTS.intermediate, (input) =>
    addFloat({ ...scene.gateway, chains: scene.chains }, { ...input, actor: 'operator' }),
  );
  await register('direct', USDC);
  const succeeded = await paid('direct', USDC);
  const paidOut = await paid('paidOut', USDC);
  await register('paidOut', USDC);
  await until('it is paid out', async () => (await scene.details(paidOut)).json().settlement !== null);
  const refunded = await paid('held', USDT);
  await scene.refund(refunded);
  await scene.refundIs(refunded, 'refunded');
  const [expired, cancelled, failed] = [await create('held', 3), await create('held'), await create('held')];
  await scene.cancel(cancelled);
  const declined = { type: 'failed', failureCode: 'declined_user' };
  await scene.gateway.movePayment({ paymentId: failed, event: declined, actor: 'operator', evidence: {} });
  await statusIs(expired, 'expired');

  // The payer signs for a token and sends coin as well; the coin is final first.
  await scene.stop('relaying');
  const twoWays = await create('direct');
  const coin = await handOut(twoWays);
  await confirm(twoWays, USDC);
  await send(coin);
  await statusIs(twoWays, 'succeeded');
  scene.start('relaying');
  await until('the token came too', async () => {
    return (await count(`select count(*) from strays where payment_id = '${twoWays}'`)) === 1;
  });
  return { succeeded, paidOut, refunded, expired, cancelled, failed, twoWays };
}

/** Payments, payouts and refunds that are under way when everything stops. */
async function makeOpen(scene: Scene) {
  const { create, confirm, handOut, send, paid, until, count } = scene;
  const { outgoingId } = await scene.old('src/domain/ids.ts');
  const outgoingIs = (prefix: string, paymentId: string, state: string) =>
    until(`what leaves for ${paymentId} is ${state}`, async () => {
      const subject = outgoingId(prefix, paymentId);
      return (await count(`select count(*) from items where subject = '${subject}' and state = '${state}'`)) === 1;
    });
  const held = await paid('held', USDC);
  const refundSending = await paid('held', USDT);
  const payoutSending = await paid('payingOut', USDC);
  const refundAwaiting = await paid('direct', USDC);
  await scene.refund(refundAwaiting);
  await scene.refundIs(refundAwaiting, 'awaiting_funds');
  // Everything so far is sealed and compared.
  await until('the books are audited', async () => (await count('select count(*) from coin_cursors')) > 0, {
    withinMs: 120_000,
  });

  await scene.stop('relaying');
  await scene.chain.halt();
  await scene.register('payingOut', USDC);
  await outgoingIs('pout_', payoutSending, 'due');
  const sent = await confirm(await create('direct'), USDC);
  scene.start('relaying');
  const broadcast = `select count(*) from send_items c join items i using (commitment)
    join send_versions v on v.network = c.network and v.signer = c.signer and v.nonce = c.nonce
    where i.state = 'sent' and v.broadcast_at is not null`;
  await until('both are broadcast', async () => (await count(broadcast)) === 2, { withinMs: 60_000 });
  await scene.stop('relaying', 'watching');

  await scene.refund(refundSending);
  await outgoingIs('rfnd_', refundSending, 'due');
  await scene.stop('jobs');
  const due = await confirm(await create('direct'), USDC);
  const dueTether = await confirm(await create('held'), USDT);
  const [nativeToPay, nativeUnpaid, nativeWaiting] = [await create('held'), await create('held'), await create('held')];
  await handOut(nativeToPay);
  await handOut(nativeUnpaid);
  await send(await handOut(nativeWaiting));
  const [open, abandoned] = [await create('direct'), await create('held')];
  const natives = { nativeToPay, nativeUnpaid, nativeWaiting };
  return { held, refundSending, payoutSending, refundAwaiting, sent, due, dueTether, ...natives, open, abandoned };
}
