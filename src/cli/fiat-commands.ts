import { merchantNotFound } from '../actions/parties/change-merchant.ts';
import { addFiatSettlement, removeFiatSettlement } from '../actions/parties/keep-fiat.ts';
import { listFiatSettlements } from '../store/parties/destinations.ts';
import { findMerchantOfAnyPartner } from '../store/parties/merchants.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { id, oneOf, text } from './kinds.ts';
import { listing } from './listing.ts';
import { required, withDefault } from './options.ts';
import { layoutFields } from './table.ts';

const merchantId = required(id, 'The merchant, as shown by merchants list.');

const add = databaseCommand({
  name: 'fiat add',
  summary: 'Record a bank arrangement of a merchant.',
  positionals: { merchantId },
  options: {
    'bank-type': required(text, 'The kind of transfer, such as ACH or SEPA.'),
    status: withDefault(oneOf(['active', 'inactive']), 'active', 'Whether it is in use.'),
  },
  examples: ['fiat add mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --bank-type ACH'],
  run: async (deps, { merchantId: merchant, 'bank-type': bankType, status }) => {
    const record = await addFiatSettlement(deps, {
      actor: operatorOf(deps.config),
      merchantId: merchant,
      bankType,
      status,
    });
    const fields = { id: record.id, merchant: record.merchantId, 'bank type': record.bankType, status: record.status };
    return { json: record, text: `Bank arrangement recorded.\n\n${layoutFields(fields)}` };
  },
});

const list = databaseCommand({
  name: 'fiat list',
  summary: 'Show the bank arrangements of a merchant.',
  positionals: { merchantId },
  examples: ['fiat list mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async ({ db }, { merchantId: merchant }) => {
    if ((await findMerchantOfAnyPartner(db.sql, merchant)) === undefined) throw merchantNotFound(merchant);
    return listing(await listFiatSettlements(db.sql, { merchantId: merchant }), {
      columns: [
        { title: 'id', cell: (record) => record.id },
        { title: 'bank type', cell: (record) => record.bankType },
        { title: 'status', cell: (record) => record.status },
      ],
      empty: 'No bank arrangements yet.',
    });
  },
});

const remove = databaseCommand({
  name: 'fiat remove',
  summary: 'Remove a bank arrangement.',
  positionals: { id: required(id, 'The arrangement, as shown by fiat list.') },
  examples: ['fiat remove fiat_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: settlementId }) => {
    await removeFiatSettlement(deps, { actor: operatorOf(deps.config), settlementId });
    return { json: { id: settlementId, removed: true }, text: `Bank arrangement ${settlementId} removed.` };
  },
});

export const fiatCommands: readonly Command[] = [add, list, remove];
