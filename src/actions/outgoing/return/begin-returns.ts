import { amountText } from '../../../chains/amount-text.ts';
import type { Chains } from '../../../chains/chains.ts';
import type { Registry } from '../../../chains/registry.ts';
import { FloorError } from '../../../domain/book-floors.ts';
import type { Screening } from '../../../screening/screening.ts';
import { findReturnable, lockReturnable, postponeReturn } from '../../../store/money/late-money.ts';
import type { UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../../command.ts';
import { eachIsolated } from '../../each-isolated.ts';
import { shareFreezes } from '../../parties/freeze-heads.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { listNaming, SCREENED } from '../refund/screen-refund.ts';
import { endReturn } from './note-return.ts';
import { isOwnReturn } from './return-rows.ts';
import { sendReturn } from './send-return.ts';

const MAX_BEGUN = 200;
/** The pause until a return that could not begin is tried again. Other returns are not delayed. */
const CHECK_AGAIN_MS = 10_000;
const ACTOR = 'payer-out';

type BeginDeps = CommandDeps & RowKeyDeps & { readonly chains: Chains; readonly screening: Screening };

/** Sends requested returns that have cooled off and are covered by floats. Returns true if there are more. */
export async function beginReturns(deps: BeginDeps): Promise<boolean> {
  const networks = deps.chains.list().map(({ chain }) => chain.network.chainId);
  const now = new Date(deps.world.clock.nowMs());
  const found = await findReturnable(deps.db.sql, { networks, limit: MAX_BEGUN, now });
  await eachIsolated(
    found,
    async (money) => {
      await command(deps, (tx, at) => begin(tx, deps, money, at));
      deps.world.crashPoint?.('return.begun');
    },
    ({ id }, error) => {
      if (!(error instanceof FloorError)) throw error;
      return command(deps, (tx, at) => refuseUnheld(tx, deps.registry, id, at));
    },
  );
  return found.length === MAX_BEGUN;
}

async function begin(
  tx: Tx,
  deps: BeginDeps,
  { id, paymentId }: { readonly id: string; readonly paymentId: string },
  at: Date,
): Promise<void> {
  await shareFreezes(tx, deps);
  await lockPayments(tx, [paymentId]);
  const unexpected = await lockReturnable(tx, { id, now: at });
  if (unexpected === undefined || unexpected.recipient === null) return;
  const { network, recipient } = unexpected;
  if (!isOwnReturn(deps, unexpected)) {
    await refuse(
      tx,
      deps.registry,
      unexpected,
      'request_changed',
      'its request was not written by this gateway, or was changed',
      at,
    );
    return;
  }
  const list = listNaming(deps.screening, { network, recipient });
  if (list !== undefined) {
    await refuse(
      tx,
      deps.registry,
      unexpected,
      SCREENED,
      `${recipient} is on the screening list ${list.version} of ${list.date}`,
      at,
    );
    return;
  }
  const sent = await sendReturn(tx, deps, { unexpected, recipient, actor: ACTOR }, at);
  // Another database transaction may have used the floats since. Then nothing is stored, and `findReturnable` finds the return again when
  // the floats cover it. A return that waits for another reason is postponed.
  const isPutOff = !sent.ok && ('waitsFor' in sent || sent.missing.some(({ elsewhere }) => elsewhere !== undefined));
  if (isPutOff) await postponeReturn(tx, { id, checkAt: new Date(at.getTime() + CHECK_AGAIN_MS) });
}

async function refuseUnheld(tx: Tx, registry: Registry, id: string, at: Date): Promise<void> {
  const unexpected = await lockReturnable(tx, { id, now: at });
  if (unexpected !== undefined)
    await refuse(tx, registry, unexpected, 'not_held', 'the books hold less unexpected money', at);
}

/** Ends the request for a return, and raises an alert. The partner can make another request. */
async function refuse(
  tx: Tx,
  registry: Registry,
  unexpected: UnexpectedMoney,
  problem: string,
  reason: string,
  at: Date,
): Promise<void> {
  const { id, asset, amount } = unexpected;
  await endReturn(tx, unexpected, { problem, actor: ACTOR, evidence: { problem } }, at);
  const message = `${amountText(registry, asset, amount)} of late money is not returned: ${reason}.`;
  await upsertAlert(tx, { name: 'return_failed', subject: id, message, lastSeen: at });
}
