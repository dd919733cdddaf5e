import type { Registry } from '../../../chains/registry.ts';
import { unitsOfWeight } from '../../../chains/weight.ts';
import { isByDeposit } from '../../../domain/item.ts';
import type { Fact } from '../../../domain/money/fact.ts';
import type { PaymentTerms, Way } from '../../../domain/money/terms.ts';
import { listFactsOf } from '../../../store/chain/chain-events.ts';
import { listDepositsOf, type OpenDeposit } from '../../../store/chain/deposits.ts';
import { findItemsOf, type StoredItem } from '../../../store/chain/items.ts';
import {
  type DustLimits,
  listMovedAssets,
  listProvedMovements,
  type SummedMovement,
} from '../../../store/chain/place-checkpoints.ts';
import type { Reader, Tx } from '../../../store/plumbing/database.ts';

/** All stored facts that decide about the money of a payment: its terms, and the movements and events of the chain. */
export interface PositionFacts {
  readonly terms: PaymentTerms;
  readonly facts: readonly Fact[];
  readonly deposits: readonly OpenDeposit[];
}

/** Reads the facts of a payment that the database transaction has locked. */
export async function readPosition(
  tx: Tx,
  registry: Registry,
  { id, merchantId }: { readonly id: string; readonly merchantId: string },
  toleranceBasisPoints: number,
): Promise<PositionFacts> {
  const deposits = await listDepositsOf(tx, id);
  const items = (await findItemsOf(tx, id)).filter(({ method }) => !isByDeposit(method));
  const dustBelow = await dustLimitsOf(tx, registry, id);
  const movements = await arrivalsOf(tx, id, dustBelow);
  const addresses = new Map(deposits.map(({ commitment, address }) => [commitment, address]));
  const events = await listFactsOf(tx, [...addresses.keys(), ...items.map(({ commitment }) => commitment)]);
  const timeAt = timesOf(movements);
  const facts: Fact[] = [
    ...movements.map((movement): Fact => arrivedFact(movement, addresses.get(movement.commitment) ?? '')),
    ...events.map((event): Fact => {
      const { network, blockNumber: block, logIndex: index, transactionHash: transaction, commitment, fields } = event;
      const place = { network, blockTimeS: timeAt(network, block), block, index, transaction, commitment };
      const units = { amount: BigInt(fields.amount ?? '0'), fee: BigInt(fields.fee ?? '0') };
      const moved = { ...place, ...units, asset: fields.asset ?? '' };
      return event.type === 'swept'
        ? { is: 'swept', ...moved, address: addresses.get(commitment) ?? '' }
        : { is: 'collected', ...moved };
    }),
  ];
  const ways = [
    ...deposits.map(({ item, commitment }) => ({ ...wayOf(item, 'deposit'), commitment })),
    ...items.map((item) => wayOf(item, 'item')),
  ];
  const terms = { payment: id, merchant: merchantId, ways, toleranceBasisPoints, dustBelow };
  // Facts about tokens that are not served are left out, because such tokens have no known value.
  return { terms, facts: facts.filter(({ asset }) => registry.asset(asset) !== undefined), deposits };
}

/**
 * The dust limit of each asset that has arrived for a payment: the amount with a weight of 1 (`chains/weight.ts`), such as one
 * USDC.
 */
export async function dustLimitsOf(db: Reader, registry: Registry, paymentId: string): Promise<DustLimits> {
  const assets = await listMovedAssets(db, paymentId);
  return Object.fromEntries(assets.map((asset) => [asset, unitsOfWeight(registry.asset(asset), 1n)]));
}

/** The proved money that has arrived for a payment, with the dust added up. */
export async function arrivalsOf(db: Reader, paymentId: string, dustBelow: DustLimits): Promise<SummedMovement[]> {
  return withoutLosses(await listProvedMovements(db, paymentId, dustBelow));
}

/** Subtracts each loss from the last money at its address, because money that is not there does not count. */
function withoutLosses(movements: readonly SummedMovement[]): SummedMovement[] {
  const placeOf = ({ network, commitment, asset }: SummedMovement) => `${network} ${commitment} ${asset}`;
  const lost = new Map<string, bigint>();
  for (const each of movements.filter(({ source }) => source === 'loss')) {
    lost.set(placeOf(each), (lost.get(placeOf(each)) ?? 0n) + BigInt(each.amount));
  }
  const arrived = movements.filter(({ source }) => source !== 'loss');
  return arrived
    .toReversed()
    .flatMap((movement) => {
      const units = BigInt(movement.amount);
      const left = lost.get(placeOf(movement)) ?? 0n;
      lost.set(placeOf(movement), left > units ? left - units : 0n);
      return left >= units ? [] : [{ ...movement, amount: (units - left).toString() }];
    })
    .toReversed();
}

function wayOf(item: StoredItem, kind: Way['kind']): Way {
  const { network, commitment, asset, recipient, isHeld, deadline } = item;
  const terms = { asked: BigInt(item.amount), fee: BigInt(item.fee), deadlineS: Math.floor(deadline.getTime() / 1000) };
  return { kind, network, commitment, asset, ...terms, recipient, isHeld };
}

function arrivedFact(movement: SummedMovement, address: string): Fact {
  const { network, at, blockNumber, logIndex, transactionHash, commitment, asset, amount, first, sender, isScreened } =
    movement;
  return {
    is: 'arrived',
    network,
    blockTimeS: at.getTime() / 1000,
    block: blockNumber,
    index: logIndex,
    transaction: transactionHash,
    commitment,
    asset,
    amount: BigInt(amount),
    first: BigInt(first),
    address,
    sender,
    isScreened,
  };
}

/**
 * A function that estimates the time of an event. Events are stored without the times of their blocks, so an event gets the latest
 * time among the movements of its network up to its block. That keeps the order of the blocks.
 */
function timesOf(movements: readonly SummedMovement[]): (network: string, block: number) => number {
  return (network, block) =>
    movements.reduce(
      (latest, each) =>
        each.network === network && each.blockNumber <= block ? Math.max(latest, each.at.getTime() / 1000) : latest,
      0,
    );
}
