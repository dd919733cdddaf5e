import { type CommandDeps, command } from '../actions/command.ts';
import { declineItem } from '../actions/paying/decline-item.ts';
import { walletRequests } from '../actions/paying/wallet-requests.ts';
import type { Chains } from '../chains/chains.ts';
import { isFinal } from '../domain/payment.ts';
import type { Log } from '../runtime/world.ts';
import { findPaidEvent } from '../store/chain/chain-events.ts';
import { findItemsOf, itemOf } from '../store/chain/items.ts';
import { chooseBlock, findOpenRehearsals, markStaged, type OpenRehearsal } from '../store/payments/rehearsals.ts';
import type { ChainControl } from './chain-control.ts';
import { SANDBOX_ACCOUNTS } from './genesis.ts';
import { EVERYBODY, type Outcome } from './rehearsal.ts';
import { SANDBOX_NETWORK } from './sandbox-network.ts';

export interface StageDeps extends CommandDeps {
  readonly log: Log;
  readonly chains: Chains;
  readonly control: ChainControl;
  readonly paySecond: (request: { readonly params: readonly unknown[] }) => Promise<void>;
}

const PAGE = 50;

/** Carries out the rest of an outcome. Returns true if nothing is left to do. May run again after a crash. */
type Stage = (deps: StageDeps, rehearsal: OpenRehearsal) => Promise<boolean>;

const STAGES: Readonly<Partial<Record<Outcome, Stage>>> = {
  async fail(deps, { paymentId, status }) {
    if (status !== 'processing') return isFinal(status);
    for (const { key, state } of await findItemsOf(deps.db.sql, paymentId)) {
      const evidence = { screening: EVERYBODY };
      if (state === 'due') await declineItem(deps, { key, actor: 'screening', evidence });
    }
    return true;
  },

  async reorg(deps, { paymentId, status, block }) {
    if (status !== 'succeeded') return isFinal(status);
    if (block !== null) {
      await deps.control.replaceBlocks(block);
      return true;
    }
    const paid = (await findItemsOf(deps.db.sql, paymentId)).find(({ state }) => state === 'paid');
    const event = paid && (await findPaidEvent(deps.db.sql, { network: paid.network, commitment: paid.commitment }));
    if (event === undefined) return true;
    // The number and hash of the block to replace are stored first. After a crash, the same block is requested again, so only one
    // block is ever replaced.
    const chosen = { number: event.blockNumber, hash: event.blockHash };
    await command(deps, (tx) => chooseBlock(tx, paymentId, chosen));
    await deps.control.replaceBlocks(chosen);
    return true;
  },

  async double(deps, { paymentId, status }) {
    if (status !== 'succeeded') return isFinal(status);
    const items = await findItemsOf(deps.db.sql, paymentId);
    const ready = items.find(({ payer, state }) => payer === SANDBOX_ACCOUNTS.secondPayer && state === 'offered');
    const chain = deps.chains.find(SANDBOX_NETWORK)?.chain;
    if (ready === undefined || chain === undefined) return true;
    // The Collector accepts an item once, so a transaction that is sent twice pays once.
    for (const request of walletRequests(chain.payerSide, itemOf(ready), 0n)) await deps.paySecond(request);
    return true;
  },
};

/** Carries out the outcomes that come after the confirmation. Several nodes may run this at once. */
export async function stageOutcomes(deps: StageDeps): Promise<boolean> {
  const open = await findOpenRehearsals(deps.db.sql, PAGE);
  for (const rehearsal of open) {
    const { paymentId, outcome } = rehearsal;
    try {
      const stage = STAGES[outcome as Outcome];
      if (stage !== undefined && !(await stage(deps, rehearsal))) continue;
      await command(deps, (tx, now) => markStaged(tx, paymentId, now));
      deps.log.info({ paymentId, outcome }, 'outcome rehearsed');
    } catch (error) {
      // A failed outcome must not delay the others. The next round tries it again.
      deps.log.warn({ paymentId, outcome, err: error }, 'an outcome could not be rehearsed');
    }
  }
  return false;
}
