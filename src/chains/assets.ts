import { type ItemMethod, isByDeposit, type PayMethod } from '../domain/item.ts';

export interface KnownAsset {
  /** CAIP-19, in canonical spelling. */
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** Decimals of a quote, which is rounded up: 2 for tokens at par; for coins, enough that one step is worth less than a cent. */
  readonly quoteDecimals: number;
  /** The currency that the token is pegged to, one to one. */
  readonly peg?: 'USD' | 'EUR';
  /** The payment method. Undefined for an asset that is only a price or a destination. */
  readonly pay?: PayTerms;
  /** The token's function that returns whether an account is blacklisted, if it has one. */
  readonly blacklist?: 'isBlacklisted' | 'isBlackListed' | 'isFrozen' | 'isAccountFrozen' | 'isBlocked';
}

export type PayTerms =
  | {
      readonly method: 'eip3009-vrs' | 'eip3009-bytes';
      /** The token's EIP-712 domain, part of every signature. */
      readonly domain: { readonly name: string; readonly version: string };
    }
  | {
      readonly method: 'permit2';
      /** Tether's token refuses to change an allowance that is not zero, so the wallet must set the allowance to zero first. */
      readonly approvesThroughZero?: true;
    }
  | { readonly method: 'native' };

const PERMIT2: PayTerms = { method: 'permit2' };
const NATIVE: PayTerms = { method: 'native' };

/**
 * Circle's tokens: both signature forms since FiatTokenV2_2. The form with bytes also supports wallet contracts. The domain name is
 * set in each contract and differs from chain to chain.
 */
const circle = (name: string) =>
  ({
    pay: { method: 'eip3009-bytes', domain: { name, version: '2' } },
    blacklist: 'isBlacklisted',
  }) as const satisfies Partial<KnownAsset>;
/** Paxos's tokens, and others with a domain of version 1. */
const authorized = (name: string) =>
  ({ pay: { method: 'eip3009-vrs', domain: { name, version: '1' } } }) as const satisfies Partial<KnownAsset>;

const USDC = { symbol: 'USDC', name: 'USD Coin', decimals: 6, quoteDecimals: 2, peg: 'USD' } as const;
const EURC = { symbol: 'EURC', name: 'EURC', decimals: 6, quoteDecimals: 2, peg: 'EUR' } as const;
const USDT = { symbol: 'USDT', name: 'Tether USD', decimals: 6, quoteDecimals: 2, peg: 'USD' } as const;
const AUSD = {
  symbol: 'AUSD',
  name: 'AUSD',
  decimals: 6,
  quoteDecimals: 2,
  peg: 'USD',
  ...authorized('Agora Dollar'),
  blacklist: 'isAccountFrozen',
} as const;
const PYUSD = {
  symbol: 'PYUSD',
  name: 'PayPal USD',
  decimals: 6,
  quoteDecimals: 2,
  peg: 'USD',
  ...authorized('PayPal USD'),
  blacklist: 'isFrozen',
} as const;
const WETH = { symbol: 'WETH', name: 'Wrapped Ether', decimals: 18, quoteDecimals: 6, pay: PERMIT2 } as const;
const ETH = { symbol: 'ETH', name: 'Ether', decimals: 18, quoteDecimals: 6, pay: NATIVE } as const;

/** Decimals differ by contract: on BNB Smart Chain the dollar tokens have 18. */
export const ASSETS: readonly KnownAsset[] = [
  { id: 'eip155:1/slip44:60', ...ETH },
  { id: 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', ...USDC, ...circle('USD Coin') },
  { id: 'eip155:1/erc20:0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c', ...EURC, ...circle('Euro Coin') },
  {
    id: 'eip155:1/erc20:0xdAC17F958D2ee523a2206206994597C13D831ec7',
    ...USDT,
    pay: { method: 'permit2', approvesThroughZero: true },
    blacklist: 'isBlackListed',
  },
  { id: 'eip155:1/erc20:0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a', ...AUSD },
  {
    id: 'eip155:1/erc20:0xe343167631d89B6Ffc58B88d6b7fB0228795491D',
    symbol: 'USDG',
    name: 'Global Dollar',
    decimals: 6,
    quoteDecimals: 2,
    peg: 'USD',
    ...authorized('Global Dollar'),
    blacklist: 'isFrozen',
  },
  { id: 'eip155:1/erc20:0x6c3ea9036406852006290770BEdFcAbA0e23A0e8', ...PYUSD },
  { id: 'eip155:1/erc20:0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', ...WETH },
  { id: 'eip155:10/slip44:60', ...ETH },
  { id: 'eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', ...USDC, ...circle('USD Coin') },
  { id: 'eip155:10/erc20:0x4200000000000000000000000000000000000006', ...WETH },
  { id: 'eip155:56/slip44:714', symbol: 'BNB', name: 'BNB', decimals: 18, quoteDecimals: 5, pay: NATIVE },
  {
    id: 'eip155:56/erc20:0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
    ...USDC,
    name: 'Binance-Peg USD Coin',
    decimals: 18,
    pay: PERMIT2,
  },
  {
    id: 'eip155:56/erc20:0x55d398326f99059fF775485246999027B3197955',
    ...USDT,
    name: 'Binance-Peg BSC-USD',
    decimals: 18,
    pay: PERMIT2,
  },
  { id: 'eip155:56/erc20:0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a', ...AUSD },
  { id: 'eip155:137/slip44:966', symbol: 'POL', name: 'POL', decimals: 18, quoteDecimals: 2, pay: NATIVE },
  { id: 'eip155:137/erc20:0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', ...USDC, ...circle('USD Coin') },
  {
    id: 'eip155:137/erc20:0xE0aEa583266584DafBB3f9C3211d5588c73fEa8d',
    symbol: 'EURe',
    name: 'Monerium EUR emoney',
    decimals: 18,
    quoteDecimals: 2,
    peg: 'EUR',
    pay: PERMIT2,
  },
  { id: 'eip155:137/erc20:0xc2132D05D31c914a87C6611C10748AEb04B58e8F', ...USDT, pay: PERMIT2, blacklist: 'isBlocked' },
  {
    id: 'eip155:137/erc20:0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
    symbol: 'WPOL',
    name: 'Wrapped POL',
    decimals: 18,
    quoteDecimals: 2,
    pay: PERMIT2,
  },
  { id: 'eip155:143/erc20:0x754704Bc059F8C67012fEd69BC8A327a5aafb603', ...USDC, ...circle('USDC') },
  { id: 'eip155:8453/slip44:60', ...ETH },
  { id: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', ...USDC, ...circle('USD Coin') },
  { id: 'eip155:8453/erc20:0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', ...EURC, ...circle('EURC') },
  { id: 'eip155:8453/erc20:0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a', ...AUSD },
  { id: 'eip155:8453/erc20:0x4200000000000000000000000000000000000006', ...WETH },
  { id: 'eip155:42161/slip44:60', ...ETH },
  { id: 'eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831', ...USDC, ...circle('USD Coin') },
  { id: 'eip155:42161/erc20:0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a', ...AUSD },
  { id: 'eip155:42161/erc20:0x46850aD61C2B7d64d08c9C754F45254596696984', ...PYUSD },
  {
    id: 'eip155:42161/erc20:0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
    ...USDT,
    ...authorized('USD₮0'),
    blacklist: 'isBlocked',
  },
  { id: 'eip155:42161/erc20:0x82aF49447D8a07e3bd95BD0d56f35241523fBab1', ...WETH },
  { id: 'eip155:42220/erc20:0xcebA9300f2b948710d2653dD7B07f33A8B32118C', ...USDC, ...circle('USDC') },
  {
    id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501',
    symbol: 'SOL',
    name: 'Solana',
    decimals: 9,
    quoteDecimals: 5,
  },
  { id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', ...USDC },
  { id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr', ...EURC },
  { id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', ...USDT },
  { id: 'eip155:31337/slip44:60', ...ETH },
  // The sandbox's dollar and euro have the same contract code. Each uses another signature form, so both forms are exercised.
  {
    id: 'eip155:31337/erc20:0x4e4707DE5c8431f59Fa45A904854551c692C04f9',
    ...USDC,
    ...circle('USD Coin'),
    pay: { method: 'eip3009-vrs', domain: { name: 'USD Coin', version: '2' } },
  },
  { id: 'eip155:31337/erc20:0x4eBF6fD78A6439A4b0C281D24Ce95d4C536CF40B', ...EURC, ...circle('EURC') },
  {
    id: 'eip155:31337/erc20:0x868155088756156b8E18550A345d37ab5BFda311',
    ...USDT,
    pay: { method: 'permit2', approvesThroughZero: true },
    blacklist: 'isBlackListed',
  },
  { id: 'eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e', ...USDC, ...circle('USDC') },
];

const ASSET_BY_ID = new Map(ASSETS.map((asset) => [asset.id, asset]));

/** The method by which our own accounts forward the money that an item has brought. */
export function methodOf({ asset, method }: { readonly asset: string; readonly method: ItemMethod }): PayMethod {
  if (!isByDeposit(method)) return method;
  const pay = findAsset(asset)?.pay;
  if (pay === undefined) throw new RangeError(`${asset} cannot be paid with`);
  return pay.method;
}

/** The id must be in canonical spelling. */
export function findAsset(id: string): KnownAsset | undefined {
  return ASSET_BY_ID.get(id);
}

const ASSETS_BY_CHAIN = Map.groupBy(ASSETS, ({ id }) => id.slice(0, id.indexOf('/')));

export function assetsOf(chainId: string): readonly KnownAsset[] {
  return ASSETS_BY_CHAIN.get(chainId) ?? [];
}
