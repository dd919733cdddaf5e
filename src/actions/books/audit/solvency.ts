import { amountText, tokenText } from '../../../chains/amount-text.ts';
import type { ChainReader, Witness } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { ACCOUNTS, INTERMEDIATE } from '../../../domain/books.ts';
import { sum } from '../../../domain/money.ts';
import type { MacFields } from '../../../domain/row-mac.ts';
import { listReadings, owedAt, putReading, type SolvencyReading } from '../../../store/money/solvency.ts';
import { listFreezes, lockFreezes } from '../../../store/parties/freezes.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../../command.ts';
import { askWitnesses } from '../../evidence.ts';
import { intermediateAccounts } from '../../own-accounts.ts';
import { liftFreeze, putFreeze } from '../../parties/freeze.ts';
import { macsOf, type RowKeyDeps } from '../../row-keys.ts';
import { unbookedGas } from '../account-surplus.ts';

/** The actor of the freezes that this check sets. Only these are lifted automatically. */
const SOLVENCY = 'solvency';
const { withMac, isOwn: isOwnReading } = macsOf('solvency_readings', fieldsOf);

type SolvencyDeps = CommandDeps & RowKeyDeps;

/**
 * Compares the balance of our accounts in each asset with the amount that the books owe, at the last block that the watcher has
 * booked. A shortfall at two successive readings freezes all outgoing transfers of the asset; the freeze is lifted when the balance
 * covers the debt again. Nothing is decided while too few endpoints agree on the balance.
 */
export async function checkSolvency(deps: SolvencyDeps, connected: ConnectedChain): Promise<void> {
  const network = connected.chain.network.chainId;
  const accounts = await intermediateAccounts(deps, connected);
  const ask = { network, accounts, prefix: INTERMEDIATE, missing: ACCOUNTS.missing(''), outgoing: ACCOUNTS.outgoing };
  const owed = await owedAt(deps.db.sql, ask);
  if (owed?.hash === undefined) return;
  const { block, hash } = owed;
  const readings = (await listReadings(deps.db.sql, network)).filter((reading) => isOwnReading(deps, reading));
  const frozen = (await listFreezes(deps.db.sql)).filter(
    ({ scope, subject, actor }) => scope === 'asset' && subject.startsWith(`${network}/`) && actor === SOLVENCY,
  );
  const due = new Map(owed.assets.map((each) => [each.asset, each]));
  for (const { subject } of frozen) if (!due.has(subject)) due.set(subject, { asset: subject, owed: 0n, missing: 0n });
  for (const each of due.values()) {
    const own = readings.filter(({ asset }) => asset === each.asset);
    if (own.some((reading) => reading.block >= block && reading.hash === hash)) continue;
    const held = await heldAt(deps, connected, { accounts, asset: each.asset, block, hash });
    if (held === undefined) continue;
    const before = own.find((reading) => reading.block < block);
    const reading = { network, asset: each.asset, block, hash, owed: `${each.owed}`, held: `${held}` };
    const isFrozen = frozen.some(({ subject }) => subject === each.asset);
    await conclude(deps, { reading, before, isFrozen, isMissing: each.missing < 0n });
  }
}

/**
 * The balance of the accounts at the block, plus gas that is mined and not booked. Undefined while the endpoints do not agree on the
 * balance and on the hash of the block.
 */
async function heldAt(
  { db }: SolvencyDeps,
  { chain }: ConnectedChain,
  ask: { readonly accounts: readonly string[]; readonly asset: string; readonly block: number; readonly hash: string },
): Promise<bigint | undefined> {
  const { accounts, asset, block, hash } = ask;
  const { finding } = await askWitnesses(
    chain.reader,
    (witness) => testify(witness, ask),
    ({ key }) => key,
  );
  // A single endpoint can neither freeze an asset nor lift a freeze.
  if (finding.is !== 'agreed' || finding.value.hash !== hash) return undefined;
  const gas = asset === chain.network.coin.id ? await gasOf(db.sql, chain.reader, { accounts, block }) : 0n;
  return finding.value.held + gas;
}

async function gasOf(
  db: CommandDeps['db']['sql'],
  reader: ChainReader,
  { accounts, block }: { readonly accounts: readonly string[]; readonly block: number },
): Promise<bigint> {
  const spent = await Promise.all(accounts.map((account) => unbookedGas(db, reader, { account, block })));
  return sum(spent.map(({ units }) => units));
}

async function testify(
  witness: Witness,
  {
    accounts,
    asset,
    block: number,
  }: { readonly accounts: readonly string[]; readonly asset: string; readonly block: number },
) {
  const balances = await Promise.all(accounts.map((account) => witness.holding(account, asset, number)));
  // The block is read after the balances. After a reorg in between the block has another hash, and the balances do not count.
  const block = await witness.block(number);
  if (block === undefined) return undefined;
  const held = sum(balances);
  return { hash: block.hash, held, key: `${block.hash} ${held}` };
}

interface Conclusion {
  readonly reading: Omit<SolvencyReading, 'at' | 'mac'>;
  readonly before: SolvencyReading | undefined;
  readonly isFrozen: boolean;
  /**
   * True if the books contain spent money whose incoming transfer was removed by a reorg. Then a single reading that shows a shortfall is
   * enough for a freeze.
   */
  readonly isMissing: boolean;
}

async function conclude(deps: SolvencyDeps, { reading, before, isFrozen, isMissing }: Conclusion): Promise<void> {
  const isLacking = isShort(reading);
  const freezes = isLacking && !isFrozen && (isMissing || (before !== undefined && isShort(before)));
  const lifts = isFrozen && !isLacking;
  await command(deps, async (tx, at) => {
    // The freezes are locked first, because a database transaction that waits for this lock must not hold any other lock.
    if (freezes || lifts) await lockFreezes(tx);
    if (!(await putReading(tx, withMac(deps, { ...reading, at }), before?.block ?? 0))) return;
    if (!isMissing) await deleteAlert(tx, { name: 'money_missing', subject: reading.asset });
    if (freezes) await freezeAsset(tx, deps, reading, at);
    if (lifts) await liftAsset(tx, deps, reading, at);
  });
}

async function freezeAsset(tx: Tx, deps: SolvencyDeps, reading: Conclusion['reading'], since: Date): Promise<void> {
  const { asset, owed, held, block } = reading;
  const lack = amountText(deps.registry, asset, BigInt(owed) - BigInt(held));
  const reason = `at block ${block} our accounts hold ${tokenText(deps.registry, asset, BigInt(held))} and the books owe ${tokenText(deps.registry, asset, BigInt(owed))}: ${lack} are missing. Bring them to the intermediate account, or correct the books; the freeze lifts itself`;
  await putFreeze(tx, deps, { scope: 'asset', subject: asset, reason, actor: SOLVENCY, since });
  const message = `Our accounts hold ${lack} less than the books owe, at block ${block}. Nothing of it leaves until that is covered.`;
  await upsertAlert(tx, { name: 'shortfall', subject: asset, message, lastSeen: since });
}

async function liftAsset(tx: Tx, deps: SolvencyDeps, { asset, block }: Conclusion['reading'], at: Date): Promise<void> {
  const reason = `our accounts hold what the books owe, at block ${block}`;
  await liftFreeze(tx, deps, { scope: 'asset', subject: asset, reason, actor: SOLVENCY }, at);
  await deleteAlert(tx, { name: 'shortfall', subject: asset });
}

function isShort({ owed, held }: Pick<SolvencyReading, 'owed' | 'held'>): boolean {
  return BigInt(held) < BigInt(owed);
}

function fieldsOf({ network, asset, block, hash, owed, held }: Omit<SolvencyReading, 'mac'>): MacFields {
  return { network, asset, block: `${block}`, hash, owed, held };
}

export function solvencyLeaseName(network: string): string {
  return `solvency ${network}`;
}
