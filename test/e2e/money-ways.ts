import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { requestReturn } from '../../src/actions/outgoing/return/request-return.ts';
import { searchUnexpected } from '../../src/actions/watch/deposits/search-unexpected.ts';
import type { Chains } from '../../src/chains/chains.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import type { LateState } from '../../src/domain/late-money.ts';
import { createTestKey, startTestGateway } from '../gateway.ts';
import { standInPage } from './checkout-page.ts';
import { BASE_SEPOLIA, BASE_SEPOLIA_USDC } from './paying-shop.ts';
import { openRefundScene, TETHER } from './refund-scene.ts';

const MINUTE_MS = 60_000;
const EVERYTHING = { watching: { sweepFrom: () => 0n } };

/** What a place says of the money of a payment: the units that paid, and those that did not count. */
export interface Report {
  readonly paid: string;
  /** `reason units`, or the units alone where a place has no reasons. */
  readonly late: readonly string[];
  /** How the money that did not count comes back, where the place says so: the state of its return. */
  readonly back?: LateState | undefined;
}

/** A way money can arrive for a payment of 1,000 units, and the story that every place must tell of it. */
export interface Way extends Report {
  readonly name: string;
  /** Brings it about, and returns the payment. */
  readonly happen: (world: World) => Promise<string>;
}

export type World = Awaited<ReturnType<typeof openWorld>>;

export async function openWorld() {
  const scene = await openRefundScene(EVERYTHING);
  const other = await openRefundScene({ ...EVERYTHING, beside: { ...scene, network: BASE_SEPOLIA } });
  const gateway = await startTestGateway({
    databaseUrl: scene.databaseUrl,
    chains: scene.chains,
    world: { clock: { nowMs: scene.nowMs } },
    page: standInPage(),
  });
  const { secret } = await createTestKey(gateway, 'prtn_test');
  const [node, there] = [await scene.newNode(), await other.newNode()];
  await scene.live(node, 1);
  const end = async (paymentId: string, event: Parameters<typeof scene.movePayment>[0]['event']) => {
    await scene.movePayment({ paymentId, event, actor: 'test', evidence: {} });
  };
  return {
    scene,
    other,
    gateway,
    node,
    there,
    headers: { 'api-key': secret, 'merchant-id': scene.merchantId },
    end,
    live: (turns = 5) => scene.live(node, turns),
    async close() {
      await gateway.stop();
      await other.close();
      await scene.close();
    },
  };
}

/** Brings late money of a payment, whose return is requested; without a wait it is sent at once, and arrives. */
async function givenBack({ scene, node, live }: World, { id, coolingOffMs }: { id: string; coolingOffMs: number }) {
  const [money] = await scene.db.sql<{ id: string }[]>`select id from strays where payment_id = ${id}`;
  const destination = parseAccount(`${scene.network}:${scene.payers.newAccount()}`);
  if (money === undefined || !destination.ok) throw new Error('There is no late money to return.');
  for (const owner of [scene.merchantId, OPERATOR_FLOAT]) await scene.fill(node, owner, 2_000n);
  const input = { id: money.id, merchantId: scene.merchantId, destination: destination.value, actor: 'test' };
  await requestReturn(scene, { ...input, coolingOffMs }, undefined, () => ({ status: 200, body: '' }));
  await live();
  return id;
}

const CANCELLED = { type: 'cancelled', by: 'merchant' } as const;
const FAILED = { type: 'failed', failureCode: null } as const;

const WAYS_IN: readonly Way[] = [
  {
    name: 'exact',
    paid: '1000',
    late: [],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit();
      send(1_000n);
      await live();
      return id;
    },
  },
  {
    name: 'exact, by a wallet',
    paid: '1000',
    late: [],
    happen: async ({ scene, node }) => (await scene.paid(node)).id,
  },
  {
    name: 'less',
    paid: '-',
    late: ['underpaid 400'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      send(400n);
      await live(2);
      scene.pass(16 * MINUTE_MS);
      await live(6);
      return id;
    },
  },
  {
    name: 'more',
    paid: '1000',
    late: ['overpaid 500'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit();
      send(1_500n);
      await live();
      return id;
    },
  },
  {
    // The stored settlement has the amount of the whole sweep, and so the late money, too.
    name: 'more, in one settlement',
    paid: '1000',
    late: ['overpaid 500'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit();
      send(1_500n);
      await live();
      await scene.db.sql`update payment_settlements set amount = 1490 where payment_id = ${id}`;
      return id;
    },
  },
  {
    name: 'twice, by a wallet and an address',
    paid: '1000',
    late: ['paid_twice 1000'],
    async happen({ scene, node, live }) {
      const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      await scene.accept({ terms: { subject: id } });
      await node.turn(2);
      send(1_000n);
      await live(4);
      scene.pass(16 * MINUTE_MS);
      await live(4);
      return id;
    },
  },
  {
    name: 'late, by a wallet',
    paid: '-',
    late: ['late 1000'],
    async happen({ scene, end, live }) {
      const { id } = await scene.accept();
      await end(id, FAILED);
      await live(3);
      return id;
    },
  },
  {
    name: 'late, in coin',
    paid: '-',
    late: ['late 1000'],
    async happen({ scene, end, live }) {
      const { id, pay } = await scene.offer();
      await end(id, CANCELLED);
      pay();
      await live(3);
      return id;
    },
  },
  {
    name: 'another token',
    paid: '-',
    late: ['wrong_token 700'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      send(700n, { token: TETHER });
      await live(3);
      scene.pass(16 * MINUTE_MS);
      await live(6);
      return id;
    },
  },
  {
    name: 'another network',
    paid: '-',
    late: ['wrong_network 2000'],
    async happen({ scene, other, node, there }) {
      const { id, address } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      other.control.setBalance(address, BASE_SEPOLIA_USDC, 2_000n);
      scene.pass(16 * MINUTE_MS);
      await Promise.all([node.turn(2), there.turn(2)]);
      const chains: Chains = {
        find: (network) => [scene, other].find((each) => each.network === network)?.connected,
        list: () => [scene.connected, other.connected],
      };
      const search = () =>
        searchUnexpected(
          { ...scene, chains, sweepFrom: () => 0n },
          { paymentId: id, network: undefined, isSweep: true, actor: 'operator' },
        );
      await search();
      await there.turn(4);
      await search();
      await Promise.all([node.turn(4), there.turn(2)]);
      return id;
    },
  },
  {
    name: 'two tokens',
    paid: '1000',
    late: ['wrong_token 300'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit();
      send(300n, { token: TETHER });
      send(1_000n);
      await live(6);
      return id;
    },
  },
  {
    name: 'after cancel',
    paid: '-',
    late: ['late 1000'],
    async happen({ scene, end, live }) {
      const { id, send } = await scene.deposit();
      await end(id, CANCELLED);
      scene.pass(MINUTE_MS);
      send(1_000n);
      await live();
      return id;
    },
  },
  {
    name: 'after expiry',
    paid: '-',
    late: ['late 1000'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      scene.pass(16 * MINUTE_MS);
      await live(3);
      send(1_000n);
      await live();
      return id;
    },
  },
  {
    name: 'after refund',
    paid: '1000',
    late: ['overpaid 600'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit();
      send(1_000n);
      await live();
      const recipient = scene.payers.newAccount();
      const destination = { id: `${scene.network}:${recipient}`, chainId: scene.network, address: recipient };
      await scene.request(id, { destination: { ...destination, namespace: 'eip155' } });
      await coverRefunds(scene);
      send(600n);
      await live();
      return id;
    },
  },
];

/** Ways in which late money comes, and how far its return has come. */
function returned(name: string): Way[] {
  const way = WAYS_IN.find((each) => each.name === name);
  if (way === undefined) throw new Error(`There is no way ${name}.`);
  const happens = (coolingOffMs: number) => async (world: World) =>
    givenBack(world, { id: await way.happen(world), coolingOffMs });
  return [
    { ...way, name: `${name}, return requested`, back: 'requested', happen: happens(60 * MINUTE_MS) },
    { ...way, name: `${name}, returned`, back: 'returned', happen: happens(0) },
  ];
}

export const WAYS: readonly Way[] = [...WAYS_IN, ...returned('late, by a wallet'), ...returned('more')];
