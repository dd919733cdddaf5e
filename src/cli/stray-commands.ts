import { returnUnexpected } from '../actions/outgoing/return/return-unexpected.ts';
import { isMixedCoin } from '../actions/outgoing/return/unexpected-entries.ts';
import { vetoReturn } from '../actions/outgoing/return/veto-return.ts';
import { type Fate, type SearchReport, searchUnexpected } from '../actions/watch/deposits/search-unexpected.ts';
import { amountText } from '../chains/amount-text.ts';
import type { Registry } from '../chains/registry.ts';
import { depositMinimumOn } from '../settings/chains.ts';
import { listUnexpected, type UnexpectedMoney } from '../store/money/unexpected-money.ts';
import { withChains } from './chains.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { id, text as words } from './kinds.ts';
import { listing } from './listing.ts';
import { account } from './money-kinds.ts';
import { flag, optional, required } from './options.ts';
import { openRowKeys } from './row-keys.ts';

const MAX_LISTED = 200;

const list = databaseCommand({
  name: 'strays list',
  summary: `Show money that arrived without a payment, or too late, the newest first, at most ${MAX_LISTED}.`,
  options: { all: flag('Include strays that were returned or made a float.') },
  examples: ['strays list', 'strays list --all --json'],
  run: async ({ db, registry }, { all }) => {
    const states = all
      ? (['unclaimed', 'requested', 'float', 'returning', 'returned'] as const)
      : (['unclaimed', 'requested'] as const);
    return listing(await listUnexpected(db.sql, { states, limit: MAX_LISTED }), {
      columns: [
        { title: 'id', cell: (unexpected) => unexpected.id },
        {
          title: 'kind',
          cell: whatOf,
        },
        { title: 'amount', cell: (unexpected) => amountText(registry, unexpected.asset, unexpected.amount) },
        { title: 'from', cell: (unexpected) => unexpected.sender ?? 'unknown' },
        { title: 'to', cell: (unexpected) => unexpected.account },
        {
          title: 'transaction',
          cell: (unexpected) => unexpected.transactionHash ?? `in block ${unexpected.blockNumber}`,
        },
        { title: 'state', cell: (unexpected) => unexpected.state },
        { title: 'requested for', cell: (unexpected) => unexpected.recipient },
        { title: 'seen', cell: (unexpected) => unexpected.seenAt },
      ],
      empty: 'No unexpected money.',
    });
  },
});

function whatOf(unexpected: UnexpectedMoney): string {
  if (unexpected.source === 'late_payment')
    return `${unexpected.sender === null ? 'at an address' : 'paid late'}: ${unexpected.paymentId}`;
  return isMixedCoin(unexpected) ? 'coin, used for transactions' : 'transfer';
}

const giveBack = databaseCommand({
  name: 'strays return',
  summary: 'Return unexpected money. A late payment is returned in full; floats cover the missing part.',
  positionals: { id: required(id, 'The id that strays list shows.') },
  options: {
    to: optional(account, 'The recipient. Default: the sender, which may be an exchange: ask before.'),
  },
  examples: ['strays return stry_1HKHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: (deps, { id: unexpectedId, to }) =>
    withChains(deps, async (chains) => {
      const unexpected = await returnUnexpected(
        { ...deps, chains, rowKeys: await openRowKeys(deps) },
        { id: unexpectedId, to, actor: operatorOf(deps.config) },
      );
      return {
        json: unexpected,
        text: `${amountText(deps.registry, unexpected.asset, unexpected.amount)} is on its way back: ${unexpected.id}`,
      };
    }),
});

const veto = databaseCommand({
  name: 'strays veto',
  summary: 'End the return of late money that a partner has requested and that is not on its way.',
  positionals: { id: required(id, 'The id that strays list shows.') },
  options: { reason: required(words, 'Why. It is kept in the audit log.') },
  examples: ['strays veto stry_1HKHRZ5Q8MB2N4P6R8T0V2X4Z6 --reason "requested by a stolen key"'],
  run: async (deps, { id: unexpectedId, reason }) => {
    const unexpected = await vetoReturn(deps, { id: unexpectedId, reason, actor: operatorOf(deps.config) });
    return { json: unexpected, text: `The return of ${unexpected.id} is vetoed.` };
  },
});

const search = databaseCommand({
  name: 'strays search',
  summary:
    'Search the deposit addresses of a payment for money: every token, on every network. The addresses are the same everywhere.',
  positionals: { payment: required(id, 'The payment.') },
  options: {
    network: optional({ ...id, placeholder: 'caip2' }, 'Only this network. Default: all networks of RPC_URLS.'),
    sweep: flag('Sweep the money to the merchant and the fee account.'),
    listed: flag('With --sweep: also where accounts on the screening list have sent money.'),
  },
  examples: ['strays search pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'strays search pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --sweep'],
  run: (deps, { payment, network, sweep, listed }) =>
    withChains(deps, async (chains) => {
      const sweepFrom = (each: string) => depositMinimumOn(deps.config, each);
      const actor = operatorOf(deps.config);
      const report = await searchUnexpected(
        { ...deps, chains, sweepFrom, rowKeys: await openRowKeys(deps) },
        { paymentId: payment, network, isSweep: sweep, isListed: listed, actor },
      );
      return {
        json: report,
        text: searchText(deps.registry, report, listed),
        exitCode: report.unsearched.length > 0 ? 1 : 0,
      };
    }),
});

function searchText(
  registry: Registry,
  { addresses, found, unsearched, isOrdered }: SearchReport,
  isListed: boolean,
): string {
  const lines = found.map(
    ({ asset, units, address, network, fate, recipient }) =>
      `${amountText(registry, asset, units)} at ${address} on ${network}: ${fateText(fate, { network, recipient, isOrdered, isListed })}`,
  );
  if (addresses === 0) lines.push('The payment has no deposit address.');
  else if (lines.length === 0) lines.push('Nothing lies at its deposit addresses.');
  for (const network of unsearched) lines.push(`${network} could not be searched whole: no endpoint has answered.`);
  return lines.join('\n');
}

function fateText(
  fate: Fate,
  {
    network,
    recipient,
    isOrdered,
    isListed,
  }: { network: string; recipient: string; isOrdered: boolean; isListed: boolean },
): string {
  switch (fate) {
    case 'sweepable':
      return isOrdered
        ? `it is being swept to ${recipient}. Search again to see it gone.`
        : `add --sweep to sweep it to ${recipient}.`;
    case 'counts':
      return 'it counts for the payment, which is open.';
    case 'too_little':
      return 'a sweep costs more than it brings: see DEPOSIT_MINIMUM.';
    case 'listed':
      return 'an account on the screening list has sent some of it. It is swept with --sweep --listed.';
    case 'held':
      return `it has been swept to ${recipient}, and an account on the screening list has sent it. ${isListed && isOrdered ? 'It is paid out within minutes.' : 'It is paid out with --sweep --listed.'}`;
    case 'coin':
      return 'coin cannot be swept, only tokens.';
    case 'no_contract':
      return `the contract of deposit addresses is missing there: run collector deploy --network ${network}.`;
    case 'no_relayer':
      return `RELAYER_KEYS has no key for ${network}: a relayer must pay for the transaction.`;
    case 'not_our_account':
      return `a sweep would take it to ${recipient}, which is not the INTERMEDIATE_ACCOUNT of ${network}. Use that account there as well, then search again.`;
  }
}

export const strayCommands: readonly Command[] = [list, giveBack, veto, search];
