import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { createAlarms } from '../../src/actions/alarms.ts';
import { auditBooks, auditLeaseName } from '../../src/actions/books/audit/audit-books.ts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { command } from '../../src/actions/command.ts';
import { COLLECTOR_ADDRESS, COLLECTOR_TOPICS } from '../../src/chains/evm/collector.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import type { Lie } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { type FaultScene, openFaultScene } from './fault-scene.ts';
import { EURC, tokenOf, USDC, WITHIN } from './shopper.ts';

interface Log {
  readonly data: string;
}

/** A lie that changes the lists of logs. */
const listing = (change: (logs: readonly Log[]) => readonly unknown[]): Lie => ({
  as: 'result',
  of: ({ method }, truth) => (method === 'eth_getLogs' && Array.isArray(truth) ? change(truth) : truth),
});

describe('an answer with a part that cannot be read', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ payers: 12 });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  const alert = async (name: string) => (await listAlerts(scene.sql)).filter((each) => each.name === name);
  const connected = () => {
    const found = scene.node.chains.find(scene.network);
    assert.ok(found);
    return found;
  };

  it('a log that the endpoint repeats in one answer counts once, and stops nothing', async () => {
    scene.proxy.lie(listing((logs) => logs.flatMap((log) => [log, log])));
    const payment = await scene.shopper.pay();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('an undecodable log is set aside and reported with the reason, and all others count', async () => {
    const { number, hash } = await scene.chain.request<{ number: string; hash: string }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    );
    const garbled = {
      address: COLLECTOR_ADDRESS.toLowerCase(),
      topics: [COLLECTOR_TOPICS[0], `0x${'11'.repeat(32)}`],
      data: '0x1234',
      blockNumber: number,
      blockHash: hash,
      transactionHash: `0x${'22'.repeat(32)}`,
      logIndex: '0x7',
      removed: false,
    };
    scene.proxy.lie(listing((logs) => [garbled, ...logs]));
    const payment = await scene.shopper.pay();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    const subject = `${scene.network}:${garbled.transactionHash}:7`;
    const [named] = (await alert('event_set_aside')).filter((each) => each.subject === subject);
    assert.match(
      named?.message ?? '',
      new RegExp(`A log of block ${Number(number)} cannot be read and was set aside: .+`),
    );
    assert.match(scene.node.log(), /"reason":"[^"]+","msg":"a log of the Collector cannot be read"/);
    assert.equal(connected().chain.health().endpointsUp, 1);
  });

  it('a payment whose log is garbled is found in the receipt of its own transaction', async () => {
    scene.proxy.lie(listing((logs) => logs.map((log) => ({ ...log, data: '0x' }))));
    const payment = await scene.shopper.pay();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    const [stored] = await scene.versionsOf(payment.id);
    assert.ok(
      stored && scene.node.log().includes(`"alert":"event_set_aside","subject":"${scene.network}:${stored.hash}`),
    );
    const isCleared = async () =>
      (await alert('event_set_aside')).every(({ subject }) => !subject.includes(stored.hash));
    assert.ok(await isCleared(), 'its alert was cleared when the receipt showed the event');
    await scene.chain.mine(3);
    assert.ok(await isCleared(), 'the same garbled log is not named again');
  });

  it('a missing token removes only its own options, and an alert names it with the reason', async () => {
    const held = await scene.shopper.pay({ asset: EURC, isHeld: true });
    await scene.shopper.reaches(held, 'succeeded');
    const code = await scene.chain.request('eth_getCode', tokenOf(EURC), 'latest');
    await scene.chain.request('hardhat_setCode', tokenOf(EURC), '0x');
    await scene.chain.mine();
    try {
      const { id } = await scene.shopper.create();
      const account = `${scene.network}:${scene.chain.newPayer().address}`;
      const answer = await scene.shopper.wallet.options(id, [account]);
      assert.equal(answer.statusCode, 200, answer.body);
      const units = (answer.json().options as { amount: { unit: string } }[]).map(({ amount }) => amount.unit);
      assert.ok(units.includes(`caip19/${USDC}`) && !units.includes(`caip19/${EURC}`), answer.body);
      await until('the operator is told', async () => (await alert('asset_left_out'))[0]?.subject === EURC, WITHIN);
      assert.match(
        (await alert('asset_left_out'))[0]?.message ?? '',
        /^EURC is not offered, because it does not behave as a token: the contract 0x\w+ returned nothing\.$/,
      );
      assert.equal(connected().chain.health().endpointsUp, 1);
      await isReconciledWithout(EURC);
    } finally {
      await scene.chain.request('hardhat_setCode', tokenOf(EURC), code);
      await scene.chain.mine();
    }
  });

  /** The books are compared with everything else, and the gap is named by the report and by an alert. */
  async function isReconciledWithout(asset: string): Promise<void> {
    await until(
      'that block is final',
      async () => {
        await scene.chain.mine();
        const report = await reconcile(scene.node.gateway, connected(), {});
        return (report?.unreadable.length ?? 0) > 0;
      },
      WITHIN,
    );
    const report = await reconcile(scene.node.gateway, connected(), {});
    assert.match(report?.unreadable.join() ?? '', new RegExp(`in ${asset} cannot be read`));
    assert.ok((report?.events ?? 0) > 0);
    const { gateway } = scene.node;
    const now = new Date(scene.node.nowMs());
    const ask = { name: auditLeaseName(scene.network), holder: 'test', now, until: new Date(now.getTime() + 60_000) };
    const lease = await command(gateway, (tx) => takeLease(tx, ask));
    assert.ok(lease);
    const [alarms, unread] = [createAlarms(gateway, 'books_differ'), createAlarms(gateway, 'books_unread')];
    const audited = { connected: connected(), lease, alarms, unread, doubted: new Set<string>(), addresses: {} };
    await auditBooks({ ...gateway, holder: 'test' }, audited);
    assert.match((await alert('books_unread'))[0]?.message ?? '', new RegExp(asset));
  }
});

describe('an answer with a part that cannot be read, of one endpoint among two', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ endpoints: 2, payers: 2 });
  });
  after(() => scene.close());

  it('is the fault of that endpoint: the other is asked, and nothing is set aside', async () => {
    scene.proxy.lie(listing((logs) => [{ nonsense: true }, ...logs]));
    const payment = await scene.shopper.pay();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    assert.deepEqual(await scene.alerts(), []);
    assert.match(scene.node.log(), /"endpoint":"endpoint 1","method":"eth_getLogs".*part that cannot be read/);
  });
});
