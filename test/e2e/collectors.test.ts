import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import type { Hex } from 'viem';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { NOT_OURS } from '../../src/actions/books/restore/restoring.ts';
import { command } from '../../src/actions/command.ts';
import { unownedOf } from '../../src/actions/outgoing/return/record-unexpected-transfers.ts';
import { connectChains } from '../../src/chains/connect.ts';
import { COLLECTORS, type ContractRelease } from '../../src/chains/evm/collectors.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import type { Network } from '../../src/chains/network.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { findItemsOf } from '../../src/store/chain/items.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { type FaultChain, startFaultChain } from '../faults/fault-chain.ts';
import { openShopper, type SignedPayment } from '../faults/shopper.ts';
import firstCollector from '../fixtures/releases/collector-2026-11-15.json' with { type: 'json' };
import { startTestGateway } from '../gateway.ts';
import { findNetwork } from '../registry.ts';
import { INTERMEDIATE, type OptionBody } from './paying-shop.ts';

const NETWORK = 'eip155:31337';
const SCRIPT = join(import.meta.dirname, '../../docs/verify-receipt.mjs');
/** The first release, which showed the ids of payments, and the newest one. */
const OLDER = COLLECTORS[0] as ContractRelease;
const NEWEST = COLLECTORS.at(-1) as ContractRelease;

type Node = Awaited<ReturnType<typeof startNode>>;

describe('a payment that was signed for an older Collector', () => {
  let chain: FaultChain;
  let database: TestDatabase;
  let folder: string;
  /** A node from before the newest release, which only answers requests; and one that knows both, and does all the work. */
  let former: Node;
  let current: Node;
  let shopper: Awaited<ReturnType<typeof openShopper>>;
  let older: SignedPayment;
  let newer: SignedPayment;
  let coin: { id: string; merchant: SignedPayment['merchant'] };

  before(async () => {
    [chain, database, folder] = await Promise.all([
      startFaultChain({ payers: 4 }),
      createTestDatabase(),
      mkdtemp(join(tmpdir(), 'till-collectors-')),
    ]);
    await chain.request('hardhat_setCode', OLDER.address, firstCollector.deployedBytecode);
    former = await startNode(chain, database, { collectors: [OLDER], isIdle: true });
  });
  after(async () => {
    await current?.stop();
    await former?.stop();
    await chain.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const collectorOf = async (paymentId: string) => (await findItemsOf(former.gateway.db.sql, paymentId))[0]?.collector;

  it('is carried out by that one, while new payments are signed for the newest', async () => {
    shopper = await openShopper({ chain, gateway: former.gateway });
    older = await shopper.pay();
    const { payCoin, ...offered } = await offerCoin();
    coin = offered;
    current = await startNode(chain, database, { collectors: [OLDER, NEWEST] });
    newer = await shopper.pay({ on: current.gateway });
    await payCoin();

    for (const payment of [older, newer, coin]) await shopper.reaches(payment, 'succeeded');
    await shopper.isPaidOnce(older);
    await shopper.isPaidOnce(newer);
    assert.deepEqual(
      [await collectorOf(older.id), await collectorOf(newer.id), await collectorOf(coin.id)],
      [OLDER.address, NEWEST.address, OLDER.address],
    );
    const { info } = await shopper.view(older);
    const mined = await chain.request<{ to: string }>('eth_getTransactionByHash', info?.txId);
    assert.equal(mined.to, OLDER.address.toLowerCase());
  });

  /** A payment in coin whose transaction was handed out, and the way to send it. */
  async function offerCoin() {
    const payer = chain.newPayer();
    const { id, merchant } = await shopper.create({ asset: SANDBOX_ASSETS.native });
    const listed = await shopper.wallet.options(id, [`${NETWORK}:${payer.address}`]);
    const option = (listed.json().options as OptionBody[]).find(({ amount }) => amount.unit.includes('/slip44:'));
    assert.ok(option, listed.body);
    const fetched = await shopper.wallet.fetch(id, option.id);
    assert.equal(fetched.statusCode, 200, fetched.body);
    const [call] = fetched.json().actions[0].data.params as { to: Hex; data: Hex; value: Hex }[];
    assert.equal(call?.to, OLDER.address.toLowerCase());
    const payCoin = () => chain.carryOut(payer, { ...call, value: BigInt(call?.value ?? '0x0') });
    return { id, merchant, payCoin };
  }

  async function receiptOf({ id, merchant }: Pick<SignedPayment, 'id' | 'merchant'>) {
    const headers = { ...shopper.headers, 'merchant-id': merchant.id };
    const response = await current.gateway.call({ url: `/v1/payments/${id}/receipt`, headers });
    assert.equal(response.statusCode, 200, response.body);
    return response.json() as { receipt: Record<string, string> };
  }

  /** Runs the script as a merchant would; with the releases that a later version of it will list. */
  async function verify(signed: unknown, releases: readonly ContractRelease[]) {
    const [script, receipt, keys] = ['verify.mjs', 'receipt.json', 'keys.json'].map((name) => join(folder, name));
    const list = `const COLLECTORS = [${releases.map(({ address }) => `'${address}'`).join(', ')}];`;
    const text = (await readFile(SCRIPT, 'utf8')).replace(/^const COLLECTORS = \[.*?\];$/ms, list);
    await writeFile(script as string, text);
    await writeFile(receipt as string, JSON.stringify(signed));
    await writeFile(keys as string, (await current.gateway.call({ url: '/.well-known/till-receipts.json' })).body);
    const argv = [script, receipt, '--key', keys, '--rpc', chain.url] as string[];
    return new Promise<{ code: number; output: string }>((resolve) => {
      execFile(process.execPath, argv, { timeout: 20_000 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
      );
    });
  }

  it('has a receipt that verifies, and names that Collector', async () => {
    for (const payment of [older, coin]) {
      const signed = await receiptOf(payment);
      assert.equal(signed.receipt.collector, OLDER.address);
      const known = await verify(signed, [OLDER, NEWEST]);
      assert.equal(known.code, 0, known.output);
      const unknown = await verify(signed, [NEWEST]);
      assert.equal(unknown.code, 1);
      assert.match(unknown.output, /a contract that is not the Collector/);
    }
    assert.equal((await verify(await receiptOf(newer), [OLDER, NEWEST])).code, 0);
  });

  it('agrees with the books, and is found again on the chain when it is lost; nothing without a seal moves one that is there', async () => {
    const { gateway, connected } = current;
    const differences = async () => (await reconcile(gateway, connected, { from: 0 }))?.differences;
    assert.deepEqual(await differences(), []);
    const [before] = await findItemsOf(gateway.db.sql, older.id);
    await command(gateway, async (tx) => {
      await tx.unsafe('set local session_replication_role = replica');
      await tx`delete from relay_items where commitment = ${before?.commitment ?? ''}`;
      await tx`delete from items where commitment = ${before?.commitment ?? ''}`;
    });
    const refused = await rebuild(gateway, connected, { from: 0 });
    assert.deepEqual([refused?.rebuilt, refused?.unplaced], [[], [{ id: older.id, problem: NOT_OURS }]]);
    await command(gateway, async (tx) => {
      await tx.unsafe('set local session_replication_role = replica');
      await tx`delete from payments where id = ${older.id}`;
    });
    const report = await rebuild(gateway, connected, { from: 0, merchantId: older.merchant.id });
    assert.deepEqual([report?.rebuilt, report?.unplaced], [[older.id], []]);
    const [after] = await findItemsOf(gateway.db.sql, older.id);
    const { commitment, collector, deadline, feeAccount } = before ?? {};
    assert.deepEqual(
      [after?.commitment, after?.collector, after?.deadline, after?.feeAccount, after?.state],
      [commitment, collector, deadline, feeAccount, 'paid'],
    );
    assert.equal((await receiptOf(older)).receipt.collector, OLDER.address);
    assert.deepEqual(await differences(), []);
  });

  it('counts as no unexpected money, though it reached an account of ours from that Collector', async () => {
    const [item] = await findItemsOf(current.gateway.db.sql, older.id);
    const { chain: network } = current.connected;
    const accounts = new Set([item?.recipient ?? '']);
    const found = await network.reader.incoming(accounts, 0, (await network.reader.head()).number);
    assert.notEqual(found.length, 0);
    assert.deepEqual(await unownedOf(current.gateway.db.sql, { network: NETWORK, accounts }, found), []);
  });
});

async function startNode(
  chain: FaultChain,
  database: TestDatabase,
  { collectors, isIdle = false }: { collectors: readonly ContractRelease[]; isIdle?: boolean },
) {
  const log = pino({ level: 'silent' });
  const finality = { blockTimeMs: 400, depth: 1, reason: 'test' };
  const chains = connectChains({ world: systemWorld, log }, [
    {
      chain: createEvmChain({
        world: systemWorld,
        network: { ...(findNetwork(NETWORK) as Network), finality },
        endpoints: [chain.url],
        collectors,
      }),
      relayers: [createLocalSigner(SANDBOX_KEYS.relayer)],
      feeAccount: SANDBOX_ACCOUNTS.feeAccount,
      // The sandbox's own has money from the start, which no books tell of.
      intermediateAccount: INTERMEDIATE,
    },
  ]);
  await chains.firstCheck;
  const connected = chains.find(NETWORK);
  if (connected === undefined) throw new Error('The node has no chain.');
  const gateway = await startTestGateway({ databaseUrl: database.url, chains, rates: sandboxRates() });
  const deps = { ...gateway, world: systemWorld, log };
  const works = isIdle ? [] : [startRelaying(deps), startWatching({ ...deps, watching: { startAt: () => 0 } })];
  return {
    gateway,
    connected,
    async stop() {
      await Promise.all(works.map((stop) => stop()));
      await chains.stop();
      await gateway.stop();
    },
  };
}
