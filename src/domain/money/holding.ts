import type { Lot } from './terms.ts';

/** The part of a lot that an order of ours takes. */
export interface Spend {
  /** The id of the payout, refund or return. */
  readonly order: string;
  /** The purpose of the order. `float`: an older version gave the money to the merchant's float. */
  readonly purpose: 'payout' | 'refund' | 'return' | 'float';
  readonly lot: string;
  readonly payment: string;
  readonly network: string;
  readonly asset: string;
  readonly account: string;
  readonly amount: bigint;
  /** True if the transfer is final on chain. Until then the money is still on the account. */
  readonly isDone: boolean;
}

/**
 * Counts an owed fee as paid. The next sweep of the address tries to pay this fee again, so the fee must not delay money of the
 * merchant or the payer.
 */
export function countOwed<L extends Lot>(lot: L): L {
  const { owed } = lot;
  return owed === 0n ? lot : { ...lot, waiting: lot.waiting - owed, fee: lot.fee + owed, owed: 0n };
}

/** A lot that is held for a merchant, with the part that no order has taken. */
export interface HeldLot extends Lot {
  /** The part that no order has taken and no debt needs. Never below zero. */
  readonly remainder: bigint;
}

/** Money that was spent, and whose arrival a reorg has removed. Later lots of the same group fill the debt first. */
export interface Debt {
  readonly payment: string;
  readonly network: string;
  readonly asset: string;
  readonly account: string;
  readonly amount: bigint;
}

export interface Holdings {
  readonly lots: readonly Lot[];
  readonly held: readonly HeldLot[];
  readonly debts: readonly Debt[];
  readonly spends: readonly Spend[];
}

/** The group of a lot or a debt. Lots fill only debts of their own group. */
export function groupOf({ payment, network, asset, account }: Omit<Debt, 'amount'>): string {
  return `${payment} ${network} ${asset} ${account}`;
}

/** The held lots after all spends. The part of a spend that exceeds its lot is a debt, which other lots of the group fill in order. */
export function holdingsOf(lots: readonly Lot[], spends: readonly Spend[]): Holdings {
  const spent = new Map<string, bigint>();
  for (const { lot, amount } of spends) spent.set(lot, (spent.get(lot) ?? 0n) + amount);
  const nets = new Map(lots.filter(({ isHeld }) => isHeld).map(({ id, net }) => [id, net]));
  const debts = new Map<string, Debt>();
  for (const [id, units] of spent) {
    const over = units - (nets.get(id) ?? 0n);
    const place = spends.find(({ lot }) => lot === id);
    if (over <= 0n || place === undefined) continue;
    const { payment, network, asset, account } = place;
    const before = debts.get(groupOf(place))?.amount ?? 0n;
    debts.set(groupOf(place), { payment, network, asset, account, amount: before + over });
  }
  const held = lots
    .filter(({ isHeld }) => isHeld)
    .map((lot): HeldLot => {
      const left = greatest(0n, lot.net - (spent.get(lot.id) ?? 0n));
      const debt = debts.get(groupOf(lot));
      const filled = debt === undefined ? 0n : least(left, debt.amount);
      if (debt !== undefined) debts.set(groupOf(lot), { ...debt, amount: debt.amount - filled });
      return { ...lot, remainder: left - filled };
    });
  return { lots, held, debts: [...debts.values()].filter(({ amount }) => amount > 0n), spends };
}

export function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function greatest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
