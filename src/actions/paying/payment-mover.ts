import { type Batcher, createBatcher } from '../../runtime/batcher.ts';
import { findClosed } from '../../store/parties/freezes.ts';
import { lockPayments, type Payment } from '../../store/payments/payments.ts';
import { isDataFault, type Tx } from '../../store/plumbing/database.ts';
import { type Lease, lockLease } from '../../store/plumbing/leases.ts';
import { type CommandDeps, command } from '../command.ts';
import { LeaseLostError } from '../lease.ts';
import { shareFreezes } from '../parties/freeze-heads.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { isAcceptance, type MoveOutcome, type MovePaymentInput, moveLocked } from './move-locked.ts';
import type { PayerLimits } from './payer-places.ts';

export type PaymentMover = (input: MovePaymentInput) => Promise<MoveOutcome>;

const MAX_BATCH = 200;

/** Makes the function that moves payments from status to status. Concurrent moves share a database transaction. */
export function createPaymentMover(deps: CommandDeps & RowKeyDeps, limits: PayerLimits = {}): PaymentMover {
  const move: Batcher<MovePaymentInput, MoveOutcome | LeaseLostError> = createBatcher(deps.world, {
    run: (inputs) =>
      command(deps, async (tx, now) => {
        const lost = await refuseUnleased(tx, inputs);
        const leased = inputs.filter((input) => !lost.has(input));
        if (leased.some(isAcceptance)) await shareFreezes(tx, deps);
        const ids = [...new Set(leased.map(({ paymentId }) => paymentId))];
        const locked = await lockPayments(tx, ids);
        const stopped = await refuseStopped(tx, locked, leased);
        const moved = await moveLocked(
          tx,
          locked,
          leased.filter((input) => !stopped.has(input)),
          now,
          limits,
        );
        return inputs.map((input) => lost.get(input) ?? stopped.get(input) ?? (moved.shift() as MoveOutcome));
      }),
    maxItems: MAX_BATCH,
    maxConcurrent: 2,
    isItemsFault: isDataFault,
  });
  return async (input) => {
    const outcome = await move(input);
    if (outcome instanceof LeaseLostError) throw outcome;
    return outcome;
  };
}

/** The moves whose lease was taken by another node. The leases of the other moves stay locked until the database transaction ends. */
async function refuseUnleased(
  tx: Tx,
  inputs: readonly MovePaymentInput[],
): Promise<Map<MovePaymentInput, LeaseLostError>> {
  const leases = new Set(inputs.flatMap(({ lease }) => lease ?? []));
  const lost = new Map<Lease, LeaseLostError>();
  for (const lease of leases) if (!(await lockLease(tx, lease))) lost.set(lease, new LeaseLostError(lease.name));
  return new Map(
    inputs.flatMap((input): [MovePaymentInput, LeaseLostError][] => {
      const error = input.lease && lost.get(input.lease);
      return error === undefined ? [] : [[input, error]];
    }),
  );
}

/** The refusals of moves that accept a signature while the merchant or the network is stopped. The caller has called `shareFreezes`. */
async function refuseStopped(
  tx: Tx,
  locked: readonly Payment[],
  inputs: readonly MovePaymentInput[],
): Promise<Map<MovePaymentInput, MoveOutcome>> {
  const accepting = inputs.filter(isAcceptance).map((input) => {
    const payment = locked.find(({ id }) => id === input.paymentId);
    const networks = (input.items?.accepted ?? []).map(({ item }) => item.network);
    return { input, payment, merchantId: payment?.merchantId ?? '', networks };
  });
  if (accepting.length === 0) return new Map();
  const concerned = accepting.flatMap(({ merchantId, networks }) => [merchantId, ...networks]);
  const stopped = await findClosed(tx, [...new Set(concerned)]);
  const refused = accepting.flatMap(({ input, payment, merchantId, networks }): [MovePaymentInput, MoveOutcome][] => {
    if (stopped.has(merchantId)) return [[input, { ok: false, refusal: 'merchant_stopped', payment }]];
    const isStopped = networks.some((network) => stopped.has(network));
    return isStopped ? [[input, { ok: false, refusal: 'network_stopped', payment }]] : [];
  });
  return new Map(refused);
}
