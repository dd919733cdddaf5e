import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import type { CommandDeps } from '../../src/actions/command.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { freeze } from '../../src/actions/parties/freeze.ts';
import type { RowKeyDeps } from '../../src/actions/row-keys.ts';
import { copyDatabase, type DatabaseCopy } from '../database-copy.ts';
import { DEPTH, type SimNetwork, tokensOn } from './networks.ts';
import { liftAll } from './operator.ts';
import { type Stage, Violation } from './stage.ts';
import { withNode } from './with-node.ts';

/** The operator gives up after this many rebuilds. */
const REBUILDS = 25;

/** The share of operators who say that the database was restored, as the runbook asks. */
const ANNOUNCES = 0.6;

/** A backup of the database, with what it has. */
interface Backup {
  readonly copy: DatabaseCopy;
  readonly payments: number;
  readonly addresses: number;
}

/** Copies the database in the middle of its work. */
export async function backUp(stage: Stage): Promise<Backup> {
  await stage.db.sql.unsafe('drop schema if exists copy cascade');
  const copy = await copyDatabase(stage.db);
  stage.scheduler.note('the database is backed up');
  return { copy, ...(await countsOf(stage)) };
}

/**
 * True if the backup has every payment and every address. The terms of an address that was never swept are in the database alone, so
 * nobody could bring those back.
 */
export async function isEnough(stage: Stage, { payments, addresses }: Backup): Promise<boolean> {
  const now = await countsOf(stage);
  return now.payments === payments && now.addresses === addresses;
}

async function countsOf({ sql }: Stage): Promise<{ payments: number; addresses: number }> {
  const rows = await sql<{ payments: number; addresses: number }[]>`
    select (select count(*) from payments)::int as payments, (select count(*) from deposits)::int as addresses`;
  return rows[0] ?? { payments: 0, addresses: 0 };
}

/**
 * All nodes end, and the database is what it was at the backup. The operator says so before the nodes start again, or forgets it:
 * then the gateway has to find out.
 */
export async function restore(stage: Stage, { copy }: Backup): Promise<void> {
  await stage.scheduler.pass(stage.newClient('operator'), 'restores the database');
  stage.isRestored = true;
  stage.frozen.clear();
  await stage.driver.busy(bringBack());
  stage.fault('restore');
  for (const index of stage.nodes.keys()) {
    stage.startNode(index);
    const node = stage.nodes[index];
    await Promise.race([node?.started, node?.crashed]);
  }

  async function bringBack(): Promise<void> {
    for (const node of stage.nodes) if (node?.isAlive) await node.crash();
    await copy.restore();
    const pieces = await stage.db.sql<{ id: string }[]>`select payment_id as id from payment_link_pieces`;
    for (const { id } of pieces) stage.piecesInBackup.add(id);
    if (stage.random.fork('operator').chance(ANNOUNCES)) await announceRestored(stage, stage.commandDeps);
    else stage.scheduler.note('the operator forgets to say that the database was restored');
  }
}

async function announceRestored({ networks }: Stage, deps: CommandDeps & RowKeyDeps): Promise<void> {
  for (const { connected } of networks) {
    const subject = connected.chain.network.chainId;
    await freeze(deps, { scope: 'restored', subject, reason: 'the database was restored', actor: 'operator' });
  }
}

/** The operator credits floats again, rebuilds every network, and lifts what is left of old freezes. */
export async function rebuildAll(stage: Stage): Promise<void> {
  for (const network of stage.networks) await rebuildOne(stage, network);
  await liftAll(stage);
}

async function rebuildOne(stage: Stage, network: SimNetwork): Promise<void> {
  const { chainId } = network.connected.chain.network;
  const random = stage.random.fork(`rebuild ${chainId}`);
  const by = stage.newClient('operator');
  const { number } = await network.connected.chain.reader.head();
  let problem = 'the chain was not read';
  for (let tries = 0; tries < REBUILDS; tries += 1) {
    await stage.scheduler.sleep(by, random.between(5_000, 15_000));
    if (!(await isRead(stage, chainId, number - DEPTH))) continue;
    await creditAgain(stage, network);
    let isDone = false;
    await withNode(stage, by, random, `rebuilds ${chainId}`, async (deps) => {
      const connected = deps.chains.find(chainId);
      const report = connected && (await rebuild(deps, connected, { from: 0 }));
      const [unplaced] = report?.unplaced ?? [];
      problem = unplaced === undefined ? problem : `${unplaced.id} ${unplaced.problem}`;
      isDone = report !== undefined && unplaced === undefined;
      stage.scheduler.note(`rebuilt ${report?.rebuilt.length} on ${chainId}, ${report?.unplaced.length} unplaced`);
    });
    if (isDone) return;
  }
  throw new Violation('rebuild places everything', `${chainId}: ${problem}`);
}

async function isRead({ sql }: Stage, chainId: string, height: number): Promise<boolean> {
  const rows = await sql`select from chain_cursors where network = ${chainId} and final_number >= ${height}`;
  return rows.length > 0;
}

/** The chain does not say whose a top-up is: the operator does, once more. */
async function creditAgain(stage: Stage, network: SimNetwork): Promise<void> {
  const by = stage.newClient('operator');
  const random = stage.random.fork('floats again');
  for (const { owner, transactionHash } of stage.topUps) {
    for (const asset of tokensOn([network])) {
      await withNode(stage, by, random, `credits the float of ${owner} again`, (deps) =>
        addFloat(deps, { owner, asset, transactionHash, actor: 'operator' }),
      );
    }
  }
}
