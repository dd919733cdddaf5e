import { provedArrival } from '../../domain/receipt.ts';
import { ApiError } from '../../errors.ts';
import { listLargestSweeps } from '../../store/chain/chain-events.ts';
import { listLargestMovements } from '../../store/chain/deposit-progress.ts';
import type { StoredItem } from '../../store/chain/items.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Reader } from '../../store/plumbing/database.ts';

/** The maximum number of transfers and sweeps in a receipt, because anybody can send one unit ten thousand times. */
const MAX_PARTS = 100;

interface DepositPayment {
  readonly item: StoredItem;
  readonly payment: Payment;
}

/**
 * The proof of a payment to its deposit address: the final transfers that count, and the sweeps so far. After a rebuild the
 * transfers are unknown, and the sweeps alone are the proof.
 */
export async function proveDeposit(db: Reader, { item, payment }: DepositPayment) {
  const { network, commitment, asset, deadline } = item;
  const [sent, swept] = await Promise.all([
    listLargestMovements(db, { network, commitment, asset, deadline, limit: MAX_PARTS }),
    listLargestSweeps(db, { network, commitment, asset, limit: MAX_PARTS }),
  ]);
  const transfers = sent.map((transfer) => ({
    sender: transfer.sender,
    amount: transfer.amount,
    ...placeOf(transfer),
  }));
  const sweeps = swept.map((event) => ({
    amount: event.fields.amount ?? '0',
    fee: event.fields.fee ?? '0',
    ...placeOf(event),
  }));
  const asked = BigInt(item.amount);
  const arrived = provedArrival(asked, transfers, sweeps);
  // The paid amount is the requested one, or a little less within the operator's tolerance.
  if (arrived < BigInt(payment.tokenValue ?? item.amount)) {
    throw sent.length === MAX_PARTS ? tooManyParts() : notOnChain();
  }
  const parts = [...transfers, ...sweeps];
  const last =
    parts.find(({ transaction }) => transaction === payment.transactionHash) ?? transfers.at(-1) ?? sweeps.at(-1);
  if (last === undefined) throw notOnChain();
  const { transaction, blockNumber, blockHash, logIndex } = last;
  return { transaction, blockNumber, blockHash, logIndex, arrived: arrived.toString(), transfers, sweeps };
}

export function placeOf(log: {
  readonly transactionHash: string;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly logIndex: number;
}) {
  const { transactionHash: transaction, blockHash } = log;
  return { transaction, blockNumber: String(log.blockNumber), blockHash, logIndex: String(log.logIndex) };
}

/** The error while a transaction that a deep reorg removed is not mined again. */
export function notOnChain(): ApiError {
  return new ApiError(
    'invalid_state',
    'The transaction of this payment, or of a refund of it, is not in the chain at this moment.',
  );
}

function tooManyParts(): ApiError {
  return new ApiError(
    'invalid_state',
    `The payment came in more than ${MAX_PARTS} transfers. It has a receipt when its money is swept.`,
  );
}
