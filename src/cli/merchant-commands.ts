import { changeMerchant, merchantNotFound, restoreMerchant } from '../actions/parties/change-merchant.ts';
import { partnerNotFound } from '../actions/parties/change-partner.ts';
import { acceptedText } from '../chains/accepted-entry.ts';
import { MERCHANT_STATUSES, type MerchantStatus } from '../domain/merchant.ts';
import { MODES } from '../domain/mode.ts';
import { findMerchantOfAnyPartner, listMerchantsOfAllPartners } from '../store/parties/merchants.ts';
import { findPartner } from '../store/parties/partners.ts';
import { accept, acceptedIn } from './accepted-lists.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { id, oneOf, text } from './kinds.ts';
import { listing } from './listing.ts';
import { flag, optional, required } from './options.ts';
import { printable } from './table.ts';

const PAGE = 200;

const list = databaseCommand({
  name: 'merchants list',
  summary: `Show merchants of all partners, newest first, at most ${PAGE}.`,
  options: {
    partner: optional(id, 'Only the merchants of this partner.'),
    mode: optional(oneOf(MODES), 'Only those in this mode.'),
    status: optional(oneOf(MERCHANT_STATUSES), 'Only those with this status.'),
    search: optional(text, 'Only those whose name or id contains this, in any case.'),
  },
  examples: ['merchants list', 'merchants list --status suspended --search coffee'],
  run: async ({ db }, { partner: partnerId, ...filters }) => {
    if (partnerId !== undefined && (await findPartner(db.sql, partnerId)) === undefined)
      throw partnerNotFound(partnerId);
    const found = await listMerchantsOfAllPartners(db.sql, { partnerId, ...filters, limit: PAGE + 1 });
    const output = listing(found.slice(0, PAGE), {
      columns: [
        { title: 'id', cell: (merchant) => merchant.id },
        { title: 'partner', cell: (merchant) => merchant.partnerId },
        { title: 'mode', cell: (merchant) => merchant.mode },
        { title: 'status', cell: (merchant) => merchant.status },
        { title: 'name', cell: (merchant) => merchant.name },
        { title: 'email', cell: (merchant) => merchant.email },
        { title: 'created', cell: (merchant) => merchant.createdAt },
      ],
      empty: 'No merchants found.',
    });
    const note = `Only the newest ${PAGE} are shown: narrow the list with --partner, --mode, --status or --search.`;
    return { ...output, note: found.length > PAGE ? note : undefined };
  },
});

const set = databaseCommand({
  name: 'merchants set',
  summary: 'Set the assets that new payments of a merchant can be paid with. Payments made before keep their lists.',
  positionals: { id: required(id, 'The merchant, as shown by merchants list.') },
  options: { accept, 'accept-all': flag('Accept every asset that the partner accepts.') },
  examples: [
    'merchants set mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --accept eip155:8453/USDC --accept eip155:137/USDC',
    'merchants set mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --accept-all',
  ],
  check: ({ accept: ids, 'accept-all': isAll }) => {
    if (isAll && ids.length > 0) return ['--accept and --accept-all exclude each other'];
    return isAll || ids.length > 0 ? [] : ['there is nothing to change: give --accept or --accept-all'];
  },
  run: async (deps, { id: merchantId, accept: ids, 'accept-all': isAll }) => {
    const found = await findMerchantOfAnyPartner(deps.db.sql, merchantId);
    if (found === undefined) throw merchantNotFound(merchantId);
    const acceptedAssets = isAll ? null : await acceptedIn(deps, found.mode, ids);
    const actor = operatorOf(deps.config);
    const merchant = await changeMerchant(deps, { owner: null, actor, merchantId, changes: { acceptedAssets } });
    const text = `New payments of ${merchant.id} (${printable(merchant.name)}) can be paid with ${acceptedText(deps.registry, acceptedAssets)}.`;
    return { json: merchant, text: `${text} The list of its partner holds as well.` };
  },
});

const restore = databaseCommand({
  name: 'merchants restore',
  summary: 'Bring a deleted merchant back, with its destinations, fees and payments.',
  positionals: { id: required(id, 'The merchant.') },
  examples: ['merchants restore mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: merchantId }) => {
    const merchant = await restoreMerchant(deps, { merchantId, actor: operatorOf(deps.config) });
    const text = `Merchant ${merchant.id} (${printable(merchant.name)}) is there again. It is ${merchant.status}.`;
    return { json: merchant, text };
  },
});

export const merchantCommands: readonly Command[] = [
  list,
  set,
  restore,
  statusCommand(
    'suspend',
    'suspended',
    'Stop the money of a merchant, for cause: payments, payouts, changes of destinations, refunds by its partner.',
  ),
  statusCommand('activate', 'active', 'Let a merchant take payments again.'),
  statusCommand('deactivate', 'inactive', 'Stop a merchant from taking new payments, by its own wish.'),
];

function statusCommand(verb: string, status: MerchantStatus, summary: string): Command {
  return databaseCommand({
    name: `merchants ${verb}`,
    summary,
    positionals: { id: required(id, 'The merchant, as shown by merchants list.') },
    examples: [`merchants ${verb} mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6`],
    run: async (deps, { id: merchantId }) => {
      const merchant = await changeMerchant(deps, {
        owner: null,
        actor: operatorOf(deps.config),
        merchantId,
        changes: { status },
      });
      return { json: merchant, text: `Merchant ${merchant.id} (${printable(merchant.name)}) is ${merchant.status}.` };
    },
  });
}
