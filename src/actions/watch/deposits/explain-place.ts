import type { Block, ChainReader, Incoming, Witness } from '../../../chains/chain-reader.ts';
import { finalityOf, isSmall } from '../../../chains/finality.ts';
import type { RegistryDeps } from '../../../chains/registry.ts';
import { LONE_DEPTH_FACTOR } from '../../../domain/quorum.ts';
import { type DepositPlace, sumSweeps } from '../../../store/chain/deposit-places.ts';
import type { OpenDeposit } from '../../../store/chain/deposits.ts';
import { listUnproved, type StoredMovement } from '../../../store/chain/movements.ts';
import { sumMovements } from '../../../store/chain/place-checkpoints.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { askHeights, askWitnesses, blockKey, describeStatements } from '../../evidence.ts';
import type { View, Watcher } from '../watcher.ts';

/**
 * The maximum number of movements that a check proves one by one, by the receipts of their transactions. These are the largest movements.
 * The balance proves the smaller ones together, because anybody may send thousands of them.
 */
const MAX_RECEIPTS = 20;

/** The money at a deposit address at a final block, as enough endpoints report it. */
export interface Explained {
  readonly is: 'known';
  readonly block: Block;
  /** True if only one endpoint confirms the block and the balances. */
  readonly isAlone: boolean;
  /** Movements that this check proves. */
  readonly proved: readonly StoredMovement[];
  /** Stored movements that enough endpoints deny. */
  readonly refuted: readonly StoredMovement[];
  /** True if every movement up to the block is proved. If false, the next check continues. */
  readonly isWhole: boolean;
  /** By asset: the balance minus all listed movements and sweeps. Negative if money has left without a sweep. */
  readonly unlisted: ReadonlyMap<string, bigint>;
}

export type Explanation =
  | Explained
  /** Too few endpoints have answered, or a sweep is not proved yet. */
  | { readonly is: 'open' }
  | { readonly is: 'disputed'; readonly answers: string };

const OPEN = { is: 'open' } as const;

/**
 * Compares the listed movements of an address with the chain at a block: balances, receipts and times, from two endpoints. The list
 * came from one endpoint and proves nothing.
 */
export async function explainPlace(
  db: Reader,
  reader: ChainReader,
  place: DepositPlace,
  { number, tokens }: { readonly number: number; readonly tokens: readonly string[] },
): Promise<Explanation> {
  const { network, commitment, address } = place;
  const at = { network, commitment, upTo: number };
  const [listed, swept, unproved] = await Promise.all([
    sumMovements(db, at),
    sumSweeps(db, at),
    listUnproved(db, { ...at, limit: MAX_RECEIPTS + 1 }),
  ]);
  if (swept.isUndecided) return OPEN;
  // The endpoints are asked only about served tokens, because anybody can sweep a token of their own from the address.
  const isServed = (asset: string) => reader.network.assets.get(asset)?.pay !== undefined;
  const assets = [...new Set([...tokens, ...listed.keys(), ...swept.totals.keys()])].filter(isServed).toSorted();
  const named = unproved.slice(0, MAX_RECEIPTS);
  const { finding, statements } = await askWitnesses(
    reader,
    (witness) => testify(witness, { address, assets, number, named, isTrusted: isTrusted(reader) }),
    ({ key }) => key,
  );
  if (finding.is === 'open') return OPEN;
  if (finding.is === 'disputed') {
    const answers = describeStatements(statements, ({ block, balances }) => `${balances.join(', ')} at ${block.hash}`);
    return { is: 'disputed', answers: `The money of ${address} at block ${number}: ${answers}.` };
  }
  const { block, balances, shown } = finding.value;
  const proved = named.filter((_, index) => shown[index] === true);
  const refuted = named.filter((_, index) => shown[index] === false);
  const denied = new Map<string, bigint>();
  for (const { asset, amount } of refuted) denied.set(asset, (denied.get(asset) ?? 0n) + BigInt(amount));
  const unlisted = new Map(
    assets.map((asset, index) => {
      const explained = (listed.get(asset) ?? 0n) - (denied.get(asset) ?? 0n) - (swept.totals.get(asset) ?? 0n);
      return [asset, (balances[index] ?? 0n) - explained];
    }),
  );
  const isExact = [...unlisted.values()].every((units) => units === 0n);
  const hasMore = unproved.length > MAX_RECEIPTS;
  const rest = isExact && hasMore ? await listUnproved(db, { ...at, limit: MAX_REST }) : [];
  const others = rest.filter((each) => !named.some((one) => isSame(one, each)));
  return {
    is: 'known',
    block,
    isAlone: finding.is === 'alone',
    proved: [...proved, ...others],
    refuted,
    isWhole: !hasMore || (isExact && rest.length < MAX_REST),
    unlisted,
  };
}

/** The maximum number of small movements that one check proves at once. */
const MAX_REST = 10_000;

/**
 * True if the network has a single endpoint, which is trusted alone. That endpoint has listed the movements itself, so it need not
 * confirm them.
 */
function isTrusted(reader: ChainReader): boolean {
  return reader.network.isTrustedAlone === true && reader.witnesses().length === 1;
}

interface Ask {
  readonly address: string;
  readonly assets: readonly string[];
  readonly number: number;
  readonly named: readonly StoredMovement[];
  readonly isTrusted: boolean;
}

/** The complete answer of one endpoint about an address. Two answers agree if they have the same `key`. */
async function testify(witness: Witness, ask: Ask) {
  const { address, assets, number, named } = ask;
  const hashes = ask.isTrusted ? [] : [...new Set(named.map(({ transactionHash }) => transactionHash))];
  const numbers = ask.isTrusted ? [] : [...new Set(named.map(({ blockNumber }) => blockNumber))];
  const [block, balances, transfers, blocks] = await Promise.all([
    witness.block(number),
    Promise.all(assets.map((asset) => witness.holding(address, asset, number))),
    Promise.all(hashes.map((hash) => witness.transfers(hash))),
    Promise.all(numbers.map((each) => witness.block(each))),
  ]);
  if (block === undefined || blocks.some((each) => each === undefined)) return undefined;
  const known = new Map(numbers.map((each, index) => [each, blocks[index]]));
  const reported = transfers.flat();
  const shown = named.map((movement) => {
    const header = known.get(movement.blockNumber);
    return (
      ask.isTrusted ||
      (header?.hash === movement.blockHash &&
        header.timestampS * 1000 === movement.at.getTime() &&
        reported.some((each) => isShown(each, movement, address)))
    );
  });
  return { block, balances, shown, key: `${blockKey(block)} ${balances.join()} ${shown.join()}` };
}

function isShown(
  reported: Incoming,
  { transactionHash, logIndex, blockHash, asset, amount }: StoredMovement,
  to: string,
) {
  return (
    reported.transactionHash === transactionHash &&
    reported.logIndex === logIndex &&
    reported.block.hash === blockHash &&
    reported.asset === asset &&
    reported.amount === BigInt(amount) &&
    reported.to === to
  );
}

function isSame(a: StoredMovement, b: StoredMovement): boolean {
  return a.transactionHash === b.transactionHash && a.logIndex === b.logIndex;
}

/** The highest block that is final for an amount, and whether a single endpoint suffices for it. */
export async function finalNumberFor(
  deps: RegistryDeps,
  { chain }: Pick<Watcher, 'chain'>,
  { heights, finalNumber }: Pick<View, 'heights' | 'finalNumber'>,
  item: OpenDeposit['item'],
): Promise<{ readonly number: number; readonly isAloneEnough: boolean } | undefined> {
  const { depth, tag } = finalityOf(deps, chain.network, item);
  const tagged = tag && (await askHeights(chain.reader, (witness) => witness.block(tag)));
  const agreed = Math.min(
    (heights.agreed ?? -1) - depth + 1,
    tagged === undefined ? finalNumber : (tagged.agreed ?? -1),
  );
  const alone = isSmall(deps, chain.network, item)
    ? Math.min((heights.alone ?? -1) - LONE_DEPTH_FACTOR * depth + 1, tagged?.agreed ?? tagged?.alone ?? finalNumber)
    : -1;
  const number = Math.min(finalNumber, Math.max(agreed, alone));
  return number < 0 ? undefined : { number, isAloneEnough: alone >= number };
}
