import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { createShopper } from '../../src/sandbox/shopper.ts';
import { connectTo } from '../database.ts';
import { ONLY_LONG } from '../long.ts';
import { runCommand } from '../run-command.ts';
import { until } from '../until.ts';
import { type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';
import type { Json } from './list-test.ts';

const WITHIN = { withinMs: 60_000 };
const asking = (sandbox: string) => ({ metadata: { sandbox } });

describe('rehearsals in a running sandbox', ONLY_LONG, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await startSandbox();
  });
  after(() => sandbox.stop());

  const till = (argv: readonly string[], env: Record<string, string> = {}) =>
    runCommand(argv, { env: { TILL_HOME: sandbox.home, ...env } });

  const tillOnDatabase = (...words: string[]) =>
    till(words, { DATABASE_URL: sandbox.databaseUrl, RPC_URLS: `eip155:31337=${sandbox.rpcUrl}` });

  /** The types of the events of an object, in order. */
  async function eventsOf(objectId: string): Promise<string[]> {
    const types: string[] = [];
    for (let after = ''; ; ) {
      const query = after === '' ? '' : `&after=${encodeURIComponent(after)}`;
      const { events, nextCursor } = await sandbox.call<Json>('GET', `/v1/events?limit=100${query}`);
      if (events.length === 0) return types;
      types.push(...events.filter(({ data }: Json) => data.id === objectId).map(({ type }: Json) => type));
      after = nextCursor;
    }
  }

  const hasEvent = (id: string, type: string) =>
    until(`${type} of ${id}`, async () => (await eventsOf(id)).includes(type), WITHIN);

  for (const [type, earlier] of [
    ['payment.created', []],
    ['payment.processing', ['payment.created']],
    ['payment.succeeded', ['payment.created', 'payment.processing']],
    ['payment.settled', ['payment.created', 'payment.processing', 'payment.succeeded']],
    ['payment.failed', ['payment.created', 'payment.processing']],
    ['payment.expired', ['payment.created']],
    ['payment.cancelled', ['payment.created']],
    ['payment.requires_action', ['payment.created', 'payment.processing']],
    ['payment.reorged', ['payment.created', 'payment.processing', 'payment.succeeded', 'payment.settled']],
    ['payment.late_money', ['payment.created', 'payment.processing', 'payment.succeeded', 'payment.settled']],
    [
      'payment.late_money_updated',
      ['payment.created', 'payment.processing', 'payment.succeeded', 'payment.settled', 'payment.late_money'],
    ],
    ['merchant.created', []],
    ['merchant.updated', ['merchant.created']],
    ['webhook_endpoint.test', []],
    ['webhook_endpoint.disabled', ['webhook_endpoint.test']],
  ] as const) {
    it(`triggers ${type}`, async () => {
      const { exitCode, stdout: out, stderr: err } = await till(['trigger', type, '--json']);
      assert.equal(exitCode, 0, err);
      const { objectId, eventId, steps } = JSON.parse(out);
      assert.match(eventId, /^evt_/);
      assert.ok(steps.at(-1).includes(eventId));
      const types = await eventsOf(objectId);
      assert.deepEqual(types.slice(0, earlier.length + 1), [...earlier, type]);
    });
  }

  for (const type of [
    'settlement_destination.changed',
    'settlement_destination.pending',
    'settlement_destination.vetoed',
    'refund.failed',
  ]) {
    it(`triggers ${type}`, async () => {
      const { exitCode, stdout: out, stderr: err } = await till(['trigger', type]);
      assert.equal(exitCode, 0, err);
      assert.match(out.trim().split('\n').at(-1) ?? '', new RegExp(`^${type.replace('.', '\\.')} evt_\\w+$`));
    });
  }

  it('leaves no webhook endpoint behind but that of the shop, which has got its events', async () => {
    const { webhookEndpoints } = await sandbox.call<Json>('GET', '/v1/webhook-endpoints');
    assert.deepEqual(
      webhookEndpoints.map(({ description, status }: Json) => [description, status]),
      [['Demo shop', 'active']],
    );
    const page = async () => (await fetch(`${sandbox.baseUrl}/demo/events`)).text();
    await until('the shop shows a refund that failed', async () => (await page()).includes('refund.failed'), WITHIN);
  });

  it('triggers the events of a refund, and prints a line for each step', async () => {
    const { exitCode, stdout: out, stderr: err } = await till(['trigger', 'refund.succeeded']);
    assert.equal(exitCode, 0, err);
    const lines = out.trim().split('\n');
    assert.match(lines[0] ?? '', /^created the payment pay_\w+ of 10\.00 USD$/);
    assert.match(lines[1] ?? '', /^paid pay_\w+ in USDC$/);
    assert.match(lines.at(-1) ?? '', /^refund\.succeeded evt_\w+$/);
  });

  it('leaves books and alerts in order after all that, with the replaced blocks', async () => {
    const alerts = async () => {
      const { exitCode, stdout: out } = await tillOnDatabase('alerts', '--json');
      assert.equal(exitCode, 0);
      return (JSON.parse(out) as Json[]).map(({ name }) => name);
    };
    await until('the reorg is over', async () => !(await alerts()).includes('deep_reorg'), WITHIN);
    const verified = await tillOnDatabase('books', 'verify', '--json');
    assert.equal(verified.exitCode, 0, verified.stdout + verified.stderr);
  });

  it('names the events it can trigger, and what is missing', async () => {
    const unknown = await till(['trigger', 'payment.exploded']);
    assert.equal(unknown.exitCode, 2);
    assert.match(unknown.stderr, /payment\.succeeded, .*refund\.succeeded/);
    const away = await till(['trigger', 'payment.succeeded'], { TILL_HOME: `${sandbox.home}/nowhere` });
    assert.equal(away.exitCode, 1);
    assert.match(away.stderr, /start a sandbox with npm start first/);
  });

  it('pays in coin after the shop has cancelled: late money', async () => {
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '1000', asking('late'));
    const wallet = await sandbox.createWallet({ ETH: 10n ** 18n });
    const path = `/v1/gateway/payment/${paymentId}`;
    const { options } = await sandbox.call<Json>('POST', `${path}/options`, { accounts: [wallet.account] });
    const [option] = options;
    const { actions } = await sandbox.call<Json>('POST', `${path}/fetch`, { optionId: option.id, data: '' });
    const requests = actions.map(({ data }: Json) => ({
      chainId: data.chain_id,
      method: data.method,
      params: JSON.stringify(data.params),
    }));
    const [hash] = await wallet.answerAll(requests);
    const results = [{ type: 'walletRpc', data: [hash] }];
    const { status } = await sandbox.call<Json>('POST', `${path}/confirm`, { optionId: option.id, results });
    assert.equal(status, 'cancelled');
    await hasEvent(paymentId, 'payment.late_money');
    assert.deepEqual(await eventsOf(paymentId), ['payment.created', 'payment.cancelled', 'payment.late_money']);
    assert.match((await tillOnDatabase('strays', 'list', '--json')).stdout, new RegExp(paymentId));
  });

  it('waits for a minute of the sandbox, and is paid when the clock has moved on', async () => {
    const { now } = await sandbox.call<Json>('GET', '/v1/test/clock');
    const expiresAt = Math.floor(Date.parse(now) / 1000) + 3_600;
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '1000', { ...asking('wait'), expiresAt });
    const shopper = await createShopper(systemWorld, sandbox.home);
    await shopper.pay(paymentId, 'USDC');
    await hasEvent(paymentId, 'payment.processing');
    await sandbox.call('POST', '/v1/test/clock', { advanceMs: 60_000 });
    await hasEvent(paymentId, 'payment.succeeded');
  });

  it('takes Permit2 alone, or nobody at all', async () => {
    const shopper = await createShopper(systemWorld, sandbox.home);
    const permit2 = await sandbox.createPayment('iso4217/USD', '1000', asking('permit2'));
    await assert.rejects(shopper.pay(permit2.paymentId, 'USDC'), /USDC is not offered/);
    await shopper.pay(permit2.paymentId, 'USDT');
    await hasEvent(permit2.paymentId, 'payment.succeeded');
    const screened = await sandbox.createPayment('iso4217/USD', '1000', asking('screened'));
    await assert.rejects(shopper.pay(screened.paymentId, 'USDC'), /400.*sanctioned_user/);
    await hasEvent(screened.paymentId, 'payment.created');
    assert.deepEqual(await eventsOf(screened.paymentId), ['payment.created']);
  });

  it('keeps its time over a restart: the gateway, the chain and the commands agree', async () => {
    await sandbox.call('POST', '/v1/test/clock', { advanceMs: 3_600_000 });
    const before = await sandbox.call<Json>('GET', '/v1/test/clock');
    await sandbox.restart(async () => {
      // A move that was stored, and cut off before the chain was moved.
      const sql = connectTo(sandbox.databaseUrl);
      await sql`update sandbox_clock set wanted_ms = wanted_ms + 60000`;
      await sql.end();
    });
    const clock = () => sandbox.call<Json>('GET', '/v1/test/clock');
    await until('the move is finished', async () => (await clock()).aheadMs === before.aheadMs + 60_000, WITHIN);
    const after = await clock();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] });
    const head = (await (await fetch(sandbox.rpcUrl, { method: 'POST', body })).json()) as Json;
    assert.ok(Number(head.result.timestamp) * 1000 > Date.parse(after.now) - 60_000);
    const { exitCode, stderr: err } = await till(['trigger', 'payment.succeeded']);
    assert.equal(exitCode, 0, err);
  });
});
