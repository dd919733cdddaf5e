import { ChainUnavailableError } from '../../../chains/chain-errors.ts';
import type { Incoming } from '../../../chains/chain-reader.ts';
import type { Chains, ConnectedChain } from '../../../chains/chains.ts';
import { destinationProblem } from '../../../chains/destinations.ts';
import { parseAccount } from '../../../domain/caip.ts';
import { ApiError } from '../../../errors.ts';
import { findUnexpected, lockUnexpected, type UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../../command.ts';
import { askTransfers } from '../../evidence.ts';
import { ownAccounts } from '../../own-accounts.ts';
import { refuseOwnPlaces } from '../../parties/refuse-own-places.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { connectedOf, refuseLarge } from '../float/add-float.ts';
import { lackText } from '../float/take-from-floats.ts';
import { HOLD_TEXTS } from '../refund/held-cover.ts';
import { unownedOf } from './record-unexpected-transfers.ts';
import { sendReturn } from './send-return.ts';

export interface ReturnUnexpectedInput {
  readonly id: string;
  /** The recipient. Undefined for the sender of the money. */
  readonly to: { readonly chainId: string; readonly address: string } | undefined;
  readonly actor: string;
}

/** Returns unexpected money by order of the operator, completely or not at all. */
export async function returnUnexpected(
  deps: CommandDeps & RowKeyDeps & { chains: Chains },
  input: ReturnUnexpectedInput,
): Promise<UnexpectedMoney> {
  await refuseUnproved(deps, input.id);
  return command(deps, async (tx, now) => {
    const unexpected = await lockUnexpectedOfPayment(tx, input.id);
    if (unexpected === undefined) throw unexpectedNotFound(input.id);
    if (unexpected.state === 'requested') throw refused('Its return was requested: see till strays veto.');
    if (unexpected.state !== 'unclaimed')
      throw refused(`It is not there to be returned: its state is ${unexpected.state}.`);
    const { id, network, asset, amount } = unexpected;
    if (input.to !== undefined && input.to.chainId !== network) throw refused(`It lies on ${network}: so must --to.`);
    const recipient = input.to?.address ?? unexpected.sender;
    if (recipient === null) throw refused('Its sender is not known: name the recipient with --to.');
    await refuseLost(tx, deps, unexpected, recipient);
    const taken = await sendReturn(tx, deps, { unexpected, recipient, actor: input.actor }, now);
    if (!taken.ok && 'waitsFor' in taken) throw refused(`It waits: ${HOLD_TEXTS[taken.waitsFor]}.`);
    if (!taken.ok) throw refused(`There is too little to return it: ${lackText(deps.registry, asset, taken.missing)}.`);
    const detail = { asset, amount, recipient };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'stray.returned', subject: id, detail });
    return { ...unexpected, state: 'returning' };
  });
}

/** Locks the payment and then its unexpected money. All database transactions that lock both do so in this order. */
export async function lockUnexpectedOfPayment(tx: Tx, id: string): Promise<UnexpectedMoney | undefined> {
  const [found] = await findUnexpected(tx, [id]);
  if (found?.paymentId != null) await lockPayments(tx, [found.paymentId]);
  return found && lockUnexpected(tx, id);
}

export function unexpectedNotFound(id: string): ApiError {
  return new ApiError('payment_not_found', `There is no unexpected money ${id.slice(0, 80)}.`);
}

/**
 * Throws unless enough endpoints confirm the transfer that brought the money, because a single endpoint may have reported it. Coin from a
 * contract call has no transaction to confirm, and a late payment was proved when it was recorded: both pass.
 */
async function refuseUnproved(deps: CommandDeps & RowKeyDeps & { chains: Chains }, id: string): Promise<void> {
  const { db, chains } = deps;
  const [unexpected] = await findUnexpected(db.sql, [id]);
  if (unexpected?.source !== 'transfer' || unexpected.transactionHash === null || unexpected.state !== 'unclaimed')
    return;
  const connected = connectedOf(chains, unexpected.asset);
  const { chain } = connected;
  const { transfers, isAlone } = await askTransfers(chain.reader, unexpected.transactionHash).catch(
    (error: unknown) => {
      if (error instanceof ChainUnavailableError) throw refused(`The chain could not be asked: ${error.message}.`);
      throw error;
    },
  );
  const { asset, amount, account, logIndex } = unexpected;
  const isIts = (transfer: Incoming) =>
    transfer.logIndex === logIndex && transfer.asset === asset && transfer.to === account;
  const whole = transfers.filter(isIts);
  const isWhole = whole.some((transfer) => transfer.amount === BigInt(amount));
  const shown = isWhole ? whole : (await unownedAmong(deps, connected, transfers)).filter(isIts);
  if (!shown.some((transfer) => transfer.amount >= BigInt(amount)))
    throw refused('The chain does not show the transfer that it came by.');
  if (isAlone) refuseLarge(deps, chain.network, [{ asset, amount: BigInt(amount) }]);
}

/** The parts of transfers that have no owner, such as the fees of a stranger's items in a transfer that also pays items of ours. */
async function unownedAmong(
  deps: CommandDeps & RowKeyDeps,
  connected: ConnectedChain,
  transfers: readonly Incoming[],
): Promise<readonly Incoming[]> {
  const accounts = new Set(await ownAccounts(deps, connected));
  const touching = transfers.filter(({ from, to }) => accounts.has(from) || accounts.has(to));
  const unowned = await unownedOf(deps.db.sql, { network: connected.chain.network.chainId, accounts }, touching);
  if (unowned === undefined) throw refused('The gateway has not read the block of the transfer yet: try again soon.');
  return unowned;
}

/**
 * Refuses a return to the Collector, because the money would be lost there, and to an account or deposit address of this gateway.
 */
async function refuseLost(
  tx: Tx,
  deps: CommandDeps & RowKeyDeps & { chains: Chains },
  { network, asset }: UnexpectedMoney,
  recipient: string,
): Promise<void> {
  const account = parseAccount(`${network}:${recipient}`);
  const problem = account.ok ? destinationProblem(deps, account.value, asset) : account.problem;
  if (account.ok && problem === undefined)
    return refuseOwnPlaces(tx, deps, [{ field: '--to', account: account.value }]);
  throw refused(`It cannot go to ${recipient}, because a destination ${problem}. Say with --to where it goes.`);
}

function refused(message: string): ApiError {
  return new ApiError('invalid_state', message);
}
