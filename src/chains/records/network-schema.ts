import { type Static, Type } from 'typebox';

/** The format of a network's file. `networks/schema.json` is generated from it, and the loader checks files with it. */

const SymbolText = (description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9₮.$+-]{1,16}$', description, 'x-form': 'a symbol of 1 to 16 letters and digits' });
const Name = (description: string) =>
  Type.String({ pattern: '^\\S(.{0,58}\\S)?$', description, 'x-form': 'a name of 1 to 60 characters' });
const Decimals = Type.Integer({ minimum: 0, maximum: 36, description: 'Decimals of the contract.' });
const QuoteDecimals = Type.Integer({
  minimum: 0,
  maximum: 18,
  description: 'Decimals of a quote, which is rounded up: enough that one step is worth less than a cent.',
});
const WorthAtMost = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000,
  description:
    'Upper bound for the value of a whole token, in units of any currency. It decides how much finality an amount needs, and is never a rate. Default: 100000.',
});
const Amount = (description: string) =>
  Type.String({ pattern: '^(0|[1-9]\\d{0,8})(\\.\\d{1,9})?$', description, 'x-form': 'an amount such as "0.05"' });
const Icon = Type.String({
  pattern: '^(?!/)(?!.*\\.\\.)[A-Za-z0-9_./-]{1,120}\\.(svg|png|webp)$',
  description: 'Path of the picture from the folder of this file: SVG, PNG or WebP. Initials are drawn without one.',
  'x-form': 'the path of an SVG, PNG or WebP file below the folder of this file',
});
const Retired = (whose: string) =>
  Type.Optional(
    Type.Literal(true, {
      description: `Payers are offered ${whose} no more. Payments that were begun, refunds and sweeps go on.`,
    }),
  );
const Depth = Type.Integer({
  minimum: 1,
  maximum: 10_000,
  description: "Blocks from a payment's block to the head, both included. 1 means that the head is enough.",
});

const Tier = Type.Object(
  {
    from: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000_000,
      description: 'Payments of this many whole pegged tokens or more; of other tokens by `worthAtMost`.',
    }),
    depth: Type.Optional(Depth),
    tag: Type.Optional(Type.Enum(['safe', 'finalized'])),
  },
  { additionalProperties: false, title: 'a tier' },
);

const Finality = Type.Object(
  {
    depth: Depth,
    reason: Type.String({
      minLength: 10,
      maxLength: 300,
      description: 'Why this depth is enough. The documentation shows it to partners.',
    }),
    tags: Type.Optional(
      Type.Array(Type.Enum(['safe', 'finalized']), {
        maxItems: 2,
        description: "The block tags that the network's nodes support.",
      }),
    ),
    tiers: Type.Optional(Type.Array(Tier, { maxItems: 8, description: 'More finality for larger payments.' })),
    loneCeiling: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000_000,
        description:
          'The largest payment, measured like `from`, that a single endpoint may prove, at three times the depth. Default: 100.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'finality',
    description: 'Without it the network is known, and takes no payments.',
  },
);

const Gas = Type.Object(
  {
    priceCap: Type.Optional(
      Amount('Highest price per unit of gas, in gwei, unless GAS_PRICE_CAP is set. Default: 1000.'),
    ),
    minTip: Type.Optional(Amount('Lowest tip that block builders accept, in gwei.')),
    maxTip: Type.Optional(Amount('Highest tip, in gwei, whatever endpoints report.')),
    costPerHour: Type.Optional(
      Amount('Most that gas may cost within an hour, in whole coins, unless GAS_COST_PER_HOUR is set. Default: 5.'),
    ),
    paysForData: Type.Optional(
      Type.Literal(true, {
        description: "The gas limit must also cover the transaction's data on Ethereum, at a variable price.",
      }),
    ),
  },
  { additionalProperties: false, title: 'gas' },
);

const Coin = Type.Object(
  {
    symbol: SymbolText('Symbol of the coin that pays for gas.'),
    name: Name('Name of the coin.'),
    decimals: Decimals,
    slip44: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'SLIP-44 number; 60 for Ether.' }),
    quoteDecimals: Type.Optional(QuoteDecimals),
    worthAtMost: Type.Optional(WorthAtMost),
    ratedAs: Type.Optional(SymbolText('The symbol whose rate is that of the coin.')),
    pay: Type.Optional(Type.Literal('native', { description: 'Payers can pay with the coin.' })),
    retired: Retired('the coin'),
    icon: Type.Optional(Icon),
  },
  {
    additionalProperties: false,
    title: 'a coin',
    description: 'The coin of the network. With `quoteDecimals` it can be a price and a destination.',
  },
);

const Token = Type.Object(
  {
    address: Type.String({
      description: 'Address of the contract, with its checksum (EIP-55), or of the mint.',
      maxLength: 128,
    }),
    symbol: SymbolText('Symbol, unique among the tokens of the network that are not retired.'),
    name: Name('Name that payers see.'),
    decimals: Decimals,
    peg: Type.Optional(
      Type.String({
        maxLength: 16,
        description: 'The ISO 4217 currency that the token is pegged to, one to one. Other tokens need a rate.',
      }),
    ),
    quoteDecimals: Type.Optional(QuoteDecimals),
    worthAtMost: Type.Optional(WorthAtMost),
    ratedAs: Type.Optional(
      SymbolText('The symbol whose rate is that of the token: for wrapped coin, that of the coin.'),
    ),
    pay: Type.Optional(
      Type.Enum(['eip3009-bytes', 'eip3009-vrs', 'permit2'], {
        description:
          'How payers pay: by EIP-3009, with signatures as bytes (contract accounts too) or as v, r, s; or by Permit2. Without it the token is a price or a destination only.',
      }),
    ),
    domain: Type.Optional(
      Type.Object(
        { name: Type.String({ maxLength: 100 }), version: Type.String({ maxLength: 20 }) },
        {
          additionalProperties: false,
          title: 'a domain',
          description: "The token's EIP-712 domain. EIP-3009 needs it.",
        },
      ),
    ),
    approvesThroughZero: Type.Optional(
      Type.Literal(true, {
        description: 'The token refuses to change an allowance that is not zero, so wallets set it to zero first.',
      }),
    ),
    blacklist: Type.Optional(
      Type.Enum(['isBlacklisted', 'isBlackListed', 'isFrozen', 'isAccountFrozen', 'isBlocked'], {
        description: "The token's function that returns whether an account is blacklisted.",
      }),
    ),
    retired: Retired('the token'),
    icon: Type.Optional(Icon),
  },
  { additionalProperties: false, title: 'a token' },
);

export const NetworkFile = Type.Object(
  {
    $schema: Type.Optional(Type.String({ maxLength: 200 })),
    id: Type.String({ maxLength: 64, description: 'CAIP-2: `eip155:` and the number of the chain.' }),
    name: Name('Name that payers see.'),
    mode: Type.Enum(['live', 'test'], { description: 'Test networks have worthless money, and belong to test keys.' }),
    coin: Coin,
    explorer: Type.Optional(
      Type.String({
        pattern: '^https://\\S{4,200}$',
        description: 'URL of the block explorer, up to the transaction hash.',
        'x-form': 'an https URL up to the transaction hash',
      }),
    ),
    blockTimeMs: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 3_600_000, description: 'Milliseconds between two blocks.' }),
    ),
    finality: Type.Optional(Finality),
    isTrustedAlone: Type.Optional(
      Type.Literal(true, {
        description:
          'The only endpoint is a process of the operator, so no second endpoint has to confirm its answers. For test networks alone.',
      }),
    ),
    gas: Type.Optional(Gas),
    retired: Retired('the network'),
    tokens: Type.Array(Token, { maxItems: 500 }),
    icon: Type.Optional(Icon),
  },
  { additionalProperties: false, title: 'a network' },
);

export type NetworkFile = Static<typeof NetworkFile>;
export type TokenFile = NetworkFile['tokens'][number];

/** The published schema, of draft 2020-12. */
export function networkJsonSchema(): Record<string, unknown> {
  const { title: _, ...schema } = JSON.parse(JSON.stringify(NetworkFile)) as Record<string, unknown>;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A network of Till, with its tokens',
    ...schema,
  };
}
