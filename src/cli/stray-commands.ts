import { returnStray } from '../actions/outgoing/stray/return-stray.ts';
import { isGasMoney } from '../actions/outgoing/stray/stray-entries.ts';
import { amountText } from '../chains/amount-text.ts';
import { listStrays, type Stray } from '../store/money/strays.ts';
import { withChains } from './chains.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { id } from './kinds.ts';
import { listing } from './listing.ts';
import { account } from './money-kinds.ts';
import { flag, optional, required } from './options.ts';
import { openRowKeys } from './row-keys.ts';

const MAX_LISTED = 200;

const list = databaseCommand({
  name: 'strays list',
  summary: `Show money that arrived without a payment, or too late, the newest first, at most ${MAX_LISTED}.`,
  positionals: {},
  options: { all: flag('Include strays that were returned or made a float.') },
  examples: ['strays list', 'strays list --all --json'],
  run: async ({ db }, { all }) => {
    const states = all ? (['unclaimed', 'float', 'returning', 'returned'] as const) : (['unclaimed'] as const);
    return listing(await listStrays(db.sql, { states, limit: MAX_LISTED }), {
      columns: [
        { title: 'id', cell: (stray) => stray.id },
        {
          title: 'kind',
          cell: whatOf,
        },
        { title: 'amount', cell: (stray) => amountText(stray.asset, stray.amount) },
        { title: 'from', cell: (stray) => stray.sender ?? 'unknown' },
        { title: 'to', cell: (stray) => stray.account },
        { title: 'transaction', cell: (stray) => stray.transactionHash ?? `in block ${stray.blockNumber}` },
        { title: 'state', cell: (stray) => stray.state },
        { title: 'seen', cell: (stray) => stray.seenAt },
      ],
      empty: 'No stray money.',
    });
  },
});

function whatOf(stray: Stray): string {
  if (stray.source === 'late_payment') return `paid late: ${stray.paymentId}`;
  return isGasMoney(stray) ? 'coin, used for gas' : 'transfer';
}

const giveBack = databaseCommand({
  name: 'strays return',
  summary: 'Return stray money. A late payment is returned in full; floats cover the missing part.',
  positionals: { id: required(id, 'The stray, as shown by strays list.') },
  options: {
    to: optional(account, 'The recipient. Default: the sender, which may be an exchange: ask before.'),
  },
  examples: ['strays return stry_1HKHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: (deps, { id: strayId, to }) =>
    withChains(deps, async (chains) => {
      const stray = await returnStray(
        { ...deps, chains, rowKeys: await openRowKeys(deps) },
        { id: strayId, to, actor: operatorOf(deps.config) },
      );
      return { json: stray, text: `${amountText(stray.asset, stray.amount)} is on its way back: ${stray.id}` };
    }),
});

export const strayCommands: readonly Command[] = [list, giveBack];
