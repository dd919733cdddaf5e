import { sweptFee } from '../../domain/deposit.ts';
import type { Item, SignedItem } from '../../domain/item.ts';
import type { ItemOutcome } from '../sender.ts';
import { keys, type Ledger, type Log, pullByAuthorization, Refusal, transfer } from './ledger.ts';

/**
 * Sweeps deposit addresses, as `contracts/Deposits.sol` does: each item independently, and each with its own transfer of the fee.
 * For an item with an authorization, the authorized amount is first transferred from the payer to the deposit address.
 */
export function sweep(ledger: Ledger, batch: readonly SignedItem[]): { outcomes: ItemOutcome[]; logs: Log[] } {
  const logs: Log[] = [];
  const outcomes = batch.map((signed): ItemOutcome => {
    try {
      logs.push(...ledger.state.attempt(() => [...fillByAuthorization(ledger, signed), ...sweepOne(ledger, signed)]));
      return { is: 'paid' };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { is: 'refused', reason: error.reason };
    }
  });
  return { outcomes, logs };
}

/** Carries out the transfer of an authorization. Anybody who has seen the authorization can cause this transfer. */
export function fillByAuthorization(ledger: Ledger, { item, commitment, signature }: SignedItem): Log[] {
  if (item.authorization === undefined) return [];
  const { asset, payer: from, amount } = item;
  const to = ledger.depositAddressOf(item);
  const held = () => ledger.state.get(keys.balance(asset, to));
  const before = held();
  try {
    ledger.state.attempt(() => pullByAuthorization(ledger, item, { commitment, signature, payee: to }));
  } catch (error) {
    // The authorization may have been used before. No second transfer is needed if its money is already at the deposit address.
    if (error instanceof Refusal && before >= amount && item.seal !== undefined) return [];
    throw error;
  }
  if (held() < amount) throw new Refusal('short_arrival');
  return held() === before ? [] : [{ type: 'transferred', isCoin: false, asset, from, to, amount }];
}

function sweepOne(ledger: Ledger, { item }: SignedItem): Log[] {
  const { asset, recipient, feeAccount } = item;
  const deposit = ledger.depositAddressOf(item);
  const held = ledger.state.get(keys.balance(asset, deposit));
  if (held === 0n) throw new Refusal('short_balance');
  const key = keys.owedFee(asset, deposit);
  const owed = ledger.state.get(key);
  const due = owed < held ? owed : held;
  const fee = due + sweptFee(item, { asset, amount: held - due });
  const logs: Log[] = [];
  const pay = (to: string, units: bigint) => {
    if (units === 0n) return;
    transfer(ledger, asset, deposit, to, units);
    logs.push({ type: 'transferred', isCoin: false, asset, from: deposit, to, amount: units });
  };
  pay(recipient, held - fee);
  const unpaid = feeLeftOver(ledger, () => pay(feeAccount, fee)) ? fee : 0n;
  if (unpaid > 0n && held === fee) throw new Refusal('recipient_blacklisted');
  ledger.state.set(key, unpaid);
  const { authorization: _, ...terms } = item;
  const commitment = ledger.commitmentOf({ ...terms, method: 'deposit' } satisfies Item);
  return [...logs, { type: 'swept', commitment, item, amount: held - unpaid, fee: fee - unpaid }];
}

/**
 * True if the token refused the transfer to the fee account. The fee then stays at the deposit address, and the next sweep tries
 * to pay it again.
 */
function feeLeftOver(ledger: Ledger, pay: () => void): boolean {
  try {
    ledger.state.attempt(() => pay());
    return false;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return true;
  }
}
