import { isOwnAccountState, isRetired, readAccountStates } from '../actions/account-states.ts';
import { adoptAccount, isOwnAccount } from '../actions/own-accounts.ts';
import { addAccount, type ChangeDeps, retireAccount, rotateAccount } from '../actions/relay/change-accounts.ts';
import { coinDecimal } from '../chains/amount-text.ts';
import { unlessUnavailable } from '../chains/chain-errors.ts';
import { isSameAddress } from '../domain/addresses/families.ts';
import { listAccountStates } from '../store/chain/account-states.ts';
import { listOwnAccounts, type OwnAccount } from '../store/chain/own-accounts.ts';
import { type AccountRest, countAccountRest } from '../store/money/account-rest.ts';
import { withChains } from './chains.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import type { OperatorDeps } from './connect.ts';
import { oneOf } from './kinds.ts';
import { listing } from './listing.ts';
import { account } from './money-kinds.ts';
import { required } from './options.ts';
import { openRowKeys } from './row-keys.ts';

type Named = Pick<OwnAccount, 'network' | 'address' | 'kind'>;

const list = databaseCommand({
  name: 'accounts list',
  summary:
    'Show every account that was ever an intermediate account or a relayer of this gateway, and what is left on it.',
  examples: ['accounts list', 'accounts list --json'],
  run: async (deps) => {
    const rowKeys = await openRowKeys(deps);
    const now = new Date(deps.world.clock.nowMs());
    const [used, decided, states] = await Promise.all([
      listOwnAccounts(deps.db.sql),
      listAccountStates(deps.db.sql),
      readAccountStates(deps.db.sql, { rowKeys }),
    ]);
    const isKnown = (row: Named) => used.some((each) => isSame(each, row));
    const added = decided.filter((row) => row.state === 'added' && !isKnown(row));
    const accounts = [
      ...used.map((row) => ({ ...row, isGenuine: isOwnAccount({ rowKeys }, row) })),
      ...added.map((row) => ({ ...row, isGenuine: isOwnAccountState({ rowKeys }, row) })),
    ];
    const inForce = (row: Named) => used.findLast(({ network, kind }) => kind === row.kind && network === row.network);
    const rows = await Promise.all(
      accounts.map(async ({ network, address, kind, since, isGenuine }) => ({
        network,
        address,
        kind,
        since,
        isGenuine,
        state: stateOf({ network, address, kind }, { states, last: inForce({ network, address, kind }) }),
        left: await countAccountRest(deps.db.sql, { network, address, now }),
      })),
    );
    return listing(rows, {
      columns: [
        { title: 'network', cell: ({ network }) => network },
        { title: 'address', cell: ({ address }) => address },
        { title: 'kind', cell: ({ kind }) => kind },
        { title: 'since', cell: ({ since }) => since },
        { title: 'state', cell: ({ state }) => state },
        { title: 'left', cell: ({ left }) => restText(left) },
        { title: 'written by the gateway', cell: ({ isGenuine }) => (isGenuine ? 'yes' : 'no') },
      ],
      empty: 'No node has started with a network yet.',
    });
  },
});

function stateOf(
  row: Named,
  { states, last }: { readonly states: Parameters<typeof isRetired>[0]; readonly last: Named | undefined },
): string {
  const own = states.filter(({ network }) => network === row.network);
  if (isRetired(own, row)) return 'retired';
  if (row.kind === 'relayer') return 'in use';
  if (last === undefined) return 'added';
  return isSameAddress(row.network, last.address, row.address) ? 'in force' : 'replaced';
}

function isSame(one: Named, other: Named): boolean {
  const { network } = one;
  return network === other.network && one.kind === other.kind && isSameAddress(network, one.address, other.address);
}

const REST_WORDS: Readonly<Record<keyof AccountRest, string>> = {
  sends: 'transactions in flight',
  arriving: 'payments and sweeps to it',
  watched: 'watched deposit addresses',
  held: 'payments with held money',
  outgoing: 'transfers from it',
  floats: 'floats',
  unexpected: 'unexpected money',
};

/** The objects that still use an account, as text. A count of a hundred or more is shown as `100 or more`. */
function restText(rest: AccountRest): string {
  const parts = Object.entries(REST_WORDS).flatMap(([name, words]) => {
    const count = rest[name as keyof AccountRest];
    return count === 0 ? [] : [`${words}: ${count >= 100 ? '100 or more' : count}`];
  });
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

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

const KIND = required(oneOf(['relayer', 'intermediate']), 'What the account does: relayer or intermediate.');

const add = databaseCommand({
  name: 'accounts add',
  summary: 'Make an account known as ours before nodes use it, or let a retired account work again.',
  positionals: { kind: KIND, account: required(account, 'The account. Its key must be in the settings.') },
  examples: ['accounts add relayer eip155:8453:0x00000000000000000000000000000000000000aa'],
  run: (deps, { kind, account: { chainId: network, address } }) =>
    change(deps, async (changing) => {
      await addAccount(changing, { network, address, kind, actor: operatorOf(deps.config) });
      const use = kind === 'relayer' ? 'Nodes with its key send with it.' : 'till accounts rotate puts it in force.';
      return { json: { network, address, kind }, text: `${address} is an account of ours on ${network}. ${use}` };
    }),
});

const rotate = databaseCommand({
  name: 'accounts rotate',
  summary:
    'Replace the intermediate account of a network in operation. The account before keeps its money, and pays it out.',
  positionals: { account: required(account, 'The account that INTERMEDIATE_ACCOUNT names in these settings.') },
  examples: ['accounts rotate eip155:8453:0x00000000000000000000000000000000000000aa'],
  run: (deps, { account: { chainId: network, address } }) =>
    change(deps, async (changing) => {
      const { before } = await rotateAccount(changing, { network, address, actor: operatorOf(deps.config) });
      const text = [
        `${address} is the intermediate account of ${network}. Restart every node with these settings, one after the other.`,
        ...(before === undefined
          ? []
          : [`Keep the key of ${before} in OTHER_INTERMEDIATE_KEYS until till accounts retire takes it.`]),
      ];
      return { json: { network, address, before: before ?? null }, text: text.join('\n') };
    }),
});

const retire = databaseCommand({
  name: 'accounts retire',
  summary: 'Take an account out of service. A relayer finishes what is stored; an intermediate account must be empty.',
  positionals: { kind: KIND, account: required(account, 'The account.') },
  examples: ['accounts retire relayer eip155:8453:0x00000000000000000000000000000000000000aa'],
  run: (deps, { kind, account: { chainId: network, address } }) =>
    change(deps, async (changing) => {
      const left = await retireAccount(changing, { network, address, kind, actor: operatorOf(deps.config) });
      const chain = changing.chains.find(network)?.chain;
      const balance = chain && (await unlessUnavailable(chain.reader.balance(address)));
      const coin = chain === undefined || balance === undefined ? 'unknown' : coinDecimal(chain.network, balance);
      const text = `${address} is retired on ${network}. Left: ${restText(left)}. Its rest of coin is ${coin}. When till accounts list shows nothing left, move the coin away and take its key out of the settings.`;
      return { json: { network, address, kind, left, coin }, text };
    }),
});

function change<T>(deps: OperatorDeps, work: (changing: ChangeDeps) => Promise<T>): Promise<T> {
  return withChains(deps, async (chains) => work({ ...deps, chains, rowKeys: await openRowKeys(deps) }));
}

export const accountCommands: readonly Command[] = [list, add, rotate, retire, adopt];
