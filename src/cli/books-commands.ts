import { CSV_HEAD, csvLine, type ExportRow, exportBooks } from '../actions/books/export-books.ts';
import { compareWithHead, signHeads } from '../actions/books/heads.ts';
import { type BooksReport, verifyBooks } from '../actions/books/verify-books.ts';
import { openReceiptKey } from '../actions/open-receipt-key.ts';
import { openSecrets } from '../settings/master-secret.ts';
import { listBalances, listBookNetworks } from '../store/money/books.ts';
import { type Command, databaseCommand } from './command.ts';
import { readHead } from './head-file.ts';
import { id, moment, oneOf, text } from './kinds.ts';
import { listing } from './listing.ts';
import { optional, required, withDefault } from './options.ts';
import { layoutTable } from './table.ts';

const verify = databaseCommand({
  name: 'books verify',
  summary: 'Recompute every hash and every balance of the books. Exit code 1 when an entry was changed.',
  options: {
    head: optional(text, 'A file that `books head --json` wrote: the books and the audit log must still contain it.'),
  },
  examples: ['books verify', 'books verify --json', 'books verify --head head.json'],
  run: async ({ db }, { head: file }) => {
    const signed = file === undefined ? undefined : await readHead(file);
    const reports = await verifyBooks(db.sql);
    const changes = reports.flatMap((report) => report.problems.map((problem) => `${report.network}: ${problem}`));
    const exitCode = (problems: readonly string[]) => (problems.length === 0 ? 0 : 1);
    if (signed === undefined) return { json: reports, text: describe(reports, changes), exitCode: exitCode(changes) };
    const rewritten = await compareWithHead(db.sql, signed);
    const { at } = signed.head;
    const contained = `The books and the audit log contain the head of ${at}.`;
    return {
      json: { books: reports, head: { at, problems: rewritten } },
      text: `${describe(reports, changes)}\n${rewritten.length === 0 ? contained : rewritten.join('\n')}`,
      exitCode: exitCode([...changes, ...rewritten]),
    };
  },
});

const head = databaseCommand({
  name: 'books head',
  summary: 'Print the heads of the books and of the audit log, signed with the receipt key. Keep them elsewhere.',
  examples: ['books head', 'books head --json'],
  run: async (deps) => {
    const secrets = await openSecrets(deps);
    const key = await openReceiptKey({ ...deps, secrets });
    const signed = await signHeads(deps.db.sql, { key, nowMs: deps.world.clock.nowMs() });
    const { books, auditLog } = signed.head;
    const rows = [
      ...books.map(({ network, sequence, hash }) => ({ chain: network, last: sequence, hash })),
      { chain: 'audit log', last: auditLog.lastId, hash: auditLog.hash },
    ];
    const table = layoutTable(rows, [
      { title: 'chain', cell: ({ chain }) => chain },
      { title: 'last entry', cell: ({ last }) => last },
      { title: 'hash', cell: ({ hash }) => hash },
    ]);
    return { json: signed, text: `${table}\n\nsigned by ${signed.signature.keyId}: ${signed.signature.value}` };
  },
});

function describe(reports: readonly BooksReport[], problems: readonly string[]): string {
  if (reports.length === 0) return 'The books are empty.';
  const table = layoutTable(reports, [
    { title: 'network', cell: ({ network }) => network },
    { title: 'sealed', cell: ({ sealed }) => String(sealed) },
    { title: 'not sealed', cell: ({ unsealed }) => String(unsealed.count) },
    { title: 'since', cell: ({ unsealed }) => unsealed.oldest },
    { title: 'last hash', cell: ({ head }) => head },
  ]);
  return `${table}\n\n${problems.length === 0 ? 'No entry was changed, and every balance adds up.' : problems.join('\n')}`;
}

const balances = databaseCommand({
  name: 'books balances',
  summary: 'Show the balance of every account of the books, in the smallest unit of each asset.',
  examples: ['books balances', 'books balances --json'],
  run: async ({ db }) => {
    const networks = await listBookNetworks(db.sql);
    const found = await Promise.all(networks.map((network) => listBalances(db.sql, network)));
    // `units` is printed as a string, because many programs read JSON numbers as floats.
    const rows = found.flat().map(({ units, ...rest }) => ({ ...rest, units: units.toString() }));
    return listing(rows, {
      columns: [
        { title: 'account', cell: ({ account }) => account },
        { title: 'asset', cell: ({ asset }) => asset },
        { title: 'units', cell: ({ units }) => units },
      ],
      empty: 'The books are empty.',
    });
  },
});

const exportPeriod = databaseCommand({
  name: 'books export',
  summary: 'Export the earnings and refunds of a period, for accountants.',
  options: {
    format: withDefault(oneOf(['csv', 'json']), 'csv', 'The file format.'),
    from: required(moment, 'The first moment of the period.'),
    to: required(moment, 'The end of the period, not included.'),
    merchant: optional(id, 'One merchant only.'),
  },
  examples: [
    'books export --from 2026-01-01 --to 2026-02-01',
    'books export --format json --from 2026-01-01 --to 2026-02-01 --merchant mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6',
  ],
  check: ({ from, to }) => (from < to ? [] : ['--to must be later than --from']),
  run: async ({ db, registry }, { format, from, to, merchant }) => {
    const rows: ExportRow[] = [];
    for await (const row of exportBooks(db.sql, registry, { from, to, merchantId: merchant })) rows.push(row);
    const text = format === 'json' ? JSON.stringify(rows, null, 2) : [CSV_HEAD, ...rows.map(csvLine)].join('\n');
    return { json: rows, text };
  },
});

export const booksCommands: readonly Command[] = [verify, head, balances, exportPeriod];
