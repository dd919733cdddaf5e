import { addFloat } from '../actions/outgoing/float/add-float.ts';
import { returnFloat } from '../actions/outgoing/float/return-float.ts';
import { amountText } from '../chains/amount-text.ts';
import { OPERATOR_FLOAT } from '../domain/books.ts';
import { listFloats } from '../store/money/floats.ts';
import { withChains } from './chains.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { id } from './kinds.ts';
import { listing } from './listing.ts';
import { account, knownAsset, transactionHash, units } from './money-kinds.ts';
import { flag, optional, required } from './options.ts';
import { openRowKeys } from './row-keys.ts';

const OWNER = {
  merchant: optional(id, "A merchant's float."),
  operator: flag("The operator's float."),
};

const add = databaseCommand({
  name: 'float add',
  summary: 'Credit a float with a transfer to the intermediate account. The transfer is read from the chain.',
  options: {
    ...OWNER,
    asset: required(knownAsset, 'The transferred asset.'),
    tx: required(transactionHash, 'The transaction.'),
  },
  examples: [`float add --operator --asset eip155:8453/USDC --tx 0x${'ab'.repeat(32)}`],
  check: oneOwner,
  run: (deps, { merchant, asset, tx }) =>
    withChains(deps, async (chains) => {
      const owner = merchant ?? OPERATOR_FLOAT;
      const input = { owner, asset, transactionHash: tx, actor: operatorOf(deps.config) };
      const rowKeys = await openRowKeys(deps);
      const added = await addFloat({ ...deps, chains, rowKeys }, input);
      const text = `${amountText(deps.registry, asset, added)} added to the float of ${owner}.`;
      return { json: { owner, asset, units: added.toString(), transactionHash: tx }, text };
    }),
});

const list = databaseCommand({
  name: 'float list',
  summary: 'Show the floats that refunds are paid from.',
  options: OWNER,
  examples: ['float list', 'float list --operator --json'],
  check: ({ merchant, operator }) =>
    merchant !== undefined && operator ? ['Give --merchant or --operator, not both.'] : [],
  run: async ({ db, registry }, { merchant, operator }) =>
    listing(await listFloats(db.sql, merchant ?? (operator ? OPERATOR_FLOAT : undefined)), {
      columns: [
        { title: 'owner', cell: ({ owner }) => owner },
        { title: 'amount', cell: ({ asset, units: amount }) => amountText(registry, asset, amount) },
        { title: 'asset', cell: ({ asset }) => asset },
        { title: 'on', cell: ({ account: on }) => on ?? '' },
      ],
      empty: 'No floats yet: see float add.',
    }),
});

const giveBack = databaseCommand({
  name: 'float return',
  summary: 'Send a part of a float to an account outside.',
  options: {
    ...OWNER,
    asset: required(knownAsset, 'What is sent.'),
    units: required(units, 'How much, in the smallest unit of the asset.'),
    to: required(account, 'Where to.'),
  },
  examples: [
    'float return --operator --asset eip155:8453/USDC --units 5000 --to eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  ],
  check: (values) => [
    ...oneOwner(values),
    ...(values.asset.startsWith(`${values.to.chainId}/`) ? [] : ['--to must be an account on the network of --asset']),
  ],
  run: (deps, { merchant, asset, units: amount, to }) =>
    withChains(deps, async (chains) => {
      const owner = merchant ?? OPERATOR_FLOAT;
      const input = { owner, asset, units: amount, recipient: to.address, actor: operatorOf(deps.config) };
      const returned = await returnFloat({ ...deps, chains, rowKeys: await openRowKeys(deps) }, input);
      const text = `${amountText(deps.registry, asset, amount)} of the float of ${owner} is on its way to ${to.address}: ${returned}`;
      return { json: { id: returned, owner, asset, units: amount.toString(), recipient: to.address }, text };
    }),
});

function oneOwner({ merchant, operator }: { merchant: string | undefined; operator: boolean }): string[] {
  return (merchant !== undefined) === operator ? ['Give either --merchant or --operator.'] : [];
}

export const floatCommands: readonly Command[] = [add, list, giveBack];
