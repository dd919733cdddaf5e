import { expelDestination, vetoDestination } from '../actions/parties/cool-off-destinations.ts';
import { listPendingDestinations } from '../store/parties/destinations.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { id, text } from './kinds.ts';
import { listing } from './listing.ts';
import { optional, required } from './options.ts';
import { openRowKeys } from './row-keys.ts';

const PAGE = 200;

const pending = databaseCommand({
  name: 'destinations pending',
  summary: `Show changes of settlement destinations that cool off, the first to apply first, at most ${PAGE}.`,
  options: { merchant: optional(id, 'Only of this merchant.') },
  examples: ['destinations pending', 'destinations pending --merchant mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async ({ db }, { merchant: merchantId }) =>
    listing(await listPendingDestinations(db.sql, { merchantId, limit: PAGE }), {
      columns: [
        { title: 'id', cell: (settlement) => settlement.id },
        { title: 'merchant', cell: (settlement) => settlement.merchantId },
        { title: 'asset', cell: (settlement) => settlement.asset },
        { title: 'in force', cell: (settlement) => settlement.destination },
        { title: 'pending', cell: (settlement) => settlement.pendingDestination },
        { title: 'applies', cell: (settlement) => settlement.effectiveAt },
      ],
      empty: 'No change cools off.',
    }),
});

const veto = databaseCommand({
  name: 'destinations veto',
  summary: 'Refuse a change of a settlement destination that cools off. The destination in force stays.',
  positionals: { id: required(id, 'The settlement, as shown by destinations pending.') },
  options: { reason: required(text, 'Why. It is kept in the audit log.') },
  examples: ['destinations veto crypto_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --reason "not ordered by the merchant"'],
  run: async (deps, { id: settlementId, reason }) => {
    const kept = await vetoDestination(
      { ...deps, rowKeys: await openRowKeys(deps) },
      { settlementId, reason, actor: operatorOf(deps.config) },
    );
    return { json: kept, text: `Vetoed. ${kept.id} stays at ${kept.destination}.` };
  },
});

const remove = databaseCommand({
  name: 'destinations remove',
  summary:
    'Remove a destination, such as a thief’s. Payments are held until the merchant registers another, as its first.',
  positionals: { id: required(id, 'The settlement, as the API lists it.') },
  options: { reason: required(text, 'Why. It is kept in the audit log.') },
  examples: ['destinations remove crypto_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --reason "set by a stolen key, case 42"'],
  run: async (deps, { id: settlementId, reason }) => {
    const removed = await expelDestination(
      { ...deps, rowKeys: await openRowKeys(deps) },
      { settlementId, reason, actor: operatorOf(deps.config) },
    );
    return { json: removed, text: `Removed. ${removed.merchantId} is not paid to ${removed.destination} any more.` };
  },
});

export const destinationCommands: readonly Command[] = [pending, veto, remove];
