import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checksumAddress } from './addresses/eip155.ts';
import { isZeroAccount } from './addresses/families.ts';
import { chainIn, parseAccount, parseAsset, parseChainId, sameChain } from './caip.ts';
import type { Parsed } from './parsed.ts';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

// The vectors of EIP-55: two in upper case, two in lower case, four mixed.
const EIP55_VECTORS = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

describe('parseAsset', () => {
  it('reads an ERC-20 token', () => {
    assert.deepEqual(value(parseAsset(`eip155:8453/erc20:${USDC}`)), {
      chainId: 'eip155:8453',
      namespace: 'eip155',
      kind: 'erc20',
      reference: USDC,
      id: `eip155:8453/erc20:${USDC}`,
      key: `eip155:8453/erc20:${USDC.toLowerCase()}`,
    });
  });

  it('reads a Solana token and keeps its case in the key', () => {
    assert.deepEqual(value(parseAsset(`${SOLANA}/token:${MINT}`)), {
      chainId: SOLANA,
      namespace: 'solana',
      kind: 'token',
      reference: MINT,
      id: `${SOLANA}/token:${MINT}`,
      key: `${SOLANA}/token:${MINT}`,
    });
  });

  for (const id of [
    'eip155:1/slip44:60',
    'eip155:56/slip44:714',
    'eip155:9007199254740991/slip44:0',
    'eip155:1/slip44:2147483647',
    'eip155:8453/erc20:0x4200000000000000000000000000000000000006',
    'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    'eip155:56/erc20:0x55d398326f99059fF775485246999027B3197955',
    'eip155:1/erc20:0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a',
    `${SOLANA}/slip44:501`,
    `${SOLANA}/token:So11111111111111111111111111111111111111112`,
    `solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1/token:${MINT}`,
    // 31 zero bytes and a one: the shortest text of 32 bytes that is not all zero.
    `${SOLANA}/token:${'1'.repeat(31)}2`,
  ]) {
    it(`takes ${id} as it is`, () => assert.equal(value(parseAsset(id)).id, id));
  }

  for (const [text, expected] of [
    ['', /^is not a CAIP-19 asset id such as eip155:8453\/erc20:0x/],
    ['eip155:8453', /CAIP-19/],
    [`caip19/eip155:8453/erc20:${USDC}`, /CAIP-19/],
    [`EIP155:8453/erc20:${USDC}`, /CAIP-19/],
    [`eip155:8453/ERC20:${USDC}`, /CAIP-19/],
    [` eip155:8453/erc20:${USDC}`, /CAIP-19/],
    [`eip155:8453/erc20:${USDC}\n`, /CAIP-19/],
    [`eip155:8453/erc20:${USDC}/1`, /CAIP-19/],
    [`eip155:8453:erc20:${USDC}`, /CAIP-19/],
    [`eip155:/erc20:${USDC}`, /CAIP-19/],
    [`eip155:${'1'.repeat(33)}/erc20:${USDC}`, /CAIP-19/],
    [
      'bip122:000000000019d6689c085ae165831e93/slip44:0',
      /^names the chain namespace "bip122"; accepted are eip155 and/,
    ],
    ['cosmos:cosmoshub-3/slip44:118', /"cosmos"; accepted are eip155 and solana$/],
    [`eip155:8453/erc721:${USDC}`, /^names the asset namespace "erc721"; on eip155, accepted are erc20 and slip44$/],
    [`eip155:8453/token:${USDC}`, /"token"; on eip155, accepted are erc20 and slip44$/],
    [`${SOLANA}/erc20:${USDC}`, /"erc20"; on solana, accepted are token and slip44$/],
    [`${SOLANA}/nft:${MINT}`, /"nft"; on solana, accepted are token and slip44$/],
    [`eip155:0/erc20:${USDC}`, /chain id that is not a decimal number/],
    [`eip155:01/erc20:${USDC}`, /chain id that is not a decimal number/],
    [`eip155:0x1/erc20:${USDC}`, /chain id that is not a decimal number/],
    [`eip155:1e3/erc20:${USDC}`, /chain id that is not a decimal number/],
    [`eip155:-1/erc20:${USDC}`, /chain id that is not a decimal number/],
    [`eip155:9007199254740992/erc20:${USDC}`, /chain id that is not a decimal number/],
    [`eip155:${'9'.repeat(32)}/erc20:${USDC}`, /chain id that is not a decimal number/],
    [`solana:mainnet/token:${MINT}`, /genesis hash/],
    [`solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvd/token:${MINT}`, /genesis hash/],
    [`solana:0eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:${MINT}`, /genesis hash/],
    [`eip155:1/erc20:${USDC.slice(2)}`, /not 0x and 40 hexadecimal digits/],
    [`eip155:1/erc20:0X${USDC.slice(2)}`, /not 0x and 40 hexadecimal digits/],
    [`eip155:1/erc20:${USDC}0`, /not 0x and 40 hexadecimal digits/],
    [`eip155:1/erc20:${USDC.slice(0, -1)}`, /not 0x and 40 hexadecimal digits/],
    [`eip155:1/erc20:${USDC.slice(0, -1)}g`, /not 0x and 40 hexadecimal digits/],
    [`eip155:1/erc20:0x${'0'.repeat(40)}`, /all-zero address/],
    [`eip155:1/erc20:${USDC.replace('fCD6', 'fcD6')}`, /^has an address with a wrong EIP-55 checksum$/],
    [`${SOLANA}/token:${MINT.slice(0, -2)}`, /not 32 bytes in base58/],
    [`${SOLANA}/token:${MINT}1`, /not 32 bytes in base58/],
    [`${SOLANA}/token:${MINT.slice(0, -1)}0`, /not 32 bytes in base58/],
    [`${SOLANA}/token:${'z'.repeat(44)}`, /not 32 bytes in base58/],
    [`${SOLANA}/token:${'1'.repeat(33)}`, /not 32 bytes in base58/],
    [`${SOLANA}/token:${USDC}`, /not 32 bytes in base58/],
    [`${SOLANA}/token:${'1'.repeat(32)}`, /all-zero address/],
    ['eip155:1/slip44:060', /slip44 number/],
    ['eip155:1/slip44:2147483648', /slip44 number/],
    ['eip155:1/slip44:60.0', /slip44 number/],
    ['eip155:1/slip44:ETH', /slip44 number/],
    [`eip155:1/erc20:0${USDC}`, /not 0x and 40 hexadecimal digits/],
    ['abc:1/slip44:0', /"abc"; accepted are/],
    ['abcdefghi:1/slip44:0', /CAIP-19/],
    ['eip155:1/abcdefghi:0', /CAIP-19/],
    [`eip155:1/erc20:${'a'.repeat(128)}`, /not 0x and 40 hexadecimal digits/],
    [`eip155:1/erc20:${'a'.repeat(129)}`, /CAIP-19/],
    ['a'.repeat(256), /CAIP-19/],
    ['a'.repeat(257), /^is longer than 256 characters$/],
    [`eip155:1/erc20:${'a'.repeat(300)}`, /^is longer than 256 characters$/],
  ] satisfies [string, RegExp][]) {
    it(`refuses ${JSON.stringify(text).slice(0, 100)}`, () => assert.match(problem(parseAsset(text)), expected));
  }

  it('gives one id and one key to every accepted spelling of an EVM address', () => {
    fc.assert(
      fc.property(evmAddress, (lower) => {
        const canonical = value(parseAsset(`eip155:1/erc20:${checksumAddress(lower)}`));
        const upper = `0x${lower.slice(2).toUpperCase()}`;
        assert.deepEqual(value(parseAsset(`eip155:1/erc20:${lower}`)), canonical);
        assert.deepEqual(value(parseAsset(`eip155:1/erc20:${upper}`)), canonical);
        assert.deepEqual(value(parseAsset(canonical.key)), canonical);
      }),
    );
  });

  it('gives back its own canonical id', () => {
    fc.assert(fc.property(assetId, (id) => assert.equal(value(parseAsset(id)).id, id)));
  });
});

describe('parseAccount', () => {
  it('reads an EVM account and writes its checksum', () => {
    assert.deepEqual(value(parseAccount(`eip155:1:${USDC.toLowerCase()}`)), {
      chainId: 'eip155:1',
      namespace: 'eip155',
      address: USDC,
      id: `eip155:1:${USDC}`,
    });
  });

  it('reads a Solana account', () => {
    assert.deepEqual(value(parseAccount(`${SOLANA}:${MINT}`)), {
      chainId: SOLANA,
      namespace: 'solana',
      address: MINT,
      id: `${SOLANA}:${MINT}`,
    });
  });

  for (const [text, expected] of [
    ['', /^is not a CAIP-10 account such as eip155:8453:0x/],
    [USDC, /CAIP-10/],
    [`eip155:1/erc20:${USDC}`, /CAIP-10/],
    [`eip155:1:${USDC}:`, /CAIP-10/],
    [`Eip155:1:${USDC}`, /CAIP-10/],
    ['bip122:000000000019d6689c085ae165831e93:128Lkh3S7CkDTBZ8W7BbpsN3YYizJMp8p6', /"bip122"; accepted are eip155 and/],
    [`eip155:0:${USDC}`, /chain id/],
    [`eip155:1:${MINT}`, /not 0x and 40 hexadecimal digits/],
    [`eip155:1:0x${'0'.repeat(40)}`, /all-zero address/],
    [`${SOLANA}:${USDC}`, /not 32 bytes in base58/],
    [`${SOLANA}:${'1'.repeat(32)}`, /all-zero address/],
    ['abc:1:a', /"abc"; accepted are/],
    ['abcdefghi:1:a', /CAIP-10/],
    [`eip155:${'1'.repeat(33)}:${USDC}`, /CAIP-10/],
    ['eip155:1:a', /not 0x and 40 hexadecimal digits/],
    [`eip155:1:${'a'.repeat(128)}`, /not 0x and 40 hexadecimal digits/],
    [`eip155:1:${'a'.repeat(129)}`, /CAIP-10/],
    // The first digit alone makes this address one of mixed case.
    [`eip155:1:0xA${'0'.repeat(38)}b`, /wrong EIP-55 checksum/],
    [`eip155:1:0x${'a'.repeat(250)}`, /longer than 256/],
  ] satisfies [string, RegExp][]) {
    it(`refuses ${JSON.stringify(text).slice(0, 100)}`, () => assert.match(problem(parseAccount(text)), expected));
  }

  it('gives back its own canonical id', () => {
    fc.assert(fc.property(accountId, (id) => assert.equal(value(parseAccount(id)).id, id)));
  });

  it('refuses a checksummed address with the case of one letter flipped', () => {
    fc.assert(
      fc.property(evmAddress, fc.nat(), (lower, pick) => {
        const address = checksumAddress(lower);
        const letters = [...address.matchAll(/[a-f]/gi)].map((match) => match.index);
        const index = letters[pick % letters.length] ?? 0;
        const letter = address.charAt(index);
        const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
        const flipped = address.slice(0, index) + other + address.slice(index + 1);
        // An address in one case only carries no checksum, so it cannot be wrong.
        fc.pre(/[a-f]/.test(flipped.slice(2)) && /[A-F]/.test(flipped));
        assert.match(problem(parseAccount(`eip155:1:${flipped}`)), /wrong EIP-55 checksum/);
      }),
    );
  });

  it('takes base58 of 32 bytes and of no other number of bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        const isAddress = bytes.length === 32 && bytes.some((byte) => byte !== 0);
        assert.equal(parseAccount(`${SOLANA}:${encodeBase58(bytes)}`).ok, isAddress);
      }),
    );
  });
});

describe('parseChainId', () => {
  it('reads the chains of both families', () => {
    assert.deepEqual(value(parseChainId('eip155:8453')), {
      chainId: 'eip155:8453',
      namespace: 'eip155',
      reference: '8453',
    });
    assert.equal(value(parseChainId(SOLANA)).reference, SOLANA.slice('solana:'.length));
  });

  for (const [text, expected] of [
    ['8453', /^is not a CAIP-2 chain id such as eip155:8453$/],
    ['eip155:1:', /CAIP-2/],
    ['polkadot:b0a8d493285c2df73290dfb7e61f870f', /"polkadot"; accepted are eip155 and solana$/],
    ['cosmos:cosmoshub-3', /"cosmos"; accepted are eip155 and solana$/],
    ['eip155:*', /CAIP-2/],
    ['eip155:01', /chain id/],
    ['abc:1', /"abc"; accepted are/],
    ['abcdefghi:1', /CAIP-2/],
    ['of:eip155:1', /CAIP-2/],
    [`eip155:${'1'.repeat(33)}`, /CAIP-2/],
  ] satisfies [string, RegExp][]) {
    it(`refuses ${text}`, () => assert.match(problem(parseChainId(text)), expected));
  }
});

describe('checksumAddress', () => {
  for (const vector of EIP55_VECTORS) {
    it(`gives ${vector}`, () => {
      assert.equal(checksumAddress(vector.toLowerCase()), vector);
      assert.equal(value(parseAccount(`eip155:1:${vector}`)).address, vector);
    });
  }
});

it('sameChain compares the chain and nothing else', () => {
  const asset = value(parseAsset(`eip155:8453/erc20:${USDC}`));
  assert.equal(sameChain(asset, value(parseAccount(`eip155:8453:${USDC}`))), true);
  assert.equal(sameChain(asset, value(parseAccount(`eip155:1:${USDC}`))), false);
});

it('chainIn gives the chain of an account, and nothing for a text that does not begin with a chain', () => {
  assert.equal(chainIn(`eip155:8453:${USDC}`), 'eip155:8453');
  assert.equal(chainIn(`${SOLANA}:not an address`), SOLANA);
  assert.equal(chainIn('abc:1:'), 'abc:1');
  for (const text of ['eip155:1', `of:eip155:1:${USDC}`, 'abcdefghi:1:', `eip155:${'1'.repeat(33)}:${USDC}`])
    assert.equal(chainIn(text), undefined, text);
});

it('isZeroAccount finds the all-zero address of each family, and no address that begins like it', () => {
  for (const zero of [`eip155:1:0x${'0'.repeat(40)}`, `${SOLANA}:${'1'.repeat(32)}`]) {
    assert.ok(isZeroAccount(zero), zero);
    assert.ok(!isZeroAccount(`${zero}2`), zero);
  }
  assert.ok(!isZeroAccount(`eip155:1:${USDC}`));
});

it('any text gets an answer, without a throw and without more than 80 characters of itself', () => {
  const valid = fc.oneof(assetId, accountId);
  const damaged = fc.tuple(valid, fc.nat(), fc.nat({ max: 8 }), anyText(200)).map(([id, at, removed, added]) => {
    const index = at % (id.length + 1);
    return id.slice(0, index) + added + id.slice(index + removed);
  });
  fc.assert(
    fc.property(fc.oneof(anyText(300), damaged), (text) => {
      for (const parse of [parseAsset, parseAccount, parseChainId]) {
        const result: Parsed<unknown> = parse(text);
        if (result.ok) continue;
        for (let start = 0; start + 81 <= text.length; start += 1) {
          assert.ok(!result.problem.includes(text.slice(start, start + 81)));
        }
      }
    }),
    { numRuns: 300 },
  );
});

// UTF-16 at its worst: lone surrogates and control characters included.
const anyText = (maxLength: number) =>
  fc.array(fc.nat({ max: 0xffff }), { maxLength, size: 'max' }).map((units) => String.fromCharCode(...units));

const evmAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .filter((bytes) => bytes.some((byte) => byte !== 0))
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
const solanaAddress = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((bytes) => bytes.some((byte) => byte !== 0))
  .map(encodeBase58);
const evmChain = fc.maxSafeNat().map((number) => `eip155:${Math.max(number, 1)}`);
const solanaChain = fc
  .array(fc.constantFrom(...BASE58), { minLength: 32, maxLength: 32 })
  .map((characters) => `solana:${characters.join('')}`);
const coin = fc.nat({ max: 2 ** 31 - 1 }).map((number) => `slip44:${number}`);

const assetId = fc.oneof(
  fc.tuple(fc.oneof(evmChain, solanaChain), coin).map((parts) => parts.join('/')),
  fc.tuple(evmChain, evmAddress).map(([chain, address]) => `${chain}/erc20:${checksumAddress(address)}`),
  fc.tuple(solanaChain, solanaAddress).map(([chain, address]) => `${chain}/token:${address}`),
);
const accountId = fc.oneof(
  fc.tuple(evmChain, evmAddress).map(([chain, address]) => `${chain}:${checksumAddress(address)}`),
  fc.tuple(solanaChain, solanaAddress).map((parts) => parts.join(':')),
);

function encodeBase58(bytes: Uint8Array): string {
  let text = '';
  for (let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`); rest > 0n; rest /= 58n) {
    text = BASE58.charAt(Number(rest % 58n)) + text;
  }
  const firstSet = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(firstSet < 0 ? bytes.length : firstSet) + text;
}

function value<T>(result: Parsed<T>): T {
  if (!result.ok) assert.fail(result.problem);
  return result.value;
}

function problem(result: Parsed<unknown>): string {
  if (result.ok) assert.fail(`accepted as ${JSON.stringify(result.value)}`);
  return result.problem;
}
