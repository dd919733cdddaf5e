import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { createEndpointCheck } from '../../src/actions/check-endpoints.ts';
import { command } from '../../src/actions/command.ts';
import { createWorkCheck } from '../../src/actions/oversight/check-work.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { PLACING_LEASE, placeOnce } from '../../src/actions/place-events.ts';
import { pruneHistories } from '../../src/actions/prune-histories.ts';
import { describeExplanation } from '../../src/cli/explain-commands.ts';
import { createGauges } from '../../src/http/gauges.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import type { Config } from '../../src/settings/config.ts';
import { findAlertsAbout, listAlerts, upsertAlert } from '../../src/store/plumbing/alerts.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { startBookkeeping } from '../../src/workers/bookkeeping.ts';
import { startLeading } from '../../src/workers/leading.ts';
import { REGISTRY } from '../registry.ts';
import { until } from '../until.ts';
import { openRefundScene, TETHER } from './refund-scene.ts';
import { openRelayScene, type RelayScene } from './relay-scene.ts';

const NETWORK = 'eip155:31337';

/** The reason of a payment's wait. */
async function waiting(
  scene: Pick<RelayScene, 'db' | 'world' | 'chains'>,
  id: string,
): Promise<{ cause: string; text: string }> {
  const { json } = await describeExplanation({ ...scene, config: { registry: REGISTRY } as Config }, scene.chains, id);
  return (json as { waiting: { cause: string; text: string } }).waiting;
}

/** All leases are held, as on a gateway that runs. */
async function holdLeases(scene: RelayScene): Promise<void> {
  await scene.db.sql`update leases set until = '2100-01-01'`;
}

describe('work that nobody does', () => {
  let scene: RelayScene;
  let check: () => Promise<boolean>;
  before(async () => {
    scene = await openRelayScene();
    check = createWorkCheck(scene);
  });
  after(() => scene.close());

  /** The message of the alert after a check; undefined if it is not raised. */
  async function alertAfterCheck(name: string, subject = NETWORK): Promise<string | undefined> {
    await check();
    return (await listAlerts(scene.db.sql)).find((alert) => alert.name === name && alert.subject === subject)?.message;
  }

  it('is reported when an item could be sent for half a minute, and no longer when it is sent', async () => {
    const node = await scene.newNode();
    const { id } = await scene.accept();
    scene.pass(29_000);
    assert.equal(await alertAfterCheck('items_unsent'), undefined);
    scene.pass(2_000);
    assert.match(
      (await alertAfterCheck('items_unsent')) ?? '',
      new RegExp(`^Nobody sends ${id} on Till Sandbox, since `),
    );
    await node.relay();
    assert.equal(await alertAfterCheck('items_unsent'), undefined);
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('is not reported while a freeze stops the item, or its payer has too little', async () => {
    const node = await scene.newNode();
    const order = { scope: 'merchant', subject: scene.merchantId, actor: 'operator' } as const;
    const { id, item } = await scene.accept();
    await freeze(scene, { ...order, reason: 'test' });
    scene.pass(40_000);
    assert.equal(await alertAfterCheck('items_unsent'), undefined);
    await unfreeze(scene, { ...order, reason: 'over' });
    scene.control.setBalance(item.payer, item.asset, item.amount - 1n);
    await node.relay();
    assert.equal(await alertAfterCheck('items_unsent'), undefined, 'it is tried again');
    assert.deepEqual((await waiting(scene, id)).cause, 'no_watcher', 'the test leads, and its leases are over');
    await holdLeases(scene);
    const { cause, text } = await waiting(scene, id);
    assert.equal(cause, 'refused');
    assert.match(
      text,
      /^It cannot be carried out now: the payer’s balance is short by 0\.000001 USDC\. We try again until /,
    );
    scene.control.setBalance(item.payer, item.asset, item.amount);
    scene.pass(60_000);
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('is reported when a payment takes longer than its network needs, and shown in its explanation', async () => {
    const node = await scene.newNode();
    const { id } = await scene.accept();
    await node.relay();
    scene.pass(90_000);
    assert.equal(await alertAfterCheck('payments_stuck'), undefined);
    scene.pass(5_000);
    assert.match(
      (await alertAfterCheck('payments_stuck')) ?? '',
      new RegExp(`^A payment on Till Sandbox .* \`till explain ${id}\``),
    );
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal(await alertAfterCheck('payments_stuck'), undefined);
    const { text } = await describeExplanation(
      { ...scene, config: { registry: REGISTRY } as Config },
      scene.chains,
      id,
    );
    assert.match(text, /alert\.raised +Alert payments_stuck \(eip155:31337\): A payment on Till Sandbox/);
    assert.match(text, /alert\.cleared +Alert payments_stuck \(eip155:31337\) is over\./);
  });

  it('is reported when nobody begins a payout for a quarter of an hour', async () => {
    const { sql } = scene.db;
    const at = new Date(scene.nowMs());
    await sql`
      insert into outgoing (id, purpose, network, asset, method, payer, recipient, amount, merchant_id, state, created_at, updated_at)
      values ('pout_test', 'payout', ${NETWORK}, 'eip155:31337/slip44:60', 'native', '0x1', '0x2', 1, ${scene.merchantId}, 'sending', ${at}, ${at})`;
    assert.equal(await alertAfterCheck('outgoing_stuck'), undefined);
    scene.pass(15 * 60_000);
    assert.match((await alertAfterCheck('outgoing_stuck')) ?? '', /do not arrive: pout_test on Till Sandbox, since /);
    await sql`update outgoing set problem = 'limited' where id = 'pout_test'`;
    assert.equal(await alertAfterCheck('outgoing_stuck'), undefined, 'the hourly limit has an alert of its own');
    await sql`delete from outgoing where id = 'pout_test'`;
  });

  it('is reported when events get no positions', async () => {
    await scene.accept();
    scene.pass(16_000);
    assert.match((await alertAfterCheck('events_unplaced', 'outbox')) ?? '', /since 20/);
    const lease = await command(scene, (tx, now) =>
      takeLease(tx, { name: PLACING_LEASE, holder: 'test', now, until: new Date(now.getTime() + 60_000) }),
    );
    assert.ok(lease);
    await placeOnce(scene, lease);
    assert.equal(await alertAfterCheck('events_unplaced', 'outbox'), undefined);
  });

  it('is reported when mails wait for ten minutes', async () => {
    const at = new Date(scene.nowMs());
    const until = new Date(scene.nowMs() + 86_400_000);
    await scene.db.sql`
      insert into mails (id, kind, recipient, language, subject, key, content, created_at, until, due_at)
      values ('mail_test', 'receipt', 'payer@shop.example', 'en', 'pay_test', 'test', '{}', ${at}, ${until}, ${at})`;
    assert.equal(await alertAfterCheck('mails_stuck', 'mails'), undefined);
    scene.pass(10 * 60_000);
    assert.match(
      (await alertAfterCheck('mails_stuck', 'mails')) ?? '',
      /^A mail has waited since 20.* No node has tried/,
    );
    await scene.db.sql`delete from mails`;
    assert.equal(await alertAfterCheck('mails_stuck', 'mails'), undefined);
  });

  it('is reported when no node holds a lease for half a minute', async () => {
    const name = `watch ${NETWORK}`;
    await check();
    scene.pass(31_000);
    assert.match((await alertAfterCheck('work_unled', name)) ?? '', /watching Till Sandbox \(role watch\)/);
    await command(scene, (tx, now) =>
      takeLease(tx, { name, holder: 'test', now, until: new Date(now.getTime() + 60_000) }),
    );
    assert.equal(await alertAfterCheck('work_unled', name), undefined);
    const [{ isReleased } = { isReleased: undefined }] = await scene.db.sql<{ isReleased: boolean }[]>`
      select is_released as "isReleased" from lease_takeovers where name = ${name} order by fencing desc limit 1`;
    assert.equal(isReleased, false, 'the holder before had not released it');
  });

  it('is part of the timelines of its network, whatever its subject says beside the network', async () => {
    const about = [NETWORK, `${NETWORK} contracts`, `${NETWORK}:0xAb coin`, `watch ${NETWORK}`];
    const lastSeen = new Date();
    for (const subject of [...about, `${NETWORK}9 contracts`, 'mails']) {
      await command(scene, (tx) => upsertAlert(tx, { name: 'endpoints_disagree', subject, message: 'test', lastSeen }));
    }
    const found = await findAlertsAbout(scene.db.sql, {
      ...{ subjects: [], networks: [NETWORK], limit: 100 },
      ...{ from: new Date(lastSeen.getTime() - 1_000), to: new Date(lastSeen.getTime() + 1_000) },
    });
    const subjects = found.filter(({ message }) => message === 'test').map(({ subject }) => subject);
    assert.deepEqual(subjects.toSorted(), about.toSorted());
    await scene.db.sql`delete from alerts where message = 'test'`;
  });

  it('leaves no history for longer than its time', async () => {
    const rows = async () => (await scene.db.sql`select from past_alerts`).length;
    assert.ok((await rows()) > 0);
    await pruneHistories(scene);
    assert.ok((await rows()) > 0);
    await pruneHistories({
      ...scene,
      world: { ...scene.world, clock: { nowMs: () => Date.now() + 91 * 24 * 3_600_000 } },
    });
    assert.equal(await rows(), 0);
  });
});

describe('a network with fewer endpoints than its quorum', () => {
  it('has an alert that names them, until two can be asked', async () => {
    const scene = await openRelayScene({ witnesses: 3 });
    const check = createEndpointCheck(scene);
    const endpointsAlert = async () => {
      await check();
      return scene.alertText('endpoints_missing');
    };
    scene.control.testify(0, { silentForMs: 1 });
    assert.equal(await endpointsAlert(), undefined, 'two of three are left');
    scene.control.testify(1, { silentForMs: 1 });
    assert.equal(await endpointsAlert(), undefined, 'it may be a hiccup');
    scene.pass(30_000);
    assert.match(
      (await endpointsAlert()) ?? '',
      /^1 of 3 endpoints of Till Sandbox can be asked, and 2 must agree: endpoint 1 is out of reach, endpoint 2 is out of reach\./,
    );
    scene.control.testify(0);
    assert.equal(await endpointsAlert(), undefined);
    await scene.close();
  });
});

describe('a payment whose block is deep enough', () => {
  it('waits for a second endpoint, and its explanation shows the answer of each of them', async () => {
    const scene = await openRelayScene({ witnesses: 2 });
    const node = await scene.newNode();
    const { id, commitment } = await scene.accept();
    scene.control.testify(1, { hidden: [commitment] });
    await node.turn();
    await holdLeases(scene);
    const { cause, text } = await waiting(scene, id);
    assert.equal(cause, 'endpoints_disagree', text);
    assert.match(
      text,
      /endpoint 1 says its receipt shows the payment, endpoint 2 says it has the block, and the payment/,
    );
    scene.control.testify(1, { silentForMs: 1_000 });
    await scene.db.sql`delete from alerts`;
    const later = await waiting(scene, id);
    assert.equal(later.cause, 'proof');
    assert.match(later.text, /At the moment endpoint 1 says it is in that block, endpoint 2 says nothing\.$/);
    scene.control.testify(1);
    scene.pass(3_000);
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
    await scene.close();
  });

  it('cannot be asked for where the chain is out of reach, and its explanation says so', async () => {
    const scene = await openRelayScene({ depth: 5 });
    const node = await scene.newNode();
    const { id } = await scene.accept();
    await node.turn();
    await holdLeases(scene);
    scene.control.goDown();
    const { cause, text } = await waiting(scene, id);
    assert.equal(cause, 'confirmations');
    assert.match(
      text,
      /waits for 4 more blocks .* is the last one that was read\. Till Sandbox could not be asked from here\.$/,
    );
    await scene.close();
  });
});

describe('money that is still to be moved after a success', () => {
  it('is explained: held, stopped, paid out, or given back', async () => {
    const scene = await openRefundScene();
    const node = await scene.newNode();
    const { id } = await scene.paid(node, { isHeld: true });
    assert.equal((await waiting(scene, id)).cause, 'no_destination');
    const payouts = { scope: 'payouts', subject: '', actor: 'operator' } as const;
    await freeze(scene, { ...payouts, reason: 'audit' });
    const stopped = await waiting(scene, id);
    assert.equal(stopped.cause, 'payout_stopped');
    assert.match(stopped.text, /is held\. Every payout is frozen by operator: audit\./);
    await unfreeze(scene, { ...payouts, reason: 'done' });
    await scene.register(scene.payers.newAccount());
    assert.equal((await waiting(scene, id)).cause, 'payout');
    const check = createWorkCheck(scene);
    await scene.payOut();
    scene.pass(16 * 60_000);
    await check();
    assert.match((await scene.alertText('outgoing_stuck')) ?? '', /do not arrive: pout_\w+ on Till Sandbox, since /);
    await scene.live(node);
    await check();
    assert.equal(await scene.alertText('outgoing_stuck'), undefined);
    assert.equal(await waiting(scene, id), null);
    const { text } = await describeExplanation(
      { ...scene, config: { registry: REGISTRY } as Config },
      scene.chains,
      id,
    );
    for (const line of [
      /freeze\.set +All payouts were frozen by operator\. The reason: audit\.\n/,
      /payout\.begun +A held amount is being sent to its merchant\. \S+ USDC on Till Sandbox to 0x\w+\. By payer-out\.\n/,
      /attempt\.accepted +A payout of \S+ USDC on Till Sandbox was signed, valid until /,
      /payout\.paid +A held amount has arrived, at final depth\./,
      /payment\.settled +The net amount has reached the merchant\./,
    ]) {
      assert.match(text, line);
    }

    await scene.request(id);
    assert.equal((await waiting(scene, id)).cause, 'refund');
    await scene.payOut();
    const short = await waiting(scene, id);
    assert.equal(short.cause, 'refund_awaiting_signature');
    assert.match(
      short.text,
      /`till float add` or `till refunds cover rfnd_\w+` ends it, and so does a signature of 0x/,
    );
    await scene.close();
  });
});

describe('a token that our account has not approved for Permit2', () => {
  it('has an alert that names account and token while transfers wait for it, and no longer', async () => {
    const scene = await openRefundScene();
    const node = await scene.newNode();
    const check = createWorkCheck(scene);
    const missing = async () => {
      await check();
      return scene.alertText('approval_missing');
    };
    const { id } = await scene.paid(node, { method: 'permit2', isHeld: true });
    await scene.register(scene.payers.newAccount(), TETHER);
    scene.control.setAllowance(scene.intermediate, TETHER, 0n);
    assert.equal(await missing(), undefined);
    await scene.live(node);
    const message = `${scene.intermediate} on Till Sandbox has not approved USDT for Permit2, so a payout, refund or return waits. The account must approve it once; the transfer goes on by itself.`;
    assert.equal(await missing(), message);
    await holdLeases(scene);
    const { cause, text } = await waiting(scene, id);
    assert.equal(cause, 'payout');
    assert.match(
      text,
      /It cannot be carried out now: the account that sends it has not approved the token for Permit2\.$/,
    );
    scene.control.setBalance(scene.intermediate, TETHER, 0n);
    scene.pass(60_000);
    await node.turn(2);
    assert.equal(await missing(), undefined, 'it waits for something else now');
    scene.control.setBalance(scene.intermediate, TETHER, 990n);
    scene.pass(60_000);
    await node.turn(2);
    assert.equal(await missing(), message);
    scene.control.setAllowance(scene.intermediate, TETHER, 2n ** 256n - 1n);
    scene.pass(60_000);
    await scene.live(node);
    assert.equal(await missing(), undefined);
    assert.equal(await waiting(scene, id), null);
    assert.deepEqual(await scene.differences(), []);
    await scene.close();
  });
});

describe('rounds of led work', () => {
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  it('that audit the books raise an alert when they fail for ten minutes, and clear it', async () => {
    const scene = await openRelayScene();
    stops.push(() => scene.close());
    const node = await scene.newNode();
    await scene.accept();
    await node.turn(2);
    const audit = async () => (await scene.alerts()).includes(`audit_failing ${NETWORK}`);
    scene.control.goDown();
    stops.unshift(startBookkeeping({ ...scene, metrics: createMetrics() }));
    await until('it leads', async () => (await scene.db.sql`select from leases where name like 'audit %'`).length > 0);
    assert.equal(await audit(), false);
    scene.pass(11 * 60_000);
    await until('somebody is told', audit);
    scene.control.comeBack();
    await until('it is over', async () => !(await audit()));
  });

  it('raise an alert when they fail again and again, and show in the metrics who leads', async () => {
    const scene = await openRelayScene({ isRealTime: true });
    stops.push(() => scene.close());
    const metrics = createMetrics();
    const timers = {
      ...systemWorld.timers,
      sleep: (ms: number, signal?: AbortSignal) => systemWorld.timers.sleep(ms / 100, signal),
    };
    let isBroken = true;
    const round = async (signal: AbortSignal) => {
      if (isBroken) throw new Error('broken');
      await systemWorld.timers.sleep(10, signal);
    };
    const deps = { ...scene, metrics, holder: 'test', world: { ...scene.world, timers } };
    stops.unshift(startLeading(deps, [{ name: 'test work', start: () => round }]));
    await until('somebody is told', async () => (await scene.alerts()).includes('job_failing test work'));
    assert.match(await metrics.registry.metrics(), /till_lease_held\{lease="test work"\} 1/);
    isBroken = false;
    await until('it is over', async () => !(await scene.alerts()).includes('job_failing test work'));
    await stops.shift()?.();
    assert.doesNotMatch(await metrics.registry.metrics(), /till_lease_held\{/);
  });
});

describe('the metrics of work', () => {
  it('count payments, due items, endpoints and connections', async () => {
    const scene = await openRelayScene({ witnesses: 2 });
    const metrics = createMetrics();
    const refresh = createGauges({ ...scene, metrics, listDb: scene.db });
    await scene.accept();
    const [at, until] = [new Date(scene.nowMs()), new Date(scene.nowMs() + 86_400_000)];
    await scene.db.sql`
      insert into mails (id, kind, recipient, language, subject, key, content, created_at, until, due_at)
      values ('mail_test', 'receipt', 'payer@shop.example', 'en', 'pay_test', 'test', '{}', ${at}, ${until}, ${at})`;
    scene.pass(7_000);
    scene.control.testify(1, { silentForMs: 1 });
    await refresh();
    const text = await metrics.registry.metrics();
    assert.match(text, /till_payments\{status="processing"\} 1\n/);
    assert.match(text, /till_payments\{status="succeeded"\} 0\n/);
    assert.match(text, /till_oldest_processing_seconds 7\n/);
    assert.match(text, /till_items_due\{network="eip155:31337"\} 1\n/);
    assert.match(text, /till_mails\{state="waiting"\} 1\n/);
    assert.match(text, /till_mails\{state="failed"\} 0\n/);
    assert.match(text, /till_endpoint_up\{network="eip155:31337",endpoint="endpoint 1",reason=""\} 1\n/);
    assert.match(text, /till_endpoint_up\{network="eip155:31337",endpoint="endpoint 2",reason="is out of reach"\} 0\n/);
    assert.match(text, /till_database_connections\{pool="main",state="idle"\} [1-9]/);
    assert.match(text, /till_database_waiting\{pool="lists"\} 0\n/);
    assert.match(text, /till_database_errors_total\{pool="main",kind="unavailable"\} 0\n/);
    await assert.rejects(async () => scene.db.sql`select 1 / 0`);
    await scene.db.close();
    scene.pass(60_000);
    await refresh();
    const later = await metrics.registry.metrics();
    assert.doesNotMatch(later, /^till_payments\{|^till_oldest_processing_seconds \d/m, 'unknown numbers are not shown');
    assert.match(later, /till_database_errors_total\{pool="main",kind="other"\} 1\n/);
    await scene.close();
  });
});
