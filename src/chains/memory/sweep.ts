import type { SignedItem } from '../../domain/item.ts';
import type { ItemOutcome } from '../chain.ts';
import { keys, type Ledger, type Log, Refusal, transfer } from './ledger.ts';

/** Sweeps deposit addresses, as `contracts/Deposits.sol` does: each item alone, with the share of its fee. */
export function sweep(ledger: Ledger, batch: readonly SignedItem[]): { outcomes: ItemOutcome[]; logs: Log[] } {
  const logs: Log[] = [];
  const outcomes = batch.map((signed): ItemOutcome => {
    try {
      logs.push(...ledger.state.attempt(() => sweepOne(ledger, signed)));
      return { is: 'paid' };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { is: 'refused', reason: error.reason };
    }
  });
  return { outcomes, logs };
}

function sweepOne(ledger: Ledger, { item }: SignedItem): Log[] {
  const { asset, recipient, feeAccount } = item;
  const deposit = ledger.depositAddressOf(item);
  const amount = ledger.state.get(keys.balance(asset, deposit));
  if (amount === 0n) throw new Refusal('short_balance');
  const fee = (amount * item.fee) / item.amount;
  const logs = [
    { to: feeAccount, units: fee },
    { to: recipient, units: amount - fee },
  ]
    .filter(({ units }) => units > 0n)
    .map(({ to, units }): Log => {
      transfer(ledger, asset, deposit, to, units);
      return { type: 'transferred', isCoin: false, asset, from: deposit, to, amount: units };
    });
  return [...logs, { type: 'swept', commitment: ledger.commitmentOf(item), item, amount, fee }];
}
