import { createAlarms } from '../actions/alarms.ts';
import { beginOutgoing } from '../actions/outgoing/begin-outgoing.ts';
import { payOutHeld } from '../actions/outgoing/payout/pay-out-held.ts';
import { coverRefunds } from '../actions/outgoing/refund/cover-refunds.ts';
import { recordStrays } from '../actions/outgoing/stray/record-strays.ts';
import { ChainUnavailableError } from '../chains/chain.ts';
import type { Chains, ConnectedChain } from '../chains/chains.ts';
import type { Screening } from '../screening/screening.ts';
import type { Job, WorkerDeps } from './loop.ts';

/** Jobs for outgoing transfers and strays. Any node may run them at any time. */
export function payingOutJobs(deps: WorkerDeps & { chains: Chains; screening: Screening }): readonly Job[] {
  const outgoing = { ...deps, keyless: createAlarms(deps, 'intermediate_key_missing') };
  return [
    { name: 'cover-refunds', everyMs: 500, run: () => coverRefunds(deps) },
    { name: 'pay-out-held', everyMs: 1_000, run: () => payOutHeld(deps) },
    {
      name: 'begin-outgoing',
      everyMs: 500,
      run: () => onEach(deps, (connected) => beginOutgoing(outgoing, connected)),
    },
    { name: 'record-strays', everyMs: 5_000, run: () => onEach(deps, (connected) => recordStrays(deps, connected)) },
  ];
}

/** Runs on every network. An unreachable network does not fail the job and delays no other network. */
async function onEach(
  { chains }: { chains: Chains },
  work: (connected: ConnectedChain) => Promise<boolean>,
): Promise<boolean> {
  const more = await Promise.all(
    chains.list().map((connected) =>
      work(connected).catch((error: unknown) => {
        if (error instanceof ChainUnavailableError) return false;
        throw error;
      }),
    ),
  );
  return more.includes(true);
}
