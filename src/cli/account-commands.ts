import { adoptAccount, isOwnAccount } from '../actions/own-accounts.ts';
import { listOwnAccounts } from '../store/chain/own-accounts.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { listing } from './listing.ts';
import { account } from './money-kinds.ts';
import { required } from './options.ts';
import { openRowKeys } from './row-keys.ts';

const list = databaseCommand({
  name: 'accounts list',
  summary: 'Show every account that was ever an intermediate account or a relayer of this gateway.',
  examples: ['accounts list', 'accounts list --json'],
  run: async (deps) => {
    const rowKeys = await openRowKeys(deps);
    const rows = (await listOwnAccounts(deps.db.sql)).map((row) => {
      const { network, address, kind, since } = row;
      return { network, address, kind, since, isGenuine: isOwnAccount({ rowKeys }, row) };
    });
    return listing(rows, {
      columns: [
        { title: 'network', cell: ({ network }) => network },
        { title: 'address', cell: ({ address }) => address },
        { title: 'kind', cell: ({ kind }) => kind },
        { title: 'since', cell: ({ since }) => since },
        { title: 'written by the gateway', cell: ({ isGenuine }) => (isGenuine ? 'yes' : 'no') },
      ],
      empty: 'No node has started with a network yet.',
    });
  },
});

const adopt = databaseCommand({
  name: 'accounts adopt',
  summary:
    'Make an account the intermediate account of its network, although the books hold money on another one. Move the money first.',
  positionals: { account: required(account, 'The account that INTERMEDIATE_ACCOUNT names.') },
  examples: ['accounts adopt eip155:8453:0x00000000000000000000000000000000000000aa'],
  run: async (deps, { account: { chainId: network, address } }) => {
    const rowKeys = await openRowKeys(deps);
    await adoptAccount({ ...deps, rowKeys }, { network, address, actor: operatorOf(deps.config) });
    const text = `${address} is the intermediate account of ${network}. Nodes start with it; till accounts list shows the earlier ones.`;
    return { json: { network, address }, text };
  },
});

export const accountCommands: readonly Command[] = [list, adopt];
