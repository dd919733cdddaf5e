import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { recordCoin } from '../../src/actions/books/audit/record-coin.ts';
import { command } from '../../src/actions/command.ts';
import { beginOutgoing } from '../../src/actions/outgoing/begin/begin-outgoing.ts';
import { payOutHeld } from '../../src/actions/outgoing/payout/pay-out-held.ts';
import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { beginReturns } from '../../src/actions/outgoing/return/begin-returns.ts';
import { recordUnexpectedTransfers } from '../../src/actions/outgoing/return/record-unexpected-transfers.ts';
import { requestReturn } from '../../src/actions/outgoing/return/request-return.ts';
import { createCoolOff } from '../../src/actions/parties/cool-off-destinations.ts';
import { writeDestination } from '../../src/actions/parties/destination-rows.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { expirePayments } from '../../src/actions/paying/expire-payments.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { listSettlements } from '../../src/store/parties/destinations.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { COIN, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const DAY_MS = 86_400_000;
const TABLE = '../../docs/operating.md';

/** A worker that concludes something from rows that are missing. */
interface Worker {
  /** The name of the job, as the table in docs/operating.md has it. */
  readonly name: string;
  /** Makes work for it. Returns one round of it, and whether it has done the work. */
  prepare(scene: RefundScene, node: TestNode): Promise<Prepared>;
}

interface Prepared {
  readonly run: () => Promise<unknown>;
  readonly isDone: () => Promise<boolean>;
}

const WORKERS: readonly Worker[] = [
  {
    name: 'expire-payments',
    prepare: async (scene) => {
      const id = (await scene.payers.payable('eip3009-vrs')).item.subject;
      await scene.newPayment(id);
      scene.pass(DAY_MS);
      return { run: () => expirePayments(scene), isDone: async () => (await scene.status(id)) === 'expired' };
    },
  },
  {
    name: 'watch',
    prepare: async (scene, node) => {
      const { id } = await scene.offer(60_000);
      scene.pass(DAY_MS);
      scene.control.mine(1, { timestampS: Math.floor(scene.nowMs() / 1_000) });
      return { run: () => node.turn(3), isDone: async () => (await scene.status(id)) === 'expired' };
    },
  },
  {
    name: 'record-strays',
    prepare: async (scene, node) => {
      scene.transfer({ from: scene.payers.newAccount(), units: 7n });
      await node.turn(2);
      const unexpectedMoney = () => listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
      return {
        run: () => recordUnexpectedTransfers(scene, scene.connected),
        isDone: async () => (await unexpectedMoney()).length > 0,
      };
    },
  },
  {
    name: 'audit',
    prepare: async (scene) => {
      const ask = {
        name: 'audit',
        holder: 'test',
        now: new Date(Date.UTC(2100, 0, 1)),
        until: new Date(scene.nowMs()),
      };
      const lease = await command(scene, (tx) => takeLease(tx, ask));
      assert.ok(lease);
      return {
        run: () => recordCoin({ ...scene, holder: 'test' }, { connected: scene.connected, lease }),
        isDone: async () => Object.keys(await scene.books(COIN)).length > 0,
      };
    },
  },
  {
    name: 'apply-destinations',
    prepare: async (scene) => {
      const [before, after] = [scene.payers.newAccount(), scene.payers.newAccount()];
      await scene.register(before);
      const [settlement] = (await listSettlements(scene.db.sql, scene.merchantId)).crypto;
      assert.ok(settlement);
      const pending = { pendingDestination: `${scene.network}:${after}`, effectiveAt: new Date(scene.nowMs()) };
      await command(scene, (tx, at) => writeDestination(tx, scene, { ...settlement, ...pending }, at));
      const inForce = async () => (await listSettlements(scene.db.sql, scene.merchantId)).crypto[0]?.destination;
      return {
        run: createCoolOff(scene),
        isDone: async () => (await inForce()) === `${scene.network}:${after}`,
      };
    },
  },
  {
    name: 'pay-out-held',
    prepare: async (scene, node) => {
      const { id } = await scene.paid(node, { isHeld: true });
      await node.turn(2);
      await scene.register(scene.payers.newAccount());
      return { run: () => payOutHeld(scene), isDone: async () => (await scene.payout(id))?.state !== 'held' };
    },
  },
  {
    name: 'cover-refunds',
    prepare: async (scene, node) => {
      const { id } = await scene.paid(node, { isHeld: true });
      await scene.fill(node, OPERATOR_FLOAT, 20n);
      await node.turn(2);
      await scene.request(id);
      return { run: () => coverRefunds(scene), isDone: async () => (await scene.refund(id)).state === 'sending' };
    },
  },
  {
    name: 'begin-returns',
    prepare: async (scene, node) => {
      const { id, send, item, sender } = await scene.deposit({ isHeld: true });
      send(item.amount + 50n);
      await scene.live(node, 4);
      const [late] = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
      assert.equal(late?.paymentId, id);
      const destination = parseAccount(`${scene.network}:${sender}`);
      assert.ok(destination.ok);
      const by = { merchantId: scene.merchantId, actor: 'test', coolingOffMs: 0 };
      const ask = { ...by, id: late.id, destination: destination.value };
      await requestReturn(scene, ask, undefined, () => ({ status: 200, body: null }));
      return { run: () => beginReturns(scene), isDone: async () => (await scene.outgoing(late.id)) !== undefined };
    },
  },
  {
    name: 'begin-outgoing',
    prepare: async (scene, node) => {
      const { id } = await scene.paid(node, { isHeld: true });
      await node.turn(2);
      await scene.register(scene.payers.newAccount());
      await payOutHeld(scene);
      const payoutId = await scene.payoutIdOf(id);
      return {
        run: () => beginOutgoing(scene, scene.connected),
        isDone: async () => (await scene.itemsOf(payoutId)).length > 0,
      };
    },
  },
];

describe('a worker that concludes something from rows that are missing', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    await scene.live(node, 2);
  });
  afterEach(() => scene.close());

  for (const { name, prepare } of WORKERS) {
    it(`waits after a restore until the rebuild: ${name}`, async () => {
      const restored = { scope: 'restored', subject: scene.network, reason: 'a restore', actor: 'operator' } as const;
      const { run, isDone } = await prepare(scene, node);
      await freeze(scene, restored);
      await run();
      assert.equal(await isDone(), false);
      await unfreeze(scene, restored);
      await run();
      assert.equal(await isDone(), true);
    });
  }
});

describe('the table of workers after a restore', () => {
  const text = readFileSync(new URL(TABLE, import.meta.url), 'utf8');
  const section = text.slice(text.indexOf('### Work after a restore'), text.indexOf('## The sandbox'));
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const named = new Map(
    rows.flatMap((line) => {
      const [, names = '', , waits = ''] = line.split('|');
      return [...names.matchAll(/`([a-z0-9-]+)`/g)].map(([, name = '']) => [name, waits.trim()] as const);
    }),
  );

  it('names every job', () => {
    const sources = ['housekeeping', 'paying-out'].map((name) =>
      readFileSync(new URL(`../../src/workers/${name}.ts`, import.meta.url), 'utf8'),
    );
    const jobs = sources.flatMap((source) => [...source.matchAll(/\{ name: '([a-z0-9-]+)'/g)].map(([, name]) => name));
    assert.ok(jobs.length > 15);
    assert.deepEqual(
      jobs.filter((name) => name === undefined || !named.has(name)),
      [],
    );
  });

  it('says of those workers alone that they wait', () => {
    const waiting = [...named].flatMap(([name, waits]) => (waits.startsWith('waits') ? [name] : []));
    assert.deepEqual(waiting.toSorted(), WORKERS.map(({ name }) => name).toSorted());
  });
});
