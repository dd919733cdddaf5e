import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Difference } from '../../src/actions/books/audit/compare-events.ts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { verifyBooks } from '../../src/actions/books/verify-books.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { returnStray } from '../../src/actions/outgoing/stray/return-stray.ts';
import { lastDestinations } from '../../src/actions/parties/destination-memory.ts';
import { compareFreezes } from '../../src/actions/parties/freeze-heads.ts';
import { rememberSandboxChain } from '../../src/actions/remember-sandbox-chain.ts';
import { assetsOf } from '../../src/chains/assets.ts';
import type { Chains, ConnectedChain } from '../../src/chains/chains.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import { findNetwork } from '../../src/chains/networks.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { serveChain } from '../../src/sandbox/chain-server.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { type KeptChain, openKeptChain } from '../../src/sandbox/kept-chain.ts';
import { findItemsOf, itemOf } from '../../src/store/chain/items.ts';
import { listStrays } from '../../src/store/money/strays.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { migrate } from '../../src/store/plumbing/migrate.ts';
import { startBookkeeping } from '../../src/workers/bookkeeping.ts';
import { housekeepingJobs } from '../../src/workers/housekeeping.ts';
import { startJobs } from '../../src/workers/loop.ts';
import { payingOutJobs } from '../../src/workers/paying-out.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import type { TestDatabase } from '../database.ts';
import { freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { type OlderVersion, readOlderVersion, restoreChain, restoreDatabase } from '../older-version.ts';
import { until } from '../until.ts';
import { ETH, readBuild, result, SANDBOX, USDC, walletOn } from './paying-shop.ts';

const TOKEN = parseAbi(['function transfer(address to, uint256 amount)']);
const WITHIN = { withinMs: 60_000 };
const HOUR_MS = 3_600_000;

describe('a database and a chain of an older version (d940b99)', () => {
  let older: OlderVersion;
  let database: TestDatabase;
  let chain: KeptChain;
  let server: Server;
  let connected: ConnectedChain;
  let chains: Chains;
  let gateway: TestGateway;
  const stops: (() => unknown)[] = [];
  const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
  const log = pino({ level: 'silent' });
  /** Time goes on from where the older version stopped. */
  let offsetMs = 0;
  const world = { ...systemWorld, clock: { nowMs: () => Date.now() + offsetMs } };

  before(async () => {
    older = await readOlderVersion('d940b99');
    offsetMs = older.madeAtMs - Date.now();
    database = await restoreDatabase(older);
    stops.push(() => database.drop());
    await migrate({ log }, database.url);
    const folder = await restoreChain(older);
    stops.push(() => folder.remove());
    const onBroken = (error: unknown) => {
      throw error;
    };
    chain = await openKeptChain(world, { dir: folder.dir, blockMs: 100, isScriptable: false, onBroken });
    server = await serveChain(chain, { port: 0, isScriptable: false });
    stops.push(
      () => chain.close(),
      () => server.close(),
      () => server.closeAllConnections(),
    );
    const network = findNetwork(SANDBOX);
    assert.ok(network);
    const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    connected = {
      chain: createEvmChain({ world, network, endpoints: [rpcUrl] }),
      relayers: [createLocalSigner(SANDBOX_KEYS.relayer)],
      feeAccount: SANDBOX_ACCOUNTS.feeAccount,
      intermediateAccount: SANDBOX_ACCOUNTS.intermediate,
      intermediateSigner: createLocalSigner(SANDBOX_KEYS.intermediate),
      payable: () => assetsOf(SANDBOX).map(({ id }) => id),
      problems: () => [],
    };
    chains = { find: (id) => (id === SANDBOX ? connected : undefined), list: () => [connected] };
    gateway = await startTestGateway({ databaseUrl: database.url, chains, rates: sandboxRates(), world });
    stops.push(
      () => connected.chain.close(),
      () => gateway.stop(),
    );
    await rememberSandboxChain(gateway, chain.genesisHash);
    const workers = [
      startRelaying(gateway),
      startWatching({ ...gateway, watching: { startAt: () => 0 } }),
      startJobs(gateway, [...housekeepingJobs(gateway), ...payingOutJobs(gateway)]),
      startBookkeeping(gateway),
    ];
    stops.push(() => Promise.all(workers.map((stop) => stop())));
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  type Name = keyof OlderVersion['payments'];
  const headersOf = (merchant: string) => ({
    'api-key': older.apiKey,
    'merchant-id': older.merchants[merchant as keyof OlderVersion['merchants']],
  });
  const ownerOf = (name: Name) => older.retries[older.payments[name]]?.merchant ?? '';
  const post = (url: string, merchant: string, payload: object, key = freshKey()) =>
    gateway.call({ method: 'POST', url, headers: { ...headersOf(merchant), 'idempotency-key': key }, payload });
  const details = async (name: Name) =>
    (await gateway.call({ url: `/v1/payments/${older.payments[name]}`, headers: headersOf(ownerOf(name)) })).json();
  const isNow = (name: Name, what: string, isSo: (shown: { [field: string]: unknown }) => boolean) =>
    until(`${name} is ${what}`, async () => isSo(await details(name)), WITHIN);
  const statusIs = (name: Name, status: string) => isNow(name, status, (shown) => shown.status === status);
  const isSettled = (name: Name) => isNow(name, 'settled', ({ settlement }) => settlement != null);
  const isRefunded = (name: Name) =>
    isNow(name, 'refunded', ({ refund }) => (refund as { status?: string } | undefined)?.status === 'refunded');

  async function ask(method: string, params: readonly unknown[]) {
    const { result: answer, error } = JSON.parse(await chain.pass({ id: 1, method, params }));
    assert.equal(error, undefined, JSON.stringify(error));
    return answer;
  }
  /** The payer's wallet sends a transaction. */
  async function send({ to, data, value = '0x0' }: { to: Hex; data: Hex; value?: Hex }): Promise<string> {
    const nonce = Number(await ask('eth_getTransactionCount', [payer.address, 'pending']));
    const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
    const call = { to, data, value: BigInt(value), gas: 200_000n, nonce, chainId: 31_337, ...fees };
    const raw = await payer.signTransaction({ type: 'eip1559', ...call });
    const sent = JSON.parse(await chain.send({ id: 1, method: 'eth_sendRawTransaction', params: [raw] }));
    assert.equal(sent.error, undefined, JSON.stringify(sent.error));
    await until('it is mined', async () => (await ask('eth_getTransactionReceipt', [sent.result])) !== null, WITHIN);
    return sent.result;
  }
  async function register(merchant: string, asset: string): Promise<void> {
    const settlements = [{ asset, destination: `${SANDBOX}:${SANDBOX_ACCOUNTS.merchant}` }];
    const id = older.merchants[merchant as keyof OlderVersion['merchants']];
    const registered = await post(`/v1/merchants/${id}/settlements/crypto`, merchant, { settlements });
    assert.equal(registered.statusCode, 201, registered.body);
  }

  it('authenticates its keys, destinations and freezes at the first start, once', async () => {
    const { sql } = gateway.db;
    const [unproved] = await sql<{ keys: number; destinations: number }[]>`
      select (select count(*)::int from api_keys where mac is null) as keys,
        (select count(*)::int from crypto_settlements where mac is null or number is null) as destinations`;
    assert.deepEqual(unproved, { keys: 0, destinations: 0 });
    assert.deepEqual(await compareFreezes(sql, gateway), { lost: [], added: [] });
    const adopted = await sql<{ subject: string }[]>`
      select subject from audit_log where action = 'rows.adopted' order by subject`;
    assert.deepEqual(
      adopted.map(({ subject }) => subject),
      ['api_keys', 'crypto_settlements', 'destination_history', 'freezes', 'outgoing'],
    );
    const settled = await sql<{ merchantId: string; asset: string; key: string; destination: string }[]>`
      select merchant_id as "merchantId", asset, asset_key as key, destination from crypto_settlements`;
    assert.ok(settled.length > 0);
    for (const { merchantId, asset, key, destination } of settled) {
      assert.equal((await gateway.readDestinations(merchantId)).get(asset), destination);
      assert.equal((await lastDestinations(sql, gateway, merchantId)).get(key)?.destination, destination);
    }
  });

  it('shows ended payments unchanged', async () => {
    for (const name of ['succeeded', 'paidOut', 'refunded', 'expired', 'cancelled', 'failed'] as const) {
      assertIncludes(await details(name), older.shown[older.payments[name]], name);
    }
    const url = `/v1/payments/${older.payments.succeeded}/receipt`;
    const receipt = await gateway.call({ url, headers: headersOf(ownerOf('succeeded')) });
    assertIncludes(receipt.json(), older.receipt, 'receipt');
  });

  it('corrects a payment that was paid in two ways, and shows the final transaction', async () => {
    const { info } = await details('twoWays');
    assert.equal(info.optionAmount.unit, `caip19/${ETH}`);
  });

  it('answers retries of earlier requests with their first result', async () => {
    for (const [paymentId, { merchant, key, payload }] of Object.entries(older.retries)) {
      // Its own `expiresAt` has passed, which is looked at before its key.
      if (paymentId === older.payments.expired) continue;
      const retried = await post('/v1/payments', merchant, payload, key);
      assert.deepEqual([retried.statusCode, retried.json().paymentId], [201, paymentId], retried.body);
      assert.equal(retried.headers['idempotent-replayed'], 'true');
    }
  });

  it('carries out signed, stored and sent items', async () => {
    for (const name of ['due', 'dueTether', 'sent', 'nativeWaiting'] as const) await statusIs(name, 'succeeded');
    await isSettled('payoutSending');
    await isRefunded('refundSending');
  });

  it('takes payments that were waiting for their payers', async () => {
    const id = older.payments.open;
    const wallet = walletOn(gateway, { 'api-key': older.apiKey });
    const option = await wallet.option(id, `${SANDBOX}:${payer.address}`, USDC);
    const signature = await payer.signTypedData(JSON.parse(String(readBuild(option).params[1])));
    assert.equal((await wallet.confirm(id, option.id, [result(signature)])).statusCode, 200);
    await statusIs('open', 'succeeded');

    const [handedOut] = await findItemsOf(gateway.db.sql, older.payments.nativeToPay);
    assert.ok(handedOut);
    const [action] = connected.chain.walletActions(itemOf(handedOut), 0n);
    await send(action?.params[0] as { to: Hex; data: Hex; value: Hex });
    await statusIs('nativeToPay', 'succeeded');
  });

  it('pays held amounts out, and sends refunds that awaited funds', async () => {
    await register('held', USDC);
    await isSettled('held');
    const owner = older.merchants.direct;
    const args = [SANDBOX_ACCOUNTS.intermediate, 100_000_000n] as const;
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args });
    const transactionHash = await send({ to: USDC.slice(USDC.lastIndexOf(':') + 1) as Hex, data });
    await addFloat({ ...gateway, chains }, { owner, asset: USDC, transactionHash, actor: 'test' });
    await isRefunded('refundAwaiting');
    const strays = () => listStrays(gateway.db.sql, { states: ['unclaimed'], limit: 10 });
    const late = (await strays()).find(({ source }) => source === 'late_payment');
    assert.ok(late);
    await returnStray({ ...gateway, chains }, { id: late.id, to: undefined, actor: 'test' });
    const returned = async () =>
      (await listStrays(gateway.db.sql, { states: ['returned'], limit: 10 })).some(({ id }) => id === late.id);
    await until('the late payment is returned', returned, WITHIN);
  });

  it('expires unpaid payments, no sooner than the chain proves it', async () => {
    assert.equal((await details('abandoned')).status, 'requires_action');
    assert.equal((await details('nativeUnpaid')).status, 'requires_action');
    offsetMs += HOUR_MS;
    await statusIs('abandoned', 'expired');
    await statusIs('nativeUnpaid', 'expired');
  });

  it('leaves books that agree with the chain, totals that add up, and nothing for a person to look at', async () => {
    let differences: readonly Difference[] | undefined;
    const isSame = async () => {
      differences = (await reconcile(gateway, connected, { from: 0 }))?.differences;
      return differences?.length === 0;
    };
    await until('the books agree', isSame, WITHIN).catch(() => assert.deepEqual(differences, []));
    assert.deepEqual(
      (await verifyBooks(gateway.db.sql)).flatMap(({ problems }) => problems),
      [],
    );
    for (const merchant of Object.keys(older.merchants)) {
      const stats = async (query: string) => {
        const url = `/v1/merchants/payments${query}`;
        return (await gateway.call({ url, headers: headersOf(merchant) })).json().stats;
      };
      assert.deepEqual(await stats(''), await stats('?startTs=2020-01-01T00:00:00Z'));
    }
    const alerts = (await listAlerts(gateway.db.sql)).map(({ name }) => name);
    assert.deepEqual(
      alerts.filter((name) => name !== 'books_differ'),
      [],
    );
  });
});

/** Later versions may show more, never less or otherwise. */
function assertIncludes(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected !== 'object' || expected === null) {
    assert.deepEqual(actual, expected, path);
    return;
  }
  assert.ok(typeof actual === 'object' && actual !== null, path);
  for (const [key, part] of Object.entries(expected)) {
    assertIncludes((actual as Record<string, unknown>)[key], part, `${path}.${key}`);
  }
}
