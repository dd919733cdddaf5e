import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createRecordStanding } from '../../src/actions/record-standing.ts';
import { findGenesis } from '../../src/actions/records/find-genesis.ts';
import { createRecordMemory } from '../../src/actions/records/remember-records.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import type { Network } from '../../src/chains/network.ts';
import type { Registry } from '../../src/chains/registry.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { type Database, openDatabase } from '../../src/store/plumbing/database.ts';
import { listKnownRecords } from '../../src/store/plumbing/known-records.ts';
import { payingOutJobs } from '../../src/workers/paying-out.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { findNetwork, REGISTRY } from '../registry.ts';
import { BASE_SEPOLIA } from './paying-shop.ts';
import { openRefundScene } from './refund-scene.ts';

const network = findNetwork(BASE_SEPOLIA) as Network;
const ONE = `0x${'1'.repeat(64)}`;
const OTHER = `0x${'2'.repeat(64)}`;

/** An endpoint of Base Sepolia with this block 0. It may have no block 0, fail to read it, or not answer at all. */
type Zero = string | 'pruned' | 'failing' | 'silent';

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

function transportOf(zero: Zero) {
  const answerTo = ({ id, method, params: [which] }: Call) => {
    const answer = (result: unknown) => ({ jsonrpc: '2.0', id, result });
    if (method === 'eth_chainId') return answer('0x14a34');
    if (method === 'eth_blockNumber') return answer('0x10');
    if (which !== '0x0') return answer({ number: '0x10', hash: ONE, parentHash: OTHER, timestamp: '0x20' });
    if (zero === 'failing') return { jsonrpc: '2.0', id, error: { code: -32_000, message: 'missing trie node' } };
    return answer(
      zero === 'pruned' ? null : { number: '0x0', hash: zero, parentHash: `0x${'0'.repeat(64)}`, timestamp: '0x1' },
    );
  };
  return {
    post: async (body: string) => {
      if (zero === 'silent') throw new Error('away');
      const calls = JSON.parse(body) as Call | Call[];
      return { status: 200, text: JSON.stringify(Array.isArray(calls) ? calls.map(answerTo) : answerTo(calls)) };
    },
    close: () => {},
  };
}

describe('the first use of a network', () => {
  let own: TestDatabase;
  let db: Database;
  const opened: { close(): void }[] = [];
  beforeEach(async () => {
    own = await createTestDatabase();
    db = openDatabase({ url: own.url, poolSize: 4, applicationName: 'till-test' });
  });
  afterEach(async () => {
    for (const chain of opened.splice(0)) chain.close();
    await db.close();
    await own.drop();
  });

  const nodeWith = (registry: Registry = REGISTRY) => createRecordMemory({ db, registry, world: systemWorld });
  function chainOf(zeros: readonly Zero[], genesis?: () => string | undefined) {
    const endpoints = zeros.map(transportOf);
    const chain = createEvmChain({ world: systemWorld, network, endpoints, ...(genesis && { genesis }) });
    opened.push(chain);
    return chain;
  }
  const remembered = async () =>
    (await listKnownRecords(db.sql)).map(({ subject, facts }) => [subject, (facts as { genesis?: unknown }).genesis]);

  for (const [zeros, genesis] of [
    [[ONE, ONE], ONE],
    [[ONE, ONE, 'silent'], ONE],
    [[ONE], ONE],
    [[ONE, 'silent'], null],
    [['pruned', 'pruned'], null],
    [['failing', ONE], null],
  ] as const) {
    it(`remembers ${genesis === null ? 'no block 0' : 'block 0'} from endpoints with ${zeros.map((zero) => zero.slice(0, 7)).join(', ')}`, async () => {
      assert.deepEqual(await findGenesis(chainOf(zeros).reader), { genesis });
      const node = nodeWith();
      assert.equal(await node.admitNetwork(BASE_SEPOLIA, genesis), undefined);
      assert.deepEqual(await remembered(), [[BASE_SEPOLIA, genesis]]);
      assert.equal(node.genesisOf(BASE_SEPOLIA), genesis ?? undefined);
      // The next start learns what was not shown before.
      assert.equal(await nodeWith().admitNetwork(BASE_SEPOLIA, ONE), undefined);
      assert.deepEqual(await remembered(), [[BASE_SEPOLIA, ONE]]);
    });
  }

  it('is not stopped by one endpoint on another chain, which is not asked afterwards', async () => {
    for (const zeros of [
      [ONE, ONE, OTHER],
      [OTHER, 'silent', ONE, ONE],
    ] as const) {
      assert.deepEqual(await findGenesis(chainOf(zeros).reader), { genesis: ONE }, zeros.join());
    }
    const node = nodeWith();
    assert.equal(await node.admitNetwork(BASE_SEPOLIA, ONE), undefined);
    const chain = chainOf([ONE, ONE, OTHER], () => node.genesisOf(BASE_SEPOLIA));
    await Promise.allSettled(chain.reader.witnesses().map((witness) => witness.head()));
    assert.deepEqual(
      chain.health().states.map(({ isUp }) => isUp),
      [true, true, false],
    );
  });

  it('is refused while its endpoints are on two chains with the same number', async () => {
    assert.deepEqual(await findGenesis(chainOf([ONE, OTHER]).reader), {
      dispute: `Base Sepolia (eip155:84532) is switched off: its endpoints are on two chains with the same number. Block 0 is ${ONE} at endpoint 1, and ${OTHER} at endpoint 2. Remove the wrong one from RPC_URLS.`,
    });
    for (const zeros of [
      [ONE, 'silent', OTHER],
      [ONE, OTHER, ONE, OTHER],
    ] as const) {
      assert.ok('dispute' in (await findGenesis(chainOf(zeros).reader)), zeros.join());
    }
    assert.deepEqual(await remembered(), []);
  });

  it('is the only one: an RPC of another chain with the same number is refused later', async () => {
    await nodeWith().admitNetwork(BASE_SEPOLIA, ONE);
    assert.equal(
      await nodeWith().admitNetwork(BASE_SEPOLIA, OTHER),
      `Base Sepolia (eip155:84532) is switched off: its endpoints are on another chain with the same number. Their block 0 is ${OTHER}, and this database was used with ${ONE}. Correct RPC_URLS, or use a new database.`,
    );
    const [row] = await listKnownRecords(db.sql);
    const memory = { networks: new Map([[BASE_SEPOLIA, row?.facts as never]]) };
    const node = createRecordMemory({ db, registry: REGISTRY, world: systemWorld }, memory);
    const mixed = chainOf([OTHER, ONE, 'pruned', 'failing'], () => node.genesisOf(BASE_SEPOLIA));
    assert.equal((await mixed.reader.head()).number, 16);
    const answers = await Promise.allSettled(mixed.reader.witnesses().map((witness) => witness.head()));
    assert.deepEqual(
      mixed.health().states.map(({ name, isUp, trouble }) => [name, isUp, trouble]),
      [
        [
          'endpoint 1',
          false,
          `is on another chain with the same id: its block 0 is ${OTHER} and not ${ONE}. Correct RPC_URLS`,
        ],
        ['endpoint 2', true, undefined],
        ['endpoint 3', true, undefined],
        ['endpoint 4', true, undefined],
      ],
      JSON.stringify(answers),
    );
    const wrong = chainOf([OTHER, OTHER], () => node.genesisOf(BASE_SEPOLIA));
    await assert.rejects(wrong.reader.head(), ChainUnavailableError);
    await assert.rejects(wrong.reader.events(0, 5), ChainUnavailableError);
  });

  it('belongs to one of two nodes with different files that come at the same moment', async () => {
    const assets = REGISTRY.assets.slice(0, 8);
    const changed = new Map(assets.map((asset) => [asset.id, { ...asset, decimals: asset.decimals + 1 }]));
    const other: Registry = { ...REGISTRY, asset: (id) => changed.get(id) ?? REGISTRY.asset(id) };
    for (const { id, symbol, decimals } of assets) {
      const nodes = [nodeWith(), nodeWith(other)];
      const answers = await Promise.all(nodes.map((node): Promise<ReadonlyMap<string, string>> => node.admit([id])));
      const [winner, loser] = answers[0]?.size === 0 ? [0, 1] : [1, 0];
      assert.deepEqual([nodes[winner]?.isAdmitted(id), nodes[loser]?.isAdmitted(id)], [true, false]);
      const [theirs, ours] = winner === 0 ? [decimals, decimals + 1] : [decimals + 1, decimals];
      assert.deepEqual(
        [...(answers[loser] ?? [])],
        [
          [
            id,
            `${symbol} (${id}) is switched off: another node uses it with ${theirs} decimals, and the file of this node says ${ours}. Give every node the same files, and start it again.`,
          ],
        ],
      );
    }
    const rows = await db.sql<{ subject: string }[]>`select subject from known_records`;
    const subjects = rows.map(({ subject }) => subject);
    assert.deepEqual(subjects, [...new Set(subjects)], 'each is stored once');
    assert.ok(assets.every(({ id }) => subjects.includes(id)));
  });
});

describe('a node with other files than the node that started last', () => {
  it('signs no payout and no refund, until its files are in force', async () => {
    const scene = await openRefundScene();
    const node = await scene.newNode();
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(scene.payers.newAccount());
    const standing = createRecordStanding();
    const jobs = payingOutJobs({ ...scene, metrics: createMetrics(), standing });
    const run = async () => {
      for (const job of jobs) await job.run();
    };
    standing.note('other files');
    await run();
    const payout = await scene.payoutIdOf(id);
    assert.equal((await scene.outgoing(payout))?.state, 'sending');
    assert.equal((await scene.itemsOf(payout)).length, 0);
    standing.note(undefined);
    await run();
    assert.equal((await scene.itemsOf(payout)).length, 1);
    await scene.close();
  });
});
