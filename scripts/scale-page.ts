import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '../src/settings/config.ts';

/** A figure, the file that has it, and the words there. A figure that is measured again breaks the words, so the page is checked again. */
interface Figure {
  readonly value: number;
  readonly file: string;
  readonly words: string;
}

const BENCHMARKS = 'docs/benchmarks.md';
const figure = (value: number, words: string, file = BENCHMARKS): Figure => ({ value, file, words });

const FIGURES = {
  createGatewayUs: figure(223, 'Processor time of the gateway 223 µs a payment'),
  createPerSecond: figure(4_343, '4,543 and 4,343 payments/s'),
  settleGatewayMs: figure(2.2, 'Processor time per payment: gateway 2.2 ms, PostgreSQL 2.0 ms, chain 2.0 ms'),
  settleDatabaseMs: figure(2, 'Processor time per payment: gateway 2.2 ms, PostgreSQL 2.0 ms, chain 2.0 ms'),
  settlePerSecond: figure(266, '266 payments/s, 5,000 of 5,000 succeeded'),
  mostCreated: figure(10_570, '10,528 and 10,570 payments/s over 256 connections'),
  mostSettled: figure(357, '357, 338 and 338 payments/s, 5,000 of 5,000 succeeded'),
  webhookGatewayUs: figure(405, 'processor time per delivery: gateway 405 µs, PostgreSQL 208 µs'),
  webhookDatabaseUs: figure(208, 'processor time per delivery: gateway 405 µs, PostgreSQL 208 µs'),
  statements: figure(3.1, 'takes 3.1 statements'),
  logKb: figure(35, '35 KB of log, page images included'),
  gas: figure(61_409, '61,409 gas each of 101 in a transaction'),
  batch: figure(101, '61,409 gas each of 101 in a transaction'),
  loadedGb: figure(10, 'It needs about 10 GB in the temporary folder'),
  inFlight: figure(16, 'const MAX_IN_FLIGHT = 16;', 'src/actions/relay/relay-once.ts'),
} as const satisfies Record<string, Figure>;

const ROOT = join(import.meta.dirname, '..');
const CORES = 2;
const RATES = [1_000, 10_000, 100_000];
const DAY_S = 86_400;
const BLOCK_S = 2;
/** The load of a process beyond which requests begin to wait. */
const FULL = 0.7;

/** `docs/scale.md`: the arithmetic for large gateways. Throws if a source does not have its figure any more. */
export function scalePage(): string {
  for (const { words, file } of Object.values(FIGURES)) {
    const text = readFileSync(join(ROOT, file), 'utf8').replace(/\s+/g, ' ');
    if (!text.includes(words)) throw new Error(`${file} does not say "${words}" any more: see scripts/scale-page.ts.`);
  }
  const at = (name: keyof typeof FIGURES) => FIGURES[name].value;
  // Two cores were full of gateway, PostgreSQL and load generator, so what the gateway did not use bounds PostgreSQL's part.
  const createDatabaseUs = (CORES * 1_000_000) / at('createPerSecond') - at('createGatewayUs');
  const gatewayMs = (at('createGatewayUs') + at('webhookGatewayUs')) / 1_000 + at('settleGatewayMs');
  const databaseMs = (createDatabaseUs + at('webhookDatabaseUs')) / 1_000 + at('settleDatabaseMs');
  const perNode = SETTINGS.databasePoolSize.default + SETTINGS.listPoolSize.default + 2;
  const nodesAt = (rate: number) => Math.ceil((rate * gatewayMs) / 1_000 / FULL);
  const row = (name: string, of: (rate: number) => string) => `| ${name} | ${RATES.map(of).join(' | ')} |`;
  const cores = (ms: number) => (rate: number) => number((rate * ms) / 1_000, 1);

  const table = [
    row('gateway, cores', cores(gatewayMs)),
    row(`nodes of one core at ${FULL * 100} %`, (rate) => number(nodesAt(rate))),
    row('PostgreSQL, cores', cores(databaseMs)),
    row('statements a second, from confirm on', (rate) => number(rate * at('statements'))),
    row('write-ahead log, MB a second', (rate) => number((rate * at('logKb')) / 1_000)),
    row('write-ahead log, TB a day', (rate) => number((rate * at('logKb') * DAY_S) / 1_000_000_000, 1)),
    row('tables of payments alone, GB a day, at least', (rate) => number((rate * DAY_S * at('loadedGb')) / 10_000_000)),
    row('connections to PostgreSQL', (rate) => number(nodesAt(rate) * perNode)),
    row('gas a second, millions', (rate) => number((rate * at('gas')) / 1_000_000)),
    row('transactions a second', (rate) => number(rate / at('batch'))),
    row(`relayers, blocks of ${BLOCK_S} s`, (rate) =>
      number(Math.ceil((rate * BLOCK_S) / (at('inFlight') * at('batch')))),
    ),
  ];

  return `# The arithmetic of scale

How much of everything a gateway would need for 1,000, 10,000 and 100,000 payments a second. The page is computed from our own figures, in \`scripts/scale-page.ts\`, which fails if a source does not have a figure any more.

**None of this was run.** The most that was ever measured is ${number(at('mostCreated'))} created and ${number(at('mostSettled'))} settled payments a second, by an older version; on the machine of the figures below it is 4,543 and
${number(at('settlePerSecond'))}. Each time gateway, PostgreSQL and load, and for settled payments the chain, shared ${CORES} cores of one machine. Arithmetic finds what cannot work. It does not find locks, and it takes for granted that work grows evenly.

## Figures

| figure | value | source |
| --- | --- | --- |
| creating a payment, gateway | ${at('createGatewayUs')} µs | [benchmarks](benchmarks.md), \`create\`, 16 November 2026 |
| creating a payment, PostgreSQL | at most ${number(createDatabaseUs)} µs | computed: two full cores at ${number(at('createPerSecond'))} a second, less the gateway; the load generator is in it |
| settling a payment, gateway; PostgreSQL | ${at('settleGatewayMs')} ms; ${number(at('settleDatabaseMs'), 1)} ms | \`settle\`, 16 November 2026: confirm, relay, watch, events, books. The chain's own 2.0 ms are not ours |
| a webhook, gateway; PostgreSQL | ${at('webhookGatewayUs')} µs; ${at('webhookDatabaseUs')} µs | \`webhooks_per_s\` |
| statements and log of a settled payment | ${at('statements')}; ${at('logKb')} KB | "What one payment costs" there, 19 November 2026. 1,200 payments after a checkpoint: with page images, which a long run shares among more payments. So an upper bound |
| tables of ten million payments | ${at('loadedGb')} GB | the loader there: payments, keys of eight days, statistics and indexes. Items, events of the chain, books and webhooks are not in it, so a lower bound; not measured whole |
| gas of a payment; payments of a transaction | ${number(at('gas'))}; ${at('batch')} | \`gas\` |
| transactions of a relayer in flight | ${at('inFlight')} | \`src/actions/relay/relay-once.ts\` |
| connections of a node | ${perNode} | \`DATABASE_POOL_SIZE\`, \`DATABASE_LIST_POOL_SIZE\`, notifications, heartbeat: [configuration](configuration.md) |

The cores are those of an Arm Neoverse-N1. Lists, the checkout page, status requests and options are not in it: ${'`status`'} takes 104 µs a request there, and a payer asks several times.

## What it comes to

Every payment is created, settled and has one webhook.

| | ${RATES.map((rate) => number(rate)).join(' | ')} |
| --- | ${RATES.map(() => '---').join(' | ')} |
${table.join('\n')}

**1,000 a second** should fit one PostgreSQL server of some cores with a fast disk, and a handful of nodes. Compare the gas with the limit of your networks, which others use as well. Separate [roles](operating.md#roles) keep watchers from waiting for requests. One thing is open: a network has one
watcher at a time, and its part of the ${at('settleGatewayMs')} ms was not measured. If it were half, one watcher would end at some 900 payments a second of one network.

**10,000 a second** ask for the largest single servers: the log alone is hundreds of megabytes a second, and so many connections belong behind [PgBouncer](operating.md#pgbouncer). \`READ_DATABASE_URL\` takes [lists, exports and statistics](operating.md#read-replica) off the primary; a
replica writes the same log. The gas decides over how many networks payments must be spread. Watchers, relayers and books are separate for each network. Statistics, events and freezes are not.

**100,000 a second** fit no single server. Several gateways, each with its database and its partners, need no change of the program, only an address for each partner, and relayers and accounts of their own. One gateway over many servers needs a distributed PostgreSQL, and these changes.

## On a distributed PostgreSQL

Nothing was run on one. This is what the statements would need, by what they lock and order.

| statement | what it does today | what it would need |
| --- | --- | --- |
| creating payments (\`store/payments/new-payments.ts\`) | up to 100 payments of any partners in one statement and one flush | a batch for each partner, and payments, keys, events and totals of a partner on one server; otherwise each batch is a commit over several |
| Idempotency-Keys (\`payment_keys\`) | unique over a hash of merchant and key | the partner in the key, to lie beside the payment |
| moves of payments (\`lockPayments\`, \`movePayments\`) | lock rows by id, for up to 200 payments of any partners | batches of one partner |
| places of payers (\`payer-places.ts\`) | count the open items of a paying account on a network over all merchants | a server for each paying account, so two servers for each confirm; or a limit for each partner |
| positions of events (\`store/events/placing.ts\`) | one node gives all events one order, in rounds of at most 500 batches | an order for each partner. \`GET /v1/events\` reads by partner already; the placer, the fan-out of webhooks and operators' tools read one order of all |
| freezes (\`shareFreezeTable\`) | each transaction with money takes a table lock in \`row share mode\`, and a new freeze waits for all of them | a table that every server has, and another way to wait for running transactions; not all distributed servers have table locks |
| leases (\`store/plumbing/leases.ts\`) | each write of a watcher or relayer locks the row of its lease \`for share\` | the lease beside the data that it guards, by network |
| books (\`store/money/books.ts\`) | one chain of hashes for each network, sealed in its order; balances under \`pg_advisory_xact_lock\` | a server for each network, with the books of all its merchants; payments of partners elsewhere then commit over two. Advisory locks must hold over all servers |
| items and chain events (\`store/chain/\`) | by network and commitment, written with the payment in one transaction | the same choice: by network beside the books, or by partner beside the payment |
| queues (\`for update skip locked\`) | due items, deliveries, mails, refunds | \`skip locked\`, and an index by server, or every claim asks all servers |
| totals (\`payment_stat_changes\`) | appended beside the payment, folded by a job | nothing, if they lie with the partner |
| lists (\`partner-lists.ts\`) | indexes by merchant and partner, searches by \`pg_trgm\` | nothing with the partner; \`pg_trgm\` must be there. Lists of operators ask all servers |
| wake-ups | \`LISTEN\` and \`NOTIFY\` | a server that has them, or more frequent polls: the polls exist and are the fallback today |
| time | nodes follow the clock of the database, by one connection | one time for all servers, or a known bound between them |
| the read replica | compares positions of one write-ahead log | the server's own way to read a past state |

Two properties stay: a node keeps no important state, and all work to be done is stored in rows ([reliability](reliability.md)).
`;
}

function number(value: number, digits = 0): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? digits : 0, minimumFractionDigits: 0 });
}
