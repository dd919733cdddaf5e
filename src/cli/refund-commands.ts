import { approveRefund } from '../actions/outgoing/refund/approve-refund.ts';
import { requestAsOperator } from '../actions/outgoing/refund/request-refund.ts';
import { refundNotFound, retryRefund } from '../actions/outgoing/refund/retry-refund.ts';
import { amountText } from '../chains/amount-text.ts';
import { REFUND_STATES } from '../domain/refund.ts';
import { listEvents } from '../store/events/events.ts';
import { findRefund, findRefundOf, listRefunds } from '../store/money/refunds.ts';
import { withChains } from './chains.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { id, oneOf } from './kinds.ts';
import { listing } from './listing.ts';
import { optional, repeated, required } from './options.ts';
import { openRowKeys } from './row-keys.ts';
import { layoutFields, layoutTable } from './table.ts';

const MAX_LISTED = 200;

const list = databaseCommand({
  name: 'refunds list',
  summary: `Show refunds of all partners, the newest first, at most ${MAX_LISTED}.`,
  positionals: {},
  options: {
    state: repeated(oneOf(REFUND_STATES), REFUND_STATES.length, 'Only in this state.'),
    merchant: optional(id, 'Only of this merchant.'),
  },
  examples: ['refunds list', 'refunds list --state failed --state awaiting_funds'],
  run: async ({ db }, { state, merchant }) => {
    const states = state.length === 0 ? REFUND_STATES : state;
    return listing(await listRefunds(db.sql, { states, merchantId: merchant, limit: MAX_LISTED }), {
      columns: [
        { title: 'id', cell: (refund) => refund.id },
        { title: 'payment', cell: (refund) => refund.paymentId },
        { title: 'merchant', cell: (refund) => refund.merchantId },
        { title: 'amount', cell: (refund) => amountText(refund.asset, refund.amount) },
        { title: 'state', cell: (refund) => refund.state },
        { title: 'problem', cell: (refund) => refund.problem },
        { title: 'requested', cell: (refund) => refund.requestedAt },
      ],
      empty: 'No refunds.',
    });
  },
});

const show = databaseCommand({
  name: 'refunds show',
  summary: 'Show a refund, and everything that happened to it.',
  positionals: { id: required(id, 'The refund, or its payment.') },
  options: {},
  examples: ['refunds show rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'refunds show pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async ({ db }, { id: asked }) => {
    const refund = (await findRefund(db.sql, asked)) ?? (await findRefundOf(db.sql, asked));
    if (refund === undefined) throw refundNotFound(asked);
    const events = await listEvents(db.sql, refund.id);
    const fields = {
      refund: refund.id,
      payment: refund.paymentId,
      merchant: refund.merchantId,
      state: refund.state,
      amount: amountText(refund.asset, refund.amount),
      to: refund.recipient,
      'from held units': amountText(refund.asset, refund.fromHeld),
      "from the merchant's float": amountText(refund.asset, refund.fromMerchant),
      "from the operator's float": amountText(refund.asset, refund.fromOperator),
      transaction: refund.transactionHash,
      problem: refund.problem,
    };
    const history = layoutTable(events, [
      { title: 'at', cell: ({ at }) => at },
      { title: 'event', cell: ({ type }) => type },
      { title: 'to', cell: ({ data }) => String(data.state) },
      { title: 'by', cell: ({ actor }) => actor },
      { title: 'evidence', cell: ({ evidence }) => JSON.stringify(evidence) },
    ]);
    return { json: { ...refund, events }, text: `${layoutFields(fields)}\n\n${history}` };
  },
});

const retry = databaseCommand({
  name: 'refunds retry',
  summary: 'Retry a failed refund. Its cover is still reserved.',
  positionals: { id: required(id, 'The refund, as shown by refunds list.') },
  options: {},
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
  summary: 'Refund a payment in full. Only operators can, while its merchant is suspended or frozen.',
  positionals: { id: required(id, 'The payment.') },
  options: {},
  examples: ['refunds create pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: (deps, { id: paymentId }) =>
    withChains(deps, async (chains) => {
      await requestAsOperator({ ...deps, chains }, { paymentId, actor: operatorOf(deps.config) });
      const refund = await findRefundOf(deps.db.sql, paymentId);
      return { json: refund, text: `Refund ${refund?.id} is ${refund?.state}.` };
    }),
});

const approve = databaseCommand({
  name: 'refunds approve',
  summary: 'Send a refund although its merchant is suspended or frozen.',
  positionals: { id: required(id, 'The refund, as shown by refunds list.') },
  options: {},
  examples: ['refunds approve rfnd_11KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: refundId }) => {
    const refund = await approveRefund(deps, { id: refundId, actor: operatorOf(deps.config) });
    return { json: refund, text: `Refund ${refund.id} is approved. It is ${refund.state}.` };
  },
});

export const refundCommands: readonly Command[] = [list, show, create, approve, retry];
