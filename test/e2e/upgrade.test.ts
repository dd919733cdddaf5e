import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Difference } from '../../src/actions/books/audit/compare-events.ts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { verifyBooks } from '../../src/actions/books/verify-books.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { lastDestinations } from '../../src/actions/parties/destination-memory.ts';
import { compareFreezes } from '../../src/actions/parties/freeze-heads.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { findItemsOf, itemOf } from '../../src/store/chain/items.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { startBookkeeping } from '../../src/workers/bookkeeping.ts';
import { housekeepingJobs } from '../../src/workers/housekeeping.ts';
import { startJobs } from '../../src/workers/loop.ts';
import { payingOutJobs } from '../../src/workers/paying-out.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { freshKey } from '../gateway.ts';
import { type OlderVersion, readOlderVersion } from '../older-version.ts';
import { until } from '../until.ts';
import { openUpgraded, type UpgradedGateway } from '../upgraded-gateway.ts';
import { ETH, readBuild, result, SANDBOX, USDC, walletOn } from './paying-shop.ts';

const TOKEN = parseAbi(['function transfer(address to, uint256 amount)']);
const WITHIN = { withinMs: 60_000 };
const HOUR_MS = 3_600_000;

describe('a database and a chain of an older version (d940b99)', () => {
  let older: OlderVersion;
  let upgraded: UpgradedGateway;
  let chains: UpgradedGateway['chains'];
  let connected: UpgradedGateway['connected'];
  let gateway: UpgradedGateway['gateway'];
  const payer = privateKeyToAccount(SANDBOX_KEYS.payer);

  before(async () => {
    older = await readOlderVersion('d940b99');
    upgraded = await openUpgraded(older);
    ({ gateway, chains, connected } = upgraded);
    const workers = [
      startRelaying(gateway),
      startWatching({ ...gateway, watching: { startAt: () => 0 } }),
      startJobs(gateway, [...housekeepingJobs(gateway), ...payingOutJobs(gateway)]),
      startBookkeeping(gateway),
    ];
    upgraded.run(() => Promise.all(workers.map((stop) => stop())));
  });
  after(() => upgraded.close());

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
    const [action] = connected.chain.payerSide.walletActions(itemOf(handedOut), 0n);
    await upgraded.send(action?.params[0] as { to: Hex; data: Hex; value: Hex });
    await statusIs('nativeToPay', 'succeeded');
  });

  it('pays held amounts out, and sends refunds that awaited funds', async () => {
    await register('held', USDC);
    await isSettled('held');
    const owner = older.merchants.direct;
    const args = [SANDBOX_ACCOUNTS.intermediate, 100_000_000n] as const;
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args });
    const transactionHash = await upgraded.send({ to: USDC.slice(USDC.lastIndexOf(':') + 1) as Hex, data });
    const isAdded = () =>
      addFloat({ ...gateway, chains }, { owner, asset: USDC, transactionHash, actor: 'test' }).then(
        () => true,
        (error: Error) => {
          if (/has not read the block/.test(error.message)) return false;
          throw error;
        },
      );
    await until('the float is added', isAdded, WITHIN);
    await isRefunded('refundAwaiting');
    const unexpectedMoney = () => listUnexpected(gateway.db.sql, { states: ['unclaimed'], limit: 10 });
    const late = (await unexpectedMoney()).find(({ source }) => source === 'late_payment');
    assert.ok(late);
    await returnUnexpected({ ...gateway, chains }, { id: late.id, to: undefined, actor: 'test' });
    const returned = async () =>
      (await listUnexpected(gateway.db.sql, { states: ['returned'], limit: 10 })).some(({ id }) => id === late.id);
    await until('the late payment is returned', returned, WITHIN);
  });

  it('expires unpaid payments, no sooner than the chain proves it', async () => {
    assert.equal((await details('abandoned')).status, 'requires_action');
    assert.equal((await details('nativeUnpaid')).status, 'requires_action');
    upgraded.pass(HOUR_MS);
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
    // The hour that has just passed makes an outcome late until the next round has judged it, and its alert ends at the next check.
    let alerts: readonly string[] = [];
    const isQuiet = async () => {
      alerts = (await listAlerts(gateway.db.sql)).map(({ name }) => name).filter((name) => name !== 'books_differ');
      return alerts.length === 0;
    };
    await until('no alert is left', isQuiet, WITHIN).catch(() => assert.deepEqual(alerts, []));
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
