import { type Lack, lackText } from '../actions/outgoing/float/take-from-floats.ts';
import { approveRefund } from '../actions/outgoing/refund/approve-refund.ts';
import { coverByOperator } from '../actions/outgoing/refund/cover-by-operator.ts';
import { requestAsOperator } from '../actions/outgoing/refund/request-refund.ts';
import { refundNotFound, retryRefund } from '../actions/outgoing/refund/retry-refund.ts';
import { signingKeysOf } from '../actions/outgoing/refund/signed/signing-keys.ts';
import { vetoRefund } from '../actions/outgoing/refund/veto-refund.ts';
import { amountText } from '../chains/amount-text.ts';
import type { Registry } from '../chains/registry.ts';
import { REFUND_STATES, waitOf } from '../domain/refund.ts';
import { signPath } from '../domain/sign-code.ts';
import { openSecrets } from '../settings/master-secret.ts';
import { listEvents, type StoredEvent } from '../store/events/events.ts';
import { findRefund, findShownRefunds, listRefunds, type ShownRefund } from '../store/money/refunds.ts';
import { withChains } from './chains.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { id, oneOf, text as words } from './kinds.ts';
import { listing } from './listing.ts';
import { optional, repeated, required } from './options.ts';
import { openRowKeys } from './row-keys.ts';
import { layoutFields, layoutTable } from './table.ts';

const MAX_LISTED = 200;

const list = databaseCommand({
  name: 'refunds list',
  summary: `Show refunds of all partners, the newest first, at most ${MAX_LISTED}.`,
  options: {
    state: repeated(oneOf(REFUND_STATES), REFUND_STATES.length, 'Only in this state.'),
    merchant: optional(id, 'Only of this merchant.'),
  },
  examples: ['refunds list', 'refunds list --state failed --state awaiting_funds'],
  run: async ({ db, registry, world }, { state, merchant }) => {
    const states = state.length === 0 ? REFUND_STATES : state;
    return listing(
      await listRefunds(db.sql, {
        states,
        of: merchant === undefined ? undefined : { merchantId: merchant },
        limit: MAX_LISTED,
        now: new Date(world.clock.nowMs()),
      }),
      {
        columns: [
          { title: 'id', cell: (refund) => refund.id },
          { title: 'payment', cell: (refund) => refund.paymentId },
          { title: 'merchant', cell: (refund) => refund.merchantId },
          { title: 'amount', cell: (refund) => amountText(registry, refund.asset, refund.amount) },
          { title: 'state', cell: (refund) => refund.state },
          { title: 'problem', cell: (refund) => refund.problem },
          { title: 'requested', cell: (refund) => refund.requestedAt },
        ],
        empty: 'No refunds.',
      },
    );
  },
});

const show = databaseCommand({
  name: 'refunds show',
  summary: 'Show a refund, or all refunds of a payment, and everything that happened to them.',
  positionals: { id: required(id, 'The refund, or its payment.') },
  examples: ['refunds show rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'refunds show pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: asked }) => {
    const { db, world, config } = deps;
    const now = new Date(world.clock.nowMs());
    const isPayment = asked.startsWith('pay_');
    const refunds = await findShownRefunds(db.sql, isPayment ? { paymentId: asked, now } : { id: asked, now });
    if (refunds.length === 0) throw refundNotFound(asked);
    const shown = [];
    for (const each of refunds) {
      const isSignable = waitOf(each)?.what === 'merchant_signature';
      const keys = isSignable ? signingKeysOf(await openSecrets(deps)) : undefined;
      const signUrl = keys === undefined ? null : config.publicUrl + signPath(keys, each.id);
      shown.push({ ...each, signUrl, events: await listEvents(db.sql, each.id) });
    }
    const text = shown.map((refund) => refundText(deps.registry, refund)).join('\n\n');
    return { json: shown.length === 1 ? shown[0] : { refunds: shown }, text };
  },
});

interface ShownHistory extends ShownRefund {
  /** The page on which the merchant can sign the refund now. Null if there is nothing to sign. */
  readonly signUrl: string | null;
  readonly events: readonly StoredEvent[];
}

function refundText(registry: Registry, { events, ...refund }: ShownHistory): string {
  const fields = {
    refund: refund.id,
    payment: refund.paymentId,
    number: String(refund.number),
    merchant: refund.merchantId,
    state: refund.state,
    amount: amountText(registry, refund.asset, refund.amount),
    to: refund.recipient,
    reason: refund.reason,
    'from the held amount': amountText(registry, refund.asset, refund.fromHeld),
    "from the merchant's float": amountText(registry, refund.asset, refund.fromMerchant),
    "from the operator's float": amountText(registry, refund.asset, refund.fromOperator),
    transaction: refund.transactionHash,
    problem: refund.problem,
    'the merchant can sign at': refund.signUrl,
  };
  const history = layoutTable(events, [
    { title: 'at', cell: ({ at }) => at },
    { title: 'event', cell: ({ type }) => type },
    { title: 'to', cell: ({ data }) => String(data.state) },
    { title: 'by', cell: ({ actor }) => actor },
    { title: 'evidence', cell: ({ evidence }) => JSON.stringify(evidence) },
  ]);
  return `${layoutFields(fields)}\n\n${history}`;
}

const retry = databaseCommand({
  name: 'refunds retry',
  summary: 'Retry a failed refund. Its cover is still reserved.',
  positionals: { id: required(id, 'The refund, as shown by refunds list.') },
  examples: ['refunds retry rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: refundId }) => {
    const refund = await retryRefund(
      { ...deps, rowKeys: await openRowKeys(deps) },
      { id: refundId, actor: operatorOf(deps.config) },
    );
    return { json: refund, text: `Refund ${refund.id} is ${refund.state}.` };
  },
});

const create = databaseCommand({
  name: 'refunds create',
  summary: 'Refund all that is left of a payment. Only operators can, while its merchant is suspended or frozen.',
  positionals: { id: required(id, 'The payment.') },
  examples: ['refunds create pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: (deps, { id: paymentId }) =>
    withChains(deps, async (chains) => {
      const rowKeys = await openRowKeys(deps);
      const refundId = await requestAsOperator(
        { ...deps, chains, rowKeys },
        { paymentId, actor: operatorOf(deps.config) },
      );
      const refund = await findRefund(deps.db.sql, refundId);
      return { json: refund, text: `Refund ${refund?.id} is ${refund?.state}.` };
    }),
});

const approve = databaseCommand({
  name: 'refunds approve',
  summary: 'Send a refund although its merchant is suspended or frozen, or the refund cools off.',
  positionals: { id: required(id, 'The refund, as shown by refunds list.') },
  examples: ['refunds approve rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: refundId }) => {
    const refund = await approveRefund(deps, { id: refundId, actor: operatorOf(deps.config) });
    return { json: refund, text: `Refund ${refund.id} is approved. It is ${refund.state}.` };
  },
});

const cover = databaseCommand({
  name: 'refunds cover',
  summary: "Let the operator's float pay what the merchant's float lacks for a waiting refund.",
  positionals: { id: required(id, 'The refund, as shown by refunds list.') },
  examples: ['refunds cover rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: refundId }) => {
    const { refund, missing, offeredUntil } = await coverByOperator(deps, {
      id: refundId,
      actor: operatorOf(deps.config),
    });
    const { asset, account, fromOperator } = refund;
    const paid = `The operator's float pays ${amountText(deps.registry, asset, fromOperator)} of refund ${refund.id}`;
    const text =
      missing === undefined
        ? `${paid}. ${sentFrom(offeredUntil)}`
        : `${paid}, and ${lackText(deps.registry, asset, [missing])}. ${howToFill(missing, { asset, account })}`;
    return { json: { ...refund, missingUnits: missing?.units.toString() ?? '0' }, text };
  },
});

function howToFill({ elsewhere }: Lack, { asset, account }: Pick<ShownRefund, 'asset' | 'account'>): string {
  return elsewhere === undefined
    ? `Transfer it to ${account}, then run: till float add --operator --asset ${asset} --tx <hash>`
    : `Move the money of the float to ${account} by a transfer: the float follows. Then run this command again.`;
}

function sentFrom(offeredUntil: Date | null): string {
  return offeredUntil === null
    ? 'It is sent within seconds.'
    : `The merchant's account was asked to sign for it. If it does not, the refund is sent soon after ${offeredUntil.toISOString()}.`;
}

const veto = databaseCommand({
  name: 'refunds veto',
  summary: 'End a refund that is not on its way. Its part of the payment can be refunded again.',
  positionals: { id: required(id, 'The refund, as shown by refunds list.') },
  options: { reason: required(words, 'Why. It is kept in the audit log.') },
  examples: ['refunds veto rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6 --reason "requested by a stolen key"'],
  run: async (deps, { id: refundId, reason }) => {
    const refund = await vetoRefund(deps, { id: refundId, reason, actor: operatorOf(deps.config) });
    return { json: refund, text: `Refund ${refund.id} is vetoed.` };
  },
});

export const refundCommands: readonly Command[] = [list, show, create, approve, cover, retry, veto];
