import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { command } from '../../src/actions/command.ts';
import { acceptSignature } from '../../src/actions/outgoing/refund/signed/accept-signature.ts';
import { offerRefund } from '../../src/actions/outgoing/refund/signed/offer-refund.ts';
import { putFreeze } from '../../src/actions/parties/freeze.ts';
import { tokenUnitId } from '../../src/chains/units.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import { ApiError } from '../../src/errors.ts';
import { lockFreezes } from '../../src/store/parties/freezes.ts';
import { IS_LONG } from '../long.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';
import { openBackups } from './table-backups.ts';

const RUNS = IS_LONG ? 80 : 3;
const PAYMENTS = 3;
const FLOAT = 100_000n;

type Step =
  | { readonly do: 'request'; readonly payment: number; readonly asked: Asked; readonly times: number }
  | { readonly do: 'work' | 'pay out' | 'back up' | 'rebuild' }
  /** The merchant's account is asked to sign for all refunds that wait, with too little money or enough. */
  | { readonly do: 'sign'; readonly isReturned: boolean; readonly isPoor: boolean }
  | { readonly do: 'crash'; readonly after: number }
  | { readonly do: 'restore'; readonly isAnnounced: boolean };

interface Asked {
  readonly unit: 'price' | 'asset' | 'all';
  /** In thousandths of the payment. */
  readonly part: number;
  readonly isElsewhere: boolean;
}

const asked = fc.record({
  unit: fc.constantFrom('price' as const, 'asset' as const, 'asset' as const, 'all' as const),
  part: fc.integer({ min: 1, max: 600 }),
  isElsewhere: fc.boolean(),
});
const request = fc.record({
  do: fc.constant('request' as const),
  payment: fc.nat({ max: PAYMENTS - 1 }),
  asked,
  times: fc.integer({ min: 1, max: 4 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: request },
  { weight: 4, arbitrary: fc.constant({ do: 'work' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('sign' as const), isReturned: fc.boolean(), isPoor: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), after: fc.nat({ max: 12 }) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'back up' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restore' as const), isAnnounced: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'pay out' as const }, { do: 'rebuild' as const }) },
);

/** The process ends at this line. */
class Crash extends Error {}

describe('refunds in parts, by floats or by the merchant’s signature, whatever happens', () => {
  it('are never more than was paid and never sent twice, and the books agree with the chain to the unit', {
    timeout: RUNS * 60_000,
  }, async () => {
    const runs = fc.record({
      steps: fc.array(step, { minLength: 8, maxLength: 24 }),
      float: fc.constantFrom(0n, 300n, FLOAT),
    });
    const property = fc.asyncProperty(runs, async (run) => {
      const scene = await openRefundScene();
      try {
        await live(scene, run);
      } finally {
        await scene.close();
      }
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  });
});

/** The merchant's float is large, small or empty at first. */
async function live(scene: RefundScene, { steps, float }: { readonly steps: readonly Step[]; readonly float: bigint }) {
  let node: TestNode = await scene.newNode();
  const payments: Awaited<ReturnType<RefundScene['paid']>>[] = [];
  const merchant = scene.payers.newPayer();
  for (let index = 0; index < PAYMENTS; index += 1) {
    const terms = index > 0 ? {} : { recipient: merchant.address };
    payments.push(await scene.paid(node, { isHeld: index > 0, terms }));
  }
  await scene.fill(node, OPERATOR_FLOAT, FLOAT);
  if (float > 0n) await scene.fill(node, scene.merchantId, float);
  const shop = merchant.address;
  const friends = payments.map(() => scene.payers.newAccount());
  const backups = openBackups(scene.db);
  await backups.take();
  const world = scene.world as { crashPoint?: (label: string) => void };

  const ask = async (index: number, { unit, part, isElsewhere }: Asked): Promise<void> => {
    const payment = payments[index];
    assert.ok(payment);
    const value = (1_000n * BigInt(part)) / 1_000n;
    const priced = { unit: 'iso4217/USD', value: (100n * BigInt(part)) / 1_000n + 1n };
    const amount = unit === 'all' ? undefined : unit === 'price' ? priced : { unit: tokenUnitId(DOLLAR), value };
    const account = parseAccount(`${scene.network}:${friends[index]}`);
    const destination = isElsewhere && account.ok ? account.value : undefined;
    const refusals = ['already_refunded', 'params_validation', 'invalid_state'];
    await scene.request(payment.id, { amount, destination }).catch((error: { code?: string }) => {
      if (!refusals.includes(error.code ?? '')) throw error;
    });
  };
  const sign = async ({ isReturned, isPoor }: Extract<Step, { do: 'sign' }>) => {
    const refunds = (await Promise.all(payments.map(({ id }) => scene.refunds(id)))).flat();
    for (const { id: refundId } of refunds.filter(({ state }) => state === 'awaiting_funds')) {
      scene.control.setBalance(merchant.address, DOLLAR, 10_000n);
      try {
        const { requests } = await offerRefund(scene, refundId);
        const result = await merchant.signTypedData(JSON.parse(String(requests.at(-1)?.params[1])));
        if (isReturned) await acceptSignature(scene, { refundId, result, actor: 'test' });
      } catch (error) {
        if (!(error instanceof ApiError) || !['invalid_state', 'internal_error'].includes(error.code)) throw error;
      }
    }
    if (isPoor) scene.control.setBalance(merchant.address, DOLLAR, 0n);
  };
  const restored = async () => {
    const report = await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual(report?.unplaced, []);
  };
  const isRegistered = async () => (await scene.db.sql`select from crypto_settlements`).length > 0;

  for (const each of steps) {
    switch (each.do) {
      case 'request':
        await Promise.all(Array.from({ length: each.times }, () => ask(each.payment, each.asked)));
        break;
      case 'work':
        await scene.live(node, 1);
        break;
      case 'sign':
        await sign(each);
        break;
      case 'pay out':
        if (!(await isRegistered())) await scene.register(shop);
        await scene.live(node, 1);
        break;
      case 'crash': {
        let left = each.after;
        world.crashPoint = () => {
          left -= 1;
          if (left < 0) throw new Crash();
        };
        const work = async () => {
          await sign({ do: 'sign', isReturned: true, isPoor: false });
          await scene.live(node, 1);
        };
        await work().catch((error: unknown) => {
          if (!(error instanceof Crash)) throw error;
        });
        delete world.crashPoint;
        node = await scene.newNode();
        break;
      }
      case 'back up':
        await backups.take();
        break;
      case 'restore':
        // Whatever was broadcast is mined or has run out before the gateway starts again, as the documentation asks for.
        scene.control.mine(3);
        scene.pass(3_700_000);
        scene.control.mine(3);
        await backups.restore();
        node = await scene.newNode();
        if (each.isAnnounced) {
          await command(scene, async (tx, since) => {
            await lockFreezes(tx);
            const freeze = {
              scope: 'restored',
              subject: scene.network,
              reason: 'restored',
              actor: 'operator',
            } as const;
            await putFreeze(tx, scene, { ...freeze, since });
          });
        } else {
          await node.watch();
        }
        break;
      case 'rebuild':
        await node.watch();
        await restored();
        break;
    }
  }

  await node.turn(2);
  await restored();
  await scene.fill(node, scene.merchantId, FLOAT);
  for (let round = 0; round < 3; round += 1) {
    scene.pass(3_700_000);
    await scene.live(node, 5);
  }
  for (const [index, { id, payer, item }] of payments.entries()) {
    const refunds = await scene.refunds(id);
    const done = refunds.filter(({ state }) => state === 'refunded');
    const open = refunds.filter(({ state, problem }) => state !== 'refunded' && problem !== 'not_left');
    assert.deepEqual(open, [], 'every refund comes to its end');
    const given =
      scene.control.balanceOf(payer.address, DOLLAR) + scene.control.balanceOf(friends[index] ?? '', DOLLAR);
    const sum = (field: 'amount' | 'fee' | 'price') =>
      done.reduce((total, refund) => total + BigInt(refund[field]), 0n);
    assert.equal(given, sum('amount'), 'the chain has given back exactly what the rows say');
    assert.ok(given <= item.amount, 'never more than was paid');
    assert.ok(sum('fee') <= item.fee && sum('price') <= 100n);
    if (given === item.amount) assert.deepEqual([sum('fee'), sum('price')], [item.fee, 100n]);
  }
  const subjects = await scene.db.sql<{ subject: string }[]>`
    select fields ->> 'subject' as subject from chain_events where type = 'paid'
    group by 1 having count(*) > 1`;
  assert.deepEqual([...subjects], [], 'nothing is sent twice');
  assert.deepEqual(await scene.differences(), []);
  const floats = Object.entries(await scene.floats());
  const books = await scene.books();
  for (const [owner, units] of floats) assert.equal(books[`intermediate/float/${owner}`] ?? 0n, BigInt(units));
}
