import {
  type Block,
  type Chain,
  type ChainEvent,
  ChainUnavailableError,
  type Incoming,
  type Witness,
} from '../chains/chain.ts';
import {
  type Finding,
  type Heights,
  LONE_DEPTH_FACTOR,
  type QuorumRule,
  type ReportedNonce,
  type Statement,
  weigh,
  weighHeights,
  weighNonces,
} from '../domain/quorum.ts';

/** The answers of a chain's endpoints about a fact, and the resulting finding. */
export interface Reported<T> {
  readonly finding: Finding<T>;
  readonly statements: readonly Statement<T>[];
}

/**
 * Asks two endpoints about a fact, and the others only if those two disagree. `ask` returns undefined if the endpoint does not know
 * yet. An endpoint contradicted by two others is asked last from then on.
 */
export async function askWitnesses<T>(
  chain: Chain,
  ask: (witness: Witness) => Promise<T | undefined>,
  keyOf?: (value: T) => unknown,
): Promise<Reported<T>> {
  const witnesses = chain.witnesses();
  const rule = ruleOf(chain, witnesses);
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

/** The height of the chain by the same quorum: of its head, or of the block that `ask` returns. */
export async function askHeights(
  chain: Chain,
  ask: (witness: Witness) => Promise<Block | undefined> = (witness) => witness.head(),
): Promise<Heights> {
  const witnesses = chain.witnesses();
  const heightOf = async (witness: Witness) => (await ask(witness))?.number;
  const first = await testimonies(witnesses.slice(0, 2), heightOf);
  const rule = ruleOf(chain, witnesses);
  const heights = weighHeights(first, rule);
  if (heights.agreed !== undefined || witnesses.length <= 2) return heights;
  return weighHeights([...first, ...(await testimonies(witnesses.slice(2), heightOf))], rule);
}

/**
 * The number of the account's mined transactions. Two endpoints are asked, and the others if those two differ, because then one of
 * the two is behind or lies.
 */
export async function askNonce(chain: Chain, account: string): Promise<ReportedNonce> {
  const witnesses = chain.witnesses();
  const ask = (witness: Witness) => witness.minedNonce(account);
  const first = await testimonies(witnesses.slice(0, 2), ask);
  const isSame = new Set(first.map(({ answer }) => answer)).size === 1;
  const others = isSame ? [] : await testimonies(witnesses.slice(2), ask);
  return weighNonces([...first, ...others], ruleOf(chain, witnesses));
}

export interface ReportedBlock {
  readonly block: Block;
  /** True if only one endpoint confirms the block. */
  readonly isAlone: boolean;
}

/** The block at that height. Throws while too few endpoints report the same one. */
export async function askBlock(chain: Chain, number: number): Promise<ReportedBlock> {
  const { finding, statements } = await askWitnesses(chain, (witness) => witness.block(number), blockKey);
  if (finding.is === 'agreed' || finding.is === 'alone')
    return { block: finding.value, isAlone: finding.is === 'alone' };
  const answers = describeStatements(statements, ({ hash }) => hash);
  throw new ChainUnavailableError(chain.network.chainId, `the endpoints do not agree on block ${number}: ${answers}`);
}

/** The identity of a block. It includes the time, because a lying endpoint may report the right hash with a wrong time. */
export function blockKey({ hash, timestampS }: Block): string {
  return `${hash} ${timestampS}`;
}

export interface ReportedEvents {
  /** Every event that at least one endpoint reports. The caller must prove an event before it applies it. */
  readonly events: readonly ChainEvent[];
  /** The events that enough endpoints report identically. */
  readonly agreed: readonly ChainEvent[];
  readonly isAlone: boolean;
}

/** The events of these blocks according to the endpoints. Throws while too few of them answer. */
export async function askEvents(chain: Chain, fromBlock: number, toBlock: number): Promise<ReportedEvents> {
  const { finding, statements } = await askWitnesses(
    chain,
    (witness) => witness.events(fromBlock, toBlock),
    () => 'an answer',
  );
  if (finding.is !== 'agreed' && finding.is !== 'alone') {
    throw new ChainUnavailableError(chain.network.chainId, 'too few endpoints can be asked about its events');
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

/** The transfers of a transaction that enough endpoints report, and whether those endpoints consider their block final. */
export async function askTransfers(
  chain: Chain,
  hash: string,
): Promise<{ readonly transfers: readonly Incoming[]; readonly isFinal: boolean; readonly isAlone: boolean }> {
  const [heights, { finding, statements }] = await Promise.all([
    askHeights(chain),
    askWitnesses(
      chain,
      (witness) => witness.transfers(hash),
      (transfers) => transfers.map(transferKey).join(),
    ),
  ]);
  if (finding.is !== 'agreed' && finding.is !== 'alone') {
    const answers = describeStatements(statements, (transfers) => `${transfers.length} transfers`);
    throw new ChainUnavailableError(chain.network.chainId, `the endpoints do not agree on ${hash}: ${answers}`);
  }
  const isAlone = finding.is === 'alone' || heights.agreed === undefined;
  const depth = (chain.network.finality?.depth ?? 1) * (isAlone ? LONE_DEPTH_FACTOR : 1);
  const reached = isAlone ? (heights.alone ?? heights.agreed ?? -1) : (heights.agreed ?? -1);
  const isFinal = finding.value.every(({ block }) => reached - block.number + 1 >= depth);
  return { transfers: finding.value, isFinal, isAlone };
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

function ruleOf({ network }: Chain, witnesses: readonly Witness[]): QuorumRule {
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
