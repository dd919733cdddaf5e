import { createAlarms } from '../actions/alarms.ts';
import type { SecretDeps } from '../actions/open-receipt-key.ts';
import { beginOutgoing } from '../actions/outgoing/begin/begin-outgoing.ts';
import type { LimitDeps } from '../actions/outgoing/begin/limit-outgoing.ts';
import { type PayOutDeps, payOutHeld } from '../actions/outgoing/payout/pay-out-held.ts';
import { coverRefunds } from '../actions/outgoing/refund/cover-refunds.ts';
import { returnFees } from '../actions/outgoing/refund/signed/return-fees.ts';
import { beginReturns } from '../actions/outgoing/return/begin-returns.ts';
import { recordUnexpectedTransfers } from '../actions/outgoing/return/record-unexpected-transfers.ts';
import type { RecordStanding } from '../actions/record-standing.ts';
import type { RowKeyDeps } from '../actions/row-keys.ts';
import type { SubjectKeyDeps } from '../actions/subject-keys.ts';
import { ChainUnavailableError } from '../chains/chain-errors.ts';
import type { Chains, ConnectedChain } from '../chains/chains.ts';
import type { Screening } from '../screening/screening.ts';
import { judging } from './judging.ts';
import type { Job, WorkerDeps } from './loop.ts';

type PayingOutDeps = WorkerDeps &
  RowKeyDeps &
  SecretDeps &
  SubjectKeyDeps &
  Pick<LimitDeps, 'hourlyLimit'> &
  Pick<PayOutDeps, 'sweepFrom'> & {
    readonly chains: Chains;
    readonly screening: Screening;
    readonly standing: RecordStanding;
  };

/** Jobs for outgoing transfers and unexpected money. Any node may run them at any time. */
export function payingOutJobs(deps: PayingOutDeps): readonly Job[] {
  const disputed = createAlarms(deps, 'endpoints_disagree');
  const outgoing = {
    ...deps,
    keyless: createAlarms(deps, 'intermediate_key_missing'),
    refused: createAlarms(deps, 'outgoing_refused'),
    limited: createAlarms(deps, 'outgoing_limited'),
  };
  return judging(deps, [
    { name: 'cover-refunds', everyMs: 500, run: () => coverRefunds(deps) },
    { name: 'begin-returns', everyMs: 500, run: () => beginReturns(deps) },
    { name: 'return-fees', everyMs: 5_000, run: () => returnFees(deps) },
    { name: 'pay-out-held', everyMs: 1_000, run: () => payOutHeld(deps) },
    // This job signs, so it runs only while the network records of this node are in force. Otherwise another node runs it.
    ...onEach(deps, { name: 'begin-outgoing', everyMs: 500 }, async (connected) =>
      deps.standing.isInForce() ? beginOutgoing(outgoing, connected) : false,
    ),
    ...onEach(deps, { name: 'record-strays', everyMs: 5_000 }, (connected) =>
      recordUnexpectedTransfers({ ...deps, disputed }, connected),
    ),
  ]);
}

/** One job for each network, so that a slow or unreachable network does not delay the others. */
function onEach(
  { chains }: { chains: Chains },
  { name, everyMs }: Pick<Job, 'name' | 'everyMs'>,
  work: (connected: ConnectedChain) => Promise<boolean>,
): readonly Job[] {
  return chains.list().map((connected) => ({
    name: `${name} ${connected.chain.network.chainId}`,
    everyMs,
    run: () =>
      work(connected).catch((error: unknown) => {
        // An unreachable network does not count as a failure of the job.
        if (error instanceof ChainUnavailableError) return false;
        throw error;
      }),
  }));
}
