import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { OWN_NETWORK as SOUND, OWN_TOKEN as TOKEN } from '../../../test/own-network.ts';
import { isOffered } from '../network.ts';
import { assetsOf, readRegistry } from '../registry.ts';

const OTHER = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';

const SECOND = `{ "address": "${OTHER}", "symbol": "EURO", "name": "Own euro", "decimals": 6, "peg": "EUR" }`;

/** A PNG header of this size, with the bytes that a whole file has at least. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64);
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(bytes);
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

type Files = Readonly<Record<string, string | Buffer>>;

interface Case {
  readonly name: string;
  /** Text of the sound file, and what stands there instead. */
  readonly change: readonly (readonly [from: string, to: string])[];
  readonly files?: Files;
  readonly problems: readonly string[];
}

const ICON = [['"pay": "permit2"', '"pay": "permit2", "icon": "icons/usdo.png"']] as const;

const CASES: readonly Case[] = [
  {
    name: 'an address with a wrong checksum',
    change: [[TOKEN, TOKEN.replace('5Fb', '5fb')]],
    problems: [
      'own.json:10:18 tokens[0].address has a wrong EIP-55 checksum. Copy the address again from the issuer of the token',
    ],
  },
  {
    name: 'an unknown field',
    change: [['"decimals": 6', '"decimls": 6']],
    problems: [
      'own.json:13:7 tokens[0].decimls is no field of a token. Did you mean decimals?',
      'own.json:9:5 tokens[0].decimals is missing',
    ],
  },
  {
    name: 'an unknown field that resembles none',
    change: [['"blockTimeMs"', '"colour": "red", "blockTimeMs"']],
    problems: [
      'own.json:6:3 colour is no field of a network. Its fields are $schema, id, name, mode, coin, explorer, blockTimeMs, finality, isTrustedAlone, gas, retired, tokens, icon',
    ],
  },
  {
    name: 'a symbol twice on one network',
    change: [['    }\n  ]', `    },\n    ${SECOND.replace('EURO', 'USDO')}\n  ]`]],
    problems: [
      'own.json:17:74 tokens[1].symbol USDO is that of tokens[0], too. Payers could not tell them apart: change one',
    ],
  },
  {
    name: 'a token with the symbol of the coin',
    change: [['"USDO"', '"OWN"']],
    problems: [
      'own.json:11:17 tokens[0].symbol OWN is that of the coin, too. Payers could not tell them apart: change one',
    ],
  },
  {
    name: 'an address twice',
    change: [['    }\n  ]', `    },\n    ${SECOND.replace(OTHER, TOKEN.toLowerCase())}\n  ]`]],
    problems: ['own.json:17:18 tokens[1].address is that of tokens[0], too. Remove one of them'],
  },
  {
    name: 'a peg without a currency',
    change: [['"peg": "USD"', '"peg": "dollar"']],
    problems: [
      'own.json:14:14 tokens[0].peg must be an ISO 4217 currency. Name the currency, such as "USD"; leave peg out if the token has a price of its own',
    ],
  },
  {
    name: 'a token without a peg and without decimals of its quotes',
    change: [['"peg": "USD",\n      ', '']],
    problems: ['own.json:9:5 tokens[0].quoteDecimals is missing. Tokens without a peg need it; 6 suits most of them'],
  },
  {
    name: 'EIP-3009 without its domain',
    change: [['"permit2"', '"eip3009-bytes"']],
    problems: [
      'own.json:9:5 tokens[0].domain is missing: payers sign for the EIP-712 name and version of the contract. Copy them from the contract',
    ],
  },
  {
    name: 'a way to pay that does not exist',
    change: [['"permit2"', '"permit3"']],
    problems: ['own.json:15:14 tokens[0].pay must be eip3009-bytes or eip3009-vrs or permit2. Did you mean permit2?'],
  },
  {
    name: 'numbers and texts of the wrong kind, all at once',
    change: [
      ['"depth": 2', '"depth": "2"'],
      ['"name": "Own Chain"', '"name": 7'],
      ['"decimals": 6', '"decimals": 6.5'],
    ],
    problems: [
      'own.json:3:11 name must be a name of 1 to 60 characters, in double quotes',
      'own.json:7:26 finality.depth must be a whole number from 1 to 10000',
      'own.json:13:19 tokens[0].decimals must be a whole number from 0 to 36',
    ],
  },
  {
    name: 'an id that is no CAIP-2',
    change: [['eip155:777777', '777777']],
    problems: ['own.json:2:9 id is not a CAIP-2 chain id such as eip155:8453'],
  },
  {
    name: 'finality without a block time',
    change: [['"blockTimeMs": 1000,', '']],
    problems: ['own.json:1:1 blockTimeMs is missing, and finality needs it'],
  },
  {
    name: 'a tier by a tag that the network does not have',
    change: [['blocks" }', 'blocks", "tiers": [{ "from": 1000, "tag": "safe" }] }']],
    problems: [
      'own.json:7:104 finality.tiers[0].tag names a tag that finality.tags does not have. Add "safe" to it if nodes know the tag',
    ],
  },
  {
    name: 'trust in a single endpoint with real money',
    change: [['"mode": "test"', '"mode": "live",\n  "isTrustedAlone": true']],
    problems: [
      'own.json:5:21 isTrustedAlone is for test networks: with real money, two endpoints must agree. Leave it out',
    ],
  },
  {
    name: 'a file half written',
    change: [[SOUND.slice(SOUND.indexOf('      "decimals": 6')), '']],
    problems: ['own.json:13:1 ends where a field in double quotes should be. The file is half written: write it again'],
  },
  {
    name: 'a file half written within a text',
    change: [[SOUND.slice(SOUND.indexOf('dollar"')), '']],
    problems: ['own.json:12:15 has a text without its closing quotes. The file is half written: write it again'],
  },
  {
    name: 'an empty file',
    change: [[SOUND, '']],
    problems: ['own.json:1:1 ends where a value should be. The file is half written: write it again'],
  },
  {
    name: 'a field twice',
    change: [['"mode": "test"', '"mode": "test", "mode": "live"']],
    problems: ['own.json:4:19 has the field mode twice. Correct the JSON there'],
  },
  {
    name: 'a comma too many',
    change: [['"pay": "permit2"', '"pay": "permit2",']],
    problems: ['own.json:16:5 should have a field in double quotes here. Correct the JSON there'],
  },
  {
    name: 'a network twice',
    change: [],
    files: { 'second.json': SOUND },
    problems: ['second.json has the network eip155:777777, as own.json does. Remove one of them'],
  },
  {
    name: 'an icon that is missing',
    change: ICON,
    problems: ['own.json:15:33 tokens[0].icon icons/usdo.png cannot be read. Put the picture there'],
  },
  {
    name: 'an icon that is no image',
    change: ICON,
    files: { 'icons/usdo.png': '<!doctype html><svg></svg>' },
    problems: [
      'own.json:15:33 tokens[0].icon icons/usdo.png is no SVG, PNG or WebP. Convert the picture to one of them',
    ],
  },
  {
    name: 'an icon with too many bytes',
    change: ICON,
    files: { 'icons/usdo.png': Buffer.concat([png(64, 64), Buffer.alloc(80_000)]) },
    problems: [
      'own.json:15:33 tokens[0].icon icons/usdo.png has 79 KiB; an icon has 64 KiB at most. Make the picture smaller',
    ],
  },
  {
    name: 'an icon with too many pixels',
    change: ICON,
    files: { 'icons/usdo.png': png(4_096, 64) },
    problems: [
      'own.json:15:33 tokens[0].icon icons/usdo.png has 4096 x 64 pixels; an icon has 512 x 512 at most. Make the picture smaller',
    ],
  },
  {
    name: 'an icon outside the folder',
    change: [['"pay": "permit2"', '"pay": "permit2", "icon": "../usdo.png"']],
    problems: [
      'own.json:15:33 tokens[0].icon must be the path of an SVG, PNG or WebP file below the folder of this file',
    ],
  },
  {
    name: 'a built-in network without its token, also if another one has its symbol',
    change: [
      ['eip155:777777', 'eip155:84532'],
      ['USDO', 'USDC'],
    ],
    problems: [
      'own.json:8:13 tokens lacks the built-in USDC, 0x036CbD53842c5426634e7929541eC2318f3dCF7e. Payments may name it: keep it, with "retired": true if it is not to be offered',
    ],
  },
  {
    name: 'a built-in token with other decimals, on a network of another mode with another coin',
    change: [
      ['eip155:777777', 'eip155:84532'],
      ['"mode": "test"', '"mode": "live"'],
      ['USDO', 'USDC'],
      [TOKEN, '0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
      ['"decimals": 6', '"decimals": 18'],
      ['"slip44": 60', '"slip44": 61'],
    ],
    problems: [
      'own.json:4:11 mode must be test, as in the built-in record',
      'own.json:5:76 coin.slip44 must be 60, as in the built-in record',
      'own.json:13:19 tokens[0].decimals must be 6, as in the built-in record',
    ],
  },
];

describe('a folder of own networks', () => {
  const folders: string[] = [];
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  function read(files: Files) {
    const folder = mkdtempSync(join(tmpdir(), 'till-networks-'));
    folders.push(folder);
    mkdirSync(join(folder, 'icons'));
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    return { folder, found: readRegistry(folder) };
  }

  it('adds networks to the built-in ones, with tokens and icons', () => {
    const text = SOUND.replace(...(ICON[0] as [string, string]));
    const { folder, found } = read({ 'own.json': text, 'icons/usdo.png': png(64, 64), 'notes.txt': 'mine' });
    assert.ok('registry' in found, 'problems' in found ? found.problems.join('\n') : '');
    const { registry } = found;
    const network = registry.network('eip155:777777');
    assert.deepEqual(
      [network?.name, network?.mode, network?.coin, network?.finality?.depth],
      ['Own Chain', 'test', { id: 'eip155:777777/slip44:60', symbol: 'OWN', decimals: 18 }, 2],
    );
    const asset = registry.asset(`eip155:777777/erc20:${TOKEN}`);
    assert.deepEqual([asset?.symbol, asset?.quoteDecimals, asset?.pay], ['USDO', 2, { method: 'permit2' }]);
    assert.equal(registry.asset('eip155:777777/slip44:60'), undefined, 'its coin pays for gas alone');
    assert.equal(registry.icon(asset?.id ?? '')?.type, 'image/png');
    assert.equal(registry.fileOf('eip155:777777'), join(folder, 'own.json'));
    assert.ok(registry.network('eip155:8453'), 'the built-in ones are still there');
    const place = network?.places?.get(asset?.id ?? '');
    assert.equal(place, 'own.json:13:19 tokens[0].decimals');
  });

  for (const { name, change, files = {}, problems } of CASES) {
    it(`is refused for ${name}`, () => {
      const text = change.reduce((before, [from, to]) => {
        assert.ok(before.includes(from), from);
        return before.replace(from, to);
      }, SOUND);
      const { folder, found } = read({ 'own.json': text, ...files });
      const shown = 'problems' in found ? found.problems : [];
      assert.deepEqual(
        shown.map((problem) => problem.replaceAll(`${folder}/`, '')),
        problems,
      );
    });
  }

  it('is refused with the problems of all files at once', () => {
    const { found } = read({
      'a.json': SOUND.replace('"test"', '"play"'),
      'b.json': '{',
      'c.json': SOUND.replace(TOKEN, '0x12'),
    });
    assert.deepEqual('problems' in found && found.problems.map((problem) => problem.replace(/^.*\//, '')), [
      'a.json:4:11 mode must be live or test',
      'b.json:1:2 ends where a field in double quotes should be. The file is half written: write it again',
      'c.json:10:18 tokens[0].address is not 0x and 40 hexadecimal digits',
    ]);
  });

  it('is refused if it cannot be read', () => {
    const found = readRegistry('/nowhere/networks');
    assert.deepEqual('problems' in found && found.problems, [
      '/nowhere/networks cannot be read as a folder. Create it, or let this node read it',
    ]);
  });

  it('has retired tokens and networks, which payers are not offered', () => {
    const namesake = `    }\n  ]`;
    const text = SOUND.replace('"USDO"', '"EURO"').replace('"permit2"', '"permit2", "retired": true');
    const { found } = read({ 'own.json': text.replace(namesake, `    },\n    ${SECOND}\n  ]`) });
    assert.ok('registry' in found, 'problems' in found ? found.problems.join('\n') : '');
    const assets = assetsOf(found.registry, 'eip155:777777');
    assert.deepEqual(
      assets.map((asset) => [asset.symbol, asset.pay?.method, asset.isRetired, isOffered(asset)]),
      [
        ['EURO', 'permit2', true, false],
        ['EURO', undefined, undefined, false],
      ],
    );
    const whole = read({ 'own.json': SOUND.replace('"mode"', '"retired": true, "mode"') });
    assert.ok('registry' in whole.found);
    const { registry } = whole.found;
    assert.equal(registry.network('eip155:777777')?.isRetired, true);
    assert.deepEqual(assetsOf(registry, 'eip155:777777').map(isOffered), [false]);
  });

  it('replaces a built-in network, if every asset of it stays', () => {
    const base = JSON.stringify({
      id: 'eip155:84532',
      name: 'Our Base Sepolia',
      mode: 'test',
      coin: { symbol: 'ETH', name: 'Ether', decimals: 18, slip44: 60 },
      tokens: [
        {
          address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
          symbol: 'USDC',
          name: 'USD Coin',
          decimals: 6,
          peg: 'USD',
        },
      ],
    });
    const { found } = read({ 'base.json': base });
    assert.ok('registry' in found, 'problems' in found ? found.problems.join('\n') : '');
    assert.equal(found.registry.network('eip155:84532')?.name, 'Our Base Sepolia');
    const [usdc] = found.registry.network('eip155:84532')?.assets.values() ?? [];
    assert.equal(usdc?.pay, undefined);
  });
});
