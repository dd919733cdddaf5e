import { type ReconcileReport, reconcile } from '../actions/books/audit/reconcile.ts';
import { rebuild } from '../actions/books/restore/rebuild.ts';
import { recordCommand } from '../actions/record-command.ts';
import type { Chains, ConnectedChain } from '../chains/chains.ts';
import { OPERATOR_FLOAT } from '../domain/books.ts';
import { ApiError } from '../errors.ts';
import { readScreening } from '../screening/follow-list.ts';
import { withChains } from './chains.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { blockNumber, id } from './kinds.ts';
import { flag, optional, required } from './options.ts';
import { openEventKeys, openRowKeys } from './row-keys.ts';
import { layoutTable } from './table.ts';

const compare = databaseCommand({
  name: 'reconcile',
  summary:
    'Compare the books with the chains, block by block, and with the balances of the operator’s accounts. Exit code 1 when they differ.',
  options: {
    network: optional(id, 'One network only, such as eip155:8453.'),
    from: optional(blockNumber, 'The first block. Default: the first known block.'),
  },
  examples: ['reconcile', 'reconcile --network eip155:8453 --from 41000000 --json'],
  check: ({ network, from }) =>
    from !== undefined && network === undefined ? ['--from needs --network: blocks are numbered by each chain'] : [],
  run: (deps, { network, from }) =>
    withChains(deps, async (chains) => {
      const reports: ReconcileReport[] = [];
      const [rowKeys, subjectKeys] = [await openRowKeys(deps), await openEventKeys(deps)];
      for (const connected of chosen(chains, network)) {
        const report = await reconcile({ ...deps, rowKeys, subjectKeys }, connected, { from });
        if (report !== undefined) reports.push(report);
      }
      const differences = reports.flatMap((report) =>
        report.differences.map(({ message, block }) => `${report.network}, block ${block}: ${message}`),
      );
      const gaps = reports.flatMap((report) => report.unreadable.map((gap) => `${report.network}: ${gap}`));
      const found = [...differences, ...gaps];
      return { json: reports, text: describe(reports, found), exitCode: found.length === 0 ? 0 : 1 };
    }),
});

function describe(reports: readonly ReconcileReport[], found: readonly string[]): string {
  if (reports.length === 0) return 'No chain was read yet: there is nothing to compare.';
  const table = layoutTable(reports, [
    { title: 'network', cell: ({ network }) => network },
    { title: 'blocks', cell: ({ from, to }) => `${from} to ${to}` },
    { title: 'events', cell: ({ events }) => String(events) },
    { title: 'not ours', cell: ({ foreign }) => String(foreign) },
    { title: 'being decided', cell: ({ waiting }) => String(waiting) },
    { title: 'differences', cell: (report) => String(report.differences.length) },
  ]);
  return `${table}\n\n${found.length === 0 ? 'The books and the chains agree.' : found.join('\n')}`;
}

const restore = databaseCommand({
  name: 'rebuild',
  summary: 'Rebuild lost payments, payouts, refunds and book entries from the chain, gas included.',
  options: {
    network: required(id, 'The network, such as eip155:8453.'),
    from: required(blockNumber, 'The first block with lost data.'),
    to: optional(blockNumber, 'The last block. Default: the last final block.'),
    merchant: optional(id, 'The merchant of payments and floats whose owner the chain does not show.'),
    operator: flag('Floats whose owner the chain does not show belong to the operator.'),
  },
  examples: [
    'rebuild --network eip155:8453 --from 41000000 --to 41000500',
    'rebuild --network eip155:8453 --from 41000000 --merchant mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6',
  ],
  check: ({ from, to }) => (to !== undefined && to < from ? ['--to must not be less than --from'] : []),
  run: (deps, { network, from, to, merchant, operator }) =>
    withChains(deps, async (chains) => {
      const [connected] = chosen(chains, network);
      const floatOwner = operator ? OPERATOR_FLOAT : merchant;
      const rowKeys = await openRowKeys(deps);
      const subjectKeys = await openEventKeys(deps);
      const screening = await readScreening(deps.config.screeningList);
      const input = { from, to, merchantId: merchant, floatOwner };
      const recorded = { actor: operatorOf(deps.config), action: 'books.rebuild', subject: network, detail: input };
      const report = await recordCommand(deps, recorded, async () => {
        const done = connected && (await rebuild({ ...deps, rowKeys, subjectKeys, screening }, connected, input));
        if (done === undefined) throw new ApiError('invalid_state', 'The chain was not read yet.');
        return done;
      });
      const { rebuilt, unplaced, gas } = report;
      const lines = [
        ...rebuilt.map((each) => `${each} was rebuilt.`),
        ...gas.map((hash) => `The gas of ${hash} was booked again.`),
        ...unplaced.map(({ id: each, problem }) => `${each} ${problem}.`),
        ...(report.isLifted ? ['The database knows all that left: payouts and refunds go on.'] : []),
      ];
      const text = lines.length === 0 ? 'Nothing was lost in these blocks.' : lines.join('\n');
      return { json: report, text, exitCode: unplaced.length === 0 ? 0 : 1 };
    }),
});

function chosen(chains: Chains, network: string | undefined): readonly ConnectedChain[] {
  if (network === undefined) return chains.list();
  const connected = chains.find(network);
  if (connected === undefined) throw new ApiError('invalid_state', `${network} is not a configured network.`);
  return [connected];
}

export const reconcileCommands: readonly Command[] = [compare, restore];
