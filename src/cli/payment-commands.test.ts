import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { happen, openShop, type Shop, TX_HASH } from '../../test/e2e/shop.ts';
import { startTestGateway, type TestGateway } from '../../test/gateway.ts';
import { type ManualTime, manualTime } from '../../test/manual-time.ts';
import { runTill } from './till.ts';

let time: ManualTime;
let gateway: TestGateway;
let shop: Shop;
before(async () => {
  time = manualTime(Date.parse('2026-11-15T12:00:00Z'));
  gateway = await startTestGateway({ world: { clock: time.clock } });
  shop = await openShop(gateway);
});
after(() => gateway.stop());

async function till(...argv: string[]) {
  let stdout = '';
  let stderr = '';
  const exitCode = await runTill(argv, {
    env: { DATABASE_URL: gateway.databaseUrl },
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    world: gateway.world,
  });
  return { exitCode, stdout, stderr };
}

describe('payments show', () => {
  test('prints what is known, and who did what, when and why', async () => {
    const { paymentId } = await shop.created({
      referenceId: 'ORDER-7\u202e',
      amount: { unit: 'iso4217/USD', value: '1250' },
    });
    const fresh = await till('payments', 'show', paymentId);
    assert.equal(fresh.exitCode, 0);
    assert.match(
      fresh.stdout,
      /^payment +pay_\w{26}\nstatus +requires_action\namount +12\.50 USD\nreference +ORDER-7\n/,
    );
    assert.match(fresh.stdout, /\nmerchant +mrch_\w{26} \(Test shop\)\n/);
    assert.match(fresh.stdout, /\ntransaction +-\n/);
    assert.match(fresh.stdout, /\n\nNothing has happened to it yet\.\n$/);

    await time.advance(1_000);
    await happen(gateway, paymentId, 'confirmed');
    await time.advance(1_000);
    const event = { type: 'succeeded', transaction: { hash: TX_HASH, nonce: 7 } } as const;
    await gateway.movePayment({ paymentId, event, actor: 'watcher', evidence: { block: 12, hash: '0x\u001b[2J' } });
    const { stdout } = await till('payments', 'show', paymentId);
    assert.match(
      stdout,
      /\npaid with +10\.00 USDC \(eip155:8453\/erc20:0x\w{40}\)\nbuyer +eip155:8453:0x\w{40}\nwallet +Wallet\n/,
    );
    const [titles, ...lines] = stdout.trimEnd().split('\n').slice(-3);
    assert.match(titles ?? '', /^AT +EVENT +FROM +TO +BY +EVIDENCE$/);
    assert.match(lines[0] ?? '', /^2026-11-15T12:00:01Z +confirmed +requires_action +processing +test +\{\}$/);
    assert.match(
      lines[1] ?? '',
      /^2026-11-15T12:00:02Z +succeeded +processing +succeeded +watcher +\{"hash":"0x\\u001b\[2J","block":12\}$/,
    );
  });

  test('is one JSON value for programs', async () => {
    const { paymentId } = await shop.created();
    await shop.cancel(paymentId);
    const { exitCode, stdout } = await till('payments', 'show', paymentId, '--json');
    assert.equal(exitCode, 0);
    const { id, status, version, events } = JSON.parse(stdout);
    assert.deepEqual([id, status, version], [paymentId, 'cancelled', 1]);
    assert.equal(events.length, 1);
    const [{ version: moved, fromStatus, toStatus, event, actor }] = events;
    assert.deepEqual(
      [moved, fromStatus, toStatus, event, actor],
      [1, 'requires_action', 'cancelled', 'cancelled', `key:${shop.key.id}`],
    );
  });

  test('tells what time has done before anybody noted it', async () => {
    const { paymentId } = await shop.created();
    await time.advance(301_000);
    assert.match(
      (await till('payments', 'show', paymentId)).stdout,
      /\nstatus +expired \(since it expired; not noted yet\)\n/,
    );
    const { stdout } = await till('payments', 'show', paymentId, '--json');
    assert.deepEqual([JSON.parse(stdout).status, JSON.parse(stdout).storedStatus], ['expired', 'requires_action']);
  });

  test('refuses what is unknown', async () => {
    const { exitCode, stdout, stderr } = await till('payments', 'show', 'pay_unknown');
    assert.deepEqual(
      { exitCode, stdout, stderr },
      { exitCode: 1, stdout: '', stderr: 'payment_not_found: There is no payment pay_unknown.\n' },
    );
  });
});
