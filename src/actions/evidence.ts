import { ChainUnavailableError } from '../chains/chain-errors.ts';
import type {
  Block,
  ChainEvent,
  ChainReader,
  Incoming,
  Receipt,
  UnreadableLog,
  Witness,
} from '../chains/chain-reader.ts';
import {
  type Finding,
  type Heights,
  LONE_DEPTH_FACTOR,
  type QuorumRule,
  type ReportedSlots,
  type Statement,
  weigh,
  weighHeights,
  weighSlots,
} from '../domain/quorum.ts';
import { isoText } from '../domain/wait-words.ts';

/** The answers of a chain's endpoints about a fact, and the resulting finding. */
export interface Reported<T> {
  readonly finding: Finding<T>;
  readonly statements: readonly Statement<T>[];
}

/**
 * Asks two endpoints about a fact, and further endpoints only if those two do not agree. `ask` returns undefined if the endpoint does not
 * know the fact yet. An endpoint contradicted by two others is asked last from then on.
 */
export async function askWitnesses<T>(
  reader: ChainReader,
  ask: (witness: Witness) => Promise<T | undefined>,
  keyOf?: (value: T) => unknown,
): Promise<Reported<T>> {
  const witnesses = reader.witnesses();
  const rule = ruleOf(reader, witnesses);
  let statements = await testimonies(witnesses.slice(0, 2), ask);
  let finding = weigh(statements, rule, keyOf);
  if (finding.is !== 'agreed' && witnesses.length > 2) {
    statements = [...statements, ...(await testimonies(witnesses.slice(2), ask))];
    finding = weigh(statements, rule, keyOf);
  }
  if (finding.is === 'agreed') {
    const { dissenters } = finding;
    for (const witness of witnesses) if (dissenters.includes(witness.name)) witness.distrust();
  }
  return { finding, statements };
}

/** The height of the chain's head, or of the block that `ask` returns, as two endpoints report it. */
export async function askHeights(
  reader: ChainReader,
  ask: (witness: Witness) => Promise<Block | undefined> = (witness) => witness.head(),
): Promise<Heights> {
  const witnesses = reader.witnesses();
  const heightOf = async (witness: Witness) => (await ask(witness))?.number;
  const first = await testimonies(witnesses.slice(0, 2), heightOf);
  const rule = ruleOf(reader, witnesses);
  const heights = weighHeights(first, rule);
  if (heights.agreed !== undefined || witnesses.length <= 2) return heights;
  return weighHeights([...first, ...(await testimonies(witnesses.slice(2), heightOf))], rule);
}

/**
 * The number of the account's used slots (on EVM chains, its nonce). Two endpoints are asked. Further endpoints are asked only if those
 * two differ, because then one of them is behind or lies.
 */
export async function askUsedSlots(reader: ChainReader, account: string): Promise<ReportedSlots> {
  const witnesses = reader.witnesses();
  const ask = (witness: Witness) => witness.usedSlots(account);
  const first = await testimonies(witnesses.slice(0, 2), ask);
  const isSame = new Set(first.map(({ answer }) => answer)).size === 1;
  const others = isSame ? [] : await testimonies(witnesses.slice(2), ask);
  return weighSlots([...first, ...others], ruleOf(reader, witnesses));
}

export interface ReportedBlock {
  readonly block: Block;
  /** True if only one endpoint confirms the block. */
  readonly isAlone: boolean;
}

/** The block at this height. Throws while too few endpoints report the same block. */
export async function askBlock(reader: ChainReader, number: number): Promise<ReportedBlock> {
  const { finding, statements } = await askWitnesses(reader, (witness) => witness.block(number), blockKey);
  if (finding.is === 'agreed' || finding.is === 'alone')
    return { block: finding.value, isAlone: finding.is === 'alone' };
  const answers = describeStatements(statements, ({ hash }) => hash);
  throw new ChainUnavailableError(reader.network.chainId, `the endpoints do not agree on block ${number}: ${answers}`);
}

/** The identity of a block. It includes the time, because a lying endpoint may report the right hash with a wrong time. */
export function blockKey({ hash, timestampS }: Block): string {
  return `${hash} ${timestampS}`;
}

/** A sentence about endpoints that show different blocks at the same height, or different times of the same block. */
export function disputedBlock(number: number, statements: readonly Statement<Block>[]): string {
  const show = ({ hash, timestampS }: Block) => `${isoText(timestampS * 1000)} in ${hash}`;
  return `The time of block ${number}: ${describeStatements(statements, show)}.`;
}

export interface ReportedEvents {
  /** Every event that at least one endpoint reports. The caller must prove an event before it applies it. */
  readonly events: readonly ChainEvent[];
  /** The events that enough endpoints report identically. */
  readonly agreed: readonly ChainEvent[];
  readonly isAlone: boolean;
}

/** The events of these blocks according to the endpoints. Throws while too few of them answer. */
export async function askEvents(reader: ChainReader, fromBlock: number, toBlock: number): Promise<ReportedEvents> {
  const { finding, statements } = await askWitnesses(
    reader,
    (witness) => witness.events(fromBlock, toBlock),
    () => 'an answer',
  );
  if (finding.is !== 'agreed' && finding.is !== 'alone') {
    throw new ChainUnavailableError(reader.network.chainId, 'too few endpoints can be asked about its events');
  }
  const lists = statements.flatMap(({ answer }) =>
    answer === undefined ? [] : [new Map(answer.map((e) => [eventKey(e), e]))],
  );
  const events = new Map(lists.flatMap((list) => [...list]));
  const needed = Math.min(2, lists.length);
  const agreed = [...events].filter(([key]) => lists.filter((list) => list.has(key)).length >= needed);
  return { events: [...events.values()], agreed: agreed.map(([, event]) => event), isAlone: finding.is === 'alone' };
}

function eventKey(event: ChainEvent): string {
  return JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

/** The transfers of a transaction on chain that enough endpoints report, and whether all of them lie at final depth. */
export async function askTransfers(
  reader: ChainReader,
  hash: string,
): Promise<{ readonly transfers: readonly Incoming[]; readonly isFinal: boolean; readonly isAlone: boolean }> {
  const [heights, { finding, statements }] = await Promise.all([
    askHeights(reader),
    askWitnesses(
      reader,
      (witness) => witness.transfers(hash),
      (transfers) => transfers.map(transferKey).join(),
    ),
  ]);
  if (finding.is !== 'agreed' && finding.is !== 'alone') {
    const answers = describeStatements(statements, (transfers) => `${transfers.length} transfers`);
    throw new ChainUnavailableError(reader.network.chainId, `the endpoints do not agree on ${hash}: ${answers}`);
  }
  const isAlone = finding.is === 'alone' || heights.agreed === undefined;
  const depth = (reader.network.finality?.depth ?? 1) * (isAlone ? LONE_DEPTH_FACTOR : 1);
  const reached = isAlone ? (heights.alone ?? heights.agreed ?? -1) : (heights.agreed ?? -1);
  const isFinal = finding.value.every(({ block }) => reached - block.number + 1 >= depth);
  return { transfers: finding.value, isFinal, isAlone };
}

/** The balance of an account at a block. Throws while too few endpoints report the same balance. */
export async function askHolding(
  reader: ChainReader,
  { account, asset, block }: { readonly account: string; readonly asset: string; readonly block: number },
): Promise<bigint> {
  const { finding, statements } = await askWitnesses(reader, (witness) => witness.holding(account, asset, block));
  if (finding.is === 'agreed' || finding.is === 'alone') return finding.value;
  const answers = describeStatements(statements);
  throw new ChainUnavailableError(
    reader.network.chainId,
    `the endpoints do not agree on what ${account} holds at block ${block}: ${answers}`,
  );
}

/** The receipt of a transaction. Undefined if enough endpoints have none. Throws while too few endpoints agree. */
export async function askReceipt(reader: ChainReader, hash: string): Promise<Receipt | undefined> {
  const { finding, statements } = await reportedReceipt(reader, hash);
  if (finding.is === 'agreed' || finding.is === 'alone')
    return finding.value === NO_RECEIPT ? undefined : finding.value;
  const answers = describeStatements(statements, (each) =>
    each === NO_RECEIPT ? each : `block ${each.block.number} at a cost of ${each.coinSpent}`,
  );
  throw new ChainUnavailableError(reader.network.chainId, `the endpoints do not agree on ${hash}: ${answers}`);
}

export const NO_RECEIPT = 'no receipt';
export type ReceiptAnswer = Receipt | typeof NO_RECEIPT;

/** The answers about the receipt of a transaction: its block, its outcome and its cost. */
export function reportedReceipt(reader: ChainReader, hash: string): Promise<Reported<ReceiptAnswer>> {
  return askWitnesses<ReceiptAnswer>(
    reader,
    async (witness) => (await witness.receipt(hash)) ?? NO_RECEIPT,
    receiptKey,
  );
}

function receiptKey(answer: ReceiptAnswer): string {
  if (answer === NO_RECEIPT) return NO_RECEIPT;
  return [answer.block.hash, answer.isReverted, answer.from, answer.workSpent, answer.coinSpent].join(' ');
}

export interface ReportedTransfers {
  readonly transfers: readonly Incoming[];
  readonly unreadable: readonly UnreadableLog[];
  /** The different answers as a sentence, if the endpoints contradict each other. The caller then uses nothing from these blocks. */
  readonly dispute: string | undefined;
}

/**
 * The maximum number of differing transfers that are checked one by one. If endpoints differ in more transfers, none of these is checked.
 */
const MAX_DOUBTFUL = 20;

/**
 * The transfers of known tokens from and to these accounts, as enough endpoints report them. A transfer that only one endpoint lists must
 * be in the receipt of its transaction, because lists of logs are sometimes incomplete. Throws while too few endpoints answer.
 */
export async function askTouching(
  reader: ChainReader,
  accounts: ReadonlySet<string>,
  fromBlock: number,
  toBlock: number,
): Promise<ReportedTransfers> {
  const { finding, statements } = await askWitnesses(
    reader,
    async (witness) => {
      const unreadable: UnreadableLog[] = [];
      const transfers = await witness.touching(accounts, fromBlock, toBlock, (log) => unreadable.push(log));
      return { transfers, unreadable };
    },
    ({ transfers }) => transfers.map(transferKey).join(),
  );
  if (finding.is === 'agreed' || finding.is === 'alone') return { ...finding.value, dispute: undefined };
  const { chainId: network } = reader.network;
  if (finding.is === 'open') throw new ChainUnavailableError(network, 'too few endpoints can be asked for transfers');
  const lists = statements.flatMap(({ answer }) => answer ?? []);
  const listed = Map.groupBy(
    lists.flatMap(({ transfers }) => transfers),
    transferKey,
  );
  const doubtful = [...listed.values()].flatMap(([transfer, ...others]) =>
    transfer !== undefined && others.length === 0 ? [transfer] : [],
  );
  const answers = describeStatements(statements, ({ transfers }) => `${transfers.length} transfers`);
  const dispute = `Transfers of our accounts in the blocks ${fromBlock} to ${toBlock}: ${answers}.`;
  const unreadable = lists.flatMap((list) => list.unreadable);
  if (doubtful.length > MAX_DOUBTFUL) return { transfers: [], unreadable, dispute };
  const denied = new Set<string>();
  for (const transfer of doubtful) {
    const shown = await askTransfers(reader, transfer.transactionHash).catch(orUndefined);
    if (shown === undefined) return { transfers: [], unreadable, dispute };
    const key = transferKey(transfer);
    if (!shown.transfers.some((each) => transferKey(each) === key)) denied.add(key);
  }
  const transfers = [...listed].flatMap(([key, [transfer]]) =>
    transfer === undefined || denied.has(key) ? [] : [transfer],
  );
  const isKept = ({ place }: UnreadableLog) =>
    transfers.some((each) => each.transactionHash === place?.transactionHash && each.logIndex === place.logIndex);
  const inOrder = transfers.toSorted((a, b) => a.block.number - b.block.number || a.logIndex - b.logIndex);
  return { transfers: inOrder, unreadable: unreadable.filter((log) => !isKept(log)), dispute: undefined };
}

function orUndefined(error: unknown): undefined {
  if (error instanceof ChainUnavailableError) return undefined;
  throw error;
}

function transferKey({ block, logIndex, asset, from, to, amount }: Incoming): string {
  return [block.hash, logIndex, asset, from, to, amount].join(' ');
}

export function describeStatements<T>(
  statements: readonly Statement<T>[],
  show: (value: T) => string = String,
): string {
  return statements.map(({ by, answer }) => `${by} says ${answer === undefined ? 'nothing' : show(answer)}`).join(', ');
}

function ruleOf({ network }: ChainReader, witnesses: readonly Witness[]): QuorumRule {
  return { endpoints: witnesses.length, isTrustedAlone: network.isTrustedAlone ?? false };
}

function testimonies<T>(
  witnesses: readonly Witness[],
  ask: (witness: Witness) => Promise<T | undefined>,
): Promise<Statement<T>[]> {
  return Promise.all(
    witnesses.map(async (witness) => {
      const answer = await ask(witness).catch((error: unknown) => {
        if (error instanceof ChainUnavailableError) return undefined;
        throw error;
      });
      return { by: witness.name, answer, silentForMs: witness.silentForMs() };
    }),
  );
}
