import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { OtherRecordsError, openRecords } from '../../src/actions/records/open-records.ts';
import { createRecordMemory } from '../../src/actions/records/remember-records.ts';
import { type Registry, readRegistry } from '../../src/chains/registry.ts';
import { listAudit } from '../../src/store/plumbing/audit-log.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { OWN_NETWORK, OWN_TOKEN } from '../own-network.ts';
import { runCommand } from '../run-command.ts';
import { openShop, type Shop } from './shop.ts';

const NETWORK = 'eip155:777777';
const USDO = `${NETWORK}/erc20:${OWN_TOKEN}`;
const EURO = `${NETWORK}/erc20:0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512`;
const BASE_USDC = 'eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const OTHER_USDC = 'eip155:84532/erc20:0x5FbDB2315678afecb367f032d93F642f64180aa3';
const COIN = `${NETWORK}/slip44:60`;

const EURO_LINE = `{ "address": "${EURO.split(':').at(-1)}", "symbol": "EURO", "name": "Own euro", "decimals": 6, "peg": "EUR", "pay": "permit2" }`;
/** A file of an own network with two tokens. */
const OWN = OWN_NETWORK.replace('    }\n  ]', `    },\n    ${EURO_LINE}\n  ]`);
const BASE = `{
  "id": "eip155:84532",
  "name": "Our Base Sepolia",
  "mode": "test",
  "coin": { "symbol": "ETH", "name": "Ether", "decimals": 18, "slip44": 60, "quoteDecimals": 6 },
  "tokens": [
    { "address": "${BASE_USDC.split(':').at(-1)}", "symbol": "USDC", "name": "USD Coin", "decimals": 6, "peg": "USD" }
  ]
}
`;
const USDO_LINES = OWN.slice(OWN.indexOf('    {\n'), OWN.indexOf('    { "address"'));

type Change = readonly (readonly [from: string | RegExp, to: string])[];
type Use = 'nothing' | 'known' | 'priced' | 'ended' | 'booked' | 'forgotten';

interface Case {
  readonly name: string;
  /** What the database has of USDO before. */
  readonly use: Use;
  /** The file of the own network, or of Base Sepolia. */
  readonly file?: string;
  readonly change: Change;
  readonly differences: readonly string[];
  /** The answer of `till networks accept`, by the id. */
  readonly accepted?: readonly [id: string, answer: RegExp];
}

const ACCEPT = (id: string) => `or run till networks accept ${id}, which says what the change means.`;
const REPLACED = `    { "address": "${BASE_USDC.split(':').at(-1)}", "symbol": "USDC", "name": "USD Coin", "decimals": 6, "peg": "USD", "retired": true },
    { "address": "${OTHER_USDC.split(':').at(-1)}", "symbol": "USDC", "name": "Another", "decimals": 6, "peg": "USD" }
`;

const CASES: readonly Case[] = [
  {
    name: 'changed decimals of a token with payments',
    use: 'priced',
    change: [['"decimals": 6,\n', '"decimals": 18,\n']],
    differences: [
      `own.json:13:19 tokens[0].decimals is 18, and the database remembers 6 as the decimals of USDO (${USDO}). Payments, refunds and books have amounts in it, so nobody can accept the change: write 6 again.`,
    ],
    accepted: [
      USDO,
      /^invalid_state: .*tokens\[0\]\.decimals is 18, .* so nobody can accept the change: write 6 again\./,
    ],
  },
  {
    name: 'changed decimals of a token that was offered, and never paid with',
    use: 'known',
    change: [['"decimals": 6,\n', '"decimals": 18,\n']],
    differences: [
      `own.json:13:19 tokens[0].decimals is 18, and the database remembers 6 as the decimals of USDO (${USDO}). Write 6 again, ${ACCEPT(USDO)}`,
    ],
    accepted: [
      USDO,
      /^Accepted for .*\nNo amount in USDO \(eip155:777777\/\S+\) was stored yet. Its amounts have 18 decimals from now on\./,
    ],
  },
  {
    name: 'another peg',
    use: 'priced',
    change: [['"peg": "USD"', '"peg": "EUR"']],
    differences: [
      `own.json:14:14 tokens[0].peg is EUR, and the database remembers USD as the peg of USDO (${USDO}). Write USD again, ${ACCEPT(USDO)}`,
    ],
    accepted: [
      USDO,
      /^Accepted for .*\nPayers pay with USDO \(\S+\) one to one with EUR from now on, and no longer one to one with USD\. Amounts that payers have confirmed stay\./,
    ],
  },
  {
    name: 'no peg any more',
    use: 'known',
    change: [['"peg": "USD"', '"quoteDecimals": 6']],
    differences: [
      `own.json:9:5 tokens[0].peg is missing, and the database remembers USD as the peg of USDO (${USDO}). Write USD again, ${ACCEPT(USDO)}`,
    ],
    accepted: [USDO, /one to one with USD|by its rate from now on/],
  },
  {
    name: 'another number of a coin in the books',
    use: 'booked',
    change: [['"slip44": 60', '"slip44": 61']],
    differences: [
      `own.json:5:76 coin.slip44 is 61, and the database remembers 60 as the number of the coin of Own Chain (${NETWORK}). Books, costs and payments have amounts in ${COIN}, so nobody can accept the change: write 60 again.`,
    ],
    accepted: [NETWORK, /^invalid_state: .*so nobody can accept the change: write 60 again\./],
  },
  {
    name: 'another number of a coin that nothing counts in',
    use: 'known',
    change: [['"slip44": 60', '"slip44": 61']],
    differences: [
      `own.json:5:76 coin.slip44 is 61, and the database remembers 60 as the number of the coin of Own Chain (${NETWORK}). Write 60 again, ${ACCEPT(NETWORK)}`,
    ],
    accepted: [
      NETWORK,
      /^Accepted for eip155:777777\.\nNo amount in the coin of Own Chain .* It is eip155:777777\/slip44:61 from now on\./,
    ],
  },
  {
    name: 'another mode of a network with payments, and several things at once',
    use: 'priced',
    change: [
      ['"mode": "test"', '"mode": "live"'],
      ['"decimals": 6,\n', '"decimals": 8,\n'],
    ],
    differences: [
      `own.json:4:11 mode is live, and the database remembers test as the mode of Own Chain (${NETWORK}). Payments and money there are test ones, so nobody can accept the change: write test again.`,
      `own.json:13:19 tokens[0].decimals is 8, and the database remembers 6 as the decimals of USDO (${USDO}). Payments, refunds and books have amounts in it, so nobody can accept the change: write 6 again.`,
    ],
  },
  {
    name: 'a removed token with an open payment',
    use: 'priced',
    change: [[USDO_LINES, '']],
    differences: [
      `USDO (${USDO}) is in no file any more, and has 1 open payment. Put its record back with "retired": true, and leave it there: payers are offered it no more, and all of this can end.`,
    ],
    accepted: [USDO, /^invalid_state: USDO .* is in no file any more, and has 1 open payment\. Put its record back/],
  },
  {
    name: 'a removed network with an open payment that an older version created',
    use: 'forgotten',
    change: [[OWN, '']],
    differences: [
      `${USDO} is in no file any more, and has 1 open payment. Put its record back with "retired": true, and leave it there: payers are offered it no more, and all of this can end.`,
    ],
  },
  {
    name: 'a removed network with money in its books',
    use: 'booked',
    change: [[OWN, '']],
    differences: [
      `USDO (${USDO}) is in no file any more, and has money in the books. Put its record back with "retired": true, and leave it there: payers are offered it no more, and all of this can end.`,
    ],
  },
  {
    name: 'another contract under the symbol of a built-in token',
    use: 'nothing',
    file: BASE,
    change: [[/ {4}\{ "address".*\n/, REPLACED]],
    differences: [
      `own.json:8:74 tokens[1].symbol is USDC, as of the built-in token ${BASE_USDC}, and its address is another one. Give the token another symbol, ${ACCEPT(OTHER_USDC)}`,
    ],
    accepted: [
      OTHER_USDC,
      /^Accepted for .*\nPayers see the contract of eip155:84532\/erc20:0x5FbDB\w+ as USDC from now on\. Only its issuer can tell/,
    ],
  },
  {
    name: 'another peg of a built-in token',
    use: 'nothing',
    file: BASE,
    change: [['"peg": "USD"', '"peg": "EUR"']],
    differences: [
      `own.json:7:124 tokens[0].peg is EUR, and the built-in record has USD as the peg of USDC (${BASE_USDC}). Write USD again, ${ACCEPT(BASE_USDC)}`,
    ],
    accepted: [BASE_USDC, /one to one with EUR from now on/],
  },
];

const UNCHANGED: readonly { readonly name: string; readonly use: Use; readonly change: Change }[] = [
  { name: 'the same files', use: 'priced', change: [] },
  {
    name: 'another name, depth and way to pay',
    use: 'priced',
    change: [
      ['Own dollar', 'Dollar'],
      ['"depth": 2', '"depth": 9'],
    ],
  },
  {
    name: 'a new token',
    use: 'priced',
    change: [
      [
        '"tokens": [',
        '"tokens": [ { "address": "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0", "symbol": "NEW", "name": "New", "decimals": 2, "peg": "USD" },',
      ],
    ],
  },
  {
    name: 'a retired token with an open payment',
    use: 'priced',
    change: [['"pay": "permit2"\n', '"pay": "permit2",\n      "retired": true\n']],
  },
  {
    name: 'a retired network with an open payment',
    use: 'priced',
    change: [['"mode": "test"', '"mode": "test", "retired": true']],
  },
  { name: 'a removed token whose payments have ended', use: 'ended', change: [[USDO_LINES, '']] },
  { name: 'a removed network that was offered, and never paid with', use: 'known', change: [[OWN, '']] },
  {
    name: 'changed decimals of a token that was never offered',
    use: 'nothing',
    change: [['"decimals": 6,\n', '"decimals": 18,\n']],
  },
];

describe('a start with other files of networks', () => {
  const folders: string[] = [];
  let before_: Registry;
  let gateway: TestGateway;
  let shop: Shop;
  before(() => {
    before_ = registryOf(OWN).registry;
  });
  beforeEach(async () => {
    gateway = await startTestGateway({ config: { registry: before_ } });
    shop = await openShop(gateway);
  });
  afterEach(() => gateway.stop());
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  function registryOf(text: string) {
    const folder = mkdtempSync(join(tmpdir(), 'till-records-'));
    folders.push(folder);
    if (text !== '') writeFileSync(join(folder, 'own.json'), text);
    const read = readRegistry(folder);
    assert.ok('registry' in read, 'problems' in read ? read.problems.join('\n') : '');
    return { folder, registry: read.registry };
  }

  function changed(change: Change, file = OWN) {
    const text = change.reduce((sofar, [from, to]) => {
      assert.notEqual(sofar.search(from instanceof RegExp ? from : escaped(from)), -1, String(from));
      return sofar.replace(from, to);
    }, file);
    return registryOf(text);
  }

  async function bring(use: Use): Promise<void> {
    if (use === 'nothing') return;
    const memory = createRecordMemory(gateway);
    if (use !== 'forgotten') {
      await memory.admitNetwork(NETWORK, null);
      assert.equal((await memory.admit([USDO, EURO])).size, 0);
    }
    if (use === 'priced' || use === 'ended') {
      const { paymentId } = await shop.created({ amount: { unit: `caip19/${USDO}`, value: '10000000' } });
      if (use === 'ended') assert.equal((await shop.cancel(paymentId)).statusCode, 200);
    }
    if (use === 'forgotten') {
      await shop.created();
      await command(gateway, (tx) => tx`update payments set token_asset = ${USDO}, amount_unit = ${`caip19/${USDO}`}`);
    }
    if (use === 'booked') {
      await command(
        gateway,
        (tx) => tx`
        insert into book_entries (network, asset, kind, subject, reference, at, lines)
        values (${NETWORK}, ${USDO}, 'float_added', 'operator', 'x', now(),
            '[{"account":"outside","units":"-5"},{"account":"intermediate/float/operator","units":"5"}]'),
          (${NETWORK}, ${COIN}, 'relayer_funded', '0x1', 'y', now(),
            '[{"account":"outside","units":"-5"},{"account":"relayer/0x1","units":"5"}]')`,
      );
    }
  }

  async function differences(registry: Registry, folder: string): Promise<readonly string[]> {
    try {
      await openRecords({ ...gateway, registry });
      return [];
    } catch (error) {
      assert.ok(error instanceof OtherRecordsError, String(error));
      const [head, ...sentences] = error.message.split('\n  ');
      assert.equal(head, 'the networks and tokens differ from those that this database was used with:');
      return sentences.map((sentence) => sentence.replaceAll(`${folder}/`, ''));
    }
  }

  for (const { name, use, file, change, differences: expected, accepted } of CASES) {
    it(`is refused for ${name}`, async () => {
      await bring(use);
      const { folder, registry } = changed(change, file);
      assert.deepEqual(await differences(registry, folder), expected);
      if (accepted === undefined) return;
      const env = { DATABASE_URL: gateway.databaseUrl, NETWORKS_DIR: folder };
      const listed = await runCommand(['networks', 'accept'], { env });
      assert.equal(listed.exitCode, 1);
      for (const text of expected) assert.ok(listed.stdout.replaceAll(`${folder}/`, '').includes(text), listed.stdout);
      const [id, answer] = accepted;
      const said = await runCommand(['networks', 'accept', id], { env });
      assert.match(said.stdout + said.stderr, answer);
      const isAccepted = said.exitCode === 0;
      assert.equal(isAccepted, !String(answer).includes('invalid_state'));
      assert.deepEqual(await differences(registry, folder), isAccepted ? [] : expected);
      const audit = await listAudit(gateway.db.sql, { action: 'record.accepted', limit: 5 });
      assert.deepEqual(
        audit.map(({ actor, subject }) => [actor, subject]),
        isAccepted ? [['operator', id]] : [],
      );
    });
  }

  for (const { name, use, change } of UNCHANGED) {
    it(`goes on with ${name}`, async () => {
      await bring(use);
      const { folder, registry } = changed(change);
      assert.deepEqual(await differences(registry, folder), []);
    });
  }

  it('remembers the token of a price before the payment, and takes no price that another node counts otherwise', async () => {
    const order = { amount: { unit: `caip19/${USDO}`, value: '10000000' } };
    await shop.created(order);
    const rows = await gateway.db.sql`select subject, facts ->> 'decimals' as decimals from known_records order by id`;
    assert.deepEqual(
      rows.map(({ subject, decimals }) => [subject, decimals]),
      [
        [NETWORK, null],
        [USDO, '6'],
      ],
    );
    const { registry } = changed([['"decimals": 6,\n', '"decimals": 18,\n']]);
    const other = await startTestGateway({ databaseUrl: gateway.databaseUrl, config: { registry } });
    const refused = await shop.create({ ...order, referenceId: 'OTHER' }, {}, other);
    assert.equal(refused.statusCode, 503);
    assert.match(
      refused.body,
      /is switched off: another node uses it with 6 decimals, and the file of this node says 18/,
    );
    await other.stop();
    assert.equal((await gateway.db.sql`select 1 from payments`).length, 1);
  });

  it('keeps old amounts readable after a record was removed, and offers nothing in it', async () => {
    await bring('ended');
    const { registry } = await openRecords({ ...gateway, registry: registryOf('').registry });
    const asset = registry.asset(USDO);
    assert.deepEqual([asset?.symbol, asset?.decimals, asset?.pay, asset?.isRetired], ['USDO', 6, undefined, true]);
    assert.deepEqual([registry.network(NETWORK)?.name, registry.network(NETWORK)?.finality], ['Own Chain', undefined]);
    assert.equal(registry.fileOf(NETWORK), undefined);
    assert.deepEqual(registry.hashes, registryOf('').registry.hashes, 'a node is compared by its files');
  });

  it('says nothing differs when somebody accepts what does not differ', async () => {
    await bring('known');
    const { folder } = registryOf(OWN);
    const env = { DATABASE_URL: gateway.databaseUrl, NETWORKS_DIR: folder };
    const said = await runCommand(['networks', 'accept', USDO], { env });
    assert.deepEqual(
      [said.exitCode, said.stderr],
      [1, `invalid_state: ${USDO} does not differ from what the database remembers. Nothing else differs either.\n`],
    );
  });
});

function escaped(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}
