import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createAlarms } from '../../src/actions/alarms.ts';
import { auditBooks } from '../../src/actions/books/audit/audit-books.ts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { command } from '../../src/actions/command.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';

/** One address in a page stands for the hundreds of a real page. */
const addresses = { pageSize: 1 };

describe('the money at deposit addresses', () => {
  let scene: RefundScene;
  afterEach(() => scene.close());

  /** Open payments with too little money at their addresses, the oldest first. One of them has two tokens. */
  async function waitingAddresses() {
    scene = await openRefundScene();
    const node = await scene.newNode();
    const deposits = [await scene.deposit(), await scene.deposit(), await scene.deposit()];
    for (const { send } of deposits) send(100n);
    deposits[1]?.send(100n, { token: TETHER });
    await scene.live(node, 4);
    assert.deepEqual(await scene.differences(), []);
    return deposits.map(({ address }) => address);
  }

  const differing = async () => {
    const report = await reconcile(scene, scene.connected, { from: 0, addresses });
    return report?.differences.map(({ message }) => message.split(' ')[3]);
  };

  it('is compared at every address, however many pages there are', async () => {
    const [oldest = '', middle = '', newest = ''] = await waitingAddresses();
    for (const address of [oldest, newest]) scene.control.setBalance(address, DOLLAR, 99n);
    scene.control.setBalance(middle, TETHER, 99n);
    assert.deepEqual(await differing(), [newest, middle, oldest]);
  });

  it('is compared by the audit page by page, which goes on at the next run, and stays where it differs', async () => {
    const [oldest = ''] = await waitingAddresses();
    const alarms = createAlarms(scene, 'books_differ');
    const unread = createAlarms(scene, 'books_unread');
    const lease = await command(scene, (tx) =>
      takeLease(tx, { name: 'audit', holder: 'test', now: new Date(0), until: new Date(scene.nowMs() + 3_600_000) }),
    );
    assert.ok(lease);
    const audited = { connected: scene.connected, lease, alarms, unread, doubted: new Set<string>(), addresses };
    const audit = async (runs: number) => {
      for (let run = 0; run < runs; run += 1) await auditBooks({ ...scene, holder: 'test' }, audited);
      return (await listAlerts(scene.db.sql))
        .filter(({ name }) => name === 'books_differ')
        .map(({ message }) => message);
    };
    scene.control.setBalance(oldest, DOLLAR, 99n);
    // Four tokens wait, in pages of one, and a difference is seen twice before it is told.
    const [told = '', ...more] = await audit(5);
    assert.ok(told.includes(oldest), told);
    assert.deepEqual(more, []);
    assert.equal((await audit(3)).length, 1);
    scene.control.setBalance(oldest, DOLLAR, 100n);
    assert.deepEqual(await audit(6), []);
  });
});
