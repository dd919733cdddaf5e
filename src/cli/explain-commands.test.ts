import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EVENTS, happen, openShop, type Shop } from '../../test/e2e/shop.ts';
import { startTestGateway, type TestGateway } from '../../test/gateway.ts';
import { type ManualTime, manualTime } from '../../test/manual-time.ts';
import { runCommand } from '../../test/run-command.ts';
import { until } from '../../test/until.ts';

let time: ManualTime;
let gateway: TestGateway;
let shop: Shop;
before(async () => {
  time = manualTime(Date.parse('2026-11-15T12:00:00Z'));
  gateway = await startTestGateway({ world: { clock: time.clock } });
  shop = await openShop(gateway);
});
after(() => gateway.stop());

const till = (...argv: string[]) =>
  runCommand(argv, { env: { DATABASE_URL: gateway.databaseUrl }, world: gateway.world });

describe('explain', () => {
  test('prints the payment, everything that happened to it, and why it waits', async () => {
    const { paymentId } = await shop.created({
      referenceId: 'ORDER-7\u202e',
      amount: { unit: 'iso4217/USD', value: '1250' },
    });
    const fresh = await till('explain', paymentId);
    assert.equal(fresh.exitCode, 0, fresh.stderr);
    assert.match(
      fresh.stdout,
      /^payment +pay_\w{26}\nstatus +requires_action\namount +12\.50 USD\nreference +ORDER-7\n/,
    );
    assert.match(fresh.stdout, /\nmerchant +mrch_\w{26} \(Test shop\)\n/);
    assert.match(fresh.stdout, /\ntransaction +-\n/);
    assert.match(
      fresh.stdout,
      /\nAT +WHAT +HOW\n2026-11-15T12:00:00Z +payment\.created +A payment was created\. 12\.50 USD, reference "ORDER-7 ?", payable until 2026-11-15T12:05:00Z\. By key:key_\w{26} \(Test\)\.\n/,
    );
    assert.match(
      fresh.stdout,
      /\n\nWhy it waits: It waits for the payer, until 2026-11-15T12:05:00Z\. Then it expires\.\nEnded by a payment, a cancellation, or its expiry\. At the latest: its `expiresAt`;.*\n$/,
    );

    await time.advance(1_000);
    await happen(gateway, paymentId, 'confirmed');
    await time.advance(1_000);
    await gateway.movePayment({
      paymentId,
      event: EVENTS.succeeded,
      actor: 'watcher',
      evidence: { block: 12, transaction: '0x\u001b[2J' },
    });
    const { stdout } = await till('explain', paymentId);
    assert.match(
      stdout,
      /\npaid with +10\.00 USDC \(eip155:8453\/erc20:0x\w{40}\)\nbuyer +eip155:8453:0x\w{40}\nwallet +Wallet\n/,
    );
    assert.match(stdout, /\n2026-11-15T12:00:01Z +payment\.processing +A payer has signed .* By test\.\n/);
    assert.match(
      stdout,
      /\n2026-11-15T12:00:02Z +payment\.succeeded +The payment has arrived, at final depth\. 10\.00 USDC on Base\. Transaction 0x \[2J in block 12\. By watcher\.\n/,
    );
    assert.ok(!stdout.includes('\u001b'), 'text of others does not reach the terminal as it is');
  });

  test('prints the order behind the payment', async () => {
    const order = {
      description: 'Breakfast',
      metadata: { table: '14' },
      lineItems: [{ name: 'Espresso', quantity: 2 }, { name: 'Biscuit' }],
    };
    const { paymentId } = await shop.created(order);
    const { stdout } = await till('explain', paymentId);
    assert.match(
      stdout,
      /\ndescription +Breakfast\nmetadata +\{"table":"14"\}\nline items +2 × Espresso; 1 × Biscuit\n\n/,
    );
    const { description, metadata, lineItems } = JSON.parse((await till('explain', paymentId, '--json')).stdout);
    assert.deepEqual({ description, metadata, lineItems }, order);
  });

  test('is one JSON value for programs', async () => {
    const { paymentId } = await shop.created();
    const fresh = JSON.parse((await till('explain', paymentId, '--json')).stdout);
    const { cause, reason, since, until: end } = fresh.waiting;
    assert.deepEqual([cause, reason, since, end], ['payer', 'payer', fresh.createdAt, fresh.expiresAt]);
    await shop.cancel(paymentId);
    const { exitCode, stdout } = await till('explain', paymentId, '--json');
    assert.equal(exitCode, 0);
    const { id, status, version, timeline, omitted, waiting } = JSON.parse(stdout);
    assert.deepEqual([id, status, version, omitted, waiting], [paymentId, 'cancelled', 1, 0, null]);
    const [, { what, by, actor }] = timeline;
    assert.deepEqual([timeline.length, what, by, actor], [2, 'payment.cancelled', 'merchant', `key:${shop.key.id}`]);
  });

  test('shows an expiry that is not swept yet', async () => {
    const { paymentId } = await shop.created();
    await time.advance(301_000);
    const text = (await till('explain', paymentId)).stdout;
    assert.match(text, /\nstatus +expired \(since it expired; not noted yet\)\n/);
    assert.match(text, /\nNothing more is to come: it is expired\.\n$/);
    const { stdout } = await till('explain', paymentId, '--json');
    assert.deepEqual([JSON.parse(stdout).status, JSON.parse(stdout).storedStatus], ['expired', 'requires_action']);
  });

  test('refuses an unknown payment', async () => {
    const { exitCode, stdout, stderr } = await till('explain', 'pay_unknown');
    assert.deepEqual(
      { exitCode, stdout, stderr },
      { exitCode: 1, stdout: '', stderr: 'payment_not_found: There is no payment pay_unknown.\n' },
    );
  });
});

describe('events list', () => {
  test('shows events in order, and goes on after a position', async () => {
    const { paymentId } = await shop.created();
    await shop.cancel(paymentId);
    const listed = async (...options: string[]) =>
      JSON.parse((await till('events', 'list', '--json', ...options)).stdout) as {
        position: number;
        type: string;
        objectId: string;
      }[];
    await until(
      'both are placed',
      async () => (await listed()).filter(({ objectId }) => objectId === paymentId).length === 2,
    );
    const own = (await listed()).filter(({ objectId }) => objectId === paymentId);
    assert.deepEqual(
      own.map(({ type }) => type),
      ['payment.created', 'payment.cancelled'],
    );
    const after = await listed('--after', String(own[0]?.position));
    assert.equal(after[0]?.position, (own[0]?.position ?? 0) + 1);
    const { stdout } = await till('events', 'list', '--after', String((own[1]?.position ?? 0) - 1));
    assert.match(
      stdout,
      new RegExp(`^POSITION +AT +EVENT +OBJECT +SEQUENCE +BY\\n.+payment\\.cancelled +${paymentId} +2 +key:`),
    );
    assert.equal((await till('events', 'list', '--after', '1000000')).stdout, 'No events.\n');
    assert.equal((await till('events', 'list', '--after', 'x')).exitCode, 2);
  });
});
