import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import type { Chains } from '../../src/chains/chains.ts';
import { createMemoryChain } from '../../src/chains/memory/memory-chain.ts';
import { describeExplanation } from '../../src/cli/explain-commands.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { signerFromKey } from '../chains/signer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { findNetwork } from '../registry.ts';
import { until } from '../until.ts';
import {
  DESTINATION,
  ETH,
  FEES,
  INTERMEDIATE,
  type Network,
  newPayer,
  result,
  SANDBOX,
  USDC,
  walletOn,
} from './paying-shop.ts';
import { openShop, type Shop } from './shop.ts';

const DEPTH = 3;
const RELAYER = signerFromKey(`0x${'1'.repeat(64)}`);
const OPERATOR = { actor: 'operator:ann (self-declared)', scope: 'merchant' } as const;

describe('the explanation of a payment that lives through a freeze, a reorganisation and a crash', () => {
  let database: TestDatabase;
  let node: TestGateway;
  let shop: Shop;
  let paymentId: string;
  let stopWorkers: (() => Promise<void>)[] = [];
  const sandbox = findNetwork(SANDBOX);
  assert.ok(sandbox);
  const { chain, control } = createMemoryChain({
    // Slow blocks, so that no fee is raised during the test.
    network: { ...sandbox, finality: { blockTimeMs: 12_000, depth: DEPTH, reason: 'test' } },
    world: systemWorld,
    isAutoMining: false,
    witnesses: 2,
  });
  const connected = {
    chain,
    relayers: [RELAYER],
    feeAccount: FEES,
    intermediateAccount: INTERMEDIATE,
    payable: () => [USDC],
    problems: () => [],
  };
  const chains: Chains = { find: (id) => (id === SANDBOX ? connected : undefined), list: () => [connected] };

  async function start(): Promise<void> {
    // The leases of a killed node are free after a second.
    const config = { leaseMs: 1_000 };
    node = await startTestGateway({ databaseUrl: database.url, chains, rates: sandboxRates(), config });
    stopWorkers.push(startWatching({ ...node, watching: { startAt: () => 0 } }));
  }
  const relay = () => stopWorkers.push(startRelaying(node));

  before(async () => {
    database = await createTestDatabase();
    control.setBalance(RELAYER.address, ETH, 10n ** 21n);
    control.mine();
    await start();
    shop = await openShop(node);
    await node.call({
      method: 'POST',
      url: `/v1/merchants/${shop.merchant.id}/settlements/crypto`,
      headers: { ...shop.headers, 'idempotency-key': freshKey() },
      payload: { settlements: [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }] },
    });
  });
  after(async () => {
    await Promise.all(stopWorkers.map((stop) => stop()));
    await node.stop();
    await database.drop();
  });

  /** The lines of all explanations so far. */
  const printedLines = new Set<string>();
  const explained = async () => {
    const { text } = await describeExplanation(node, chains, paymentId);
    for (const line of plain(text)) printedLines.add(line);
    return text;
  };
  const timeline = async () =>
    (await node.call({ url: `/v1/payments/${paymentId}/timeline`, headers: shop.headers })).json() as {
      status: string;
      omitted: number;
      entries: { what: string; text: string }[];
      waiting: { reason: string; text: string; since: string; until?: string } | null;
    };
  /** Both explanations give this reason. */
  const waits = (reason: string, words: RegExp) =>
    until(
      `it waits: ${words}`,
      async () => words.test(await explained()) && (await timeline()).waiting?.reason === reason,
    );
  const row = async (query: 'read' | 'lost') => {
    const { sql } = node.db;
    const rows = query === 'read' ? await sql`select from chain_events` : await sql`select from lost_events`;
    return rows.length > 0;
  };

  it('waits for the payer', async () => {
    paymentId = (await shop.created()).paymentId;
    await waits('payer', /Why it waits: It waits for the payer, until 20\S+Z\. Then it expires\./);
  });

  it('is stopped by a freeze before it is sent', async () => {
    const payer = newPayer({ chain, control } as Network, { [USDC]: 10_000_000n });
    const wallet = walletOn(node, { 'api-key': shop.secret });
    const option = await wallet.option(paymentId, payer.account, USDC);
    const confirmed = await wallet.confirm(paymentId, option.id, [result(await payer.sign(option))]);
    assert.equal(confirmed.json().status, 'processing', confirmed.body);
    await freeze(node, { ...OPERATOR, subject: shop.merchant.id, reason: 'the key may be stolen, case 42' });
    relay();
    await waits(
      'stopped',
      /Why it waits: The merchant mrch_\w+ is frozen since \S+ by operator:ann \(self-declared\): the key may be stolen, case 42\. `till unfreeze merchant mrch_\w+ --reason …` ends it/,
    );
    assert.match((await timeline()).waiting?.text ?? '', /^The operator of the gateway has stopped this payment\./);
  });

  it('goes on when the freeze is lifted, and waits for more blocks', async () => {
    await unfreeze(node, { ...OPERATOR, subject: shop.merchant.id, reason: 'the key is rotated' });
    await waits('sending', /Why it waits: Transaction 0x\w{64} was broadcast at \S+ and is in no block/);
    control.mine();
    await waits(
      'confirmations',
      /Why it waits: It is in block 2 and waits for 2 more blocks on Till sandbox, about 24 s\./i,
    );
  });

  it('is in no block again after a reorganisation', async () => {
    control.reorg(1, { length: 2, transactions: 'pending' });
    await until('the reorganisation is noticed', () => row('lost'));
    await waits('sending', /Why it waits: Transaction 0x\w{64} was broadcast/);
  });

  it('goes on in another process after a crash', async () => {
    // The database is gone before the workers can release their leases, as after a kill.
    await node.stop();
    await Promise.all(stopWorkers.map((stop) => stop()));
    stopWorkers = [];
    await start();
    relay();
    await until('others lead', async () => {
      const rows = await node.db.sql`select from lease_takeovers where not is_released`;
      return rows.length >= 2;
    });
    control.mine(1);
    await until('its block is read', () => row('read'));
    control.mine(DEPTH - 1);
    await until('it has succeeded', async () => (await timeline()).status === 'succeeded');
    const { waiting, entries, omitted } = await timeline();
    assert.deepEqual([waiting, omitted], [null, 0]);
    assert.doesNotMatch(
      JSON.stringify(entries),
      new RegExp(`${RELAYER.address}|lease|case 42|operator:ann|watcher|mrch_`, 'i'),
    );
    assert.deepEqual(
      entries.map(({ what }) => what),
      [
        'payment.created',
        'payment.processing',
        'attempt.accepted',
        'freeze.set',
        'freeze.lifted',
        'transaction.broadcast',
        'chain.paid',
        'chain.reorganised',
        'chain.paid',
        'payment.succeeded',
        'payment.settled',
      ],
    );
  });

  it('is explained as docs/operating.md shows it', async (context) => {
    const text = await explained();
    context.diagnostic(`\n${text}`);
    const page = await readFile(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');
    const blocks = page.matchAll(
      /```\n(?:npm run till -- explain pay_\w+\n\n)?((?:payment +pay_|Why it waits).*?)```/gs,
    );
    const examples = [...blocks].flatMap(([, lines = '']) => plain(lines));
    assert.ok(examples.length > 20, 'the page has examples');
    assert.deepEqual(
      examples.filter((line) => !printedLines.has(line)),
      [],
      `The page shows other lines than:\n${text}`,
    );
  });
});

/** The lines without ids, hashes, times and the widths of columns. */
function plain(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replace(/0x\w+/g, '0x')
        .replace(/\b(pay|mrch|prtn|key|evt)_\w+/g, '$1_')
        .replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'time')
        .replace(/ +/g, ' ')
        .trim(),
    );
}
