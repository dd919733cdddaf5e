import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { payOutHeld } from '../../src/actions/outgoing/payout/pay-out-held.ts';
import { requestReturn } from '../../src/actions/outgoing/return/request-return.ts';
import { cancelPayment } from '../../src/actions/paying/cancel-payment.ts';
import { tokenUnitId } from '../../src/chains/units.ts';
import { INTERMEDIATE, OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import { isFinal } from '../../src/domain/payment.ts';
import { ApiError } from '../../src/errors.ts';
import { listBalances } from '../../src/store/money/books.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { IS_LONG } from '../long.ts';
import { seeded } from '../simulation/seeded.ts';
import { DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

/** The acts of `test/money/acts.ts`, carried out on the chain and the store of a gateway, by several payments at a time. */

/** `TILL_SMALL_WORLDS=1000 npx node test/run.ts test/e2e/small-world.test.ts` goes further. */
const HISTORIES = Number(process.env.TILL_SMALL_WORLDS ?? (IS_LONG ? 100 : 4));
const PAYMENTS = 4;
const ACTS_EACH = 8;
const FLOAT = 100_000n;
const MINUTE_MS = 60_000;

type Deposit = Awaited<ReturnType<RefundScene['deposit']>>;

interface World {
  readonly scene: RefundScene;
  readonly node: TestNode;
  readonly destination: string;
  /** An account that everybody is refunded to. */
  readonly refunded: string;
  readonly sentByUs: string[];
}

const sweptBy = ({ scene }: World, { item }: Deposit, token: string) => {
  const asked = token === item.asset ? {} : { asset: token, asked: item.asset };
  scene.control.relayAsStranger([{ item: { ...item, ...asked }, commitment: '', signature: '0x', hasCode: false }]);
};

/** A refusal is an answer: the payment is not in the state for it. */
async function perhaps(work: () => Promise<unknown>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
  });
}

async function reorganised({ scene }: World, depth: number, drop: readonly string[]): Promise<void> {
  const { number } = await scene.chain.reader.head();
  if (depth < number) scene.control.reorg(depth, { drop, length: depth + 1 });
}

const ACTS: Readonly<Record<string, (world: World, deposit: Deposit) => unknown>> = {
  part: (world, { send }) => world.sentByUs.push(send(330n)),
  all: (world, { send }) => world.sentByUs.push(send(1_000n)),
  tooMuch: (world, { send }) => world.sentByUs.push(send(1_300n)),
  dust: (world, { send }) => world.sentByUs.push(send(1n)),
  otherToken: (world, { send }) => world.sentByUs.push(send(500n, { token: TETHER })),
  strangerSweeps: (world, deposit) => sweptBy(world, deposit, DOLLAR),
  strangerSweepsOther: (world, deposit) => sweptBy(world, deposit, TETHER),
  walletPays: async ({ scene }, { id }) => {
    const payment = await scene.payment(id);
    const isOpen = payment?.status === 'requires_action' && payment.expiresAt.getTime() > scene.nowMs();
    if (isOpen) await scene.accept({ isHeld: true, terms: { subject: id } });
  },
  cancel: ({ scene }, { id }) => perhaps(() => cancelPayment(scene, { paymentId: id, by: 'merchant', actor: 'test' })),
  time: ({ scene }) => scene.pass(6 * MINUTE_MS),
  destination: async ({ scene, destination }) => {
    const rows = await scene.db.sql`select from crypto_settlements`;
    if (rows.length > 0) return;
    await scene.register(destination);
    await scene.register(scene.payers.newAccount(), TETHER);
  },
  refund: ({ scene, refunded }, { id }) =>
    perhaps(() => {
      const account = parseAccount(`${scene.network}:${refunded}`);
      if (!account.ok) throw new Error(account.problem);
      const amount = { unit: tokenUnitId(DOLLAR), value: 300n };
      return scene.request(id, { amount, destination: account.value, coolingOffMs: 0 });
    }),
  return: ({ scene, refunded }, { id }) =>
    perhaps(async () => {
      const [money] = (await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 100 })).filter(
        ({ paymentId }) => paymentId === id,
      );
      const account = parseAccount(`${scene.network}:${refunded}`);
      if (money === undefined || !account.ok) return;
      const ask = { id: money.id, merchantId: scene.merchantId, destination: account.value, actor: 'test' };
      await requestReturn(scene, { ...ask, coolingOffMs: 0 }, undefined, () => ({ status: 200, body: null }));
    }),
  floatAdd: async ({ scene, node }) => {
    const transactionHash = scene.transfer({ from: scene.payers.newAccount(), units: 60n });
    await node.turn(2);
    await perhaps(() => addFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' }));
  },
  reorgOne: (world) => reorganised(world, 1, []),
  reorgMany: (world) => reorganised(world, 4, []),
  reorgLoss: (world) => reorganised(world, 4, world.sentByUs),
};

describe('histories of a small world, through the store and the chain', () => {
  it('lose, double, block and misdirect nothing', { timeout: 3_600_000 }, async () => {
    for (let seed = 1; seed * PAYMENTS <= HISTORIES; seed += 1) {
      const random = seeded(seed, 'small world of the store');
      const names = Array.from({ length: PAYMENTS * ACTS_EACH }, () => random.pick(Object.keys(ACTS)));
      const targets = names.map(() => random.pick([0, 1, 2, 3]));
      const steps: string[] = [];
      await happen(names, targets, steps).catch((error: unknown) => {
        throw new Error(`Seed ${seed}: ${steps.join(' ')}`, { cause: error });
      });
    }
  });
});

async function happen(names: readonly string[], targets: readonly number[], steps: string[]): Promise<void> {
  const scene = await openRefundScene({ depth: 3, watching: { sweepFrom: () => 0n, movementsPerCheckpoint: 1 } });
  try {
    const node = await scene.newNode();
    await scene.live(node, 1);
    for (const owner of [OPERATOR_FLOAT, scene.merchantId]) {
      for (const asset of [DOLLAR, TETHER]) await scene.fill(node, owner, FLOAT, asset);
    }
    const deposits: Deposit[] = [];
    for (let number = 0; number < PAYMENTS; number += 1) deposits.push(await scene.deposit({ isHeld: true }));
    const [destination, refunded] = [scene.payers.newAccount(), scene.payers.newAccount()];
    const world: World = { scene, node, destination, refunded, sentByUs: [] };
    for (const [index, name] of names.entries()) {
      const target = targets[index] ?? 0;
      steps.push(`${name}:${target}`);
      await ACTS[name]?.(world, deposits[target] as Deposit);
      await live(world, 1);
    }
    await ACTS.destination?.(world, deposits[0] as Deposit);
    for (let round = 0; round < 5; round += 1) {
      await live(world, 5);
      scene.pass(6 * MINUTE_MS);
    }
    await live(world, 6);
    await judge(world, deposits);
  } finally {
    await scene.close();
  }
}

/** Some blocks with all workers. No money is too little for a payout. */
async function live({ scene, node }: World, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await payOutHeld({ ...scene, sweepFrom: () => 0n });
    await scene.live(node, 1);
  }
}

/** At the end, everything is where it belongs. */
async function judge({ scene }: World, deposits: readonly Deposit[]): Promise<void> {
  const { sql } = scene.db;
  for (const { id, address } of deposits) {
    assert.ok(isFinal((await scene.status(id)) ?? 'processing'), `${id} has not ended`);
    for (const token of [DOLLAR, TETHER]) assert.equal(scene.control.balanceOf(address, token), 0n, 'all is swept');
  }
  assert.deepEqual(await sql`select payment_id from positions where is_stale`, []);
  assert.deepEqual(await sql`select subject, purpose from items where state in ('due', 'sent')`, []);
  // A payout that was not signed ends with the money that a reorganisation has removed.
  assert.deepEqual(
    await sql`
      select id, purpose, problem from outgoing
      where state <> 'paid' and not (purpose = 'payout' and state = 'failed' and problem = 'not_held')`,
    [],
  );
  assert.deepEqual(
    await sql`select id, asset from lots where is_open and problem = 'not_held'`,
    [],
    'the books refuse',
  );
  assert.deepEqual(await scene.differences(), []);
  const rows = await listBalances(sql, scene.network);
  const missingOf = (asset: string) =>
    rows
      .filter((row) => row.asset === asset && row.account.startsWith('missing/'))
      .reduce((sum, { units }) => sum + units, 0n);
  // A unit is spent once, unless its arrival has left the chain: then it is missing.
  const spent = await sql<{ payment: string; asset: string; beyond: string }[]>`
    select s.payment_id as payment, s.asset, (sum(s.units) - (select coalesce(sum(net), 0) from lots l
      where l.payment_id = s.payment_id and l.network = s.network and l.asset = s.asset and l.account = s.account))::text
      as beyond
    from lot_spends s group by s.payment_id, s.network, s.asset, s.account`;
  const doubled = spent.filter(({ asset, beyond }) => BigInt(beyond) > 0n && BigInt(beyond) > -missingOf(asset));
  assert.deepEqual(doubled, []);
  for (const asset of [DOLLAR, TETHER]) {
    const own = rows.filter((row) => row.asset === asset && row.account.startsWith(INTERMEDIATE));
    assert.ok(own.every(({ units }) => units >= 0n));
    const owed = own.reduce((sum, { units }) => sum + units, 0n);
    assert.equal(
      scene.control.balanceOf(scene.intermediate, asset),
      owed + missingOf(asset),
      `${asset} on our account`,
    );
  }
}
