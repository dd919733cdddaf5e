import type { Chains } from '../../../chains/chains.ts';
import { destinationProblem } from '../../../chains/destinations.ts';
import type { Registry } from '../../../chains/registry.ts';
import type { Account } from '../../../domain/caip.ts';
import { ApiError, validationError } from '../../../errors.ts';
import type { Screening } from '../../../screening/screening.ts';
import { hasScreenedMovement } from '../../../store/chain/deposit-progress.ts';
import { findLateMoney, type ShownLateMoney } from '../../../store/money/late-money.ts';
import { touchPositions } from '../../../store/money/positions.ts';
import { putReturnRequest, type UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { findStopped } from '../../../store/parties/freezes.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type Answer, type CommandDeps, type IdempotentRequest, idempotentCommand } from '../../command.ts';
import { refuseOwnPlaces } from '../../parties/refuse-own-places.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { lackOfFloats, lackText } from '../float/take-from-floats.ts';
import { listNaming } from '../refund/screen-refund.ts';
import { findReturnCover, partsOf, type ReturnCover } from './cover-return.ts';
import { noteReturn } from './note-return.ts';
import { returnMac } from './return-rows.ts';
import { lockUnexpectedOfPayment } from './return-unexpected.ts';

export interface RequestReturnInput {
  readonly id: string;
  readonly merchantId: string;
  readonly destination: Account;
  readonly actor: string;
  /** The cooling-off period before the return is sent. */
  readonly coolingOffMs: number;
}

type RequestDeps = CommandDeps & RowKeyDeps & { readonly chains: Chains; readonly screening: Screening };

/**
 * Accepts a partner's request to return late money to an account that the partner names. The return cools off like a refund to an account
 * other than the payer's. Floats must cover the return at the time of the request; a worker takes from them when it sends the money.
 */
export function requestReturn(
  deps: RequestDeps,
  input: RequestReturnInput,
  request: IdempotentRequest | undefined,
  answer: (money: ShownLateMoney) => Answer,
) {
  return idempotentCommand(deps, request, async (tx, now) => {
    const { id, merchantId, actor } = input;
    const unexpected = await lockUnexpectedOfPayment(tx, id);
    if (unexpected === undefined || unexpected.paymentId === null || unexpected.merchantId !== merchantId)
      throw lateMoneyNotFound();
    if ((await findStopped(tx, [merchantId])).size > 0) throw leftToOperator('the merchant is suspended or frozen');
    if (unexpected.state !== 'unclaimed') {
      throw new ApiError('invalid_state', `Its return was requested before: it is ${unexpected.state}.`, {
        status: 409,
      });
    }
    const recipient = await recipientOf(tx, deps, unexpected, input.destination);
    await refuseScreened(tx, deps, unexpected, recipient);
    const covered = await coverOrRefuse(tx, deps.registry, unexpected);
    const sendAfter = new Date(now.getTime() + input.coolingOffMs);
    const terms = { ...unexpected, recipient, sendAfter };
    const isStored = await putReturnRequest(tx, id, { recipient, sendAfter, mac: returnMac(deps, terms) }, now);
    if (!isStored) throw new Error('A locked row of unexpected money was moved by another transaction.');
    // The return waits for a sweep. Computing the payment's money again orders this sweep.
    if (covered.is === 'waiting' && covered.for === 'sweep') await touchPositions(tx, [unexpected.paymentId]);
    const { asset, amount } = unexpected;
    const detail = { before: null, after: { asset, amount, recipient, sendAfter: sendAfter.toISOString() } };
    await appendAudit(tx, { at: now, actor, action: 'stray.return_requested', subject: id, detail });
    const evidence = { sendAfter: sendAfter.toISOString() };
    await noteReturn(tx, unexpected, { status: 'requested', recipient, actor, evidence }, now);
    const shown = await findLateMoney(tx, { id, merchantId, now });
    if (shown === undefined) throw new Error('Late money that was just requested is missing.');
    return answer(shown);
  });
}

/** The address of the destination. Throws if the destination cannot keep the money, or is an account of ours. */
async function recipientOf(
  tx: Tx,
  deps: RequestDeps,
  { network, asset }: UnexpectedMoney,
  destination: Account,
): Promise<string> {
  const { chains } = deps;
  const { chainId, address } = destination;
  if (chainId !== network) throw wrong(`must be an account on ${network}, where the money is`);
  const problem = destinationProblem(deps, destination, asset);
  if (problem !== undefined) throw wrong(problem);
  const connected = chains.find(network);
  if (connected === undefined || deps.registry.asset(asset)?.pay === undefined) {
    throw new ApiError('invalid_state', `The gateway cannot send ${asset} now.`);
  }
  if (connected.feeAccount === address) throw wrong("must not be the operator's own account");
  await refuseOwnPlaces(tx, deps, [{ field: 'destination', account: destination }]);
  return address;
}

/**
 * Throws if the recipient or the sender is on the screening list. Money of a listed sender stays where it is, and no listed account gets
 * money.
 */
async function refuseScreened(
  tx: Tx,
  { screening }: RequestDeps,
  unexpected: UnexpectedMoney,
  recipient: string,
): Promise<void> {
  const { network, asset, sender, paymentId } = unexpected;
  if (listNaming(screening, { network, recipient }) !== undefined) {
    throw new ApiError('sanctioned_user', 'The destination is on the screening list.');
  }
  const isSenderListed =
    sender === null
      ? await hasScreenedMovement(tx, { paymentId: paymentId ?? '', network, asset })
      : listNaming(screening, { network, recipient: sender }) !== undefined;
  if (isSenderListed) throw leftToOperator('its sender is on the screening list');
}

/** Throws if the floats cannot cover the return. */
async function coverOrRefuse(tx: Tx, registry: Registry, unexpected: UnexpectedMoney): Promise<ReturnCover> {
  const covered = await findReturnCover(tx, unexpected, { mayWait: true });
  // Some of the money is not swept yet. Its return waits for the sweep, and the floats are checked then.
  if (covered.is === 'waiting') return covered;
  // The paying account is left out (null): whether the floats are on it is checked only when the money is sent.
  const ask = { asset: unexpected.asset, payer: null, parts: partsOf(covered.cover) };
  const missing = await lackOfFloats(tx, ask);
  if (missing.length === 0) return covered;
  const message = `There is too little to return it: ${lackText(registry, unexpected.asset, missing)}. Nothing was moved.`;
  throw new ApiError('invalid_state', message);
}

export function lateMoneyNotFound(): ApiError {
  return new ApiError('invalid_params', 'The late money was not found.', { status: 404 });
}

function leftToOperator(reason: string): ApiError {
  return new ApiError('forbidden', `Only the operator can return it: ${reason}.`);
}

function wrong(message: string): ApiError {
  return validationError([{ field: 'destination', message }]);
}
